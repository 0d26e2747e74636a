#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Which axes of input 0 the integers in input 1 name.
Dims reduced_axes(const Infer& s) {
  Dims axes;
  if (auto given = s.ints(1)) for (int64_t a : *given) axes.push_back(s.axis(a, 0));
  return axes;
}

void infer_reduce(Infer& s) {
  Dims axes = reduced_axes(s);
  bool keep = s.attr(0).b();
  Dims out;
  for (int i = 0; i < s.shape().rank(); ++i) {
    bool gone = std::find(axes.begin(), axes.end(), int64_t{i}) != axes.end();
    if (!gone) out.push_back(s.shape()[i]);
    else if (keep) out.push_back(1);
  }
  s.output(s.dtype(), Shape(out));
}

Status run_sum(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  Dims axes = c.ints(1);
  int rank = x.rank();
  Dims step(static_cast<size_t>(rank), 0);
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    bool gone = false;
    for (int64_t a : axes) gone = gone || (a < 0 ? a + rank : a) == i;
    if (gone) continue;
    step[static_cast<size_t>(i)] = stride;
    stride *= x.dim(i);
  }
  visit_plain(x.dtype(), [&]<class T>(T) {
    using W = std::conditional_t<std::is_same_v<T, bool>, int, float_of<T>>;
    std::vector<W> sums(static_cast<size_t>(y.size()), W(0));
    Dims index(static_cast<size_t>(rank), 0);
    for (int64_t i = 0, n = x.size(); i < n; ++i) {
      int64_t at = 0, left = i;
      for (int k = rank - 1; k >= 0; --k) { at += left % x.dim(k) * step[static_cast<size_t>(k)]; left /= x.dim(k); }
      sums[static_cast<size_t>(at)] += static_cast<W>(x.data<T>()[i]);
    }
    for (size_t i = 0; i < sums.size(); ++i) y.mutable_data<T>()[i] = static_cast<T>(sums[i]);
  });
  return {};
}

Tensor axes_of(const Tensor& x, const Axes& axis) {
  if (axis) return axis->tensor();
  Dims all;
  for (int i = 0; i < x.rank(); ++i) all.push_back(i);
  return Sizes(all).tensor();
}

Shape kept_shape(const Tensor& x, const Dims& axes) {
  Shape s = x.shape();
  for (int64_t a : axes) s.dims()[static_cast<size_t>(a < 0 ? a + x.rank() : a)] = 1;
  return s;
}

}  // namespace

static const Op sum_op =
    OP(Sum, &reduce_sum).args("input_tensor").options<&ReduceOptions::axis, &ReduceOptions::keepdims>("axis, keepdims")
        .python("reduce_sum, math.reduce_sum")
        .doc("Sum over axes; over all of them where none is given.")
        .inputs("input, axis: Tidx!").attr("keep_dims", false).dtypes(kNumbers)
        .infer(infer_reduce).kernel("reference", run_sum)
        .gradient(+[](Grad& g) -> Tensors {
          return {broadcast_to(reshape(g.dy(), kept_shape(g.x(), g.ints(1))), g.x().shape()), Tensor()};
        }).keeps("axis")
        .samples("uniform(3, 4)", "uniform(3, 4), axis=1", "uniform(2, 3, 4), axis=[0, 2], keepdims=True")
        .reference("np.sum(input_tensor, axis=axis, keepdims=keepdims)");
Tensor reduce_sum(const In& x, const ReduceOptions& o) {
  Tensor t = x;
  return sum_op({t, axes_of(t, o.axis)}, {o.keepdims});
}

Tensor sum_to(const Tensor& t, const Tensor& like) {
  const Shape& want = like.shape();
  if (t.shape() == want) return t;
  Ints axes;
  int extra = t.rank() - want.rank();
  for (int i = 0; i < t.rank(); ++i)
    if (i < extra || (want[i - extra] == 1 && t.dim(i) != 1)) axes.push_back(i);
  Tensor sum = axes.empty() ? t : reduce_sum(t, {.axis = Sizes(axes)});
  return sum.shape() == want ? sum : reshape(sum, want);
}

}  // namespace holdfast
