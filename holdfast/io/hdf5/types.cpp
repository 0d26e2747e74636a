#include "holdfast/io/hdf5/types.h"

#include <algorithm>
#include <cstring>

#include "holdfast/base/checked.h"
#include "holdfast/device/device.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/io/hdf5/heap.h"

namespace holdfast::io::hdf5 {
namespace {

// How floats are made up. Those of the processor, and bfloat16, which is the upper half of one.
struct FloatLayout {
  DType dtype;
  uint8_t sign, exponent_at, exponent_bits, mantissa_bits;
  uint32_t bias;
};
constexpr FloatLayout kFloatLayouts[] = {
    {float16, 15, 10, 5, 10, 15},
    {bfloat16, 15, 7, 8, 7, 127},
    {float32, 31, 23, 8, 23, 127},
    {float64, 63, 52, 11, 52, 1023},
};

enum Class : uint8_t {
  kFixed,
  kFloat,
  kTime,
  kString,
  kBits,
  kOpaque,
  kCompound,
  kReference,
  kEnum,
  kVariable,
  kArray,
  kComplex
};
constexpr const char* kClassNames[] = {
    "whole numbers", "floats",         "times",      "texts",        "bit fields",
    "opaque bytes",  "compounds",      "references", "enumerations", "sequences of variable length",
    "arrays",        "complex numbers"};

class TypeReader {
 public:
  TypeReader(const File& file, ByteCursor& at, const std::string& of, int depth = 0)
      : file_(file), at_(at), of_(of), depth_(depth) {}

  StoredType read() {
    uint8_t first = at_.u8();
    version_ = first >> 4;
    uint8_t kind = first & 15;
    for (uint32_t& b : bits_) b = at_.u8();
    StoredType out;
    out.size = at_.u32();
    if (version_ < 1 || version_ > 5) refuse(cat("has a datatype of version ", version_));
    if (out.size == 0) file_.source.damaged(cat(of_, " has elements of no size"));
    switch (kind) {
      case kFixed: fixed(out); break;
      case kFloat: floats(out); break;
      case kString: text(out); break;
      case kOpaque: opaque(out); break;
      case kCompound: compound(out); break;
      case kEnum: enumeration(out); break;
      case kVariable: variable(out); break;
      case kComplex: complex(out); break;
      default:
        refuse(
            cat("holds ", kind <= kComplex ? kClassNames[kind] : "elements of an unknown class"));
    }
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) {
    file_.source.refuse(cat(of_, " ", what, ", which is not read"));
  }

