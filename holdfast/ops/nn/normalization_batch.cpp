// Fused batch normalisation. 16-bit floats are computed in float32, with float32 scale and
// statistics.
#include <algorithm>
#include <cmath>
#include <limits>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/fold.h"
#include "holdfast/ops/nn/cpu/row_table.h"
#include "holdfast/ops/normalization.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct BatchNormAttrs {
  Attr<double> epsilon;
  Attr<double> exponential_avg_factor;
  Attr<std::string> data_format;
  Attr<bool> is_training;
};
struct BatchNormGradAttrs {
  Attr<double> epsilon;
  Attr<std::string> data_format;
  Attr<bool> is_training;
};

// -- layout

bool channels_first(const std::string& format) { return format == "NCHW" || format == "NCDHW"; }

// The axis of channels; refuses formats and ranks there are none of.
int channel_axis(const Infer& s, const std::string& format, int input) {
  bool flat = format == "NHWC" || format == "NCHW", deep = format == "NDHWC" || format == "NCDHW";
  if (!flat && !deep)
    s.bad_value("data_format", cat("'", format, "'"), "'NHWC', 'NCHW', 'NDHWC' or 'NCDHW'");
  s.need_rank(input, flat ? 4 : 5, flat ? 4 : 5);
  return channels_first(format) ? 1 : flat ? 3 : 4;
}

// What statistics are kept in.
DType statistics_of(DType x) { return x == float64 ? float64 : float32; }

struct Layout {
  int64_t outer = 1, channels, inner = 1, each;  // each: elements per channel

  Layout(const Tensor& x, const std::string& format) {
    int axis = channels_first(format) ? 1 : x.rank() - 1;
    channels = x.dim(axis);
    for (int i = 0; i < x.rank(); ++i)
      if (i != axis) (i < axis ? outer : inner) *= x.dim(i);
    each = outer * inner;
  }
  // How many of the outer rows are worth a thread.
  int64_t worth() const {
    return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, channels * inner));
  }
  // How many of them are added up in one go: few enough for accurate sums.
  int64_t rows() const { return std::min<int64_t>(64, worth()); }
};

Tensor convert(const Tensor& t, DType d) {
  if (t.dtype() == d) return t;
  Tensor out = empty(d, t.shape(), cpu());
  visit_floats(t.dtype(), [&]<class A>(A) {
    visit_floats(d, [&]<class B>(B) {
      for (int64_t i = 0, n = t.size(); i < n; ++i)
        out.mutable_raw<B>()[i] = static_cast<B>(static_cast<float_of<A>>(t.raw<A>()[i]));
    });
  });
  return out;
}

const char* at(const Tensor& t, int64_t element) {
  return static_cast<const char*>(t.raw()) + element * size_of(t.dtype());
}
char* at(Tensor& t, int64_t element) {
  return static_cast<char*>(t.mutable_raw()) + element * size_of(t.dtype());
}

// Sums over pieces of the outer axis, joined in one order: f(first row, rows, where its sums go).
template <class F>
Tensor sum_pieces(const Layout& l, DType d, int64_t sums, F&& f) {
  int64_t rows = l.rows(), pieces = (l.outer + rows - 1) / rows;
  Tensor partial = empty(d, {pieces, sums}, cpu()), total = empty(d, {sums}, cpu());
  parallel_for(pieces, (l.worth() + rows - 1) / rows, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      f(p * rows, std::min(rows, l.outer - p * rows), at(partial, p * sums));
  });
  int64_t axis = 0;
  fold(Fold::kSum, partial, {&axis, 1}, total);
  return total;
}

template <class F>
void each_piece(const Layout& l, F&& f) {
  parallel_for(l.outer, l.worth(), [&](int64_t begin, int64_t end) { f(begin, end - begin); });
}

// -- forward: inputs x, scale, offset, mean, variance; attributes epsilon, exponential_avg_factor,
// data_format, is_training

