// Pools whose windows have two sizes, so that an image shrinks by a factor that is no integer.
#include <cmath>
#include <cstring>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/nn/conv/raw.h"
#include "holdfast/ops/nn/cpu/pool_loops.h"
#include "holdfast/ops/nn/fractional_cuts.h"
#include "holdfast/ops/pooling.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast::nn {
namespace {

struct FractionalAttrs {
  Attr<std::vector<double>> pooling_ratio;
  Attr<bool> pseudo_random;
  Attr<bool> overlapping;
  Attr<bool> deterministic;
  Attr<int64_t> seed;
  Attr<int64_t> seed2;
};
struct FractionalGradAttrs {
  Attr<bool> overlapping;
};

constexpr DTypes kTypes{float32, float64, int32, int64};

void infer_fractional(Infer& s) {
  auto a = s.attrs<FractionalAttrs>();
  s.need_rank(0, 4, 4);
  const auto& ratio = a.pooling_ratio();
  std::string said = a.pooling_ratio.arg().text();
  if (ratio.size() != 4) s.bad_value("pooling_ratio", said, "four numbers, one for each axis");
  for (double r : ratio)
    if (!(r >= 1) || !std::isfinite(r))
      s.bad_value("pooling_ratio", said, "finite numbers of 1 or more");
  if (ratio[0] != 1 || ratio[3] != 1)
    s.unsupported(cat("`pooling_ratio` ", said), "1 along the batch and the channels");
  if (!a.deterministic() && (a.seed() || a.seed2()))
    s.bad_value("seed", cat(a.seed(), ", ", a.seed2()), "0 where `deterministic` is not set");
  Shape out = Shape::of_rank(4), rows{kUnknown}, cols{kUnknown};
  if (s.shape().has_rank()) {
    Dims d = s.shape().dims();
    for (size_t i = 1; i < 3; ++i) {
      if (d[i] == 0) s.bad_shape(0, "no spatial size of 0");
      if (d[i] < 0) continue;
      d[i] = static_cast<int64_t>(std::floor(static_cast<double>(d[i]) / ratio[i]));
      if (d[i] < 1)
        s.bad_value("pooling_ratio", said, cat("at most the image's sizes, ", s.shape().text()));
    }
    out = Shape(d);
    if (d[1] >= 0) rows = Shape{d[1] + 1};
    if (d[2] >= 0) cols = Shape{d[2] + 1};
  }
  s.output(s.dtype(), out);
  s.output(int64, rows);
  s.output(int64, cols);
}

// One axis of the windows: where they begin, and the last element each looks at.
struct Cuts {
  const int64_t* at;
  int64_t in, count;
  bool overlapping;
  std::pair<int64_t, int64_t> window(int64_t i) const {
    return {at[i], std::min(at[i + 1] + (overlapping ? 1 : 0), in)};
  }
};

struct Fields {
  int64_t batch, channels;
  Cuts rows, cols;
};

// Calls `f(output element, channel offset of the first cell, rows, cols)` for each window of each
// image; images in parallel.
template <class F>
void each_window(const Fields& w, F&& f) {
  int64_t work = w.rows.in * w.cols.in * w.channels;
  parallel_for(w.batch, grain_for(work), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      for (int64_t i = 0; i < w.rows.count; ++i)
        for (int64_t j = 0; j < w.cols.count; ++j)
          f(b, (b * w.rows.count + i) * w.cols.count + j, w.rows.window(i), w.cols.window(j));
  });
}

using Range = std::pair<int64_t, int64_t>;

// The first of the largest elements under a window, as an index into its image.
template <class T>
int64_t largest(const Fields& w, const T* image, Range rows, Range cols, int64_t c) {
  int64_t best = -1;
  for (int64_t y = rows.first; y < rows.second; ++y)
    for (int64_t x = cols.first; x < cols.second; ++x) {
      int64_t at = (y * w.cols.in + x) * w.channels + c;
      if (best < 0 || image[best] < image[at]) best = at;
    }
  return best;
}

