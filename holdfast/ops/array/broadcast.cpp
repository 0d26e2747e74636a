#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"

namespace holdfast {
namespace {

void infer_broadcast_to(Infer& s) {
  s.need_rank(1, 1, 1);
  Shape target = shape_held(s, 1, "shape");
  auto both = broadcast(s.shape(), target);
  if (!both || !both->compatible(target))
    s.bad_shape(0, cat("a shape that broadcasts to ", target.text()));
  s.output(s.dtype(), target);
}

Status run_broadcast_to(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  Dims from = strides_of(x.shape()), to = strides_of(y.shape());
  CopyAxes axes;
  int extra = y.rank() - x.rank();
  for (int i = 0; i < y.rank(); ++i) {
    bool stands = i < extra || x.dim(i - extra) == 1;
    axes.push_back(
        {y.dim(i), stands ? 0 : from[static_cast<size_t>(i - extra)], to[static_cast<size_t>(i)]});
  }
  copy_strided(y.dtype(), axes, x.raw(), y.mutable_raw());
  return {};
}

}  // namespace

static const Op op =
    OP(BroadcastTo, &broadcast_to)
        .args("input, shape")
        .doc("The input repeated until it has `shape`.")
        .inputs("input, shape: Tidx!")
        .broadcasts()
        .infer(infer_broadcast_to)
        .kernel("strided", run_broadcast_to)
        .gradient(+[](Grad& g) -> Tensors { return {sum_to(g.dy(), g.x()), Tensor()}; })
        .keeps("")
        .rearranges()
        .samples("uniform(3, 1), [3, 4]", "uniform(4), [2, 3, 4]", "uniform(), [2, 3]",
                 "strings(1), [3]", "uniform(1, 2, 1), [3, 2, 4]")
        .reference("np.broadcast_to(input, shape)");
Tensor broadcast_to(const In& x, const Sizes& shape) { return op({x, shape.tensor()}); }

}  // namespace holdfast
