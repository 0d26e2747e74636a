// Joining along an axis that exists (concat) or a new one (stack), and taking apart again.
#include <algorithm>

#include "holdfast/base/checked.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct PackAttrs {
  Attr<int64_t> axis;
};

// The raw op's list must come last, so the axis comes first.
// The axis along which inputs from `first` on could be joined, if there is just one; else -1.
int joins_along(const Infer& s, int first) {
  int found = -1;
  for (int axis = 0; axis < s.shape(first).rank(); ++axis) {
    bool fits = true;
    for (int i = first + 1; fits && i < s.inputs(); ++i) {
      if (s.shape(i).rank() != s.shape(first).rank()) return -1;
      Shape rest = s.shape(i);
      rest.dims()[static_cast<size_t>(axis)] = s.shape(first)[axis];
      fits = s.shape(first).merged(rest).has_value();
    }
    if (fits && found >= 0) return -1;
    if (fits) found = axis;
  }
  return found;
}

// For an input that fits the first one along another axis only.
std::vector<Fix> other_axis(const Infer& s, int input) {
  int axis = joins_along(s, 1);
  if (axis < 0) return {};
  Tensors all;
  for (int i = 0; i < s.inputs(); ++i) all.push_back(s.input(i));
  return {manual_fix(cat("join `", operand_source(s.op(), all, 1).text, "` and `",
                         operand_source(s.op(), all, input).text, "` along axis ", axis,
                         ": their sizes agree on all others"))};
}

std::vector<Fix> joined(const Infer& s) {
  int axis = joins_along(s, 0);
  if (axis < 0) return {};
  return {manual_fix(cat("`concat` along axis ", axis, ": their sizes agree on all others"))};
}

void infer_concat(Infer& s) {
  if (s.inputs() < 2) s.bad_value("values", "no tensor", "one or more");
  auto axes = s.ints(0);
  if (s.shape(0).elements().value_or(1) != 1) s.bad_shape(0, "one axis");
  Shape out = s.shape(1);
  for (int i = 2; i < s.inputs() && !out.has_rank(); ++i) out = s.shape(i);
  if (!out.has_rank()) return s.output(s.dtype(1), Shape::unknown());
  if (out.rank() == 0) s.bad_shape(1, "rank 1 or more: scalars are joined by stack");
  if (!axes) return s.output(s.dtype(1), Shape::of_rank(out.rank()));
  int axis = axis_of_rank(s, (*axes)[0], out.rank());
  int64_t total = 0;
  for (int i = 1; i < s.inputs(); ++i) {
    if (!s.shape(i).has_rank()) {
      total = kUnknown;
      continue;
    }
    if (s.shape(i).rank() != out.rank())
      s.bad_shape(i, cat("rank ", out.rank(), ", that of the others"));
    int64_t d = s.shape(i)[axis];
    auto sum = checked_add(total, d);
    if (!sum) s.bad_shape(i, "sizes whose sum can be counted");
    total = total < 0 || d < 0 ? kUnknown : *sum;
    Shape rest = s.shape(i);
    rest.dims()[static_cast<size_t>(axis)] = out[axis];
    auto both = out.merged(rest);
    if (!both)
      s.bad_shape(i, cat("sizes as in ", out.text(), " on all axes but ", axis), other_axis(s, i));
    out = *both;
  }
  out.dims()[static_cast<size_t>(axis)] = total;
  s.output(s.dtype(1), out);
}

Status run_concat(Call& c) {
  Tensor& y = c.out();
  int64_t axis = c.ints(0)[0];
  Around a = around(y.shape(), static_cast<int>(axis < 0 ? axis + y.rank() : axis));
  int64_t at = 0;
  for (int i = 1; i < c.inputs() && a.outer; ++i) {
    int64_t run = c.in(i).size() / a.outer;
    copy_strided(y.dtype(), {{a.outer, run, a.size * a.inner}, {run, 1, 1}}, c.in(i).raw(),
                 element(y.mutable_raw(), y.dtype(), at));
    at += run;
  }
  return {};
}