template <bool mean>
Status run_fractional(Call& c) {
  auto a = c.attrs<FractionalAttrs>();
  const Shape& in = c.in().shape();
  const Shape out = c.out_shape(0);
  int64_t seed = a.seed(), seed2 = a.seed2();
  auto gen = random::Philox::from_seeds(seed, seed2);
  if (!seed && !seed2) gen = {0, random::nondeterministic_bits(), random::nondeterministic_bits()};
  bool pseudo = a.pseudo_random(), overlapping = a.overlapping();
  auto rows = fractional_cuts(in[1], out[1], pseudo, gen);
  auto cols = fractional_cuts(in[2], out[2], pseudo, gen);
  std::copy(rows.begin(), rows.end(), c.out(1).mutable_raw<int64_t>());
  std::copy(cols.begin(), cols.end(), c.out(2).mutable_raw<int64_t>());
  Fields w{in[0],
           in[3],
           {rows.data(), in[1], out[1], overlapping},
           {cols.data(), in[2], out[2], overlapping}};
  int64_t n = w.channels, whole = in[1] * in[2] * n;
  Tensor& y = c.out(0);
  auto as = [&]<class T>(T) {
    const T* x = c.in().raw<T>();
    T* to = y.mutable_raw<T>();
    each_window(w, [&](int64_t b, int64_t o, Range r, Range k) {
      const T* image = x + b * whole;
      for (int64_t ch = 0; ch < n; ++ch) {
        if constexpr (!mean) {
          to[o * n + ch] = image[largest(w, image, r, k, ch)];
        } else {
          using W = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
          W sum{};
          for (int64_t i = r.first; i < r.second; ++i)
            for (int64_t j = k.first; j < k.second; ++j)
              sum += static_cast<W>(image[(i * w.cols.in + j) * n + ch]);
          int64_t cells = (r.second - r.first) * (k.second - k.first);
          to[o * n + ch] = static_cast<T>(static_cast<T>(sum) / static_cast<T>(cells));
        }
      }
    });
  };
  visit_reals(y.dtype(), [&]<class T>(T) {
    if constexpr (dtype_of<T> == float32 || dtype_of<T> == float64 || dtype_of<T> == int32 ||
                  dtype_of<T> == int64)
      as(T{});
  });
  return {};
}

// Cuts that a caller handed in: they must go up from 0 and stay inside the image.
Status check_cuts(const Call& c, int input, int64_t in, int64_t out) {
  const Tensor& t = c.in(input);
  const std::string& name = c.op.inputs[static_cast<size_t>(input)].name;
  if (t.size() != out + 1)
    return {Code::E1102, cat(c.op.name, ": `", name, "` holds ", t.size(), " numbers, expected ",
                             out + 1, ", one more than the result has windows")};
  const int64_t* at = t.raw<int64_t>();
  for (int64_t i = 0; i < out; ++i)
    if (at[i] < 0 || at[i + 1] <= at[i] || at[i + 1] > in)
      return {Code::E1103, cat(c.op.name, ": `", name, "` goes from ", at[i], " to ", at[i + 1],
                               ", expected increasing numbers in [0, ", in, "]")};
  return {};
}

// Adds what arrives to the cells of `dx`: to the largest of each window, or spread over it.
template <bool mean>
Status run_back(Call& c) {
  constexpr int kDy = mean ? 1 : 2;
  const Tensor& dy = c.in(kDy);
  Tensor& dx = c.out();
  const Shape &in = dx.shape(), &out = dy.shape();
  for (int i = 0; i < 2; ++i)
    if (Status s = check_cuts(c, kDy + 1 + i, in[1 + i], out[1 + i]); !s.ok()) return s;
  bool overlapping = c.attrs<FractionalGradAttrs>().overlapping();
  Fields w{in[0],
           in[3],
           {c.in(kDy + 1).raw<int64_t>(), in[1], out[1], overlapping},
           {c.in(kDy + 2).raw<int64_t>(), in[2], out[2], overlapping}};
  int64_t n = w.channels, whole = in[1] * in[2] * n;
  std::memset(dx.mutable_raw(), 0, static_cast<size_t>(dx.bytes()));
  auto as = [&]<class T>(T) {
    using W =
        std::conditional_t<std::is_integral_v<T>,
                           std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>,
                           T>;
    const T* up = dy.raw<T>();
    T* to = dx.mutable_raw<T>();
    auto give = [](T& cell, T amount) {
      cell = static_cast<T>(static_cast<W>(cell) + static_cast<W>(amount));
    };
    each_window(w, [&](int64_t b, int64_t o, Range r, Range k) {
      for (int64_t ch = 0; ch < n; ++ch) {
        T amount = up[o * n + ch];
        if constexpr (!mean) {
          give(to[b * whole + largest(w, c.in(0).raw<T>() + b * whole, r, k, ch)], amount);
        } else {
          T share = amount / static_cast<T>((r.second - r.first) * (k.second - k.first));
          for (int64_t i = r.first; i < r.second; ++i)
            for (int64_t j = k.first; j < k.second; ++j)
              give(to[b * whole + (i * w.cols.in + j) * n + ch], share);
        }
      }
    });
  };
  visit_reals(dx.dtype(), [&]<class T>(T) {
    if constexpr (dtype_of<T> == float32 || dtype_of<T> == float64 || dtype_of<T> == int32 ||
                  dtype_of<T> == int64)
      as(T{});
  });
  return {};
}

