// Slices by number along an axis.
#include <atomic>

#include "holdfast/base/parallel.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct GatherAttrs {
  Attr<int64_t> batch_dims;
};
struct GatherGradAttrs {
  Attr<int64_t> axis;
  Attr<int64_t> batch_dims;
};

// params [batch, outer, size, inner], indices [batch, count], result [batch, outer, count, inner].
struct Layout {
  int64_t batch = 1, outer = 1, size = 1, inner = 1, count = 1;
  Layout(const Shape& params, const Shape& indices, int axis, int batch_dims) {
    if (params.elements().value_or(0) == 0) {
      batch = outer = inner = 0;
      size = params[axis];
    } else
      for (int i = 0; i < params.rank(); ++i)
        (i < batch_dims ? batch : i < axis ? outer : i == axis ? size : inner) *= params[i];
    if (indices.elements().value_or(0) == 0)
      count = 0;
    else
      for (int i = batch_dims; i < indices.rank(); ++i) count *= indices[i];
  }
};

struct Axis {
  int axis, batch_dims;
};

Axis axis_in(const Infer& s, const Shape& params, const Shape& indices, int64_t axis,
             int64_t batch_dims) {
  int64_t rank = params.rank(), most = std::min<int64_t>(rank, indices.rank());
  if (rank < 1) s.bad_value("params", "a scalar", "rank 1 or more");
  if (batch_dims < -indices.rank() || batch_dims > most)
    refuse_outside(s, "batch_dims", batch_dims, -indices.rank(), most + 1);
  if (batch_dims < 0) batch_dims += indices.rank();
  if (axis < -rank || axis >= rank)
    refuse_outside(s, "axis", axis, -rank, rank, cat(" for shape ", params.text()));
  if (axis < 0) axis += rank;
  if (axis < batch_dims) s.bad_value("axis", cat(axis), cat("at least batch_dims, ", batch_dims));
  for (int i = 0; i < batch_dims; ++i)
    if (params[i] >= 0 && indices[i] >= 0 && params[i] != indices[i])
      s.bad_value("indices", indices.text(),
                  cat("a shape that begins as `params`, ", params.text(), ", on the first ",
                      batch_dims, " axes"));
  return {static_cast<int>(axis), static_cast<int>(batch_dims)};
}

Shape gathered(const Shape& params, const Shape& indices, Axis a) {
  Dims out;
  for (int i = 0; i < a.axis; ++i)
    out.push_back(i < a.batch_dims && params[i] < 0 ? indices[i] : params[i]);
  for (int i = a.batch_dims; i < indices.rank(); ++i) out.push_back(indices[i]);
  for (int i = a.axis + 1; i < params.rank(); ++i) out.push_back(params[i]);
  return Shape(out);
}

void infer_gather(Infer& s) {
  if (s.shape(2).elements().value_or(1) != 1) s.bad_shape(2, "one axis");
  auto axis = s.ints(2);
  if (!s.shape(0).has_rank() || !s.shape(1).has_rank())
    return s.output(s.dtype(), Shape::unknown());
  if (!axis) {  // the rank does not hang on it
    int64_t batch_dims = s.attrs<GatherAttrs>().batch_dims();
    if (batch_dims < 0) batch_dims += s.shape(1).rank();
    int64_t rank = s.shape(0).rank() + s.shape(1).rank() - 1 - batch_dims;
    return s.output(s.dtype(), rank >= 0 && rank <= kMaxRank
                                   ? Shape::of_rank(static_cast<int>(rank))
                                   : Shape::unknown());
  }
  s.output(s.dtype(), gathered(s.shape(0), s.shape(1),
                               axis_in(s, s.shape(0), s.shape(1), (*axis)[0],
                                       s.attrs<GatherAttrs>().batch_dims())));
}

// The axis and batch_dims of a call whose arguments `infer` let pass.
Axis axis_of(int64_t axis, int64_t batch_dims, const Shape& params, const Shape& indices) {
  return {static_cast<int>(axis < 0 ? axis + params.rank() : axis),
          static_cast<int>(batch_dims < 0 ? batch_dims + indices.rank() : batch_dims)};
}