  void fixed(StoredType& out) {
    uint16_t begin = at_.u16(), precision = at_.u16();
    bool is_signed = bits_[0] & 8;
    out.swapped = bits_[0] & 1;
    constexpr DType kSigned[] = {int8, int16, int32, int64};
    constexpr DType kUnsigned[] = {uint8, uint16, uint32, uint64};
    size_t i = out.size == 1 ? 0 : out.size == 2 ? 1 : out.size == 4 ? 2 : out.size == 8 ? 3 : 4;
    if (i == 4 || begin != 0 || precision != 8 * out.size)
      refuse(cat("holds whole numbers of ", precision, " bits in ", out.size, " bytes"));
    out.dtype = is_signed ? kSigned[i] : kUnsigned[i];
  }
  void floats(StoredType& out) {
    uint16_t begin = at_.u16(), precision = at_.u16();
    FloatLayout is{};
    is.sign = static_cast<uint8_t>(bits_[1]);
    is.exponent_at = at_.u8();
    is.exponent_bits = at_.u8();
    uint8_t mantissa_at = at_.u8();
    is.mantissa_bits = at_.u8();
    is.bias = at_.u32();
    out.swapped = bits_[0] & 1;
    bool plain = begin == 0 && precision == 8 * out.size && mantissa_at == 0 &&
                 !(bits_[0] & 0x40) && (bits_[0] & 0x30) == 0x20;
    for (const FloatLayout& f : kFloatLayouts)
      if (plain && size_of(f.dtype) == out.size && f.sign == is.sign &&
          f.exponent_at == is.exponent_at && f.exponent_bits == is.exponent_bits &&
          f.mantissa_bits == is.mantissa_bits && f.bias == is.bias) {
        out.dtype = f.dtype;
        return;
      }
    refuse(
        cat("holds floats of ", precision, " bits with ", is.exponent_bits, " bits of exponent"));
  }
  void text(StoredType& out) {
    out.how = StoredType::How::kFixedText;
    out.dtype = DType::kString;
    out.padding = static_cast<char>(bits_[0] & 15);
    if (out.padding > 2) refuse("holds texts with an unknown padding");
  }
  void opaque(StoredType& out) {
    at_.skip(bits_[0]);
    if (out.size != 2) refuse(cat("holds opaque elements of ", out.size, " bytes"));
    out.how = StoredType::How::kTwoBytes;
    out.dtype = DType::kInvalid;
  }
  void variable(StoredType& out) {
    if ((bits_[0] & 15) != 1) refuse("holds sequences of variable length");
    if (out.size != static_cast<int64_t>(8 + file_.offset_bytes))
      file_.source.damaged(cat(of_, " has texts of ", out.size, " bytes"));
    inner();
    out.how = StoredType::How::kText;
    out.dtype = DType::kString;
  }
  // Names end with a zero byte; up to version 2 zeros follow until eight divides their length.
  std::string_view name() {
    std::string_view rest = ByteCursor(at_).take(at_.left());
    size_t length = rest.find('\0');
    if (length == std::string_view::npos)
      file_.source.damaged(cat(of_, " has a name without an end"));
    at_.skip(version_ < 3 ? (length / 8 + 1) * 8 : length + 1);
    return rest.substr(0, length);
  }
  StoredType inner() {
    if (depth_ == 4) refuse("has datatypes inside datatypes inside datatypes");
    return TypeReader(file_, at_, of_, depth_ + 1).read();
  }
  void enumeration(StoredType& out) {
    uint32_t members = bits_[0] | bits_[1] << 8;
    StoredType base = inner();
    bool named = members == 2 && name() == "FALSE" && name() == "TRUE";
    bool valued = named && at_.take(1) == std::string_view("\0", 1) && at_.take(1) == "\1";
    if (!valued || base.size != 1 || out.size != 1)
      refuse("holds an enumeration other than that of FALSE and TRUE");
    out.dtype = DType::kBool;
  }
  void compound(StoredType& out) {
    uint32_t members = bits_[0] | bits_[1] << 8;
    StoredType part[2];
    bool good = members == 2;
    for (uint32_t i = 0; good && i < 2; ++i) {
      good = name() == (i ? "i" : "r");
      uint64_t offset = at_.number(version_ < 3 ? 4 : width_of(static_cast<uint64_t>(out.size)));
      if (version_ == 1) at_.skip(28);
      if (!good) break;
      part[i] = inner();
      good = offset == (i ? static_cast<uint64_t>(out.size) / 2 : 0);
    }
    DType of = part[0].dtype;
    good = good && of == part[1].dtype && !part[0].swapped && !part[1].swapped &&
           (of == float32 || of == float64) && out.size == 2 * size_of(of);
    if (!good) refuse("holds compounds");
    out.dtype = of == float32 ? DType::kComplex64 : DType::kComplex128;
  }
  void complex(StoredType& out) {
    StoredType part = inner();
    if ((part.dtype != float32 && part.dtype != float64) || part.swapped ||
        out.size != 2 * part.size)
      refuse("holds complex numbers of another width");
    out.dtype = part.dtype == float32 ? DType::kComplex64 : DType::kComplex128;
  }