void need_maps(const Infer& s, int input, const Shape& image) {
  s.need_rank(input, 4, 4);
  if (!image.has_rank() || !s.shape(input).has_rank()) return;
  Shape want{image[0], kUnknown, kUnknown, image[3]};
  if (!s.shape(input).compatible(want)) s.bad_shape(input, cat("shape ", want.text()));
  s.need_rank(input + 1, 1, 1);
  s.need_rank(input + 2, 1, 1);
}

Builder& described(Builder& b) {
  return b.inputs("value")
      .dtypes(kTypes)
      .attr("pooling_ratio")
      .attr("pseudo_random", false)
      .attr("overlapping", false)
      .attr("deterministic", false)
      .attr("seed", 0)
      .attr("seed2", 0)
      .attrs<&FractionalAttrs::pooling_ratio, &FractionalAttrs::pseudo_random,
             &FractionalAttrs::overlapping, &FractionalAttrs::deterministic, &FractionalAttrs::seed,
             &FractionalAttrs::seed2>()
      .outputs("output, row_pooling_sequence, col_pooling_sequence")
      .stateful()
      .infer(infer_fractional);
}

Tensors no_second_gradient(Grad&) {
  fail(Code::E1105, "the gradient of a fractional pool has no gradient of its own",
       "it goes to the elements that were chosen, and nothing here takes what arrives there back");
}

const Op max_grad_op =
    RAW_OP(FractionalMaxPoolGrad)
        .inputs(
            "orig_input, orig_output, out_backprop, row_pooling_sequence: S, "
            "col_pooling_sequence: S")
        .dtypes(kTypes)
        .dtypes({int64}, "S")
        .attr("overlapping", false)
        .attrs<&FractionalGradAttrs::overlapping>()
        .doc("Gradient of FractionalMaxPool: it goes to the first of the largest elements.")
        .infer(+[](Infer& s) {
          s.need_rank(0, 4, 4);
          need_maps(s, 2, s.shape());
          if (!s.shape(1).compatible(s.shape(2))) s.bad_shape(1, cat("shape ", s.shape(2).text()));
          s.output(s.dtype(), s.shape());
        })
        .kernel("reference", run_back<false>)
        .gradient(&no_second_gradient);

const Op avg_grad_op =
    RAW_OP(FractionalAvgPoolGrad)
        .inputs(
            "orig_input_tensor_shape: Sizes!, out_backprop, row_pooling_sequence: S, "
            "col_pooling_sequence: S")
        .dtypes(kTypes)
        .dtypes({int64}, "S")
        .attr("overlapping", false)
        .attrs<&FractionalGradAttrs::overlapping>()
        .doc("Gradient of FractionalAvgPool: it is spread over each window.")
        .infer(+[](Infer& s) {
          s.need_rank(0, 1, 1);
          auto sizes = s.ints(0);
          if (sizes && sizes->size() != 4)
            s.bad_value("orig_input_tensor_shape", Shape(*sizes).text(), "four sizes");
          for (int64_t d : sizes.value_or(Dims{}))
            if (d < 0)
              s.bad_value("orig_input_tensor_shape", Shape(*sizes).text(), "sizes of 0 or more");
          Shape image = sizes ? Shape(*sizes) : Shape::of_rank(4);
          need_maps(s, 1, image);
          s.output(s.dtype(1), image);
        })
        .kernel("reference", run_back<true>)
        .gradient(&no_second_gradient);

