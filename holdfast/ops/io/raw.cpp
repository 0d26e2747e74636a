// Texts of bytes as numbers.
#include <algorithm>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/io.h"

namespace holdfast {
namespace {

struct RawAttrs {
  Attr<DType> out_type;
  Attr<bool> little_endian;
  Attr<int64_t> fixed_length;
};

int64_t width_of(DType d) { return static_cast<int64_t>(size_of(d)); }

void infer_raw(Infer& s) {
  auto a = s.attrs<RawAttrs>();
  DType to = a.out_type();
  a.little_endian();
  if (to == string || !(is_integer(to) || is_floating(to) || is_complex(to) || to == boolean))
    s.bad_value("out_type", std::string(name(to)), "a dtype of numbers");
  int64_t fixed = a.fixed_length();
  if (fixed == 0 || fixed < -1 || (fixed > 0 && fixed % width_of(to) != 0))
    s.bad_value("fixed_length", cat(fixed),
                cat("a multiple of ", width_of(to), ", the bytes of ", name(to)));
  if (!s.shape().has_rank()) return s.output(to, Shape::unknown());
  Dims dims(s.shape().dims().begin(), s.shape().dims().end());
  dims.push_back(fixed > 0 ? fixed / width_of(to) : kUnknown);
  s.output(to, Shape(dims));
}

Status run_raw(Call& c) {
  auto a = c.attrs<RawAttrs>();
  int64_t width = width_of(a.out_type()), fixed = a.fixed_length();
  const Tensor& in = c.in();
  const auto* texts = in.raw<std::string>();
  int64_t bytes = fixed;
  if (fixed < 0) {
    bytes = in.size() > 0 ? static_cast<int64_t>(texts[0].size()) : 0;
    for (int64_t i = 0; i < in.size(); ++i)
      if (static_cast<int64_t>(texts[i].size()) != bytes)
        return {Code::E1102, cat("DecodeRaw: `input_bytes` has texts of ", bytes, " and of ",
                                 texts[i].size(), " bytes, expected one length")};
    if (bytes % width != 0)
      return {Code::E1102,
              cat("DecodeRaw: `input_bytes` has texts of ", bytes,
                  " bytes, expected a multiple of ", width, " for ", name(a.out_type()))};
  }
  Dims dims(in.shape().dims().begin(), in.shape().dims().end());
  dims.push_back(bytes / width);
  auto* to = static_cast<char*>(c.out(0, Shape(dims)).mutable_raw());
  int64_t part = is_complex(a.out_type()) ? width / 2 : width;
  for (int64_t i = 0; i < in.size(); ++i, to += bytes) {
    auto n = std::min(static_cast<int64_t>(texts[i].size()), bytes);
    if (n > 0) std::memcpy(to, texts[i].data(), static_cast<size_t>(n));
    if (n < bytes) std::memset(to + n, 0, static_cast<size_t>(bytes - n));
    if (a.out_type() == boolean)
      for (int64_t k = 0; k < bytes; ++k) to[k] = to[k] != 0;
    if (!a.little_endian() && part > 1)
      for (char* at = to; at < to + bytes; at += part) std::reverse(at, at + part);
  }
  return {};
}

const Op op = RAW_OP(DecodePaddedRaw)
                  .doc("The numbers that texts of bytes are.")
                  .inputs("input_bytes")
                  .dtypes(kStrings)
                  .attr("out_type")
                  .attr("little_endian", true)
                  .attr("fixed_length", -1)
                  .attrs<&RawAttrs::out_type, &RawAttrs::little_endian, &RawAttrs::fixed_length>()
                  .infer(infer_raw)
                  .kernel("reference", run_raw)
                  .on_host()
                  .no_gradient();

}  // namespace

REGISTER(FUNCTION(&io::decode_raw)
             .args("input_bytes, out_type")
             .options<&io::DecodeRawOptions::little_endian, &io::DecodeRawOptions::fixed_length>(
                 "little_endian, fixed_length")
             .python("io.decode_raw")
             .doc("The numbers that texts of bytes are."));
Tensor io::decode_raw(const In& input_bytes, DType out_type, const DecodeRawOptions& o) {
  return op({input_bytes}, {out_type, o.little_endian, o.fixed_length.value_or(-1)});
}

}  // namespace holdfast
