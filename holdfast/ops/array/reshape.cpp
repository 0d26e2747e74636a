// Views of the same elements in another shape.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"

namespace holdfast {
namespace {

struct SqueezeAttrs {
  Attr<Ints> squeeze_dims;
};

// Some sizes are numbers that only the running program knows; a single one of them follows from the
// others.
Shape partly_known(const Infer& s) {
  if (s.shape(1).rank() == 0) return Shape{kUnknown};
  auto sizes = s.sizes(1);
  if (!sizes) return Shape::unknown();
  int64_t known = 1, open = 0, at = 0;
  for (size_t i = 0; i < sizes->size(); ++i) {
    int64_t d = (*sizes)[i];
    if (d < 0) {
      ++open;
      at = static_cast<int64_t>(i);
      (*sizes)[i] = kUnknown;
    } else if (__builtin_mul_overflow(known, d, &known))
      return Shape(*sizes);
  }
  auto have = s.shape().elements();
  if (have && open == 1 && known > 0 && *have % known == 0)
    (*sizes)[static_cast<size_t>(at)] = *have / known;
  return Shape(*sizes);
}

// The shape with its first size left open that then follows from the others.
std::vector<Fix> open_size(Dims want, int64_t have) {
  for (size_t i = 0; i < want.size(); ++i) {
    int64_t others = 1;
    bool plain = true;
    for (size_t j = 0; j < want.size(); ++j)
      if (j != i) plain = plain && want[j] > 0 && !__builtin_mul_overflow(others, want[j], &others);
    if (!plain || want[i] <= 0 || have % others != 0) continue;
    want[i] = -1;
    Fix fix = manual_fix(cat("`", written(want), "` fits: the -1 becomes ", have / others));
    fix.argument = "shape";
    return {fix};
  }
  return {};
}

// A size is 0 and another open. All elements are none then, so the open one is what the sizes other
// than 0 leave of those that the tensor has: [0, 6] as [0, -1, 3] is [0, 2, 3].
void infer_beside_zero(Infer& s, Dims want, size_t open, int64_t known) {
  if (auto have = s.shape().elements(); have && *have != 0)
    s.bad_shape(0, cat("no elements for shape ", sizes_text(want)));
  if (!s.shape().is_full()) return s.output(s.dtype(), Shape(want));
  int64_t filled = 1;
  for (int64_t d : s.shape())
    if (d > 0 && __builtin_mul_overflow(filled, d, &filled))
      s.bad_shape(0, "sizes whose product can be counted");
  want[open] = filled / known;
  s.output(s.dtype(), Shape(want));
}

void infer_reshape(Infer& s) {
  s.need_rank(1, 0, 1);  // a bare number stands for one size
  auto want = s.ints(1);
  if (!want) return s.output(s.dtype(), partly_known(s));
  int64_t known = 1, open = -1;
  bool zero = false;
  for (size_t i = 0; i < want->size(); ++i) {
    int64_t d = (*want)[i];
    if (d < -1) s.bad_value("shape", sizes_text(*want), "sizes of 0 or more, and at most one -1");
    if (d == -1 && open >= 0) s.bad_value("shape", sizes_text(*want), "at most one -1");
    if (d == -1) open = static_cast<int64_t>(i);
    zero = zero || d == 0;
  }
  for (int64_t d : *want)
    if (d > 0 && __builtin_mul_overflow(known, d, &known) && (!zero || open >= 0))
      s.bad_value("shape", sizes_text(*want), "a product that can be counted");
  if (zero && open >= 0) return infer_beside_zero(s, *want, static_cast<size_t>(open), known);
  if (zero) known = 0;
  auto elements = s.shape().elements();
  if (!elements) return s.output(s.dtype(), Shape(*want));
  int64_t have = *elements;
  bool fits = open < 0 ? known == have : have % known == 0;
  if (!fits)
    s.bad_shape(
        0, cat(open < 0 ? "" : "a multiple of ", known, " elements for shape ", sizes_text(*want)),
        open_size(*want, have));
  if (open >= 0) (*want)[static_cast<size_t>(open)] = have / known;
  s.output(s.dtype(), Shape(*want));
}

void infer_squeeze(Infer& s) {
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  const Ints& given = s.attrs<SqueezeAttrs>().squeeze_dims();
  Dims drop(static_cast<size_t>(s.shape().rank()), 0), out;
  for (int64_t a : given) {
    int axis = s.axis(a, 0);
    if (s.shape()[axis] > 1 || s.shape()[axis] == 0)
      s.bad_value("axis", cat(a),
                  cat("an axis of size 1: axis ", axis, " has size ", s.shape()[axis]));
    drop[static_cast<size_t>(axis)] = 1;
  }
  for (int i = 0; i < s.shape().rank(); ++i) {
    if (given.empty() && s.shape()[i] < 0) return s.output(s.dtype(), Shape::unknown());
    bool gone = given.empty() ? s.shape()[i] == 1 : drop[static_cast<size_t>(i)] != 0;
    if (!gone) out.push_back(s.shape()[i]);
  }
  s.output(s.dtype(), Shape(out));
}

void infer_expand_dims(Infer& s) {
  auto given = s.ints(1);
  if (s.shape(1).elements().value_or(1) != 1) s.bad_shape(1, "one axis");
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  if (!given) return s.output(s.dtype(), Shape::of_rank(s.shape().rank() + 1));
  Shape out = s.shape();
  out.dims().insert(static_cast<size_t>(s.axis((*given)[0], 0, "axis", 1)), 1);
  s.output(s.dtype(), out);
}

Tensors reshape_back(Grad& g) { return {reshape(g.dy(), shape_of(g.x())), Tensor()}; }

}  // namespace

static const Op reshape_op =
    OP(Reshape, &reshape)
        .args("tensor, shape")
        .doc("The same elements in another shape; one dimension may be -1.")
        .inputs("tensor, shape: Tshape!")
        .view()
        .reshapes()
        .infer(infer_reshape)
        .kernel("view", run_view)
        .kernel_for(DeviceKind::kCuda, "view", run_view)
        .gradient(reshape_back)
        .keeps("")
        .rearranges()
        .samples("uniform(3, 4), [4, 3]", "uniform(2, 6), [-1, 3]", "uniform(1), []",
                 "strings(4), [2, 2]", "uniform(0, 3), [3, 0]")
        .reference("np.reshape(tensor, shape)");
Tensor reshape(const In& t, const Sizes& shape) { return reshape_op({t, shape.tensor()}); }

static const Op squeeze_op =
    OP(Squeeze, &squeeze)
        .args("input")
        .options<&SqueezeOptions::axis>("axis")
        .doc("Without axes of size 1.")
        .inputs("input")
        .attr("squeeze_dims", Ints{})
        .attrs<&SqueezeAttrs::squeeze_dims>()
        .view()
        .reshapes()
        .infer(infer_squeeze)
        .kernel("view", run_view)
        .kernel_for(DeviceKind::kCuda, "view", run_view)
        .gradient(+[](Grad& g) -> Tensors { return {reshape(g.dy(), shape_of(g.x()))}; })
        .keeps("")
        .rearranges()
        .samples("uniform(1, 3, 1)", "uniform(1, 3, 1), axis=[0]", "uniform(1, 3, 1), axis=-1")
        .reference("np.squeeze(input, axis=None if axis is None else tuple(np.atleast_1d(axis)))");
Tensor squeeze(const In& x, const SqueezeOptions& o) {
  Dims axes = o.axis ? known_numbers(*o.axis, "squeeze", "axis") : Dims();
  return squeeze_op({x}, {Ints(axes.begin(), axes.end())});
}

static const Op expand_op =
    OP(ExpandDims, &expand_dims)
        .args("input, axis")
        .doc("With a new axis of size 1 at `axis`.")
        .inputs("input, axis: Tdim!")
        .view()
        .reshapes()
        .infer(infer_expand_dims)
        .kernel("view", run_view)
        .kernel_for(DeviceKind::kCuda, "view", run_view)
        .gradient(reshape_back)
        .keeps("")
        .rearranges()
        .samples("uniform(3, 4), 0", "uniform(3, 4), -1", "uniform(3, 4), 1")
        .reference("np.expand_dims(input, axis)");
Tensor expand_dims(const In& x, const Sizes& axis) { return expand_op({x, axis.tensor()}); }

}  // namespace holdfast
