// The nearest sequence that never rises, by joining neighbours that are out of order.
#include "holdfast/ops/isotonic.h"

#include <algorithm>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::nn {
namespace {

struct IsotonicAttrs {
  Attr<DType> output_dtype;
};

struct Run {
  double sum;
  int64_t count;
  double mean() const { return sum / static_cast<double>(count); }
};

// Runs of one row, from the left: each mean is at least the next one's.
void find_runs(const std::vector<double>& row, std::vector<Run>& runs) {
  runs.clear();
  for (double v : row) {
    runs.push_back({v, 1});
    while (runs.size() > 1 && runs[runs.size() - 2].mean() < runs.back().mean()) {
      Run last = runs.back();
      runs.pop_back();
      runs.back().sum += last.sum;
      runs.back().count += last.count;
    }
  }
}

Status run_isotonic(Call& c) {
  const Tensor& x = c.in();
  int64_t n = x.dim(-1), rows = n ? x.size() / n : 0;
  Tensor &y = c.out(0), &segments = c.out(1);
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) {
      visit_floats(y.dtype(), [&]<class F>(F) {
        parallel_for(rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, n)),
                     [&](int64_t begin, int64_t end) {
                       std::vector<double> row(static_cast<size_t>(n));
                       std::vector<Run> runs;
                       for (int64_t r = begin; r < end; ++r) {
                         for (int64_t i = 0; i < n; ++i)
                           row[static_cast<size_t>(i)] =
                               static_cast<double>(static_cast<float_of<T>>(x.raw<T>()[r * n + i]));
                         find_runs(row, runs);
                         int64_t at = r * n;
                         for (size_t k = 0; k < runs.size(); ++k)
                           for (int64_t i = 0; i < runs[k].count; ++i, ++at) {
                             y.mutable_raw<F>()[at] =
                                 static_cast<F>(static_cast<float_of<F>>(runs[k].mean()));
                             segments.mutable_raw<int32_t>()[at] = static_cast<int32_t>(k);
                           }
                       }
                     });
      });
    }
  });
  return {};
}

// Every element of a run becomes the mean of its run.
Status run_means(Call& c) {
  const Tensor &x = c.in(0), &segments = c.in(1);
  int64_t n = x.dim(-1), rows = n ? x.size() / n : 0;
  const int32_t* run = segments.raw<int32_t>();
  visit_floats(x.dtype(), [&]<class T>(T) {
    const T* from = x.raw<T>();
    T* to = c.out().mutable_raw<T>();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = r * n, end = i + n; i < end;) {
        int64_t last = i;
        double sum = 0;
        for (; last < end && run[last] == run[i]; ++last)
          sum += static_cast<double>(static_cast<float_of<T>>(from[last]));
        for (double mean = sum / static_cast<double>(last - i); i < last; ++i)
          to[i] = static_cast<T>(static_cast<float_of<T>>(mean));
      }
  });
  return {};
}

const Op means_op =
    RAW_OP(IsotonicRegressionGrad)
        .inputs("grad, segments: S")
        .dtypes(kFloats)
        .dtypes({int32}, "S")
        .doc("Means of `grad` over runs of equal numbers in `segments`.")
        .infer(+[](Infer& s) {
          s.need_rank(0, 1);
          if (!s.shape(1).compatible(s.shape(0))) s.bad_shape(1, cat("shape ", s.shape(0).text()));
          s.output(s.dtype(), s.shape());
        })
        .kernel("reference", run_means)
        .gradient(+[](Grad& g) -> Tensors { return {Op(&g.op)(g.dy(), g.x(1)), Tensor()}; })
        .keeps("segments");

const Op isotonic_op =
    RAW_OP(IsotonicRegression)
        .inputs("input")
        .dtypes(kReals)
        .attr("output_dtype", float32)
        .attrs<&IsotonicAttrs::output_dtype>()
        .outputs("output, segments")
        .doc("The nearest rows that never rise, and their runs of equal values.")
        .infer(+[](Infer& s) {
          s.need_rank(0, 1);
          DType out = s.attrs<IsotonicAttrs>().output_dtype();
          if (!kFloats.has(out)) s.bad_value("output_dtype", name(out), "a floating dtype");
          s.output(out, s.shape());
          s.output(int32, s.shape());
        })
        .kernel("reference", run_isotonic)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor means = means_op(g.dy(0), g.y(1));
          return {is_floating(g.x().dtype()) ? cast(means, g.x().dtype()) : Tensor()};
        })
        .keeps("segments");

DType result_dtype(DType d) {
  if (d == float32 || d == float16 || d == bfloat16) return d;
  return d == int8 || d == int16 ? float32 : float64;
}

}  // namespace

REGISTER(
    FUNCTION(&isotonic_regression)
        .args("inputs")
        .options<&IsotonicOptions::decreasing, &IsotonicOptions::axis>("decreasing, axis")
        .python("nn.isotonic_regression")
        .returns("output, segments")
        .doc("The sequence nearest to `inputs` along an axis that never rises, or never falls; "
             "and the number of the run of equal values of each element.")
        .samples("uniform(3, 5)", "uniform(3, 5), False", "uniform(4, 3), True, 0")
        .checks({.second_gradient = false}));
static const Composition later(
    "isotonic_regression", 1, +[](std::span<const Tensor> in, bool decreasing, int64_t axis) {
      return isotonic_regression(in[0], {.decreasing = decreasing, .axis = axis});
    });
std::tuple<Tensor, Tensor> isotonic_regression(const In& inputs, const IsotonicOptions& o) {
  Tensor x = inputs;
  if (!x.shape().has_rank()) {
    Tensors both =
        later.list({x}, {{result_dtype(x.dtype()), Shape::unknown()}, {int32, Shape::unknown()}},
                   o.decreasing, o.axis);
    return {both[0], both[1]};
  }
  if (x.rank() < 1)
    fail(Code::E1102,
         cat("isotonic_regression: `inputs` is ", type_text(x), ", expected rank 1 or more"));
  int64_t axis = o.axis < 0 ? o.axis + x.rank() : o.axis;
  if (axis < 0 || axis >= x.rank())
    outside("isotonic_regression: `axis` is", o.axis, -x.rank(), x.rank()).check();
  Ints swap;
  for (int i = 0; i < x.rank(); ++i) swap.push_back(i);
  std::swap(swap[static_cast<size_t>(axis)], swap.back());
  bool moved = axis != x.rank() - 1;
  auto turned = [&](const Tensor& t) { return moved ? transpose(t, {.perm = Sizes(swap)}) : t; };
  Tensor rows = turned(o.decreasing ? x : negative(x));
  Tensors out = isotonic_op.many({rows}, {result_dtype(x.dtype())});
  return {turned(o.decreasing ? out[0] : negative(out[0])), turned(out[1])};
}

}  // namespace holdfast::nn