void infer_forward(Infer& s) {
  auto a = s.attrs<BatchNormAttrs>();
  int axis = channel_axis(s, a.data_format(), 0);
  double epsilon = a.epsilon();
  if (!(epsilon >= 0)) s.bad_value("epsilon", cat(epsilon), "0 or more");
  DType u = statistics_of(s.dtype());
  const Shape& x = s.shape();
  int64_t channels = x.has_rank() ? x[axis] : kUnknown;
  bool training = a.is_training(), averages = a.exponential_avg_factor() != 1;
  for (int i = 1; i < 5; ++i) {
    s.need_rank(i, 1, 1);
    if (s.dtype(i) != u) s.bad_dtype(i, cat(name(u), " beside an `x` of ", name(s.dtype())));
    bool unused = i >= 3 && training && !averages;
    int64_t n = s.shape(i).has_rank() ? s.shape(i)[0] : kUnknown;
    if (n >= 0 && channels >= 0 && n != channels && !(unused && n == 0))
      s.bad_shape(i, cat("one element for each of the ", channels, " channels of `x`"));
  }
  s.output(s.dtype(), x);
  for (int i = 0; i < 4; ++i) s.output(u, Shape{channels});
  s.output(u, Shape{0});
}

template <class W>
void run_forward(Call& c, const Layout& l, const Tensor& x, Tensor& y) {
  auto a = c.attrs<BatchNormAttrs>();
  DType d = dtype_of<W>;
  const ChannelLoops& loops = row_loops().channels[static_cast<int>(d)];
  bool training = a.is_training();
  auto epsilon = static_cast<W>(a.epsilon()), factor = static_cast<W>(a.exponential_avg_factor());
  Tensor &mean_out = c.out(1), &variance_out = c.out(2), &mean = c.out(3), &variance = c.out(4);
  c.out(5);
  Tensor scale = empty(d, {l.channels}, cpu());
  auto values = [](const Tensor& t) { return t.mutable_raw<W>(); };
  if (training && l.each > 0) {
    Shape cube{l.outer, l.channels, l.inner};
    int64_t axes[] = {0, 2};
    fold(Fold::kMean, view_of(x, cube), axes, mean);
    Tensor squares = sum_pieces(l, d, l.channels, [&](int64_t first, int64_t rows, void* to) {
      loops.squares(at(x, first * l.channels * l.inner), mean.raw(), rows, l.channels, l.inner, to);
    });
    for (int64_t k = 0; k < l.channels; ++k)
      values(variance)[k] = values(squares)[k] / static_cast<W>(l.each);
  }
  W unbiased = l.each > 1 ? static_cast<W>(l.each) / static_cast<W>(l.each - 1) : W(1);
  for (int64_t k = 0; k < l.channels; ++k) {
    if (!training) {
      values(mean_out)[k] = values(mean)[k] = c.in(3).raw<W>()[k];
      values(variance_out)[k] = values(variance)[k] = c.in(4).raw<W>()[k];
    } else if (l.each == 0) {
      values(mean)[k] = values(variance)[k] = W(0);
      values(mean_out)[k] = values(variance_out)[k] = std::numeric_limits<W>::quiet_NaN();
    } else {
      values(mean_out)[k] = values(mean)[k];
      values(variance_out)[k] = values(variance)[k] * unbiased;
      if (factor != W(1)) {
        values(mean_out)[k] = (1 - factor) * c.in(3).raw<W>()[k] + factor * values(mean_out)[k];
        values(variance_out)[k] =
            (1 - factor) * c.in(4).raw<W>()[k] + factor * values(variance_out)[k];
      }
    }
    values(scale)[k] = c.in(1).raw<W>()[k] / std::sqrt(values(variance)[k] + epsilon);
  }
  each_piece(l, [&](int64_t first, int64_t rows) {
    int64_t from = first * l.channels * l.inner;
    loops.apply(at(x, from), mean.raw(), scale.raw(), c.in(2).raw(), rows, l.channels, l.inner,
                at(y, from));
  });
}

