// Shapes as values.
#include "holdfast/device/device.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct ShapeAttrs {
  Attr<DType> out_type;
};
struct EnsureShapeAttrs {
  Attr<Shape> shape;
};

DType shape_dtype(const Infer& s) {
  DType d = s.attrs<ShapeAttrs>().out_type();
  if (!kIndices.has(d)) s.bad_value("out_type", name(d), "int32 or int64");
  return d;
}

Status too_large(const char* op, int64_t v) {
  return {Code::E1103, cat(op, ": ", v, " does not fit int32"),
          cat("ask for `", written(Advice::kOption, {"out_type", "int64"}), "`")};
}

bool fits(DType d, int64_t v) { return d == int64 || v == static_cast<int32_t>(v); }

// Shapes live on the host, whatever device the tensor is on.
Status run_shape(Call& c) {
  for (int i = 0; i < c.outputs(); ++i) {
    const Dims& dims = c.in(i).shape().dims();
    for (int64_t d : dims)
      if (!fits(c.out_dtype(i), d)) return too_large("Shape", d);
    c.set_out(i, host_ints(c.out_dtype(i), dims, Shape{static_cast<int64_t>(dims.size())}));
  }
  return {};
}

void infer_shape(Infer& s) {
  for (int i = 0; i < s.inputs(); ++i)
    s.output(shape_dtype(s), Shape{s.shape(i).has_rank() ? s.shape(i).rank() : kUnknown});
}

Status run_size(Call& c) {
  int64_t n = c.in().size();
  if (!fits(c.out_dtype(), n)) return too_large("Size", n);
  c.set_out(0, host_ints(c.out_dtype(), {n}, Shape{}));
  return {};
}

Status run_rank(Call& c) {
  c.set_out(0, host_ints(int32, {c.in().rank()}, Shape{}));
  return {};
}

void infer_ensure(Infer& s) {
  auto a = s.attrs<EnsureShapeAttrs>();
  auto both = s.shape().merged(a.shape());
  if (!both) s.bad_shape(0, cat("shape ", a.shape().text()));
  s.output(s.dtype(), *both);
}

void infer_broadcast_args(Infer& s) {
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1, 1);
  auto a = s.ints(0), b = s.ints(1);
  if (!a || !b) return s.output(s.dtype(), Shape{kUnknown});
  need_sizes(s, "shape_x", *a);
  need_sizes(s, "shape_y", *b);
  auto both = broadcast(Shape(*a), Shape(*b));
  if (!both)
    s.bad_value("shape_y", sizes_text(*b), cat("a shape that broadcasts with ", sizes_text(*a)));
  s.output(s.dtype(), Shape{both->rank()});
}

}  // namespace

Tensor host_ints(DType d, const Dims& values, const Shape& shape) {
  Tensor t = empty(d, shape, cpu());
  visit_indices(d, [&]<class I>(I) {
    for (int64_t v : values)
      if (v != static_cast<I>(v))
        fail(Code::E1103, cat("the size ", v, " does not fit ", name(d)),
             "sizes and indices of one call share a dtype", {manual_fix("use int64 indices")});
    for (size_t i = 0; i < values.size(); ++i) t.mutable_raw<I>()[i] = static_cast<I>(values[i]);
  });
  return t;
}

static const Op shape_op = OP(Shape, &shape)
                               .args("input, out_type")
                               .doc("The shape as an integer vector.")
                               .inputs("input")
                               .attr("out_type", int32)
                               .attrs<&ShapeAttrs::out_type>()
                               .of_shape(OfShape::kShape)
                               .no_gradient()
                               .infer(infer_shape)
                               .kernel("host", run_shape)
                               .kernel_for(DeviceKind::kCuda, "host", run_shape)
                               .samples("uniform(3, 4)", "uniform(3, 0), tf.int64", "uniform()")
                               .reference("np.array(np.shape(input))");
Tensor shape(const In& x, std::optional<DType> out) { return shape_op({x}, {out.value_or(int32)}); }

