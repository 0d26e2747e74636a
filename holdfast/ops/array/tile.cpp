// Repetition.
#include <algorithm>

#include "holdfast/base/checked.h"
#include "holdfast/device/device.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

void infer_tile(Infer& s) {
  s.need_rank(1, 1, 1);
  auto n = s.sizes(1);
  if (!s.shape().has_rank())
    return s.output(s.dtype(), n ? Shape::of_rank(static_cast<int>(n->size())) : Shape::unknown());
  if (!n) return s.output(s.dtype(), Shape::of_rank(s.shape().rank()));
  if (static_cast<int>(n->size()) != s.shape().rank())
    s.bad_value("multiples", sizes_text(*n), cat("one number for each axis of ", s.shape().text()));
  if (auto all = s.ints(1)) need_sizes(s, "multiples", *all);
  Shape out = s.shape();
  for (size_t i = 0; i < n->size(); ++i) {
    int64_t& d = out.dims()[i];
    if (d < 0 || (*n)[i] < 0) {
      d = kUnknown;
      continue;
    }
    auto product = checked_mul(d, (*n)[i]);
    if (!product) s.bad_value("multiples", sizes_text(*n), "a size that can be counted");
    d = *product;
  }
  s.output(s.dtype(), out);
}

Status run_tile(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  Dims n = c.ints(1), from = strides_of(x.shape()), to = strides_of(y.shape());
  if (!y.size()) return {};
  CopyAxes axes;
  for (size_t i = 0; i < n.size(); ++i) {
    int64_t d = x.dim(static_cast<int>(i));
    axes.push_back({n[i], 0, d * to[i]});
    axes.push_back({d, from[i], to[i]});
  }
  copy_strided(y.dtype(), axes, x.raw(), y.mutable_raw());
  return {};
}

// Each copy becomes an axis of its own, and the copies are summed.
Tensors tile_back(Grad& g) {
  Tensor dy = g.dy();
  const Shape& in = g.x().shape();
  Ints axes;
  for (int i = 0; i < in.rank(); ++i) axes.push_back(2 * i);
  Sizes folded;
  if (in.is_full() && !g.x(1).is_symbolic()) {
    Dims n = g.ints(1), d;
    for (int i = 0; i < in.rank(); ++i) {
      d.push_back(n[static_cast<size_t>(i)]);
      d.push_back(in[i]);
    }
    folded = d;
  } else {
    folded = Sizes(reshape(stack({g.x(1), shape(g.x(), g.x(1).dtype())}, {1}), {-1}));
  }
  return {in.rank() ? reduce_sum(reshape(dy, folded), {.axis = Sizes(axes)}) : dy, Tensor()};
}

// 0, 0, 2, 2, 2: each number as often as it is asked for.
Tensor host_rows(const Dims& repeats, int64_t total) {
  Tensor t = empty(int64, Shape{total}, cpu());
  int64_t* out = t.mutable_raw<int64_t>();
  for (size_t i = 0; i < repeats.size(); ++i)
    out = std::fill_n(out, repeats[i], static_cast<int64_t>(i));
  return t;
}

const Composition repeated(
    "repeat", 2, +[](std::span<const Tensor> in, std::optional<int64_t> axis) {
      return repeat(in[0], Sizes(in[1]), RepeatOptions{.axis = axis});
    });
Tensor repeat_later(const Tensor& t, const Tensor& repeats, const RepeatOptions& o,
                    const Shape& shape) {
  return repeated({t, repeats}, t.dtype(), shape, o.axis);
}

}  // namespace

static const Op op =
    OP(Tile, &tile)
        .args("input, multiples")
        .doc("The input repeated `multiples[i]` times along axis i.")
        .inputs("input, multiples: Tmultiples!")
        .infer(infer_tile)
        .kernel("strided", run_tile)
        .gradient(tile_back)
        .keeps("multiples")
        .rearranges()
        .samples("uniform(2, 3), [2, 1]", "uniform(3), [3]", "uniform(2, 2, 2), [1, 2, 3]",
                 "strings(2), [2]", "uniform(2), [0]")
        .reference("np.tile(input, multiples)");
Tensor tile(const In& x, const Sizes& multiples) { return op({x, multiples.tensor()}); }

REGISTER(FUNCTION(&repeat)
             .args("input, repeats")
             .options<&RepeatOptions::axis>("axis")
             .doc("Each element (or slice along `axis`) repeated, all as often or each as "
                  "`repeats` says.")
             .samples("uniform(3, 2), 2", "uniform(3, 2), 2, axis=1",
                      "uniform(3, 2), [1, 0, 3], axis=0", "strings(2), 3",
                      "uniform(2, 3), [2], axis=-1")
             .reference("np.repeat(input, repeats, axis)"));
Tensor repeat(const In& input, const Sizes& repeats, const RepeatOptions& o) {
  Tensor t = o.axis ? input.tensor() : reshape(input, {-1}), asked = repeats.tensor();
  int64_t axis = o.axis.value_or(0);
  if (!t.shape().has_rank()) return repeat_later(t, asked, o, Shape::unknown());
  if (axis < -t.rank() || axis >= t.rank())
    outside("repeat: `axis` is", axis, -t.rank(), t.rank()).check();
  if (axis < 0) axis += t.rank();
  if (!t.shape().is_full() || !is_known(asked)) {
    Shape longer = t.shape();
    longer.dims()[static_cast<size_t>(axis)] = kUnknown;
    return repeat_later(t, asked, o, longer);
  }
  Dims n = Sizes(asked).ints();
  Around a = around(t.shape(), static_cast<int>(axis));
  if (asked.rank() > 1 || (n.size() != 1 && static_cast<int64_t>(n.size()) != a.size))
    fail(Code::E1102, cat("repeat: `repeats` has shape ", asked.shape().text(),
                          ", expected one number or [", a.size, "]"));
  int64_t total = 0;
  for (int64_t r : n) {
    if (r < 0) fail(Code::E1103, cat("repeat: `repeats` holds ", r, ", expected 0 or more"));
    if (__builtin_add_overflow(total, r, &total))
      fail(Code::E1103, "repeat: `repeats` sums to more than can be counted");
  }
  if (n.size() == 1 && __builtin_mul_overflow(total, a.size, &total))
    fail(Code::E1103, "repeat: the result has more rows than can be counted");
  Dims shape(t.shape().begin(), t.shape().end());
  shape[static_cast<size_t>(axis)] = total;
  if (n.size() == 1) {
    Dims apart(t.shape().begin(), t.shape().end());
    apart.insert(static_cast<size_t>(axis) + 1, 1);
    Dims wide = apart;
    wide[static_cast<size_t>(axis) + 1] = n[0];
    return reshape(broadcast_to(reshape(t, apart), wide), shape);
  }
  if (!t.size()) return reshape(zeros_like(t), shape);
  return reshape(
      gather(reshape(t, {a.outer, a.size, a.inner}), host_rows(n, total), {.axis = Sizes(1)}),
      shape);
}

}  // namespace holdfast