Status forward(Call& c) {
  const Tensor& x = c.in();
  Layout l(x, c.attrs<BatchNormAttrs>().data_format());
  DType d = statistics_of(x.dtype());
  Tensor wide = convert(x, d), y = x.dtype() == d ? c.out() : empty(d, x.shape(), cpu());
  d == float64 ? run_forward<double>(c, l, wide, y) : run_forward<float>(c, l, wide, y);
  if (x.dtype() != d) c.set_out(0, convert(y, x.dtype()));
  return {};
}

// -- backward: inputs y_backprop, x, scale, reserve_space_1 (mean), reserve_space_2 (variance),
// reserve_space_3; attributes epsilon, data_format, is_training

void infer_backward(Infer& s) {
  int axis = channel_axis(s, s.attrs<BatchNormGradAttrs>().data_format(), 1);
  const Shape &dy = s.shape(0), &x = s.shape(1);
  if (!dy.compatible(x)) s.bad_shape(0, cat("the shape of `x`, ", x.text()));
  DType u = statistics_of(s.dtype(1));
  int64_t channels = x.has_rank() ? x[axis] : kUnknown;
  for (int i = 2; i < 5; ++i) {
    s.need_rank(i, 1, 1);
    if (s.dtype(i) != u) s.bad_dtype(i, cat(name(u), " beside an `x` of ", name(s.dtype(1))));
    int64_t n = s.shape(i).has_rank() ? s.shape(i)[0] : kUnknown;
    if (n >= 0 && channels >= 0 && n != channels)
      s.bad_shape(i, cat("one element for each of the ", channels, " channels of `x`"));
  }
  s.output(s.dtype(1), x);
  s.output(u, Shape{channels});
  s.output(u, Shape{channels});
  s.output(u, Shape{0});
  s.output(u, Shape{0});
}

template <class W>
void run_backward(Call& c, const Layout& l, const Tensor& dy, const Tensor& x, Tensor& dx) {
  auto attrs = c.attrs<BatchNormGradAttrs>();
  DType d = dtype_of<W>;
  const ChannelLoops& loops = row_loops().channels[static_cast<int>(d)];
  bool training = attrs.is_training();
  auto epsilon = static_cast<W>(attrs.epsilon());
  const Tensor &mean = c.in(3), &variance = c.in(4);
  int64_t n = l.channels;
  Tensor sums = sum_pieces(l, d, 2 * n, [&](int64_t first, int64_t rows, char* to) {
    int64_t from = first * n * l.inner;
    loops.gradient_sums(at(dy, from), at(x, from), mean.raw(), rows, n, l.inner, to,
                        to + n * size_of(d));
  });
  Tensor factors = empty(d, {3, n}, cpu());
  W *a = factors.mutable_raw<W>(), *b = a + n, *scale = b + n;
  const W *sum = sums.raw<W>(), *product = sum + n;
  for (int64_t k = 0; k < n; ++k) {
    W inverse = W(1) / std::sqrt(variance.raw<W>()[k] + epsilon),
      each = static_cast<W>(std::max<int64_t>(1, l.each));
    c.out(1).mutable_raw<W>()[k] = product[k] * inverse;
    c.out(2).mutable_raw<W>()[k] = sum[k];
    a[k] = training ? sum[k] / each : W(0);
    b[k] = training ? product[k] / each * inverse * inverse : W(0);
    scale[k] = c.in(2).raw<W>()[k] * inverse;
  }
  each_piece(l, [&](int64_t first, int64_t rows) {
    int64_t from = first * n * l.inner;
    loops.gradient(at(dy, from), at(x, from), mean.raw(), a, b, scale, rows, n, l.inner,
                   at(dx, from));
  });
  c.out(1), c.out(2), c.out(3), c.out(4);
}

