// Values put at positions, into zeros or into a copy of a tensor.
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/scatter.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct ScatterNdAttrs {
  Attr<std::string> bad_indices_policy;
};

// updates: one slice of `shape` for each position.
void need_updates(const Infer& s, int indices, int updates, const Shape& shape) {
  need_nd_indices(s, indices, shape, "the result");
  if (!shape.has_rank() || !s.shape(indices).has_rank() || s.shape(indices)[-1] < 0) return;
  Dims want(s.shape(indices).begin(), s.shape(indices).end() - 1);
  for (auto i = static_cast<int>(s.shape(indices)[-1]); i < shape.rank(); ++i)
    want.push_back(shape[i]);
  if (!Shape(want).compatible(s.shape(updates)))
    s.bad_shape(updates, cat("shape ", Shape(want).text(), ": one slice of ", shape.text(),
                             " for each position"));
}

void infer_scatter(Infer& s) {
  need_policy(s, s.attrs<ScatterNdAttrs>().bad_indices_policy.arg());
  s.need_rank(2, 1, 1);
  Shape out = shape_held(s, 2, "shape");
  if (!out.is_full() || out.elements()) need_updates(s, 0, 1, out);
  s.output(s.dtype(1), out);
}

Status run_scatter(Call& c) {
  Tensor& y = c.out();
  if (!ignores_bad(c.attrs<ScatterNdAttrs>().bad_indices_policy.arg()))
    if (Status s = check_nd_indices("ScatterNd", c.in(0), y.shape()); !s.ok()) return s;
  fill_zeros(y);
  scatter_nd_into(Combine::kAdd, y, c.in(0), c.in(1));
  return {};
}

void infer_tensor_scatter(Infer& s) {
  need_policy(s, s.attrs<ScatterNdAttrs>().bad_indices_policy.arg());
  if (s.shape().rank() == 0) s.bad_shape(0, "rank 1 or more");
  need_updates(s, 1, 2, s.shape());
  s.output(s.dtype(), s.shape());
}

template <Combine how>
Status run_tensor_scatter(Call& c) {
  if (!ignores_bad(c.attrs<ScatterNdAttrs>().bad_indices_policy.arg()))
    if (Status s = check_nd_indices(c.op.name.c_str(), c.in(1), c.in(0).shape()); !s.ok()) return s;
  Tensor& y = c.out();
  copy_run(y.dtype(), y.size(), c.in(0).raw(), y.mutable_raw());
  scatter_nd_into(how, y, c.in(1), c.in(2));
  return {};
}

// Updates that were left out get nothing of what arrives.
Tensor at_positions(Grad& g, const Tensor& x, int indices = 1) {
  return gather_nd(x, g.x(indices),
                   {.bad_indices_policy = g.attrs<ScatterNdAttrs>().bad_indices_policy()});
}

Tensors update_back(Grad& g) {
  Tensor dy = g.dy();
  return {g.wants(0) ? tensor_scatter_nd_update(dy, g.x(1), zeros_like(g.x(2)),
                                                {g.attrs<ScatterNdAttrs>().bad_indices_policy()})
                     : Tensor(),
          Tensor(), g.wants(2) ? at_positions(g, dy) : Tensor()};
}

Tensors add_back(Grad& g) {
  return {g.dy(), Tensor(), g.wants(2) ? at_positions(g, g.dy()) : Tensor()};
}

// Of equal candidates for a place, each gets the same share of what arrives there.
Tensors extreme_back(Grad& g) {
  Tensor dy = g.dy(), indices = g.x(1);
  DType d = dy.dtype();
  Tensor kept = cast(equal(g.x(0), g.y()), d),
         taken = cast(equal(g.x(2), at_positions(g, g.y())), d);
  Tensor shares =
      tensor_scatter_nd_add(kept, indices, taken, {g.attrs<ScatterNdAttrs>().bad_indices_policy()});
  Tensor each = divide(dy, shares);
  return {g.wants(0) ? each * kept : Tensor(), Tensor(),
          g.wants(2) ? at_positions(g, each) * taken : Tensor()};
}

}  // namespace

static const Op scatter_op =
    OP(ScatterNd, &scatter_nd)
        .args("indices: I, updates, shape")
        .options<&ScatterNdOptions::bad_indices_policy>("bad_indices_policy")
        .doc("Zeros of `shape` with updates added at the positions in `indices`; texts are joined.")
        .inputs("indices: I, updates, shape: I!")
        .attr("bad_indices_policy", "")
        .attrs<&ScatterNdAttrs::bad_indices_policy>()
        .dtypes(kIndices, "I")
        .infer(infer_scatter)
        .kernel("reference", run_scatter)
        .gradient(
            +[](Grad& g) -> Tensors { return {Tensor(), at_positions(g, g.dy(), 0), Tensor()}; })
        .keeps("indices")
        .samples("[[4], [3], [1]], uniform(3), [6]", "[[0, 1], [2, 2]], uniform(2, 2), [3, 3, 2]",
                 "[[4], [3], [4]], strings(3), [6]")
        .reference(
            "(lambda y: (np.add.at(y, tuple(np.moveaxis(np.asarray(indices), -1, 0)), updates), "
            "y)[1])(np.full(shape, b'', object) if updates.dtype == object else np.zeros(shape, "
            "updates.dtype))");
Tensor scatter_nd(const In& indices, const In& updates, const Sizes& shape,
                  const ScatterNdOptions& o) {
  Tensor ids = indices, s = shape.tensor();
  if (!shape.is_tensor()) s = host_ints(ids.dtype(), shape.ints(), s.shape());
  return scatter_op({ids, updates, s}, Attrs{Arg(o.bad_indices_policy)});
}

