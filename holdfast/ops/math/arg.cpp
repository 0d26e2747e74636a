#include <algorithm>
#include <limits>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct ArgAttrs {
  Attr<DType> output_type;
};

constexpr DTypes kCompared = kReals | kBools;

// Inputs: input, dimension; attribute 0: output_type.
void infer_arg(Infer& s) {
  const Shape& x = s.shape();
  DType out = s.attrs<ArgAttrs>().output_type();
  auto given = s.ints(1);
  bool narrow = s.op().name == "ArgMax" && (out == int16 || out == uint16);
  if (!kIndices.has(out) && !narrow)
    s.bad_value("output_type", name(out),
                s.op().name == "ArgMax" ? "int16, uint16, int32 or int64" : "int32 or int64");
  if (given && given->size() != 1) s.bad_value("dimension", Shape(*given).text(), "one axis");
  if (!x.has_rank()) return s.output(out, Shape::unknown());
  if (!given) return s.output(out, x.rank() > 0 ? Shape::of_rank(x.rank() - 1) : Shape{});
  int axis = s.axis((*given)[0], 0, "axis");
  Dims left = x.dims();
  left.erase(static_cast<size_t>(axis));
  Shape rest(left);
  if (x[axis] == 0 && rest.elements() != 0)
    s.bad_shape(0, cat("an axis ", axis, " that is not empty"));
  s.output(out, rest);
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}

// Scans rows of `inner` side by side, so that memory is read in order whatever the axis. A NaN is
// only found where there is nothing else.
template <bool kLargest, class T>
void scan(const T* x, int64_t n, int64_t inner, int64_t from, int64_t to, int64_t* out) {
  using W = float_of<T>;
  for (int64_t j = from; j < to; ++j) {
    W best = static_cast<W>(x[j]);
    int64_t at = 0;
    for (int64_t i = 1; i < n; ++i) {
      W v = static_cast<W>(x[i * inner + j]);
      bool better = kLargest ? v > best : v < best;
      if (better || (is_nan(best) && !is_nan(v))) {
        best = v;
        at = i;
      }
    }
    *out++ = at;
  }
}

// One row whose elements lie side by side. Most blocks hold nothing better than what was found
// before: that is seen by comparisons which do not wait for each other.
template <bool kLargest, class T>
int64_t scan_row(const T* x, int64_t n) {
  using W = float_of<T>;
  constexpr int64_t kBlock = 64;
  W best = static_cast<W>(x[0]);
  int64_t at = 0;
  for (int64_t i = 1; i < n;) {
    int64_t end = std::min(n, i + kBlock);
    if (end - i == kBlock && !is_nan(best)) {
      int better = 0;
      for (int64_t k = 0; k < kBlock; ++k) {
        W v = static_cast<W>(x[i + k]);
        better |= kLargest ? v > best : v < best;
      }
      if (!better) {
        i = end;
        continue;
      }
    }
    for (; i < end; ++i) {
      W v = static_cast<W>(x[i]);
      if ((kLargest ? v > best : v < best) || (is_nan(best) && !is_nan(v))) {
        best = v;
        at = i;
      }
    }
  }
  return at;
}

template <bool kLargest, class T>
void scan_wide(const T* x, int64_t n, int64_t inner, int64_t from, int64_t to, int64_t* out) {
  using W = float_of<T>;
  constexpr int64_t kTile = 128;
  for (int64_t j = from; j < to; j += kTile) {
    int64_t width = to - j < kTile ? to - j : kTile;
    W best[kTile];
    int64_t at[kTile] = {};
    for (int64_t k = 0; k < width; ++k) best[k] = static_cast<W>(x[j + k]);
    for (int64_t i = 1; i < n; ++i) {
      const T* row = x + i * inner + j;
      for (int64_t k = 0; k < width; ++k) {
        W v = static_cast<W>(row[k]);
        bool better = (kLargest ? v > best[k] : v < best[k]) || (is_nan(best[k]) && !is_nan(v));
        best[k] = better ? v : best[k];
        at[k] = better ? i : at[k];
      }
    }
    for (int64_t k = 0; k < width; ++k) *out++ = at[k];
  }
}

template <class F>
void visit_positions(DType d, F&& f) {
  if (d == int16)
    f(int16_t{});
  else if (d == uint16)
    f(uint16_t{});
  else
    visit_indices(d, f);
}

