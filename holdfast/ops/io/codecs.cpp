// Texts that stand for other things: bytes in letters, tensors in TensorFlow's format.
#include <array>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/base/wire.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/io.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct PadAttrs {
  Attr<bool> pad;
};
struct OutTypeAttrs {
  Attr<DType> out_type;
};

// -- base 64, in the alphabet that is safe in addresses

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(std::string_view bytes, bool pad) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) {
      if (k <= n)
        out += kLetters[word >> (18 - 6 * k) & 63];
      else if (pad)
        out += '=';
    }
  }
  return out;
}

// False where it is no such text.
bool decoded(std::string_view text, std::string& out) {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> all;
    all.fill(-1);
    for (size_t i = 0; i < kLetters.size(); ++i)
      all[static_cast<unsigned char>(kLetters[i])] = static_cast<int8_t>(i);
    return all;
  }();
  if (text.size() % 4 == 0)
    for (int k = 0; k < 2 && !text.empty() && text.back() == '='; ++k) text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  uint32_t word = 0;
  int bits = 0;
  for (char letter : text) {
    int value = values[static_cast<unsigned char>(letter)];
    if (value < 0) return false;
    word = word << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(word >> bits & 0xff);
    }
  }
  return true;
}

Status run_encode(Call& c) {
  bool pad = c.attrs<PadAttrs>().pad();
  const auto* from = c.in().raw<std::string>();
  auto* to = c.out().mutable_raw<std::string>();
  for (int64_t i = 0, n = c.in().size(); i < n; ++i) to[i] = encoded(from[i], pad);
  return {};
}
Status run_decode(Call& c) {
  const auto* from = c.in().raw<std::string>();
  auto* to = c.out().mutable_raw<std::string>();
  for (int64_t i = 0, n = c.in().size(); i < n; ++i)
    if (!decoded(from[i], to[i]))
      return {Code::E1103, cat("DecodeBase64: string ", i, " is \"", from[i].substr(0, 40),
                               "\", which is no base 64 of the alphabet A-Z a-z 0-9 - _")};
  return {};
}

// -- TensorProto: dtype 1, tensor_shape 2 (dim 2: size 1), tensor_content 4, and lists of values

Status run_serialize(Call& c) {
  const Tensor& t = c.in();
  Message shape;
  for (int64_t d : t.shape()) {
    Message size;
    if (d != 0) size.number(1, d);
    shape.message(2, size);
  }
  Message out;
  out.number(1, static_cast<uint64_t>(info(t.dtype()).tensorflow)).message(2, shape);
  if (t.dtype() == DType::kString) {
    for (int64_t i = 0; i < t.size(); ++i) out.bytes(8, t.raw<std::string>()[i]);
  } else if (t.size() > 0) {
    out.bytes(4, {t.raw<char>(), static_cast<size_t>(t.size() * size_of(t.dtype()))});
  }
  *c.out().mutable_raw<std::string>() = out.text();
  return {};
}

struct Parsed {
  uint64_t dtype = 0;
  Dims shape;
  std::string_view content;
  std::vector<std::string> texts;
  std::vector<uint64_t> numbers;  // integers, or the bits of floats
  bool broken = false;
};

bool parse_shape(std::string_view text, Dims& out) {
  WireReader dims(text);
  for (WireField d; dims.next(d);) {
    if (d.number != 2 || d.kind != 2) continue;
    int64_t size = 0;
    WireReader dim(d.bytes);
    for (WireField f; dim.next(f);)
      if (f.number == 1 && f.kind == 0) size = static_cast<int64_t>(f.value);
    if (!dim.good() || size < 0) return false;
    out.push_back(size);
  }
  return dims.good();
}

// Lists are packed: of numbers of four or eight bytes, or of any length.
void add_packed(std::string_view bytes, int field, Parsed& to) {
  size_t width = field == 5 ? 4 : field == 6 ? 8 : 0;
  if (width) {
    for (; bytes.size() >= width; bytes.remove_prefix(width)) {
      uint64_t v = 0;
      std::memcpy(&v, bytes.data(), width);
      to.numbers.push_back(v);
    }
    to.broken |= !bytes.empty();
    return;
  }
  WireReader numbers(bytes);
  for (uint64_t v; numbers.number(v);) to.numbers.push_back(v);
  to.broken |= !numbers.good();
}

Parsed parse(std::string_view text) {
  Parsed out;
  WireReader fields(text);
  for (WireField f; fields.next(f);) {
    const int n = f.number;
    const bool bytes = f.kind == 2;
    if (n == 1 && f.kind == 0) out.dtype = f.value;
    if (n == 2 && bytes) out.broken |= !parse_shape(f.bytes, out.shape);
    if (n == 4 && bytes) out.content = f.bytes;
    if (n == 8 && bytes) out.texts.emplace_back(f.bytes);
    bool numbers =
        n == 5 || n == 6 || n == 7 || n == 10 || n == 11 || n == 13 || n == 16 || n == 17;
    if (numbers && bytes) add_packed(f.bytes, n, out);
    if (numbers && !bytes) out.numbers.push_back(f.value);
  }
  out.broken |= !fields.good();
  return out;
}