static const Op shape_n_op = OP(ShapeN, &shape_n)
                                 .args("input, out_type")
                                 .doc("The shapes of several tensors.")
                                 .inputs("input*")
                                 .attr("out_type", int32)
                                 .attrs<&ShapeAttrs::out_type>()
                                 .of_shape(OfShape::kShape)
                                 .no_gradient()
                                 .infer(infer_shape)
                                 .kernel("host", run_shape)
                                 .kernel_for(DeviceKind::kCuda, "host", run_shape)
                                 .samples("[uniform(3, 4), uniform(2)]")
                                 .reference("[np.array(np.shape(x)) for x in input]");
Tensors shape_n(const Ins& x, std::optional<DType> out) {
  return shape_n_op.list(x.tensors(), {out.value_or(int32)});
}

static const Op size_op = OP(Size, &size)
                              .args("input, out_type")
                              .doc("The number of elements.")
                              .inputs("input")
                              .attr("out_type", int32)
                              .attrs<&ShapeAttrs::out_type>()
                              .of_shape(OfShape::kSize)
                              .no_gradient()
                              .infer(+[](Infer& s) { s.output(shape_dtype(s), Shape{}); })
                              .kernel("host", run_size)
                              .kernel_for(DeviceKind::kCuda, "host", run_size)
                              .samples("uniform(3, 4)", "uniform(3, 0)")
                              .reference("np.size(input)");
Tensor size(const In& x, std::optional<DType> out) { return size_op({x}, {out.value_or(int32)}); }

static const Op rank_op = OP(Rank, &rank)
                              .args("input")
                              .doc("The number of axes.")
                              .of_shape(OfShape::kRank)
                              .no_gradient()
                              .infer(+[](Infer& s) { s.output(int32, Shape{}); })
                              .kernel("host", run_rank)
                              .kernel_for(DeviceKind::kCuda, "host", run_rank)
                              .samples("uniform(3, 4)", "uniform()")
                              .reference("np.ndim(input)");
Tensor rank(const In& x) { return rank_op(x); }

static const Op ensure_op =
    OP(EnsureShape, &ensure_shape)
        .args("x, shape")
        .doc("The input, which must have `shape`; None stands for any size.")
        .inputs("input")
        .attr("shape")
        .attrs<&EnsureShapeAttrs::shape>()
        .view()
        .infer(infer_ensure)
        .kernel("view", run_view)
        .kernel_for(DeviceKind::kCuda, "view", run_view)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy()}; })
        .keeps("")
        .rearranges()
        .samples("uniform(3, 4), [3, None]")
        .reference("x");
Tensor ensure_shape(const In& x, const Shape& shape) { return ensure_op({x}, {shape}); }

static const Op broadcast_args_op =
    OP(BroadcastArgs, &broadcast_dynamic_shape)
        .args("shape_x, shape_y")
        .doc("The shape that elementwise ops over the two shapes give.")
        .inputs("s0: T!, s1: T!")
        .no_gradient()
        .infer(infer_broadcast_args)
        .kernel(
            "host",
            +[](Call& c) -> Status {
              auto both = broadcast(Shape(c.ints(0)), Shape(c.ints(1)));
              c.set_out(0, host_ints(c.out_dtype(), both->dims(), Shape{both->rank()}));
              return {};
            })
        .samples("[3, 1], [4]")
        .reference("np.array(np.broadcast_shapes(tuple(shape_x), tuple(shape_y)))");
Tensor broadcast_dynamic_shape(const In& a, const In& b) { return broadcast_args_op({a, b}); }

Shape broadcast_static_shape(const Shape& a, const Shape& b) {
  auto both = broadcast(a, b);
  if (!both)
    fail(Code::E1102,
         cat("broadcast_static_shape: shapes ", a.text(), " and ", b.text(), " do not broadcast"));
  return *both;
}

Sizes shape_of(const Tensor& t) {
  if (t.shape().is_full()) {
    if (t.is_symbolic()) went_by_sizes(t);
    return Sizes(t.shape());
  }
  return Sizes(shape(t));
}

}  // namespace holdfast
