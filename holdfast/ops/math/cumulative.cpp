#include <algorithm>
#include <cmath>
#include <limits>

#include "holdfast/base/parallel.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct CumulativeAttrs {
  Attr<bool> exclusive;
  Attr<bool> reverse;
};

// Inputs: x, axis; attributes: exclusive, reverse.
void infer_scan(Infer& s) {
  auto given = s.ints(1);
  if (given && given->size() != 1) s.bad_value("axis", Shape(*given).text(), "one axis");
  if (given && s.shape().has_rank()) s.axis((*given)[0], 0);
  s.output(s.dtype(), s.shape());
}

template <class T>
using unsigned_of = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                                std::type_identity<T>>::type;

struct Plus {
  template <class W>
  static W start() {
    return W(0);
  }
  template <class W>
  static W join(W a, W b) {
    return static_cast<W>(a + b);
  }
};
struct Times {
  template <class W>
  static W start() {
    return W(1);
  }
  template <class W>
  static W join(W a, W b) {
    if constexpr (is_complex_v<W>)
      return W(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    else if constexpr (std::is_integral_v<W>)
      return static_cast<W>(1u * a * b);
    else
      return a * b;
  }
};
struct LogPlus {
  template <class W>
  static W start() {
    return -std::numeric_limits<W>::infinity();
  }
  template <class W>
  static W join(W a, W b) {
    W high = a > b ? a : b, low = a > b ? b : a;
    // Two equal infinities: their difference would be NaN.
    return high == low && std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  }
};

// Down columns [from, to) of an [n, inner] block: whole rows at a time, in the order of memory.
template <class J, class T>
void scan(const T* x, T* y, int64_t n, int64_t inner, int64_t from, int64_t to, bool exclusive,
          bool reverse) {
  using W = float_of<T>;
  constexpr int64_t kTile = 256;
  for (int64_t j = from; j < to; j += kTile) {
    int64_t width = to - j < kTile ? to - j : kTile;
    W run[kTile];
    for (int64_t k = 0; k < width; ++k) run[k] = J::template start<W>();
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = (reverse ? n - 1 - i : i) * inner + j;
      for (int64_t k = 0; k < width; ++k) {
        W next = J::join(run[k], static_cast<W>(x[at + k]));
        y[at + k] = static_cast<T>(exclusive ? run[k] : next);
        run[k] = next;
      }
    }
  }
}

template <class J>
Status run_scan(Call& c) {
  auto a = c.attrs<CumulativeAttrs>();
  const Tensor& x = c.in();
  Tensor& y = c.out();
  if (y.size() == 0) return {};
  int64_t axis = c.ints(1)[0];
  if (axis < 0) axis += x.rank();
  bool exclusive = a.exclusive(), reverse = a.reverse();
  int64_t n = x.dim(static_cast<int>(axis)), inner = 1;
  for (int i = static_cast<int>(axis) + 1; i < x.rank(); ++i) inner *= x.dim(i);
  visit_plain(x.dtype(), [&]<class V>(V) {
    if constexpr (std::is_same_v<V, bool>)
      return;
    else if constexpr (std::is_same_v<J, LogPlus> && (std::is_integral_v<V> || is_complex_v<V>))
      return;
    else {
      using T = unsigned_of<V>;  // wraps
      parallel_for(y.size() / n, std::max<int64_t>(1, 32768 / n), [&](int64_t begin, int64_t end) {
        while (begin < end) {
          int64_t outer = begin / inner, j = begin % inner, last = std::min(inner, j + end - begin);
          scan<J>(x.raw<T>() + outer * n * inner, y.mutable_raw<T>() + outer * n * inner, n, inner,
                  j, last, exclusive, reverse);
          begin += last - j;
        }
      });
    }
  });
  return {};
}

// The scan `op` of `t` in the direction against that of `g`, along the same axis.
Tensor against(const Op& op, const Tensor& t, const Grad& g) {
  auto a = g.attrs<CumulativeAttrs>();
  return op({t, g.x(1)}, {a.exclusive(), !a.reverse()});
}
const Op& sums();
const Op& log_sums();

// TensorFlow's: exact unless a factor is zero, where the elements from it on get 0.
Tensors cumprod_gradient(Grad& g) {
  Tensor x = g.x(), y = g.y();
  if (is_complex(x.dtype())) {
    x = conj(x);
    y = conj(y);
  }
  return {divide_no_nan(against(sums(), y * g.dy(), g), x), Tensor()};
}

