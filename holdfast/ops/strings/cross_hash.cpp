// Numbers of combinations of features: a hash of the hashes of what is combined.
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"

namespace holdfast {
namespace {

struct CrossAttrs {
  Attr<int64_t> num_buckets;
  Attr<int64_t> hash_key;
};

constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;  // of MurmurHash64A

uint64_t shifted(uint64_t v) { return v ^ (v >> 47); }

// FarmHash's fingerprint of two fingerprints, the same on every machine.
uint64_t joined(uint64_t a, uint64_t b) {
  uint64_t h = ((a ^ kFactor) ^ shifted(b * kFactor) * kFactor) * kFactor;
  return shifted(shifted(h) * kFactor);
}

void infer_cross(Infer& s) {
  s.need_rank(0, 2, 2);
  int64_t buckets = s.attrs<CrossAttrs>().num_buckets();
  if (buckets < 0) s.bad_value("num_buckets", cat(buckets), "0 or more");
  s.output(int64, Shape{s.shape().has_rank() ? s.shape()[1] : kUnknown});
}

Status run_cross(Call& c) {
  auto a = c.attrs<CrossAttrs>();
  const Tensor& hashes = c.in();
  int64_t parts = hashes.dim(0), n = hashes.dim(1);
  auto buckets = static_cast<uint64_t>(a.num_buckets() ? a.num_buckets()
                                                       : std::numeric_limits<int64_t>::max());
  auto* to = c.out(0, Shape{n}).mutable_raw<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    auto hash = static_cast<uint64_t>(a.hash_key());
    for (int64_t k = 0; k < parts; ++k)
      hash = joined(hash, static_cast<uint64_t>(hashes.raw<int64_t>()[k * n + i]));
    to[i] = static_cast<int64_t>(hash % buckets);
  }
  return {};
}

const Op cross_op = RAW_OP(CrossHashes)
                        .doc(
                            "The bucket of each combination, a column of `hashes`; a number of "
                            "63 bits where `num_buckets` is 0.")
                        .inputs("hashes")
                        .outputs("buckets")
                        .dtypes(DTypes{int64})
                        .attr("num_buckets", 0)
                        .attr("hash_key", 0)
                        .attrs<&CrossAttrs::num_buckets, &CrossAttrs::hash_key>()
                        .infer(infer_cross)
                        .kernel("reference", run_cross)
                        .on_host()
                        .no_gradient();

}  // namespace
}  // namespace holdfast