Tensors concat_back(Grad& g) {
  Tensors out(static_cast<size_t>(g.inputs()));
  Tensor dy = g.dy();
  int64_t given = g.ints(0)[0];
  auto axis = static_cast<int>(given < 0 ? given + g.x(1).rank() : given);
  bool sized = true;
  for (int i = 1; i < g.inputs(); ++i) sized = sized && g.x(i).shape()[axis] >= 0;
  Sizes sizes;
  if (sized) {
    Dims d;
    for (int i = 1; i < g.inputs(); ++i) d.push_back(g.x(i).shape()[axis]);
    sizes = d;
  } else {
    std::vector<Tensor> d;
    for (int i = 1; i < g.inputs(); ++i)
      d.push_back(index(shape(g.x(i)), {{.kind = IndexItem::kInt, .start = axis}}));
    sizes = Sizes(stack(d));
  }
  Tensors parts = split(dy, sizes, {.axis = axis, .num = g.inputs() - 1});
  for (int i = 1; i < g.inputs(); ++i)
    out[static_cast<size_t>(i)] = parts[static_cast<size_t>(i - 1)];
  return out;
}

void infer_pack(Infer& s) {
  if (s.inputs() < 1) s.bad_value("values", "no tensor", "one or more");
  Shape out = s.shape(0);
  for (int i = 1; i < s.inputs(); ++i) {
    auto both = out.merged(s.shape(i));
    if (!both) s.bad_shape(i, cat("shape ", out.text(), ", that of the others"), joined(s));
    out = *both;
  }
  if (!out.has_rank()) return s.output(s.dtype(), out);
  out.dims().insert(
      static_cast<size_t>(axis_of_rank(s, s.attrs<PackAttrs>().axis(), out.rank() + 1)),
      s.inputs());
  s.output(s.dtype(), out);
}

Status run_pack(Call& c) {
  Tensor& y = c.out();
  int64_t axis = c.attrs<PackAttrs>().axis();
  Around a = around(y.shape(), static_cast<int>(axis < 0 ? axis + y.rank() : axis));
  for (int i = 0; i < c.inputs(); ++i)
    copy_strided(y.dtype(), {{a.outer, a.inner, a.size * a.inner}, {a.inner, 1, 1}}, c.in(i).raw(),
                 element(y.mutable_raw(), y.dtype(), i * a.inner));
  return {};
}

}  // namespace

static const Op concat_op =
    OP(ConcatV2, &concat)
        .args("values&, axis")
        .doc("The values one after another along `axis`.")
        .inputs("axis: Tidx!, values*")
        .infer(infer_concat)
        .kernel("runs", run_concat)
        .gradient(concat_back)
        .keeps("axis")
        .rearranges()
        .samples("[uniform(2, 3), uniform(4, 3)], 0",
                 "[uniform(2, 3), uniform(2, 1), uniform(2, 0)], -1", "[strings(2), strings(3)], 0")
        .reference("np.concatenate(values, axis)");
Tensor concat(const Ins& values, const Sizes& axis) {
  Tensors in = values.tensors();
  if (in.size() == 1) return identity(in[0]);  // also of a scalar, as in TensorFlow
  in.insert(0, axis.tensor());
  return concat_op.list(in)[0];
}

static const Op pack_op =
    OP(Pack, &stack)
        .args("values")
        .options<&AxisOptions::axis>("axis")
        .doc("The values side by side along a new axis.")
        .inputs("values*")
        .attr("axis", 0)
        .attrs<&PackAttrs::axis>()
        .infer(infer_pack)
        .kernel("runs", run_pack)
        .gradient(+[](Grad& g) -> Tensors {
          return unstack(g.dy(), {.num = g.inputs(), .axis = g.attrs<PackAttrs>().axis()});
        })
        .keeps("")
        .rearranges()
        .samples("[uniform(2, 3), uniform(2, 3)]", "[uniform(2, 3), uniform(2, 3)], axis=-1",
                 "[uniform(), uniform()]", "[strings(2), strings(2)], 1")
        .reference("np.stack(values, axis)");
// Sizes side by side have one shape: what one says of it is true of the others, and shape rules can
// follow sizes of which only some are numbers.
static void share_shape(Tensors& all) {
  if (all.empty() || !kIndices.has(all[0].dtype())) return;
  Shape whole = Shape::unknown();
  for (const Tensor& t : all) {
    auto both = whole.merged(t.shape());
    if (!both) return;  // the op says so
    whole = *both;
  }
  if (!whole.is_full()) return;
  for (Tensor& t : all)
    if (!t.shape().is_full()) t = ensure_shape(t, whole);
}

Tensor stack(const Ins& values, const AxisOptions& o) {
  Tensors all = values.tensors();
  share_shape(all);
  return pack_op.list(all, {o.axis})[0];
}

REGISTER(FUNCTION(&parallel_stack)
             .args("values")
             .doc("The values side by side along a new first axis.")
             .samples("[uniform(2, 3), uniform(2, 3)]")
             .reference("np.stack(values)"));
Tensor parallel_stack(const Ins& values) { return stack(values); }

}  // namespace holdfast
