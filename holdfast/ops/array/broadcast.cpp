#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_broadcast_to(Infer& s) {
  auto want = s.ints(1);
  if (!want) return s.output(s.dtype(), Shape::unknown());
  for (int64_t d : *want) if (d < 0) s.bad_value("shape", Shape(*want).text(), "sizes of 0 or more");
  Shape target(*want);
  auto both = broadcast(s.shape(), target);
  if (!both || !(*both == target)) s.bad_shape(0, cat("a shape that broadcasts to ", target.text()));
  s.output(s.dtype(), target);
}

Status run_broadcast_to(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = y.size();
  visit_cells(x.dtype(), [&]<class T>(T) {
    const T* from = x.data<T>();
    T* to = y.mutable_data<T>();
    for (int64_t i = 0; i < n; ++i) {
      int64_t left = i, at = 0, stride = 1;
      for (int k = 1; k <= x.rank(); ++k) {
        at += x.dim(-k) == 1 ? 0 : left % y.dim(-k) * stride;
        stride *= x.dim(-k);
        left /= y.dim(-k);
      }
      to[i] = from[at];
    }
  });
  return {};
}

}  // namespace

static const Op op =
    OP(BroadcastTo, &broadcast_to).args("input, shape").doc("The input repeated until it has `shape`.")
        .inputs("input, shape: Tidx!").infer(infer_broadcast_to).kernel("reference", run_broadcast_to)
        .gradient(+[](Grad& g) -> Tensors { return {sum_to(g.dy(), g.x()), Tensor()}; }).keeps("")
        .samples("uniform(3, 1), [3, 4]", "uniform(4), [2, 3, 4]").reference("np.broadcast_to(input, shape)");
Tensor broadcast_to(const In& x, const Sizes& shape) { return op({x, shape.tensor()}); }

static const Op fill_op =
    OP(Fill, &fill).args("dims, value").doc("A tensor of shape `dims` that holds `value` everywhere.")
        .inputs("dims: index_type!, value~")
        .infer(+[](Infer& s) {
          s.need_rank(0, 1, 1);
          s.need_rank(1, 0, 0);
          auto dims = s.ints(0);
          if (dims) for (int64_t d : *dims) if (d < 0) s.bad_value("dims", Shape(*dims).text(), "sizes of 0 or more");
          s.output(s.dtype(1), dims ? Shape(*dims) : Shape::unknown());
        })
        .kernel("reference", +[](Call& c) -> Status {
          Tensor& y = c.out();
          visit_cells(y.dtype(), [&]<class T>(T) { std::fill_n(y.mutable_data<T>(), y.size(), *c.in(1).data<T>()); });
          return {};
        })
        .gradient(+[](Grad& g) -> Tensors { return {Tensor(), reduce_sum(g.dy())}; }).keeps("")
        .samples("[2, 3], 7.5").reference("np.full(dims, value, np.float32)");
Tensor fill(const Sizes& dims, const In& value) { return fill_op({dims.tensor(), value}); }

static const Op identity_op =
    OP(Identity, &identity).args("input").doc("The same value under a new identity.").view().moves_between_devices().same_as_input()
        .kernel("view", +[](Call& c) -> Status { c.set_out(0, view_of(c.in(), c.out_shape())); return {}; })
        .kernel_for(DeviceKind::kCuda, "view", +[](Call& c) -> Status { c.set_out(0, view_of(c.in(), c.out_shape())); return {}; })
        .gradient(+[](Grad& g) -> Tensors { return {g.dy()}; }).keeps("")
        .samples("uniform(3, 4)").reference("input");
Tensor identity(const In& x) { return identity_op(x); }

static const Op zeros_like_op =
    OP(ZerosLike, &zeros_like).args("input").doc("Zeros (or empty strings) of the same dtype and shape.").same_as_input().no_gradient()
        .kernel("reference", +[](Call& c) -> Status {
          Tensor& y = c.out();
          if (y.dtype() != DType::kString) std::memset(y.mutable_raw(), 0, static_cast<size_t>(y.bytes()));
          return {};
        })
        .samples("uniform(3, 4)").reference("np.zeros_like(input)");
Tensor zeros_like(const In& x) { return zeros_like_op(x); }

REGISTER(FUNCTION(&ones_like).args("input").doc("Ones of the same dtype and shape.")
             .samples("uniform(3, 4)").reference("np.ones_like(input)"));
Tensor ones_like(const In& x) {
  Tensor t = x;
  return fill(t.shape(), Tensor::scalar(1, t.dtype()));
}

}  // namespace holdfast
