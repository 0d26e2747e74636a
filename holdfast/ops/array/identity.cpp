// The same elements under a new identity or dtype.
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"

namespace holdfast {
namespace {

struct BitcastAttrs {
  Attr<DType> type;
};

// Elements may be cut into several or several joined: the last axis says how many belong together.
void infer_bitcast(Infer& s) {
  DType to = s.attrs<BitcastAttrs>().type();
  if (!kNumbers.has(to)) s.bad_value("type", name(to), to_text(kNumbers));
  int64_t have = size_of(s.dtype()), want = size_of(to);
  if (!s.shape().has_rank() || have == want) return s.output(to, s.shape());
  Shape out = s.shape();
  if (have > want) {
    out.dims().push_back(have / want);
  } else {
    if (out.rank() == 0 || (out[-1] >= 0 && out[-1] != want / have))
      s.bad_shape(
          0, cat("a last axis of size ", want / have, ", so that its elements join to ", name(to)));
    out.dims().pop_back();
  }
  s.output(to, out);
}

Status run_bitcast(Call& c) {
  const Tensor& x = c.in();
  c.set_out(0, Tensor(make_ref<TensorRep>(c.out_dtype(), c.out_shape(), x.rep()->buffer,
                                          x.rep()->offset)));
  return {};
}

}  // namespace

static const Op identity_op = OP(Identity, &identity)
                                  .args("input")
                                  .doc("The same value under a new identity.")
                                  .view()
                                  .moves_between_devices()
                                  .keeps_apart()
                                  .same_as_input()
                                  .kernel("view", run_view)
                                  .kernel_for(DeviceKind::kCuda, "view", run_view)
                                  .gradient(+[](Grad& g) -> Tensors { return {g.dy()}; })
                                  .keeps("")
                                  .samples("uniform(3, 4)", "strings(2)")
                                  .reference("input");
Tensor identity(const In& x) {
  if (x.dtype() == DType::kResource) return x.tensor();  // a handle is one, whoever holds it
  return identity_op(x);
}

static const Op snapshot_op = RAW_OP(Snapshot)
                                  .inputs("input")
                                  .doc("The value as it is now.")
                                  .view()
                                  .same_as_input()
                                  .kernel("view", run_view)
                                  .kernel_for(DeviceKind::kCuda, "view", run_view)
                                  .gradient(+[](Grad& g) -> Tensors { return {g.dy()}; })
                                  .keeps("");

// TensorFlow's op takes any mix of dtypes; a list of ours has one, so each tensor is passed on
// alone.
REGISTER(FUNCTION(&identity_n)
             .args("input: any")
             .python("identity_n, raw_ops.IdentityN")
             .doc("The same values under new identities.")
             .samples("[uniform(3), uniform(2, 2)]")
             .reference("input"));
Tensors identity_n(const Ins& x) {
  Tensors out;
  for (size_t i = 0; i < x.size(); ++i) out.push_back(identity(x[i]));
  return out;
}

static const Op stop_op = OP(StopGradient, &stop_gradient)
                              .args("input")
                              .doc("The same value, through which no gradient flows.")
                              .view()
                              .same_as_input()
                              .kernel("view", run_view)
                              .kernel_for(DeviceKind::kCuda, "view", run_view)
                              .no_gradient()
                              .samples("uniform(3, 4)")
                              .reference("input")
                              .checks({.gradient = false, .second_gradient = false});
Tensor stop_gradient(const In& x) { return stop_op(x); }

static const Op guarantee_op = OP(GuaranteeConst, &guarantee_const)
                                   .args("input")
                                   .doc("The same value, promised not to change.")
                                   .view()
                                   .same_as_input()
                                   .kernel("view", run_view)
                                   .kernel_for(DeviceKind::kCuda, "view", run_view)
                                   .no_gradient()
                                   .samples("uniform(3, 4)")
                                   .reference("input")
                                   .checks({.gradient = false, .second_gradient = false});
Tensor guarantee_const(const In& x) { return guarantee_op(x); }

static const Op bitcast_op =
    OP(Bitcast, &bitcast)
        .args("input, type")
        .doc("The same bytes under another dtype.")
        .inputs("input")
        .attr("type")
        .attrs<&BitcastAttrs::type>()
        .dtypes(kNumbers)
        .view()
        .no_gradient()
        .infer(infer_bitcast)
        .kernel("view", run_bitcast)
        .kernel_for(DeviceKind::kCuda, "view", run_bitcast)
        .samples("uniform(3, 2), tf.int32", "ints(3), tf.uint8")
        .reference(
            "(lambda v: v if v.itemsize == input.itemsize else v.reshape(input.shape + (-1,)) if "
            "v.itemsize < input.itemsize else "
            "v.reshape(input.shape[:-1]))(np.ascontiguousarray(input).view(type))")
        .checks({.gradient = false, .second_gradient = false});
Tensor bitcast(const In& x, DType type) { return bitcast_op({x}, {type}); }

}  // namespace holdfast
