#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct BucketizeAttrs {
  Attr<Arg> boundaries;
};

constexpr DTypes kBucketized{int32, int64, float32, float64};

// A list of whole numbers stands for itself, one of floats for the numbers nearest to them in
// float32, as the op's attribute is declared.
std::vector<float> boundaries(const Arg& a) {
  std::vector<float> out;
  if (auto* ints = std::get_if<Ints>(&a.value()))
    for (int64_t i : *ints) out.push_back(static_cast<float>(i));
  else
    for (double d : a.floats()) out.push_back(static_cast<float>(d));
  return out;
}

Status run_bucketize(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  std::vector<float> limits = boundaries(c.attrs<BucketizeAttrs>().boundaries.arg());
  if (!std::is_sorted(limits.begin(), limits.end()))
    return {Code::E1103, "Bucketize: `boundaries` is not sorted",
            "a bucket lies between two boundaries that follow each other"};
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                  std::is_floating_point_v<T>) {
      const T* from = x.raw<T>();
      auto* to = y.mutable_raw<int32_t>();
      for (int64_t i = 0, n = x.size(); i < n; ++i)
        to[i] = static_cast<int32_t>(
            std::upper_bound(limits.begin(), limits.end(), from[i],
                             [](T v, float limit) { return v < static_cast<T>(limit); }) -
            limits.begin());
    }
  });
  return {};
}

}  // namespace

static const Op bucketize_op =
    RAW_OP(Bucketize)
        .inputs("input")
        .attr("boundaries")
        .attrs<&BucketizeAttrs::boundaries>()
        .dtypes(kBucketized)
        .no_gradient()
        .doc("For each element how many of the sorted boundaries it has reached, int32.")
        .infer(+[](Infer& s) {
          (void)boundaries(
              s.attrs<BucketizeAttrs>().boundaries.arg());  // refuses what is no list of numbers
          s.output(int32, s.shape());
        })
        .kernel("bisect", run_bucketize);

}  // namespace holdfast
