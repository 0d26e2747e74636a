#include "holdfast/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

#include "holdfast/base/checked.h"
#include "holdfast/base/columns.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/json_text.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/io/atomic_file.h"
#include "holdfast/io/byte_source.h"
#include "holdfast/io/input_file.h"
#include "holdfast/io/refuse_file.h"

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace holdfast::io {
namespace {

constexpr int64_t kLongestHeader = 100'000'000;  // as the format's own reader has it
constexpr const char* kMetadata = "__metadata__";

struct StoredType {
  const char* name;
  DType dtype;
};
constexpr StoredType kTypes[] = {
    {"BOOL", DType::kBool},
    {"U8", uint8},
    {"I8", int8},
    {"U16", uint16},
    {"I16", int16},
    {"F16", float16},
    {"BF16", bfloat16},
    {"U32", uint32},
    {"I32", int32},
    {"F32", float32},
    {"C64", DType::kComplex64},
    {"U64", uint64},
    {"I64", int64},
    {"F64", float64},
};

const char* stored_name(DType d) {
  for (const StoredType& t : kTypes)
    if (t.dtype == d) return t.name;
  return nullptr;
}

class Header : JsonText {
 public:
  Header(const std::string& path, std::string_view text)
      : JsonText(cat("the header of `", path, "`"), text, Code::E1302), path_(path) {}

  std::vector<StoredTensor> tensors() {
    std::vector<StoredTensor> out;
    members([&](std::string name) {
      if (name == kMetadata) return metadata();
      out.push_back(tensor(std::move(name)));
    });
    space();
    if (at_ < text_.size()) wrong("the end of the header");
    return out;
  }

 private:
  // {"key": ..., "key": ...}: `value` reads what stands behind each colon.
  template <class F>
  void members(F value) {
    if (!next('{')) wrong("`{`");
    std::unordered_set<std::string> seen;
    if (next('}')) return;
    do {
      space();
      size_t key_at = at_;
      std::string key = string();
      if (!seen.insert(key).second) wrong_at(key_at, cat("no second key ", shown(key)));
      if (!next(':')) wrong("`:`");
      space();
      value(std::move(key));
    } while (next(','));
    if (!next('}')) wrong("`,` or `}`");
  }
  void metadata() {
    members([&](const std::string&) { string(); });
  }

  int64_t number() {
    space();
    size_t begin = at_;
    int64_t out = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      auto more = checked_mul(out, 10);
      if (more) more = checked_add(*more, text_[at_] - '0');
      if (!more) wrong_at(begin, "a number below 2^63");
      out = *more;
      ++at_;
    }
    if (at_ == begin) wrong("a whole number, not negative");
    return out;
  }
  Dims numbers(size_t at_most) {
    if (!next('[')) wrong("`[`");
    Dims out;
    if (next(']')) return out;
    do {
      if (out.size() == at_most) wrong(cat("at most ", at_most, " numbers"));
      out.push_back(number());
    } while (next(','));
    if (!next(']')) wrong("`,` or `]`");
    return out;
  }

  StoredTensor tensor(std::string name) {
    StoredTensor t;
    t.name = std::move(name);
    bool has_dtype = false, has_shape = false, has_offsets = false;
    members([&](const std::string& key) {
      size_t value_at = at_;
      if (key == "dtype") {
        t.dtype = dtype(t.name);
        has_dtype = true;
      } else if (key == "shape") {
        t.shape = Shape(numbers(kMaxRank));
        has_shape = true;
      } else if (key == "data_offsets") {
        Dims offsets = numbers(2);
        if (offsets.size() != 2) wrong_at(value_at, "two offsets, begin and end");
        t.begin = offsets[0];
        t.end = offsets[1];
        has_offsets = true;
      } else {
        wrong_at(value_at,
                 cat("`dtype`, `shape` and `data_offsets` alone; the key is ", shown(key)));
      }
    });
    if (!has_dtype || !has_shape || !has_offsets)
      refuse(t, cat("has no `", !has_dtype ? "dtype" : !has_shape ? "shape" : "data_offsets", "`"));
    auto elements = t.shape.elements();
    auto bytes = elements ? checked_mul(*elements, size_of(t.dtype)) : std::nullopt;
    if (!bytes) refuse(t, cat("has shape ", t.shape.text(), ", which no memory holds"));
    if (t.end < t.begin || t.end - t.begin != *bytes)
      refuse(t, cat("lies from ", t.begin, " to ", t.end, ", but ", holdfast::name(t.dtype),
                    t.shape.text(), " takes ", *bytes, " bytes"));
    return t;
  }
  DType dtype(const std::string& of) {
    std::string stored = string();
    for (const StoredType& t : kTypes)
      if (stored == t.name) return t.dtype;
    fail(Code::E1105, cat("`", path_, "`: ", shown(of), " has dtype ", shown(stored),
                          ", which there is no dtype for here"));
  }
  [[noreturn]] void refuse(const StoredTensor& t, const std::string& what) {
    refuse_damaged(path_, cat("its tensor ", shown(t.name), " ", what));
  }

  const std::string& path_;
};

// Where the elements begin, and what they are.
struct Layout {
  int64_t data = 0;
  std::vector<StoredTensor> tensors;
};

Layout read_layout(const InputFile& file) {
  const std::string& path = file.path();
  uint64_t length = 0;
  if (file.size() < 8)
    refuse_file(path, cat("is no safetensors file: it has ", file.size(),
                          " bytes, and the length of the header takes 8"));
  file.read(0, &length, 8);
  if (length > static_cast<uint64_t>(kLongestHeader))
    refuse_file(path, cat("is no safetensors file: its header would have ", length,
                          " bytes, at most ", kLongestHeader, " are read"));
  auto header_bytes = static_cast<int64_t>(length);
  if (header_bytes > file.size() - 8)
    refuse_damaged(path, cat("it is cut short, its header has ", header_bytes, " bytes, of which ",
                             file.size() - 8, " are there"));
  std::string text(static_cast<size_t>(header_bytes), '\0');
  file.read(8, text.data(), text.size());
  if (valid_utf8(text) != text) refuse_damaged(path, "its header is not UTF-8");

  Layout out{8 + header_bytes, Header(path, text).tensors()};
  std::stable_sort(out.tensors.begin(), out.tensors.end(),
                   [](const StoredTensor& a, const StoredTensor& b) {
                     return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
                   });
  int64_t at = 0;
  for (const StoredTensor& t : out.tensors) {
    if (t.begin != at)
      refuse_damaged(path, cat("its tensor ", shown(t.name), " begins at ", t.begin,
                               t.begin < at ? ", inside the one before it, which ends at "
                                            : ", and nothing lies before it since ",
                               at));
    at = t.end;
  }
  int64_t there = file.size() - out.data;
  if (at != there)
    refuse_damaged(path, cat(at > there ? "it is cut short, " : "", "its tensors take ", at,
                             " bytes, and ", there, " are there"));
  return out;
}

Tensor read_tensor(const InputFile& file, int64_t data, const StoredTensor& t) {
  Tensor out = empty(t.dtype, t.shape, cpu());
  auto* bytes = static_cast<unsigned char*>(out.bytes() ? out.mutable_raw() : nullptr);
  file.read(data + t.begin, bytes, static_cast<size_t>(out.bytes()));
  // Any other byte is no bool, and what a program does with it is not defined.
  if (t.dtype == DType::kBool)
    for (int64_t i = 0; i < out.bytes(); ++i)
      if (bytes[i] > 1)
        refuse_damaged(file.path(), cat("its tensor ", shown(t.name), " holds the byte ",
                                        static_cast<int>(bytes[i]), " as a bool"));
  out.rep()->born = here();
  out.rep()->op = "Const";
  return out;
}

void check_storable(const std::string& name, const Tensor& t) {
  if (name == kMetadata)
    fail(Code::E1104, cat("a tensor can't be stored as `", kMetadata, "`"),
         "the format keeps that name for itself");
  if (valid_utf8(name) != name)
    fail(Code::E1104, cat("a tensor can't be stored as ", shown(valid_utf8(name))),
         "names are UTF-8");
  if (!stored_name(t.dtype()))
    fail(Code::E1105,
         cat(shown(name), " is ", holdfast::name(t.dtype()), ", which safetensors does not store"));
}

}  // namespace