  const File& file_;
  ByteCursor& at_;
  const std::string& of_;
  int depth_;
  unsigned version_ = 0;
  uint32_t bits_[3] = {};
};

std::string_view unpadded(std::string_view text, char padding) {
  if (padding == 0) return text.substr(0, text.find('\0'));
  size_t end = text.find_last_not_of(padding == 1 ? '\0' : ' ');
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

void decode_texts(const File& file, int64_t elements, std::string_view raw, std::string* to,
                  const std::string& of) {
  GlobalHeap heap(file);
  ByteCursor at(file.source, raw, of);
  int64_t total = 0;
  for (int64_t i = 0; i < elements; ++i) {
    uint32_t length = at.u32();
    int64_t place = file.offset(at);
    uint32_t number = at.u32();
    if (length == 0) continue;
    std::string_view text = heap.object(place, number);
    if (length > text.size())
      file.source.damaged(
          cat(of, " has a text of ", length, " bytes, of which ", text.size(), " are there"));
    // Each text has a place of its own, so that all of them fit into the file.
    total += length;
    if (total > file.source.size())
      file.source.refuse(cat(of, " has more bytes of text than the file"));
    to[i] = text.substr(0, length);
  }
}

}  // namespace

StoredType parse_type(const File& file, ByteCursor& at, const std::string& of) {
  return TypeReader(file, at, of).read();
}

namespace {

struct Space {
  Dims dims, most;
};

Space read_space(const File& file, std::string_view bytes, const std::string& of) {
  ByteCursor at(file.source, bytes, of);
  uint8_t version = at.version(1, 2);
  size_t rank = at.u8();
  bool limited = at.u8() & 1;
  uint8_t kind = at.u8();
  if (version == 1) at.skip(4);
  if (version == 2 && kind == 2)
    file.source.refuse(cat(of, " has an empty dataspace: no shape, no elements"));
  if (rank > 32) file.source.damaged(cat(of, " has ", rank, " dimensions"));
  Space out;
  for (size_t i = 0; i < rank; ++i) out.dims.push_back(file.length(at));
  out.most = out.dims;
  for (size_t i = 0; limited && i < rank; ++i) {
    uint64_t most = at.number(file.length_bytes);
    out.most[i] = most >> 62 ? kUnknown : static_cast<int64_t>(most);
  }
  return out;
}

}  // namespace

Shape parse_space(const File& file, std::string_view bytes, const std::string& of) {
  return Shape(read_space(file, bytes, of).dims);
}

Shape parse_most(const File& file, std::string_view bytes, const std::string& of) {
  return Shape(read_space(file, bytes, of).most);
}

int64_t stored_bytes(const File& file, const StoredType& type, const Shape& shape,
                     const std::string& of) {
  // Also where one dimension is zero: the others must be such that they can be multiplied.
  int64_t bytes = type.size;
  bool none = false;
  for (int64_t d : shape) {
    auto more = checked_mul(bytes, std::max<int64_t>(d, 1));
    none |= d == 0;
    if (!more) file.source.refuse(cat(of, " has shape ", shape.text(), ", which no memory holds"));
    bytes = *more;
  }
  return none ? 0 : bytes;
}

Tensor decode(const File& file, const StoredType& type, const Shape& shape, std::string raw,
              const std::string& of) {
  if (static_cast<int64_t>(raw.size()) != stored_bytes(file, type, shape, of))
    file.source.damaged(cat(of, " has ", raw.size(), " bytes for shape ", shape.text()));
  // A text takes more memory than the byte it may be in the file.
  if (type.dtype == DType::kString && *shape.elements() > file.source.size())
    file.source.refuse(cat(of, " has more texts than the file has bytes"));
  Tensor out = empty(type.dtype, shape, cpu());
  out.rep()->born = here();
  out.rep()->op = "Const";
  int64_t n = out.size();
  if (type.how == StoredType::How::kText) {
    decode_texts(file, n, raw, n ? out.mutable_raw<std::string>() : nullptr, of);
    return out;
  }
  if (type.how == StoredType::How::kFixedText) {
    for (int64_t i = 0; i < n; ++i)
      out.mutable_raw<std::string>()[i] =
          unpadded(std::string_view(raw).substr(static_cast<size_t>(i * type.size),
                                                static_cast<size_t>(type.size)),
                   type.padding);
    return out;
  }
  if (n == 0) return out;
  if (type.swapped)
    for (size_t i = 0; i < raw.size(); i += static_cast<size_t>(type.size))
      std::reverse(raw.begin() + static_cast<std::ptrdiff_t>(i),
                   raw.begin() + static_cast<std::ptrdiff_t>(i) + type.size);
  // Any other byte is no bool, and what a program does with it is not defined.
  if (type.dtype == DType::kBool)
    for (char c : raw)
      if (c != 0 && c != 1)
        file.source.damaged(cat(of, " holds the byte ", static_cast<uint8_t>(c), " as a bool"));
  std::memcpy(out.mutable_raw(), raw.data(), raw.size());
  return out;
}

// -- and the other way

std::string type_message(DType d) {
  Put out;
  auto head = [&](Class kind, uint8_t b0, uint8_t b1, int64_t size) {
    out.u8(static_cast<uint8_t>(0x10 | kind)).u8(b0).u8(b1).u8(0).u32(static_cast<uint32_t>(size));
  };
  if (is_integer(d)) {
    head(kFixed, kSignedInts.has(d) ? 8 : 0, 0, size_of(d));
    out.u16(0).u16(static_cast<uint16_t>(8 * size_of(d)));
  }
  for (const FloatLayout& f : kFloatLayouts)
    if (f.dtype == d) {
      head(kFloat, 0x20, f.sign, size_of(d));
      out.u16(0).u16(static_cast<uint16_t>(8 * size_of(d)));
      out.u8(f.exponent_at).u8(f.exponent_bits).u8(0).u8(f.mantissa_bits).u32(f.bias);
    }
  if (is_bool(d)) {
    head(kEnum, 2, 0, 1);
    out.bytes(type_message(int8)).padded("FALSE").padded("TRUE").u8(0).u8(1);
  }
  if (is_complex(d)) {
    head(kCompound, 2, 0, size_of(d));
    for (const char* part : {"r", "i"}) {
      out.padded(part).u32(*part == 'r' ? 0 : static_cast<uint32_t>(size_of(d) / 2)).zeros(28);
      out.bytes(type_message(real_of(d)));
    }
  }
  return out.take();
}

std::string text_type_message() {
  Put out;  // a text, in UTF-8, of bytes
  out.u8(0x10 | kVariable).u8(1).u8(1).u8(0).u32(16).bytes(type_message(uint8));
  return out.take();
}

std::string two_bytes_message() {
  Put out;
  out.u8(0x10 | kOpaque).u8(0).u8(0).u8(0).u32(2);
  return out.take();
}

std::string space_message(const Shape& shape) {
  Put out;
  out.u8(1).u8(static_cast<uint8_t>(shape.rank())).u8(0).zeros(5);
  for (int64_t d : shape) out.u64(static_cast<uint64_t>(d));
  return out.take();
}

}  // namespace holdfast::io::hdf5