Status backward(Call& c) {
  const Tensor& x = c.in(1);
  Layout l(x, c.attrs<BatchNormGradAttrs>().data_format());
  DType d = statistics_of(x.dtype());
  Tensor dx = x.dtype() == d ? c.out() : empty(d, x.shape(), cpu());
  Tensor dy = convert(c.in(0), d), wide = convert(x, d);
  d == float64 ? run_backward<double>(c, l, dy, wide, dx) : run_backward<float>(c, l, dy, wide, dx);
  if (x.dtype() != d) c.set_out(0, convert(dx, x.dtype()));
  return {};
}

// The second derivative. With n elements a channel, xh = (x - mean) * r and
// P(v) = v - mean(v) - xh * mean(v * xh), the op above is
//   dx = scale * r * P(dy), dscale = sum(dy * xh), doffset = sum(dy)
// and P is symmetric; u, v, w arrive for dx, dscale, doffset.
Tensors backward_gradient(Grad& g) {
  auto attrs = g.attrs<BatchNormGradAttrs>();
  const std::string& format = attrs.data_format();
  bool training = attrs.is_training();
  DType d = g.x(2).dtype();
  auto wide = [&](const Tensor& t) { return t.dtype() == d ? t : cast(t, d); };
  auto narrow = [&](const Tensor& t) {
    return t.dtype() == g.x(1).dtype() ? t : cast(t, g.x(1).dtype());
  };
  Tensor dy = wide(g.x(0)), x = wide(g.x(1));
  int rank = x.rank(), axis = channels_first(format) ? 1 : rank - 1;
  Ints others, across(static_cast<size_t>(rank), 1);
  across[static_cast<size_t>(axis)] = -1;
  for (int i = 0; i < rank; ++i)
    if (i != axis) others.push_back(i);
  auto along = [&](const Tensor& v) { return reshape(v, Sizes(across)); };
  auto mean = [&](const Tensor& t) {
    return reduce_mean(t, {.axis = Sizes(others), .keepdims = true});
  };
  auto sum = [&](const Tensor& t) { return reduce_sum(t, {.axis = Sizes(others)}); };

  Tensor r = along(rsqrt(g.x(4) + attrs.epsilon())), xh = (x - along(g.x(3))) * r,
         scale = along(g.x(2));
  Tensor u = wide(g.dy(0)), v = along(g.dy(1)), w = along(g.dy(2));
  Tensor dx, ddy, dscale;
  if (!training) {
    ddy = u * scale * r + v * xh + w;
    dx = v * dy * r;
    dscale = sum(u * dy * r);
  } else {
    auto project = [&](const Tensor& t) { return t - mean(t) - xh * mean(t * xh); };
    Tensor a = u - mean(u), b = dy - mean(dy), ax = mean(a * xh), bx = mean(b * xh);
    ddy = scale * r * project(u) + v * xh + w;
    dscale = sum(u * r * project(dy));
    Tensor f = v * b - scale * r * (a * bx + b * ax);
    dx = r * project(f) - scale * r * r * xh * (mean(a * b) - ax * bx);
  }
  return {narrow(ddy), narrow(dx), dscale, Tensor(), Tensor(), Tensor()};
}

}  // namespace

static const Op backward_op =
    RAW_OP(FusedBatchNormGradV3)
        .inputs(
            "y_backprop, x, scale: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U")
        .outputs("x_backprop, scale_backprop, offset_backprop, reserve_space_4, reserve_space_5")
        .attr("epsilon", 0.0001)
        .attr("data_format", "NHWC")
        .attr("is_training", true)
        .attrs<&BatchNormGradAttrs::epsilon, &BatchNormGradAttrs::data_format,
               &BatchNormGradAttrs::is_training>()
        .dtypes(kFloats)
        .dtypes({float32, float64}, "U")
        .doc("Gradients of fused batch normalisation for its input, scale and offset.")
        .images({.inputs = 0b11, .gives = true})
        .infer(infer_backward)
        .kernel("channels", backward)
        .gradient(backward_gradient)
        .keeps("y_backprop, x, scale, reserve_space_1, reserve_space_2");

