#include <cmath>

#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/nn.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

Status run_softmax(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t cols = x.dim(-1), rows = cols ? x.size() / cols : 0;
  visit_floats(x.dtype(), [&]<class T>(T) {
    using W = float_of<T>;
    for (int64_t r = 0; r < rows; ++r) {
      const T* from = x.data<T>() + r * cols;
      T* to = y.mutable_data<T>() + r * cols;
      W most = static_cast<W>(from[0]), sum = 0;
      for (int64_t i = 1; i < cols; ++i) most = std::max(most, static_cast<W>(from[i]));
      for (int64_t i = 0; i < cols; ++i) sum += std::exp(static_cast<W>(from[i]) - most);
      for (int64_t i = 0; i < cols; ++i) to[i] = static_cast<T>(std::exp(static_cast<W>(from[i]) - most) / sum);
    }
  });
  return {};
}

}  // namespace

static const Op op =
    OP(Softmax, &nn::softmax).args("logits").dtypes(kFloats)
        .doc("exp(x) over its sum along the last axis.")
        .infer(+[](Infer& s) { s.need_rank(0, 1); s.output(s.dtype(), s.shape()); })
        .kernel("reference", run_softmax)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor dy = g.dy(), y = g.y();
          return {(dy - reduce_sum(dy * y, {.axis = Sizes(-1), .keepdims = true})) * y};
        }).keeps("output")
        .samples("uniform(3, 4)").reference("scipy.special.softmax(logits, axis=-1)");
Tensor nn::softmax(const In& x) { return op(x); }

}  // namespace holdfast
