// Texts as numbers of buckets, by hashes that are the same on every machine.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/strings.h"
#include "holdfast/ops/strings/fingerprint.h"

namespace holdfast {
namespace {

struct BucketAttrs {
  Attr<int64_t> num_buckets;
};
struct KeyedAttrs {
  Attr<int64_t> num_buckets;
  Attr<Ints> key;
};

void check_buckets(Infer& s, int64_t n) {
  if (n < 1) s.bad_value("num_buckets", cat(n), "1 or more");
  s.output(int64, s.shape());
}

template <class F>
void each(Call& c, int64_t buckets, F&& hash) {
  const auto* from = c.in().raw<std::string>();
  auto* to = c.out().mutable_raw<int64_t>();
  for (int64_t i = 0, n = c.in().size(); i < n; ++i)
    to[i] = static_cast<int64_t>(hash(from[i]) % static_cast<uint64_t>(buckets));
}

template <uint64_t (*hash)(std::string_view)>
Status run_buckets(Call& c) {
  each(c, c.attrs<BucketAttrs>().num_buckets(), hash);
  return {};
}
Status run_keyed(Call& c) {
  auto a = c.attrs<KeyedAttrs>();
  auto key0 = static_cast<uint64_t>(a.key()[0]), key1 = static_cast<uint64_t>(a.key()[1]);
  each(c, a.num_buckets(), [&](const std::string& text) { return sip_hash(text, key0, key1); });
  return {};
}

Builder& in_buckets(Builder& b) {
  return b.dtypes(kStrings)
      .attr("num_buckets")
      .attrs<&BucketAttrs::num_buckets>()
      .infer(+[](Infer& s) { check_buckets(s, s.attrs<BucketAttrs>().num_buckets()); })
      .on_host()
      .no_gradient();
}

const Op plain_op = in_buckets(OP(StringToHashBucket, &strings::to_hash_bucket)
                                   .args("input, num_buckets")
                                   .python("strings.to_hash_bucket")
                                   .doc("The number of a bucket for each text.")
                                   .inputs("string_tensor"))
                        .kernel("reference", run_buckets<murmur_hash>)
                        .samples("strings(3), 7");
const Op fast_op = in_buckets(OP(StringToHashBucketFast, &strings::to_hash_bucket_fast)
                                  .args("input, num_buckets")
                                  .python("strings.to_hash_bucket_fast")
                                  .doc("The number of a bucket for each text, by FarmHash.")
                                  .inputs("input"))
                       .kernel("reference", run_buckets<farm_fingerprint>)
                       .samples("strings(3), 7");
const Op strong_op =
    OP(StringToHashBucketStrong, &strings::to_hash_bucket_strong)
        .args("input, num_buckets, key")
        .python("strings.to_hash_bucket_strong")
        .doc(
            "The number of a bucket for each text, by SipHash with a key of two numbers: who does "
            "not know it can't find texts of one bucket.")
        .inputs("input")
        .dtypes(kStrings)
        .attr("num_buckets")
        .attr("key")
        .attrs<&KeyedAttrs::num_buckets, &KeyedAttrs::key>()
        .infer(+[](Infer& s) {
          auto a = s.attrs<KeyedAttrs>();
          if (a.key().size() != 2) s.bad_value("key", cat(a.key().size(), " numbers"), "2");
          check_buckets(s, a.num_buckets());
        })
        .kernel("reference", run_keyed)
        .on_host()
        .no_gradient()
        .samples("strings(3), 7, [1, 2]");

}  // namespace

Tensor strings::to_hash_bucket(const In& input, int64_t num_buckets) {
  return plain_op({input}, {num_buckets});
}
Tensor strings::to_hash_bucket_fast(const In& input, int64_t num_buckets) {
  return fast_op({input}, {num_buckets});
}
Tensor strings::to_hash_bucket_strong(const In& input, int64_t num_buckets, const Ints& key) {
  return strong_op({input}, {num_buckets, key});
}

}  // namespace holdfast