template <bool kLargest>
Status run_arg(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (y.size() == 0) return {};
  int64_t axis = c.ints(1)[0];
  if (axis < 0) axis += x.rank();
  int64_t n = x.dim(static_cast<int>(axis)), inner = 1;
  for (int i = static_cast<int>(axis) + 1; i < x.rank(); ++i) inner *= x.dim(i);
  if (n - 1 > (y.dtype() == int16    ? std::numeric_limits<int16_t>::max()
               : y.dtype() == uint16 ? std::numeric_limits<uint16_t>::max()
               : y.dtype() == int32  ? std::numeric_limits<int32_t>::max()
                                     : std::numeric_limits<int64_t>::max()))
    return {Code::E1103, cat(c.op.name, ": axis ", axis, " has ", n,
                             " elements, more than `output_type` ", name(y.dtype()), " can count")};
  // Positions are found in 64 bits and written as asked: one loop serves all dtypes of the result.
  auto write = [&](const std::vector<int64_t>& found, int64_t begin) {
    visit_positions(y.dtype(), [&]<class Index>(Index) {
      std::transform(found.begin(), found.end(), y.mutable_raw<Index>() + begin,
                     [](int64_t at) { return static_cast<Index>(at); });
    });
  };
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      auto* from = x.raw<T>();
      parallel_for(y.size(), std::max<int64_t>(1, 32768 / n), [&](int64_t begin, int64_t end) {
        std::vector<int64_t> found(static_cast<size_t>(end - begin));
        for (int64_t at = begin; inner == 1 && at < end; ++at)
          found[static_cast<size_t>(at - begin)] = scan_row<kLargest>(from + at * n, n);
        for (int64_t at = begin; inner > 1 && at < end;) {
          int64_t outer = at / inner, j = at % inner, last = std::min(inner, j + end - at);
          auto* loop = inner < 8 ? scan<kLargest, T> : scan_wide<kLargest, T>;
          loop(from + outer * n * inner, n, inner, j, last, found.data() + (at - begin));
          at += last - j;
        }
        write(found, begin);
      });
    }
  });
  return {};
}

// The axis, which may be an integer of any width.
Tensor axis_input(const ArgOptions& o) {
  Tensor axis = (o.axis ? *o.axis : Sizes(0)).tensor();
  return is_integer(axis.dtype()) && !kIndices.has(axis.dtype()) ? cast(axis, int32) : axis;
}

}  // namespace

#define HOLDFAST_ARG(Name, fn)                                                                   \
  OP(Name, &fn)                                                                                  \
      .args("input")                                                                             \
      .options<&ArgOptions::axis, &ArgOptions::output_type>("axis, output_type")                 \
      .inputs("input, dimension: Tidx!")                                                         \
      .attr("output_type", int64)                                                                \
      .attrs<&ArgAttrs::output_type>()                                                           \
      .dtypes(kCompared)                                                                         \
      .flat(Flat::kChoice)                                                                       \
      .infer(infer_arg)                                                                          \
      .no_gradient()                                                                             \
      .samples("permutation(12)", "uniform(3, 4), axis=1", "ints(3, 4, low=0, high=3), axis=-2", \
               "uniform(2, 3, 4), axis=1, output_type=tf.int32")

static const Op argmax_op = HOLDFAST_ARG(ArgMax, argmax)
                                .python("argmax, math.argmax")
                                .kernel("scan", run_arg<true>)
                                .doc(
                                    "Position of the largest element along an axis, the first of "
                                    "equals; along axis 0 where none is given.")
                                .reference("np.argmax(input, axis=axis or 0)");
Tensor argmax(const In& x, const ArgOptions& o) {
  return argmax_op({x, axis_input(o)}, {o.output_type});
}

static const Op argmin_op = HOLDFAST_ARG(ArgMin, argmin)
                                .python("argmin, math.argmin")
                                .kernel("scan", run_arg<false>)
                                .doc(
                                    "Position of the smallest element along an axis, the first of "
                                    "equals; along axis 0 where none is given.")
                                .reference("np.argmin(input, axis=axis or 0)");
Tensor argmin(const In& x, const ArgOptions& o) {
  return argmin_op({x, axis_input(o)}, {o.output_type});
}

}  // namespace holdfast
