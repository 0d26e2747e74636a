// Layer normalisation over the trailing axes that `scale` has.
#include <algorithm>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/ops/nn/cpu/row_table.h"
#include "holdfast/ops/normalization.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

struct LayerNormAttrs {
  Attr<double> epsilon;
};

// `x`'s leading axes, each of them a row of its own.
Shape rows_shape(const Shape& x, const Shape& scale) {
  if (!x.has_rank() || !scale.has_rank()) return Shape::unknown();
  Dims d(x.begin(), x.end() - scale.rank());
  return Shape(d);
}

// Refuses a scale that is not the end of `x`'s shape.
void check_scale(const Infer& s, int x, int scale) {
  const Shape &a = s.shape(x), &b = s.shape(scale);
  s.need_rank(scale, 1);
  if (!a.has_rank() || !b.has_rank()) return;
  bool ends = b.rank() <= a.rank();
  for (int i = 1; ends && i <= b.rank(); ++i) ends = a[-i] < 0 || b[-i] < 0 || a[-i] == b[-i];
  if (!ends) s.bad_shape(scale, cat("a shape that ends `x`'s ", a.text()));
}

// Inputs: x, scale, offset; attribute 0: epsilon. Outputs: output, mean, inverse deviation.
void infer_forward(Infer& s) {
  check_scale(s, 0, 1);
  if (!s.shape(1).compatible(s.shape(2)))
    s.bad_shape(2, cat("the shape of `scale`, ", s.shape(1).text()));
  double epsilon = s.attrs<LayerNormAttrs>().epsilon();
  if (!(epsilon >= 0)) s.bad_value("epsilon", cat(epsilon), "0 or more");
  s.output(s.dtype(), s.shape());
  Shape rows = rows_shape(s.shape(), s.shape(1));
  s.output(s.dtype(), rows);
  s.output(s.dtype(), rows);
}

const char* at(const Tensor& t, int64_t i) {
  return static_cast<const char*>(t.raw()) + i * size_of(t.dtype());
}
char* to(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.mutable_raw()) + i * size_of(t.dtype());
}

Status forward(Call& c) {
  const Tensor &x = c.in(0), &scale = c.in(1), &offset = c.in(2);
  Tensor &y = c.out(0), &mean = c.out(1), &inverse = c.out(2);
  int64_t n = scale.size();
  if (x.size() == 0) {
    for (Tensor* t : {&mean, &inverse}) std::fill_n(t->mutable_raw<char>(), t->bytes(), char{0});
    return {};
  }
  auto loop = row_loops().layers[static_cast<int>(x.dtype())].forward;
  double epsilon = c.attrs<LayerNormAttrs>().epsilon();
  parallel_for(x.size() / n, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
    loop(at(x, begin * n), scale.raw(), offset.raw(), end - begin, n, epsilon, to(y, begin * n),
         to(mean, begin), to(inverse, begin));
  });
  return {};
}

// Inputs: dy, x, scale, mean, inverse.
void infer_backward(Infer& s) {
  check_scale(s, 1, 2);
  if (!s.shape(0).compatible(s.shape(1)))
    s.bad_shape(0, cat("the shape of `x`, ", s.shape(1).text()));
  Shape rows = rows_shape(s.shape(1), s.shape(2));
  for (int i : {3, 4})
    if (!s.shape(i).compatible(rows))
      s.bad_shape(i, cat("one element for each row, ", rows.text()));
  s.output(s.dtype(), s.shape(1));
  s.output(s.dtype(), s.shape(2));
  s.output(s.dtype(), s.shape(2));
}

Status backward(Call& c) {
  const Tensor &dy = c.in(0), &x = c.in(1), &scale = c.in(2), &mean = c.in(3), &inverse = c.in(4);
  Tensor &dx = c.out(0), &dscale = c.out(1), &doffset = c.out(2);
  int64_t n = scale.size();
  if (x.size() == 0) {
    for (Tensor* t : {&dscale, &doffset}) std::fill_n(t->mutable_raw<char>(), t->bytes(), char{0});
    return {};
  }
  auto loop = row_loops().layers[static_cast<int>(x.dtype())].backward;
  // Pieces depend on sizes alone, and their sums are joined in one order.
  int64_t rows = x.size() / n, most = std::max<int64_t>(1, std::max(32768 / n, rows / 64)),
          pieces = (rows + most - 1) / most;
  Tensor partial = c.scratch(x.dtype(), {2, pieces, n});
  parallel_for(rows, most, [&](int64_t begin, int64_t end) {
    int64_t p = begin / most;
    loop(at(dy, begin * n), at(x, begin * n), scale.raw(), at(mean, begin), at(inverse, begin),
         end - begin, n, to(dx, begin * n), to(partial, p * n), to(partial, (pieces + p) * n));
  });
  int64_t axis = 0, half = pieces * n * size_of(x.dtype());
  fold(Fold::kSum, view_of(partial, {pieces, n}), {&axis, 1}, dscale);
  fold(Fold::kSum, view_of(partial, {pieces, n}, half), {&axis, 1}, doffset);
  return {};
}