void infer_parse(Infer& s) {
  s.need_rank(0, 0, 0);
  DType to = s.attrs<OutTypeAttrs>().out_type();
  if (!kAll.has(to)) s.bad_value("out_type", std::string(name(to)), "a dtype of numbers or texts");
  s.output(to, Shape::unknown());
}

Status run_parse(Call& c) {
  DType to = c.attrs<OutTypeAttrs>().out_type();
  auto refuse = [](std::string why) {
    return Status{Code::E1301, "`serialized` can't be read as a tensor", std::move(why)};
  };
  Parsed p = parse(*c.in().raw<std::string>());
  if (p.broken) return refuse("it is no message of Protocol Buffers, or it is cut off");
  if (p.dtype != info(to).tensorflow)
    return {Code::E1101, cat("ParseTensor: the tensor is of dtype ", p.dtype,
                             " in TensorFlow's numbers, and `out_type` is ", name(to), ", ",
                             info(to).tensorflow)};
  // Before memory is taken: there have to be so many elements, or one for all of them.
  double count = 1;
  for (int64_t d : p.shape) count *= static_cast<double>(d);
  auto width = static_cast<double>(size_of(to));
  auto values = static_cast<double>(to == DType::kString ? p.texts.size() : p.numbers.size());
  bool whole = to != DType::kString && static_cast<double>(p.content.size()) == count * width;
  bool listed = values == count || (values == 1 && count < 1e9);
  if (!(p.content.empty() ? listed || count == 0 : whole))
    return refuse(cat("its shape is ", Shape(p.shape).text(), ", and it has ",
                      p.content.empty() ? cat(static_cast<int64_t>(values), " values")
                                        : cat(p.content.size(), " bytes")));
  Tensor& out = c.out(0, Shape(p.shape));
  if (out.size() == 0) return {};
  if (to == DType::kString) {
    for (int64_t i = 0; i < out.size(); ++i)
      out.mutable_raw<std::string>()[i] = p.texts[p.texts.size() == 1 ? 0 : static_cast<size_t>(i)];
  } else if (!p.content.empty()) {
    std::memcpy(out.mutable_raw(), p.content.data(), p.content.size());
  } else if (is_complex(to)) {
    return refuse("complex numbers are read as bytes alone");
  } else {
    // Integers of fewer bytes, and the bits of 16-bit floats, are the low bytes of a number.
    auto bytes = static_cast<size_t>(size_of(to));
    char* place = out.mutable_raw<char>();
    for (int64_t i = 0; i < out.size(); ++i, place += bytes)
      std::memcpy(place, &p.numbers[p.numbers.size() == 1 ? 0 : static_cast<size_t>(i)], bytes);
  }
  return {};
}

const Op encode_op = OP(EncodeBase64, &io::encode_base64)
                         .args("input")
                         .options<&io::EncodeBase64Options::pad>("pad")
                         .python("io.encode_base64")
                         .doc("Bytes as letters that are safe in addresses.")
                         .inputs("input")
                         .dtypes(kStrings)
                         .attr("pad", false)
                         .attrs<&PadAttrs::pad>()
                         .same_as_input()
                         .kernel("reference", run_encode)
                         .on_host()
                         .no_gradient()
                         .samples("strings(3)", "strings(2, 2), pad=True")
                         .reference(
                             "np.vectorize(lambda s: __import__('base64')"
                             ".urlsafe_b64encode(s).rstrip(b'' if pad else b'='), "
                             "otypes=[object])(input)");
const Op decode_op = OP(DecodeBase64, &io::decode_base64)
                         .args("input")
                         .python("io.decode_base64")
                         .doc("The bytes that such letters stand for.")
                         .inputs("input")
                         .dtypes(kStrings)
                         .same_as_input()
                         .kernel("reference", run_decode)
                         .on_host()
                         .no_gradient();
const Op serialize_op = OP(SerializeTensor, &io::serialize_tensor)
                            .args("tensor")
                            .python("io.serialize_tensor")
                            .doc("A tensor as a text, in TensorFlow's format.")
                            .inputs("tensor")
                            .dtypes(kAll)
                            .infer(+[](Infer& s) { s.output(string, Shape{}); })
                            .kernel("reference", run_serialize)
                            .on_host()
                            .no_gradient();
const Op parse_op = OP(ParseTensor, &io::parse_tensor)
                        .args("serialized, out_type")
                        .python("io.parse_tensor")
                        .doc("The tensor that `serialize_tensor` wrote.")
                        .inputs("serialized")
                        .dtypes(kStrings)
                        .attr("out_type")
                        .attrs<&OutTypeAttrs::out_type>()
                        .infer(infer_parse)
                        .kernel("reference", run_parse)
                        .on_host()
                        .no_gradient();

}  // namespace

Tensor io::encode_base64(const In& input, const EncodeBase64Options& o) {
  return encode_op({input}, {o.pad});
}
Tensor io::decode_base64(const In& input) { return decode_op(input); }
Tensor io::serialize_tensor(const In& tensor) { return serialize_op(tensor); }
Tensor io::parse_tensor(const In& serialized, DType out_type) {
  return parse_op({serialized}, {out_type});
}

}  // namespace holdfast
