// Counting: how often numbers, ranges and pairs of classes occur.
#include <algorithm>
#include <cmath>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/counters.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

struct BincountAttrs {
  Attr<bool> binary_output;
};
struct HistogramAttrs {
  Attr<DType> dtype;
};

// Inputs: input [n] or [rows, n], size, weights (as input, or empty); attribute 0: binary_output.
void infer_bincount(Infer& s) {
  bool flat = s.op().attrs.empty();  // the older op counts all rows together
  if (!flat) s.need_rank(0, 0, 2);
  s.need_rank(1, 0, 0);
  const Shape &x = s.shape(0), &w = s.shape(2);
  auto size = one_size(s, 1, "size");
  bool weighted = !(w.has_rank() && w.elements() == 0);
  if (weighted && !w.compatible(x))
    s.bad_shape(2, cat("the shape of `input`, ", x.text(), ", or no element"));
  if (!x.has_rank() && !flat) return s.output(s.dtype(2), Shape::unknown());
  s.output(s.dtype(2), x.rank() == 2 && !flat ? Shape{x[0], size.value_or(kUnknown)}
                                              : Shape{size.value_or(kUnknown)});
}

Status run_bincount(Call& c) {
  const Tensor &x = c.in(0), &w = c.in(2);
  Tensor& y = c.out();
  int64_t size = y.dim(-1), columns = y.rank() == 2 ? x.dim(1) : x.size();
  bool binary = !c.op.attrs.empty() && c.attrs<BincountAttrs>().binary_output(),
       weighted = w.size() > 0;
  Status status;
  visit_counters(y.dtype(), [&]<class T>(T) {
    T* out = y.mutable_raw<T>();
    std::fill_n(out, y.size(), T(0));
    visit_indices(x.dtype(), [&]<class I>(I) {
      for (int64_t i = 0, n = x.size(); i < n; ++i) {
        auto v = static_cast<int64_t>(x.raw<I>()[i]);
        if (v < 0) {
          status = {Code::E1103, cat(c.op.name, ": `input` holds ", v, " at position ", i,
                                     ", expected 0 or more")};
          return;
        }
        if (v >= size) continue;
        T& cell = out[i / columns * size + v];
        T add = weighted ? w.raw<T>()[i] : T(1);
        if constexpr (std::is_integral_v<T>)
          cell = binary ? T(1)
                        : static_cast<T>(static_cast<std::make_unsigned_t<T>>(cell) +
                                         static_cast<std::make_unsigned_t<T>>(add));
        else
          cell = binary ? T(1) : cell + add;
      }
    });
  });
  return status;
}

// Inputs: values, value_range, nbins; attribute 0: dtype.
void infer_histogram(Infer& s) {
  s.need_rank(1, 1, 1);
  if (s.shape(1).has_rank() && s.shape(1)[0] >= 0 && s.shape(1)[0] != 2)
    s.bad_shape(1, "two numbers");
  auto bins = s.ints(2);
  if (bins && (bins->size() != 1 || (*bins)[0] <= 0))
    s.bad_value("nbins", bins->size() == 1 ? cat((*bins)[0]) : Shape(*bins).text(), "1 or more");
  DType out = s.attrs<HistogramAttrs>().dtype();
  if (!kIndices.has(out)) s.bad_value("dtype", name(out), "int32 or int64");
  s.output(out, Shape{bins ? (*bins)[0] : kUnknown});
}

Status run_histogram(Call& c) {
  const Tensor &x = c.in(0), &ends = c.in(1);
  Tensor& y = c.out();
  int64_t bins = y.dim(0);
  Status status;
  visit_counters(x.dtype(), [&]<class T>(T) {
    auto low = static_cast<double>(ends.raw<T>()[0]), high = static_cast<double>(ends.raw<T>()[1]);
    if (!(low < high)) {
      status = {Code::E1103, cat("HistogramFixedWidth: `value_range` is [", low, ", ", high,
                                 "], expected its first number to be the smaller")};
      return;
    }
    if (!std::isfinite(low) || !std::isfinite(high)) {
      status = {Code::E1103, "HistogramFixedWidth: `value_range` is not finite"};
      return;
    }
    double step = (high - low) / static_cast<double>(bins);
    visit_indices(y.dtype(), [&]<class I>(I) {
      I* out = y.mutable_raw<I>();
      std::fill_n(out, bins, I(0));
      for (int64_t i = 0, n = x.size(); i < n; ++i) {
        auto v = static_cast<double>(x.raw<T>()[i]);
        if (v != v) {
          status = {Code::E1103, cat("HistogramFixedWidth: `values` holds NaN at position ", i)};
          return;
        }
        double at = std::floor((v - low) / step);
        ++out[at <= 0 ? 0 : at >= static_cast<double>(bins) ? bins - 1 : static_cast<int64_t>(at)];
      }
    });
  });
  return status;
}

}  // namespace

