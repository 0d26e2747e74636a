// Rows of bytes as eight bytes that tell them apart.
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/constant.h"
#include "holdfast/ops/fingerprint.h"
#include "holdfast/ops/strings/fingerprint.h"

namespace holdfast {
namespace {

constexpr int64_t kBytes = 8;

// Inputs: data, method.
void infer_fingerprint(Infer& s) {
  s.need_rank(0, 1);
  s.need_rank(1, 0, 0);
  int64_t rows = s.shape().has_rank() ? s.shape()[0] : kUnknown;
  s.output(uint8, Shape{rows, kBytes});
}

// The lowest byte first, on every machine.
void put(uint64_t hash, uint8_t* to) {
  for (int64_t i = 0; i < kBytes; ++i) to[i] = static_cast<uint8_t>(hash >> (8 * i));
}

Status run_fingerprint(Call& c) {
  const Tensor& data = c.in();
  const std::string& method = *c.in(1).raw<std::string>();
  if (method != "farmhash64")
    return {Code::E1103, cat("Fingerprint: `method` is '", method, "', expected 'farmhash64'")};
  auto* to = c.out().mutable_raw<uint8_t>();
  int64_t rows = data.dim(0);
  if (rows == 0) return {};
  int64_t each = data.size() / rows;
  for (int64_t r = 0; r < rows; ++r, to += kBytes) {
    if (data.dtype() != DType::kString) {
      int64_t bytes = each * size_of(data.dtype());
      put(farm_fingerprint(
              {static_cast<const char*>(data.raw()) + r * bytes, static_cast<size_t>(bytes)}),
          to);
      continue;
    }
    const auto* texts = data.raw<std::string>() + r * each;
    if (each == 1) {
      put(farm_fingerprint(texts[0]), to);
      continue;
    }
    // Of several texts, that of their fingerprints.
    std::vector<uint8_t> parts(static_cast<size_t>(each * kBytes));
    for (int64_t i = 0; i < each; ++i) put(farm_fingerprint(texts[i]), parts.data() + i * kBytes);
    put(farm_fingerprint({reinterpret_cast<const char*>(parts.data()), parts.size()}), to);
  }
  return {};
}

const Op fingerprint_op =
    OP(Fingerprint, &fingerprint)
        .args("data")
        .options<&FingerprintOptions::method>("method")
        .inputs("data, method: M")
        .python("fingerprint")
        .dtypes(kAll)
        .dtypes(kStrings, "M")
        .doc(
            "Eight bytes for each row of the first axis, the same for equal rows on every machine. "
            "`method` is 'farmhash64'.")
        .infer(infer_fingerprint)
        .kernel("reference", run_fingerprint)
        .on_host()
        .no_gradient()
        .samples("strings(3)", "ints(3, 4, low=-9, high=9)", "uniform(2, 3, 2)");

}  // namespace

Tensor fingerprint(const In& data, const FingerprintOptions& o) {
  return fingerprint_op({data, constant(o.method)});
}

}  // namespace holdfast