Status run_gather(Call& c) {
  const Tensor &params = c.in(0), &indices = c.in(1);
  Axis a =
      axis_of(c.ints(2)[0], c.attrs<GatherAttrs>().batch_dims(), params.shape(), indices.shape());
  Layout n(params.shape(), indices.shape(), a.axis, a.batch_dims);
  if (Status s = check_indices("GatherV2", indices, n.size); !s.ok()) return s;
  Tensor& y = c.out();
  if (!y.size()) return {};
  visit_cells(params.dtype(), [&]<class T>(T) {
    const T* from = params.raw<T>();
    T* to = y.mutable_raw<T>();
    visit_indices(indices.dtype(), [&]<class I>(I) {
      const I* ids = indices.raw<I>();
      parallel_for(n.batch * n.outer * n.count, std::max<int64_t>(1, 16384 / n.inner),
                   [&](int64_t begin, int64_t end) {
                     int64_t k = begin % n.count, row = begin / n.count;
                     const I* own = ids + row / n.outer * n.count;
                     for (int64_t i = begin; i < end; ++i) {
                       const T* found = from + (row * n.size + own[k]) * n.inner;
                       if (n.inner == 1)  // a call would take longer than the copy
                         to[i] = *found;
                       else
                         std::copy_n(found, n.inner, to + i * n.inner);
                       if (++k == n.count) {
                         k = 0;
                         ++row;
                         own = ids + row / n.outer * n.count;
                       }
                     }
                   });
    });
  });
  return {};
}

void infer_gather_grad(Infer& s) {
  auto attrs = s.attrs<GatherGradAttrs>();
  Shape params = shape_held(s, 0, "shape");
  if (params.has_rank() && s.shape(1).has_rank()) {
    Axis a = axis_in(s, params, s.shape(1), attrs.axis(), attrs.batch_dims());
    Shape dy = gathered(params, s.shape(1), a);
    if (!dy.compatible(s.shape(2))) s.bad_shape(2, cat("shape ", dy.text()));
  }
  s.output(s.dtype(2), params);
}

Status run_gather_grad(Call& c) {
  auto attrs = c.attrs<GatherGradAttrs>();
  const Tensor &indices = c.in(1), &dy = c.in(2);
  Tensor& y = c.out();
  Axis a = axis_of(attrs.axis(), attrs.batch_dims(), y.shape(), indices.shape());
  Layout n(y.shape(), indices.shape(), a.axis, a.batch_dims);
  if (Status s = check_indices("GatherGrad", indices, n.size); !s.ok()) return s;
  fill_zeros(y);
  if (!y.size() || !dy.size()) return {};
  visit_plain(y.dtype(), [&]<class T>(T) {
    visit_indices(indices.dtype(), [&]<class I>(I) {
      const I* ids = indices.raw<I>();
      // One row of the result has one writer, so sums come in one order.
      parallel_for(n.batch * n.outer, std::max<int64_t>(1, 16384 / (n.count * n.inner)),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t row = begin; row < end; ++row)
                       for (int64_t k = 0; k < n.count; ++k) {
                         int64_t id = ids[row / n.outer * n.count + k];
                         combine_run<T>(Combine::kAdd,
                                        y.mutable_raw<T>() + (row * n.size + id) * n.inner,
                                        dy.raw<T>() + (row * n.count + k) * n.inner, n.inner);
                       }
                   });
    });
  });
  return {};
}

}  // namespace

