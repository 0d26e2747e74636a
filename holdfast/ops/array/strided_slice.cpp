// NumPy's basic slicing: reading, its gradient, and writing.
#include "holdfast/op/variable.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/one_run.h"
#include "holdfast/ops/array/slice_spec.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/array/write_variable.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct SliceAttrs {
  Attr<int64_t> begin_mask;
  Attr<int64_t> end_mask;
  Attr<int64_t> ellipsis_mask;
  Attr<int64_t> new_axis_mask;
  Attr<int64_t> shrink_axis_mask;
};

// begin, end and strides are inputs `first` to `first + 2`.
SliceSpec spec_of(const Infer& s, const Shape& sliced, int first, const SliceMasks& masks) {
  for (int i = 0; i < 3; ++i) s.need_rank(first + i, 1, 1);
  int64_t count = kUnknown;
  for (int i = 0; i < 3; ++i) {
    int64_t n = s.shape(first + i).has_rank() ? s.shape(first + i)[0] : kUnknown;
    if (n >= 0 && count >= 0 && n != count)
      s.bad_shape(first + i, cat("[", count, "], as many numbers as `begin` has"));
    if (n >= 0) count = n;
  }
  if (count < 0)
    s.unsupported("a slice whose number of items is not known",
                  "begin, end and strides of a known length");
  return slice_spec(s, sliced, slice_numbers(s, first), slice_numbers(s, first + 1),
                    slice_numbers(s, first + 2), count, masks);
}

// Whether the number of items of a slice is known.
bool counted(const Infer& s, int first) {
  for (int i = first; i < first + 3; ++i)
    if (s.shape(i).has_rank() && s.shape(i).rank() == 1 && s.shape(i)[0] >= 0) return true;
  return false;
}

SliceMasks masks_of(const Infer& s) {
  auto a = s.attrs<SliceAttrs>();
  return {a.begin_mask(), a.end_mask(), a.ellipsis_mask(), a.new_axis_mask(), a.shrink_axis_mask()};
}

// Kernels see concrete arguments that `infer` let pass; the same code reads them again.
SliceSpec spec_again(const Call& c, const Shape& sliced, int first) {
  Tensors in;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.in(i));
  Infer s(c.op, in, c.attrs());
  return spec_of(s, sliced, first, masks_of(s));
}

void infer_slice(Infer& s) {
  if (!s.shape().has_rank() || !counted(s, 1)) return s.output(s.dtype(), Shape::unknown());
  s.output(s.dtype(), Shape(spec_of(s, s.shape(), 1, masks_of(s)).result));
}

Status run_slice(Call& c) {
  const Tensor& x = c.in();
  SliceSpec spec = spec_again(c, x.shape(), 1);
  int64_t offset = spec.offset(x.shape());
  if (spec.contiguous(x.shape())) {
    c.set_out(0, view_of(x, c.out_shape(), offset * size_of(x.dtype())));
    return {};
  }
  copy_strided(x.dtype(), spec.axes(x.shape()), element(x.raw(), x.dtype(), offset),
               c.out().mutable_raw());
  return {};
}

// Writes `value`, which broadcasts to the slice, into `to`.
void write_slice(const SliceSpec& spec, const Tensor& value, const Tensor& to) {
  copy_strided(to.dtype(), spec.axes_into(to.shape(), value.shape()), value.raw(),
               element(to.mutable_raw(), to.dtype(), spec.offset(to.shape())));
}

Status run_slice_grad(Call& c) {
  Tensor& y = c.out();
  fill_zeros(y);
  write_slice(spec_again(c, y.shape(), 1), c.in(4), y);
  return {};
}

void infer_slice_grad(Infer& s) {
  s.need_rank(0, 1, 1);
  Shape sliced = shape_held(s, 0, "shape");
  if (!sliced.has_rank() || !counted(s, 1)) return s.output(s.dtype(4), sliced);
  Shape result(spec_of(s, sliced, 1, masks_of(s)).result);
  if (!result.compatible(s.shape(4)))
    s.bad_shape(4, cat("shape ", result.text(), ", that of the slice"));
  s.output(s.dtype(4), sliced);
}

bool fits(const Shape& value, const Shape& slice) {
  auto both = broadcast(value, slice);
  return both && both->compatible(slice);
}

void need_value(const Infer& s, const SliceSpec& spec, int i) {
  Shape result(spec.result);
  if (!fits(s.shape(i), result))
    s.bad_shape(i, cat("a shape that broadcasts to ", result.text(), ", that of the slice"));
}

void infer_update(Infer& s) {
  if (s.shape().has_rank() && counted(s, 1))
    need_value(s, spec_of(s, s.shape(), 1, masks_of(s)), 4);
  s.output(s.dtype(), s.shape());
}

Status run_update(Call& c) {
  Tensor& y = c.out();
  copy_run(y.dtype(), y.size(), c.in().raw(), y.mutable_raw());
  write_slice(spec_again(c, y.shape(), 1), c.in(4), y);
  return {};
}

void infer_assign(Infer& s) {
  VariableState* v = variable_state(s.input(0));
  if (s.dtype(4) != v->dtype)
    s.bad_dtype(4, cat(name(v->dtype), ", the dtype of variable `", v->name, "`"));
  if (v->shape.has_rank() && counted(s, 1)) need_value(s, spec_of(s, v->shape, 1, masks_of(s)), 4);
}