static const Op forward_op =
    RAW_OP(FusedBatchNormV3)
        .inputs("x, scale: U, offset: U, mean: U, variance: U")
        .outputs("y, batch_mean, batch_variance, reserve_space_1, reserve_space_2, reserve_space_3")
        .attr("epsilon", 0.0001)
        .attr("exponential_avg_factor", 1.0)
        .attr("data_format", "NHWC")
        .attr("is_training", true)
        .attrs<&BatchNormAttrs::epsilon, &BatchNormAttrs::exponential_avg_factor,
               &BatchNormAttrs::data_format, &BatchNormAttrs::is_training>()
        .dtypes(kFloats)
        .dtypes({float32, float64}, "U")
        .doc(
            "(x - mean) / sqrt(variance + epsilon) * scale + offset, with the batch's own moments "
            "in training.")
        .images({.inputs = 0b1, .gives = true})
        .infer(infer_forward)
        .kernel("channels", forward)
        .gradient(+[](Grad& g) -> Tensors {
          Tensors d = backward_op.many(
              {g.dy(), g.x(0), g.x(1), g.y(3), g.y(4), g.y(5)},
              {g.attrs<BatchNormAttrs>().epsilon(), g.attrs<BatchNormAttrs>().data_format(),
               g.attrs<BatchNormAttrs>().is_training()});
          return {d[0], d[1], d[2], Tensor(), Tensor()};
        })
        .keeps("x, scale, reserve_space_1, reserve_space_2, reserve_space_3");

REGISTER(FUNCTION(&nn::fused_batch_norm)
             .args("x, scale: U, offset: U")
             .options<&nn::FusedBatchNormOptions::mean, &nn::FusedBatchNormOptions::variance,
                      &nn::FusedBatchNormOptions::epsilon, &nn::FusedBatchNormOptions::data_format,
                      &nn::FusedBatchNormOptions::is_training,
                      &nn::FusedBatchNormOptions::exponential_avg_factor>(
                 "mean: U, variance: U, epsilon, data_format, is_training, exponential_avg_factor")
             .python("compat.v1.nn.fused_batch_norm")
             .doc("Batch normalisation in one step; returns y and the running mean and variance.")
             .samples("uniform(2, 3, 2, 4), uniform(4), uniform(4)")
             .reference("(lambda m, v: ((x - m) / np.sqrt(v + epsilon) * scale + offset, m, v * 12 "
                        "/ 11))(x.mean((0, 1, 2)), x.var((0, 1, 2)))")
             // As in TensorFlow, no gradient flows through the running moments.
             .checks({.rtol = 1e-4, .atol = 1e-5, .gradient = false, .second_gradient = false}));
std::tuple<Tensor, Tensor, Tensor> nn::fused_batch_norm(const In& x, const In& scale,
                                                        const In& offset,
                                                        const FusedBatchNormOptions& o) {
  Tensor s = scale;
  if (!o.is_training && (!o.mean || !o.variance))
    fail(Code::E1103, "fused_batch_norm: `mean` and `variance` are missing, which inference needs");
  Tensor none = empty(s.dtype(), Shape{0}, cpu());
  // As TensorFlow: cuDNN's least epsilon holds everywhere.
  double epsilon = o.epsilon > 1.001e-5 ? o.epsilon : 1.001e-5;
  Tensors out = forward_op.many(
      {x, s, offset, o.mean ? *o.mean : In(none), o.variance ? *o.variance : In(none)},
      {epsilon, o.exponential_avg_factor, o.data_format, o.is_training});
  return {out[0], out[1], out[2]};
}

}  // namespace holdfast