#define TENSOR_SCATTER(Name, fn, how, text, types)                          \
  OP(Name, &fn)                                                             \
      .args("tensor, indices: I, updates")                                  \
      .options<&ScatterNdOptions::bad_indices_policy>("bad_indices_policy") \
      .doc(text)                                                            \
      .inputs("tensor, indices: I, updates")                                \
      .attr("bad_indices_policy", "")                                       \
      .attrs<&ScatterNdAttrs::bad_indices_policy>()                         \
      .dtypes(types)                                                        \
      .dtypes(kIndices, "I")                                                \
      .infer(infer_tensor_scatter)                                          \
      .kernel("reference", run_tensor_scatter<how>)

static const Op update_op =
    TENSOR_SCATTER(TensorScatterUpdate, tensor_scatter_nd_update, Combine::kUpdate,
                   "A copy of `tensor` with updates at the positions.", kAll)
        .gradient(update_back)
        .keeps("indices")
        .samples("uniform(5), [[1], [3]], uniform(2)", "uniform(3, 2), [[2], [0]], uniform(2, 2)",
                 "strings(4), [[1]], strings(1)")
        .reference(
            "(lambda y: (y.__setitem__(tuple(np.moveaxis(np.asarray(indices), -1, 0)), updates), "
            "y)[1])(np.array(tensor))");
Tensor tensor_scatter_nd_update(const In& t, const In& i, const In& u, const ScatterNdOptions& o) {
  return update_op({t, i, u}, Attrs{Arg(o.bad_indices_policy)});
}

static const Op add_op =
    TENSOR_SCATTER(TensorScatterAdd, tensor_scatter_nd_add, Combine::kAdd,
                   "A copy of `tensor` with updates added at the positions.", kNumbers)
        .gradient(add_back)
        .keeps("indices")
        .samples("uniform(5), [[1], [3], [1]], uniform(3)",
                 "uniform(3, 2), [[2], [0]], uniform(2, 2)")
        .reference(
            "(lambda y: (np.add.at(y, tuple(np.moveaxis(np.asarray(indices), -1, 0)), updates), "
            "y)[1])(np.array(tensor))");
Tensor tensor_scatter_nd_add(const In& t, const In& i, const In& u, const ScatterNdOptions& o) {
  return add_op({t, i, u}, Attrs{Arg(o.bad_indices_policy)});
}

static const Op non_aliasing_add_op =
    RAW_OP(ScatterNdNonAliasingAdd)
        .inputs("input, indices: I, updates")
        .attr("bad_indices_policy", "")
        .attrs<&ScatterNdAttrs::bad_indices_policy>()
        .dtypes(kNumbers | kBools)
        .dtypes(kIndices, "I")
        .doc("A copy of `input` with updates added at the positions.")
        .infer(infer_tensor_scatter)
        .kernel("reference", run_tensor_scatter<Combine::kAdd>)
        .gradient(add_back)
        .keeps("indices");

static const Op sub_op =
    TENSOR_SCATTER(TensorScatterSub, tensor_scatter_nd_sub, Combine::kSub,
                   "A copy of `tensor` with updates subtracted at the positions.", kNumbers)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy(), Tensor(), g.wants(2) ? -at_positions(g, g.dy()) : Tensor()};
        })
        .keeps("indices")
        .samples("uniform(5), [[1], [3], [1]], uniform(3)")
        .reference(
            "(lambda y: (np.subtract.at(y, tuple(np.moveaxis(np.asarray(indices), -1, 0)), "
            "updates), y)[1])(np.array(tensor))");
Tensor tensor_scatter_nd_sub(const In& t, const In& i, const In& u, const ScatterNdOptions& o) {
  return sub_op({t, i, u}, Attrs{Arg(o.bad_indices_policy)});
}

static const Op min_op =
    TENSOR_SCATTER(TensorScatterMin, tensor_scatter_nd_min, Combine::kMin,
                   "A copy of `tensor` with the smaller of value and update at the positions.",
                   kReals)
        .gradient(extreme_back)
        .keeps("tensor, indices, updates, output")
        .samples("uniform(5), [[1], [3]], uniform(2)")
        .reference(
            "(lambda y: (np.minimum.at(y, tuple(np.moveaxis(np.asarray(indices), -1, 0)), "
            "updates), y)[1])(np.array(tensor))");
Tensor tensor_scatter_nd_min(const In& t, const In& i, const In& u, const ScatterNdOptions& o) {
  return min_op({t, i, u}, Attrs{Arg(o.bad_indices_policy)});
}

static const Op max_op =
    TENSOR_SCATTER(TensorScatterMax, tensor_scatter_nd_max, Combine::kMax,
                   "A copy of `tensor` with the larger of value and update at the positions.",
                   kReals)
        .gradient(extreme_back)
        .keeps("tensor, indices, updates, output")
        .samples("uniform(5), [[1], [3]], uniform(2)")
        .reference(
            "(lambda y: (np.maximum.at(y, tuple(np.moveaxis(np.asarray(indices), -1, 0)), "
            "updates), y)[1])(np.array(tensor))");
Tensor tensor_scatter_nd_max(const In& t, const In& i, const In& u, const ScatterNdOptions& o) {
  return max_op({t, i, u}, Attrs{Arg(o.bad_indices_policy)});
}

}  // namespace holdfast