std::vector<StoredTensor> safetensors_header(const std::string& path) {
  return read_layout(InputFile(path)).tensors;
}

ByName<Tensor> read_safetensors(const std::string& path) {
  InputFile file(path);
  Layout layout = read_layout(file);
  ByName<Tensor> out;
  for (const StoredTensor& t : layout.tensors)
    out.emplace(t.name, read_tensor(file, layout.data, t));
  return out;
}

void write_safetensors(const std::string& path, const ByName<Tensor>& tensors) {
  std::vector<const ByName<Tensor>::value_type*> order;
  for (const auto& entry : tensors) {
    check_storable(entry.first, entry.second);
    order.push_back(&entry);
  }
  // Large elements first: then each lies where its own size divides the offset.
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->second.dtype()) > size_of(b->second.dtype());
  });
  std::string header = "{";
  int64_t at = 0;
  for (const auto* entry : order) {
    const Tensor& t = entry->second;
    if (at || header.size() > 1) header += ',';
    put_json_text(header, entry->first);
    header += cat(":{\"dtype\":\"", stored_name(t.dtype()), "\",\"shape\":[");
    for (int i = 0; i < t.rank(); ++i) header += cat(i ? "," : "", t.dim(i));
    header += cat("],\"data_offsets\":[", at, ",", at + t.bytes(), "]}");
    at += t.bytes();
  }
  header += '}';
  header.append((8 - header.size() % 8) % 8, ' ');
  if (header.size() > static_cast<size_t>(kLongestHeader))
    fail(Code::E1105, cat("the names of ", tensors.size(), " tensors take ", header.size(),
                          " bytes, and readers of safetensors take ", kLongestHeader));

  AtomicFile file(path);
  uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto* entry : order)
    if (int64_t bytes = entry->second.bytes())
      file.write(entry->second.raw(), static_cast<size_t>(bytes));
  file.commit();
}

}  // namespace holdfast::io