static const Op bincount_op =
    RAW_OP(DenseBincount)
        .inputs("input: Tidx, size: Tsize!, weights")
        .attr("binary_output", false)
        .attrs<&BincountAttrs::binary_output>()
        .dtypes(kIndices, "Tidx")
        .dtypes(kCounters)
        .no_gradient()
        .doc(
            "How often each of 0 ... size - 1 occurs in each row, or the sum of the weights there.")
        .infer(infer_bincount)
        .kernel("reference", run_bincount);

static const Op flat_bincount_op =
    RAW_OP(Bincount)
        .inputs("arr: Tidx, size: Tsize!, weights")
        .outputs("bins")
        .dtypes(kIndices, "Tidx")
        .dtypes(kCounters)
        .no_gradient()
        .doc("How often each of 0 ... size - 1 occurs, or the sum of the weights there.")
        .infer(infer_bincount)
        .kernel("reference", run_bincount);

REGISTER(FUNCTION(&bincount)
             .args("arr: I")
             .options<&BincountOptions::weights, &BincountOptions::minlength,
                      &BincountOptions::maxlength, &BincountOptions::dtype, &BincountOptions::axis,
                      &BincountOptions::binary_output>(
                 "weights: W, minlength, maxlength, dtype, axis, binary_output")
             .python("math.bincount")
             .doc("How often each of 0, 1, 2 ... occurs, or the sum of the weights there.")
             .samples("[1, 2, 2, 5]", "[1, 2, 2], minlength=5",
                      "[1, 2, 2, 3], weights=[1.0, 2.0, 3.0, 4.0]")
             .reference("np.bincount(arr, weights=weights, minlength=minlength or 0)")
             .checks({.gradient = false, .second_gradient = false}));
Tensor bincount(const In& arr, const BincountOptions& o) {
  Tensor x = arr;
  if (!kIndices.has(x.dtype())) x = cast(x, int32);
  if (o.axis && *o.axis != 0 && *o.axis != -1)
    fail(Code::E1105, cat("bincount: `axis` ", *o.axis, " is not supported"),
         "supported: none, 0 and -1");
  bool rows = o.axis == -1;
  if (rows && x.rank() > 2)
    fail(Code::E1105, cat("bincount: `arr` of rank ", x.rank(), " with `axis` -1 is not supported"),
         "supported: rank 0 to 2");
  if (!rows) x = reshape(x, {-1});
  // One more than the largest number, which is a number itself: so many counts have no memory.
  Tensor size = minimum(cast(reduce_max(x), int64), std::numeric_limits<int64_t>::max() - 1) + 1;
  if (x.shape().is_full() && x.size() == 0)
    size = zeros_like(size);
  else if (!x.shape().is_full())
    size = size * cast(holdfast::size(x) > 0, int64);
  size = maximum(size, zeros_like(size));  // a negative number is refused by the op, with its place
  if (o.minlength) size = maximum(size, cast(o.minlength->tensor(), size.dtype()));
  if (o.maxlength) size = minimum(size, cast(o.maxlength->tensor(), size.dtype()));
  Tensor weights;
  if (o.weights) {
    weights = o.weights->tensor();
    if (!rows) weights = reshape(weights, {-1});
  } else {
    weights = zeros({0}, kCounters.has(o.dtype) ? o.dtype : int32);
  }
  Tensor out = bincount_op({x, size, weights}, {o.binary_output});
  return o.weights || out.dtype() == o.dtype ? out : cast(out, o.dtype);
}

static const Op histogram_op =
    OP(HistogramFixedWidth, &histogram_fixed_width)
        .args("values, value_range")
        .options<&HistogramOptions::nbins, &HistogramOptions::dtype>("nbins, dtype")
        .inputs("values, value_range, nbins: N!")
        .attr("dtype", int32)
        .attrs<&HistogramAttrs::dtype>()
        .dtypes(kCounters)
        .no_gradient()
        .python("histogram_fixed_width")
        .doc(
            "How many values fall into each of `nbins` equal bins of `value_range`; the outer bins "
            "take what lies beyond.")
        .infer(infer_histogram)
        .kernel("reference", run_histogram)
        .samples("[-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5")
        .reference("np.histogram(np.clip(values, *value_range), nbins, value_range)[0]");
Tensor histogram_fixed_width(const In& values, const In& value_range, const HistogramOptions& o) {
  return histogram_op({values, value_range, Sizes(o.nbins).tensor()}, {o.dtype});
}

REGISTER(FUNCTION(&histogram_fixed_width_bins)
             .args("values, value_range")
             .options<&HistogramOptions::nbins, &HistogramOptions::dtype>("nbins, dtype")
             .python("histogram_fixed_width_bins")
             .doc("Which of `nbins` equal bins of `value_range` each value falls into; the outer "
                  "bins take what lies beyond.")
             .samples("[-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5")
             .reference("np.clip(np.floor(nbins * (np.asarray(values) - value_range[0]) / "
                        "(value_range[1] - value_range[0])), 0, nbins - 1)")
             .checks({.gradient = false, .second_gradient = false}));