// The second derivative. With xh = (x - mean) * r and P(v) = v - mean(v) - xh * mean(v * xh) along
// a row,
//   dx = r * P(scale * dy), dscale = sum of dy * xh, doffset = sum of dy over rows;
// P is symmetric; u, v, w arrive for dx, dscale, doffset.
Tensors backward_gradient(Grad& g) {
  Tensor dy = g.x(0), x = g.x(1), scale = g.x(2), u = g.dy(0), v = g.dy(1), w = g.dy(2);
  int inner = scale.rank(), rank = x.rank();
  Ints row, leading;
  for (int i = 0; i < rank; ++i) (i < rank - inner ? leading : row).push_back(i);
  auto wide = [&](Tensor t) {
    for (int i = 0; i < inner; ++i) t = expand_dims(t, -1);
    return t;
  };
  auto mean = [&](const Tensor& t) {
    return reduce_mean(t, {.axis = Sizes(row), .keepdims = true});
  };
  Tensor r = wide(g.x(4)), xh = (x - wide(g.x(3))) * r, h = scale * dy;
  auto project = [&](const Tensor& t) { return t - mean(t) - xh * mean(t * xh); };
  Tensor a = u - mean(u), b = h - mean(h), ax = mean(a * xh), bx = mean(b * xh),
         pu = r * project(u);
  Tensor f = v * dy - r * (a * bx + b * ax);
  Tensor dx = r * project(f) - r * r * xh * (mean(a * b) - ax * bx);
  return {scale * pu + v * xh + w, dx, reduce_sum(dy * pu, {.axis = Sizes(leading)}), Tensor(),
          Tensor()};
}

}  // namespace

static const Op backward_op =
    RAW_OP(LayerNormGrad)
        .inputs("dy, x, scale, mean, inverse")
        .outputs("x_backprop, scale_backprop, offset_backprop")
        .dtypes({float32, float64})
        .doc("Gradients of layer normalisation for its input, scale and offset.")
        .infer(infer_backward)
        .kernel("rows", backward)
        .gradient(backward_gradient);

static const Op forward_op =
    RAW_OP(LayerNorm)
        .inputs("x, scale, offset")
        .outputs("output, mean, inverse")
        .attr("epsilon", 0.001)
        .attrs<&LayerNormAttrs::epsilon>()
        .dtypes({float32, float64})
        .doc(
            "Rows over `scale`'s axes brought to mean 0 and variance 1, "
            "times `scale`, plus `offset`.")
        .infer(infer_forward)
        .kernel("rows", forward)
        .gradient(+[](Grad& g) -> Tensors {
          return backward_op.many({g.dy(), g.x(0), g.x(1), g.y(1), g.y(2)});
        })
        .keeps("x, scale, mean, inverse");

REGISTER(FUNCTION(&nn::layer_normalization)
             .args("x, scale, offset")
             .options<&nn::LayerNormOptions::epsilon>("epsilon")
             .python("nn.layer_normalization")
             .doc("Each row over `scale`'s axes brought to mean 0 and variance 1, times `scale`, "
                  "plus `offset`.")
             .samples("uniform(3, 5), uniform(5), uniform(5)",
                      "uniform(2, 3, 4), uniform(3, 4), uniform(3, 4), epsilon=0.1")
             .reference("(lambda a: (x - x.mean(a, keepdims=True)) / np.sqrt(x.var(a, "
                        "keepdims=True) + epsilon) * scale + offset)"
                        "(tuple(range(-scale.ndim, 0)))")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor nn::layer_normalization(const In& x, const In& scale, const In& offset,
                               const LayerNormOptions& o) {
  Tensor t = x, s = scale.tensor(t.dtype()), b = offset.tensor(t.dtype());
  bool narrow = t.dtype() == float16 || t.dtype() == bfloat16;
  if (!narrow) return forward_op({t, s, b}, {o.epsilon});
  auto wide = [](const Tensor& v) { return v.dtype() == float32 ? v : cast(v, float32); };
  return cast(forward_op({wide(t), wide(s), wide(b)}, {o.epsilon}), t.dtype());
}

}  // namespace holdfast