static const Op gather_grad_op =
    RAW_OP(GatherGrad)
        .doc(
            "Zeros of `shape` to which slices of `dy` are added by "
            "number: what flows back through a gather.")
        .inputs("shape: Index!, indices: I, dy")
        .dtypes(kIndices, "I")
        .dtypes(kNumbers)
        .attr("axis", 0)
        .attr("batch_dims", 0)
        .attrs<&GatherGradAttrs::axis, &GatherGradAttrs::batch_dims>()
        .infer(infer_gather_grad)
        .kernel("rows", run_gather_grad)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(),
                  gather(g.dy(), g.x(1),
                         {.axis = Sizes(g.attrs<GatherGradAttrs>().axis()),
                          .batch_dims = g.attrs<GatherGradAttrs>().batch_dims()})};
        })
        .keeps("indices");

static Tensors gather_back(Grad& g) {
  Tensor dy = g.dy(), params = g.x(0), indices = g.x(1);
  int64_t axis = g.ints(2)[0], batch_dims = g.attrs<GatherAttrs>().batch_dims();
  if (batch_dims < 0) batch_dims += indices.rank();
  if (axis < 0) axis += params.rank();
  if (axis != 0 || batch_dims != 0 || !params.shape().has_rank())
    return {gather_grad_op({shape_of(params).tensor(), indices, dy}, {axis, batch_dims}), Tensor(),
            Tensor()};
  // Rows of an embedding: only those that were read have a gradient.
  Tensor dense_shape = shape_of(params).tensor(), values;
  bool flat = indices.rank() == 1;
  if (flat)
    values = dy;
  else if (params.shape().is_full() && indices.shape().is_full()) {
    Dims rows = params.shape().dims();
    rows[0] = indices.shape().size();
    values = reshape(dy, rows);
  } else {
    Tensor rest = index(shape(params), {{.kind = IndexItem::kSlice, .start = 1}});
    values = reshape(dy, Sizes(concat({reshape(size(indices), {1}), rest}, 0)));
  }
  g.sparse(0, {values, flat ? identity(indices) : reshape(indices, {-1}), dense_shape});
  return {Tensor(), Tensor(), Tensor()};
}

static const Op gather_op =
    OP(GatherV2, &gather)
        .args("params, indices: I")
        .options<&GatherOptions::validate_indices, &GatherOptions::axis,
                 &GatherOptions::batch_dims>("validate_indices, axis, batch_dims")
        .doc("Slices of `params` along `axis`, by number.")
        .inputs("params: Tparams, indices: I, axis: Taxis!")
        .attr("batch_dims", 0)
        .attrs<&GatherAttrs::batch_dims>()
        .dtypes(kAll, "Tparams")
        .dtypes(kIndices, "I")
        .infer(infer_gather)
        .kernel("rows", run_gather)
        .gradient(gather_back)
        .keeps("indices, axis")
        .rearranges()
        .samples("uniform(5, 3), [0, 4, 0]", "uniform(3, 4), [[0, 1], [3, 3]], axis=1",
                 "uniform(4), 2", "strings(4), [1, 3]", "uniform(3, 2), np.zeros([0], np.int32)")
        .reference("np.take(params, np.asarray(indices), axis or 0)");
Tensor gather(const In& params, const In& indices, const GatherOptions& o) {
  Tensor ids = indices;
  if (ids.dtype() == int16) ids = cast(ids, int32);
  // As in TensorFlow, the axis is what was given for `batch_dims`: a negative number counts from
  // the end of `params`, whatever the rank of `indices` is.
  return gather_op({params, ids, (o.axis ? *o.axis : Sizes(o.batch_dims)).tensor()},
                   {o.batch_dims});
}

REGISTER(FUNCTION(&batch_gather)
             .args("params, indices: I")
             .python("compat.v1.batch_gather")
             .doc("gather along the last axis of `indices`, the axes before it being batches.")
             .samples("uniform(2, 3), [[0, 2], [1, 1]]")
             .reference("np.take_along_axis(params, np.asarray(indices), 1)"));
Tensor batch_gather(const In& params, const In& indices) {
  Tensor ids = indices;
  if (ids.rank() == 0)
    fail(Code::E1102, "batch_gather: `indices` is a scalar, expected rank 1 or more");
  return gather(params, ids, {.batch_dims = ids.rank() - 1});
}

}  // namespace holdfast