const Op max_op =
    described(RAW_OP(FractionalMaxPool).doc("Largest element under windows of two sizes."))
        .kernel("reference", run_fractional<false>)
        .gradient(+[](Grad& g) -> Tensors {
          return {max_grad_op({g.x(), g.y(0), g.dy(0), g.y(1), g.y(2)},
                              {g.attrs<FractionalAttrs>().overlapping.arg()})};
        })
        .keeps("value, output, row_pooling_sequence, col_pooling_sequence");
const Op avg_op =
    described(RAW_OP(FractionalAvgPool).doc("Mean of the elements under windows of two sizes."))
        .kernel("reference", run_fractional<true>)
        .gradient(+[](Grad& g) -> Tensors {
          return {avg_grad_op({sizes_of(g.x()), g.dy(0), g.y(1), g.y(2)},
                              {g.attrs<FractionalAttrs>().overlapping.arg()})};
        })
        .keeps("row_pooling_sequence, col_pooling_sequence");

std::tuple<Tensor, Tensor, Tensor> run(const char* function, const Op& op, const In& value,
                                       const std::vector<double>& ratio,
                                       const FractionalPoolOptions& o) {
  if (ratio.size() != 1 && ratio.size() != 2 && ratio.size() != 4)
    fail(Code::E1103,
         cat(function, ": `pooling_ratio` holds ", ratio.size(), " numbers, expected 1, 2 or 4"));
  std::vector<double> four = ratio;
  if (ratio.size() < 4) four = {1, ratio.front(), ratio.back(), 1};
  Attrs attrs{four, o.pseudo_random, o.overlapping, o.seed != 0};
  if (o.seed)
    for (const Arg& seed : random::CallSeeds(o.seed).attrs()) attrs.push_back(seed);
  else
    random::refuse_if_deterministic(function);
  Tensors out = op.many({value}, std::move(attrs));
  return {out[0], out[1], out[2]};
}

}  // namespace

REGISTER(FUNCTION(&fractional_max_pool)
             .args("value, pooling_ratio")
             .options<&FractionalPoolOptions::pseudo_random, &FractionalPoolOptions::overlapping,
                      &FractionalPoolOptions::seed>("pseudo_random, overlapping, seed")
             .python("nn.fractional_max_pool")
             .returns("output, row_pooling_sequence, col_pooling_sequence")
             .doc("Largest element under windows of two sizes, which shrink an image by a factor "
                  "that is no integer; and where the windows begin.")
             .samples("uniform(2, 6, 6, 3), [1.0, 2.0, 3.0, 1.0]")
             .checks({.gradient = false}));
std::tuple<Tensor, Tensor, Tensor> fractional_max_pool(const In& value,
                                                       const std::vector<double>& ratio,
                                                       const FractionalPoolOptions& o) {
  return run("fractional_max_pool", max_op, value, ratio, o);
}

REGISTER(FUNCTION(&fractional_avg_pool)
             .args("value, pooling_ratio")
             .options<&FractionalPoolOptions::pseudo_random, &FractionalPoolOptions::overlapping,
                      &FractionalPoolOptions::seed>("pseudo_random, overlapping, seed")
             .python("nn.fractional_avg_pool")
             .returns("output, row_pooling_sequence, col_pooling_sequence")
             .doc("Mean of the elements under windows of two sizes, which shrink an image by a "
                  "factor that is no integer; and where the windows begin.")
             .samples("uniform(2, 6, 6, 3), [1.0, 2.0, 3.0, 1.0]")
             .checks({.gradient = false}));
std::tuple<Tensor, Tensor, Tensor> fractional_avg_pool(const In& value,
                                                       const std::vector<double>& ratio,
                                                       const FractionalPoolOptions& o) {
  return run("fractional_avg_pool", avg_op, value, ratio, o);
}

}  // namespace holdfast::nn