Tensor histogram_fixed_width_bins(const In& values, const In& value_range,
                                  const HistogramOptions& o) {
  if (o.nbins <= 0)
    fail(Code::E1103,
         cat("histogram_fixed_width_bins: `nbins` is ", o.nbins, ", expected 1 or more"));
  Tensor x = values, ends = value_range.tensor(x.dtype());
  if (ends.shape().is_full() && !(ends.shape() == Shape{2}))
    fail(Code::E1102, cat("histogram_fixed_width_bins: `value_range` has shape ",
                          ends.shape().text(), ", expected two numbers"));
  Tensors end = unstack(ends, {.num = 2});
  Tensor share = truediv(x - end[0], end[1] - end[0]);
  Tensor bin = floor(share * static_cast<double>(o.nbins));
  Tensor last = Tensor::scalar(static_cast<double>(o.nbins - 1), bin.dtype());
  return cast(minimum(maximum(bin, zeros_like(last)), last), o.dtype);
}

// Inputs: labels, predictions, num_classes, weights (as labels, or empty).
static const Op confusion_op =
    RAW_OP(ConfusionMatrix)
        .inputs("labels: I, predictions: I, num_classes: N!, weights")
        .dtypes({int64}, "I")
        .dtypes(kReals)
        .no_gradient()
        .doc("How often label i was predicted as j, or the sum of the weights there.")
        .infer(+[](Infer& s) {
          s.need_rank(0, 1, 1);
          if (!s.shape(0).compatible(s.shape(1)))
            s.bad_shape(1, cat("the shape of `labels`, ", s.shape(0).text()));
          if (s.shape(3).elements() != 0 && !s.shape(3).compatible(s.shape(0)))
            s.bad_shape(3, cat("the shape of `labels`, ", s.shape(0).text()));
          int64_t n = one_size(s, 2, "num_classes").value_or(kUnknown);
          s.output(s.dtype(3), Shape{n, n});
        })
        .kernel(
            "reference", +[](Call& c) -> Status {
              const Tensor &labels = c.in(0), &predictions = c.in(1), &weights = c.in(3);
              Tensor& y = c.out();
              int64_t n = y.dim(0);
              Status status;
              visit_plain(y.dtype(), [&]<class T>(T) {
                if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) {
                  using W = float_of<T>;
                  T* out = y.mutable_raw<T>();
                  std::fill_n(out, y.size(), T(W(0)));
                  for (int64_t i = 0; i < labels.size(); ++i) {
                    int64_t at[2] = {labels.raw<int64_t>()[i], predictions.raw<int64_t>()[i]};
                    for (int k = 0; k < 2; ++k)
                      if (at[k] < 0 || at[k] >= n) {
                        status = {
                            Code::E1103,
                            cat("confusion_matrix: `", k ? "predictions" : "labels", "` holds ",
                                at[k], " at position ", i, ", expected a class in [0, ", n, ")")};
                        return;
                      }
                    W add = weights.size() ? static_cast<W>(weights.raw<T>()[i]) : W(1);
                    out[at[0] * n + at[1]] =
                        static_cast<T>(static_cast<W>(out[at[0] * n + at[1]]) + add);
                  }
                }
              });
              return status;
            });

REGISTER(FUNCTION(&confusion_matrix)
             .args("labels: L, predictions: P")
             .options<&ConfusionOptions::num_classes, &ConfusionOptions::weights,
                      &ConfusionOptions::dtype>("num_classes, weights: W, dtype")
             .python("math.confusion_matrix")
             .doc("How often label i was predicted as j, in row i and column j.")
             .samples("[1, 2, 4], [2, 2, 4]", "[1, 2], [2, 2], num_classes=4")
             .reference("(lambda n: np.array([[np.sum((np.array(labels) == i) & "
                        "(np.array(predictions) == j)) for j in range(n)] for i in range(n)]))"
                        "(num_classes or max(*labels, *predictions) + 1)")
             .checks({.gradient = false, .second_gradient = false}));
Tensor confusion_matrix(const In& labels, const In& predictions, const ConfusionOptions& o) {
  Tensor l = cast(labels, int64), p = cast(predictions, int64);
  if (l.rank() == p.rank() + 1)
    l = squeeze(l, {.axis = Sizes(-1)});
  else if (p.rank() == l.rank() + 1)
    p = squeeze(p, {.axis = Sizes(-1)});
  Tensor classes;
  if (o.num_classes)
    classes = o.num_classes->tensor();
  else
    classes = maximum(maximum(reduce_max(l), reduce_max(p)), Tensor::scalar(int64_t{-1})) + 1;
  Tensor weights = o.weights ? cast(*o.weights, o.dtype) : zeros({0}, o.dtype);
  return confusion_op({l, p, classes, weights});
}

}  // namespace holdfast