Status run_assign(Call& c) {
  return write_variable(variable_state(c.in()), [&](const Tensor& now) -> Status {
    SliceSpec spec = spec_again(c, now.shape(), 1);
    // A variable of a loose shape says only now what its shape is.
    if (Shape slice(spec.result); !fits(c.in(4).shape(), slice))
      return {Code::E1102, cat(c.op.name, ": `value` has shape ", c.in(4).shape().text(),
                               ", the slice ", slice.text())};
    write_slice(spec, c.in(4), now);
    return {};
  });
}

Attrs masks(Grad& g) { return Attrs(g.attrs().begin(), g.attrs().end()); }

}  // namespace

#define SLICE_ATTRS                                                                      \
  .attr("begin_mask", 0)                                                                 \
      .attr("end_mask", 0)                                                               \
      .attr("ellipsis_mask", 0)                                                          \
      .attr("new_axis_mask", 0)                                                          \
      .attr("shrink_axis_mask", 0)                                                       \
      .attrs<&SliceAttrs::begin_mask, &SliceAttrs::end_mask, &SliceAttrs::ellipsis_mask, \
             &SliceAttrs::new_axis_mask, &SliceAttrs::shrink_axis_mask>()

static Tensors slice_back(Grad& g);
static Tensors update_back(Grad& g);

static const Op slice_op =
    OP(StridedSlice, &strided_slice)
        .args("input_, begin: Index, end: Index")
        .options<&StridedSliceOptions::strides, &StridedSliceOptions::begin_mask,
                 &StridedSliceOptions::end_mask, &StridedSliceOptions::ellipsis_mask,
                 &StridedSliceOptions::new_axis_mask, &StridedSliceOptions::shrink_axis_mask>(
            "strides: Index, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask")
        .doc(
            "input_[begin:end:strides], with bits of the masks for what NumPy writes as `:`, "
            "`...`, `None` and integers.")
        .inputs("input, begin: Index!, end: Index!, strides: Index!") SLICE_ATTRS.infer(infer_slice)
        .kernel("strided", run_slice)
        .aliases(+[](const Types& t, int) { return alias_of_run(t.shape(), t.out_shape(), 0); })
        .gradient(slice_back)
        .keeps("begin, end, strides")
        .rearranges()
        .samples("uniform(5, 4), [1, 0], [4, 3], [2, 1]", "uniform(5, 4), [3, 3], [0, 0], [-1, -2]",
                 "uniform(5), [-3], [-1]", "uniform(5, 4), [0, 0], [2, 0], end_mask=2",
                 "strings(5), [1], [3]")
        .reference(
            "input_[tuple(slice(None if begin_mask >> i & 1 else int(begin[i]), None if end_mask "
            ">> i & 1 else int(end[i]), "
            "None if strides is None else int(strides[i])) for i in range(len(begin)))]");

Tensor strided_slice(const In& x, const In& begin, const In& end, const StridedSliceOptions& o) {
  Tensor from = begin;
  Tensor steps = o.strides ? o.strides->tensor(from.dtype()) : ones_like(from);
  return slice_op({x, from, end, steps},
                  {o.begin_mask, o.end_mask, o.ellipsis_mask, o.new_axis_mask, o.shrink_axis_mask});
}

static const Op slice_grad_op =
    RAW_OP(StridedSliceGrad)
        .doc("Zeros of `shape` with `dy` where the slice was taken.")
        .inputs("shape: Index!, begin: Index!, end: Index!, strides: Index!, dy")
            SLICE_ATTRS.infer(infer_slice_grad)
        .kernel("strided", run_slice_grad)
        .gradient(+[](Grad& g) -> Tensors {
          return {Tensor(), Tensor(), Tensor(), Tensor(),
                  slice_op({g.dy(), g.x(1), g.x(2), g.x(3)}, masks(g))};
        })
        .keeps("begin, end, strides");

static Tensors slice_back(Grad& g) {
  Tensor like = g.x(1);
  Tensor shape_in = g.x().shape().is_full() && like.dtype() == int64
                        ? host_ints(int64, g.x().shape().dims(), Shape{g.x().rank()})
                    : g.x().shape().is_full() ? Sizes(g.x().shape()).tensor()
                                              : shape(g.x(), like.dtype());
  // Sizes beyond int32 make an int64 vector; begin and the others follow.
  auto same = [&](const Tensor& t) { return t.dtype() == shape_in.dtype() ? t : cast(t, int64); };
  return {slice_grad_op({shape_in, same(g.x(1)), same(g.x(2)), same(g.x(3)), g.dy()}, masks(g)),
          Tensor(), Tensor(), Tensor()};
}

static const Op update_op = RAW_OP(TensorStridedSliceUpdate)
                                .doc("The input with `value` where the slice is.")
                                .inputs("input, begin: Index!, end: Index!, strides: Index!, value")
                                    SLICE_ATTRS.infer(infer_update)
                                .kernel("strided", run_update)
                                .gradient(update_back)
                                .keeps("begin, end, strides");

static Tensors update_back(Grad& g) {
  Tensor dx = update_op({g.dy(), g.x(1), g.x(2), g.x(3), zeros_like(g.x(4))}, masks(g));
  Tensor dvalue = slice_op({g.dy(), g.x(1), g.x(2), g.x(3)}, masks(g));
  return {dx, Tensor(), Tensor(), Tensor(), sum_to(dvalue, g.x(4))};
}

static const Op assign_op =
    RAW_OP(ResourceStridedSliceAssign)
        .doc("Gives a part of a variable a new value.")
        .stateful()
        .no_gradient()
        .outputs("")
        .inputs("ref: R, begin: Index!, end: Index!, strides: Index!, value")
        .resource(VariableState::kKind) SLICE_ATTRS.infer(infer_assign)
        .kernel("in place", run_assign);

}  // namespace holdfast