// dx_j = sum over i of dy_i exp(x_j - y_i), each sign of dy summed in logarithms.
Tensors logsumexp_gradient(Grad& g) {
  Tensor x = g.x(), y = g.y(), dy = g.dy();
  Tensor nothing =
      fill(shape_of(dy), Tensor::scalar(-std::numeric_limits<double>::infinity(), dy.dtype()));
  // exclusive: y is -inf where nothing was summed, and has no gradient there
  auto side = [&](const Tensor& part) {
    Tensor counts = logical_and(greater(part, 0), greater(y, nothing));
    Tensor logs =
        where(counts, log(where(counts, part, ones_like(part))) - where(counts, y, zeros_like(y)),
              nothing);
    return exp(against(log_sums(), logs, g) + x);
  };
  return {side(dy) - side(-dy), Tensor()};
}

}  // namespace

#define HOLDFAST_SCAN(Name, fn)                                           \
  OP(Name, &fn)                                                           \
      .args("x")                                                          \
      .options<&CumulativeOptions::axis, &CumulativeOptions::exclusive,   \
               &CumulativeOptions::reverse>("axis, exclusive, reverse")   \
      .inputs("x, axis: Tidx!")                                           \
      .attr("exclusive", false)                                           \
      .attr("reverse", false)                                             \
      .attrs<&CumulativeAttrs::exclusive, &CumulativeAttrs::reverse>()    \
      .infer(infer_scan)                                                  \
      .samples("uniform(5, low=0.5, high=2)",                             \
               "uniform(3, 4, low=0.5, high=2), axis=-1, exclusive=True", \
               "uniform(3, 4, low=0.5, high=2), axis=1, reverse=True",    \
               "uniform(2, 3, 2, low=0.5, high=2), axis=1, exclusive=True, reverse=True")

// The sample reference: flip for reverse, shift by one for exclusive.
#define HOLDFAST_SCAN_REFERENCE(f, start)                                          \
  "(lambda r: (lambda a: r(np.concatenate([np.full_like(a.take([0], axis), " start \
  "), a.take(range(a.shape[axis] - 1), axis)], axis)) "                            \
  "if exclusive else r(a))(" f "(r(x), axis=axis)))(lambda a: np.flip(a, axis) if reverse else a)"

static const Op cumsum_op =
    HOLDFAST_SCAN(Cumsum, cumsum)
        .python("cumsum, math.cumsum")
        .dtypes(kNumbers)
        .doc(
            "Running sum along an axis; `exclusive` leaves the element itself out, `reverse` "
            "starts at the end.")
        .kernel("scan", run_scan<Plus>)
        .gradient(+[](Grad& g) -> Tensors { return {against(sums(), g.dy(), g), Tensor()}; })
        .keeps("axis")
        .reference(HOLDFAST_SCAN_REFERENCE("np.cumsum", "0"));
Tensor cumsum(const In& x, const CumulativeOptions& o) {
  return cumsum_op({x, Sizes(o.axis).tensor()}, {o.exclusive, o.reverse});
}

static const Op cumprod_op = HOLDFAST_SCAN(Cumprod, cumprod)
                                 .python("math.cumprod")
                                 .dtypes(kNumbers)
                                 .doc(
                                     "Running product along an axis; `exclusive` leaves the "
                                     "element itself out, `reverse` starts at the end.")
                                 .kernel("scan", run_scan<Times>)
                                 .gradient(cumprod_gradient)
                                 .keeps("x, axis, output")
                                 .reference(HOLDFAST_SCAN_REFERENCE("np.cumprod", "1"));
Tensor cumprod(const In& x, const CumulativeOptions& o) {
  return cumprod_op({x, Sizes(o.axis).tensor()}, {o.exclusive, o.reverse});
}

static const Op logsumexp_op =
    HOLDFAST_SCAN(CumulativeLogsumexp, cumulative_logsumexp)
        .python("math.cumulative_logsumexp")
        .dtypes(kFloats)
        .doc("Running log(sum(exp(x))) along an axis, without overflow.")
        .kernel("scan", run_scan<LogPlus>)
        .gradient(logsumexp_gradient)
        .keeps("x, axis, output")
        .reference(HOLDFAST_SCAN_REFERENCE("np.logaddexp.accumulate", "-np.inf"));
Tensor cumulative_logsumexp(const In& x, const CumulativeOptions& o) {
  return logsumexp_op({x, Sizes(o.axis).tensor()}, {o.exclusive, o.reverse});
}

namespace {
const Op& sums() { return cumsum_op; }
const Op& log_sums() { return logsumexp_op; }
}  // namespace

}  // namespace holdfast
