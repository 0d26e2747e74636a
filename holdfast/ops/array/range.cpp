// Evenly spaced numbers.
#include <cmath>

#include "holdfast/device/device.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/scope.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct LinSpaceAttrs {
  Attr<int64_t> axis;
};

constexpr DTypes kRange{int8,   int16,   int32,    int64,   uint16, uint32,
                        uint64, float16, bfloat16, float32, float64};

// The number, if it is known now; empty if it is not.
Tensor known(const Tensor& t) {
  Tensor seen = t.is_symbolic() && !symbol_of(t)->unknown ? symbol_of(t)->known : t;
  return seen.defined() && seen.rep()->buffer && seen.device()->kind() == DeviceKind::kCpu
             ? seen
             : Tensor();
}

// How many numbers there are; -1 with the reason where the arguments make no sense.
int64_t count_of(const Tensor& start, const Tensor& limit, const Tensor& delta,
                 const char*& wrong) {
  int64_t n = -1;
  visit_plain(start.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) {
      auto a = static_cast<float_of<T>>(*start.raw<T>()),
           b = static_cast<float_of<T>>(*limit.raw<T>()),
           d = static_cast<float_of<T>>(*delta.raw<T>());
      if (!(d != 0))
        wrong = "a step other than 0";
      else if (d > 0 && !(a <= b))
        wrong = "start <= limit, as delta is positive";
      else if (!(d > 0) && !(a >= b))
        wrong = "start >= limit, as delta is negative";
      if (wrong) return;
      if constexpr (std::is_integral_v<T>) {
        __int128 length = static_cast<__int128>(b) - a, step = d;
        if (step < 0) {
          length = -length;
          step = -step;
        }
        __int128 steps = (length + step - 1) / step;
        if (steps > INT64_MAX) {
          wrong = "a number of steps that can be counted";
          return;
        }
        n = static_cast<int64_t>(steps);
      } else {
        // In the dtype itself, each step rounded to it, as the numbers are: 1 / 0.01f is 100, while
        // the double 1 / 0.00999999977648 is more than that.
        T length = static_cast<T>(b - a);
        T quotient = static_cast<T>(static_cast<float_of<T>>(length) / d);
        double steps = std::ceil(std::abs(static_cast<double>(static_cast<float_of<T>>(quotient))));
        if (!(steps < 9.0e18)) {
          wrong = "a number of steps that can be counted";
          return;
        }
        n = static_cast<int64_t>(steps);
      }
    }
  });
  return n;
}

void infer_range(Infer& s) {
  for (int i = 0; i < 3; ++i) s.need_rank(i, 0, 0);
  int64_t n = kUnknown;
  Tensor start = known(s.input(0)), limit = known(s.input(1)), delta = known(s.input(2));
  if (start.defined() && limit.defined() && delta.defined()) {
    const char* wrong = nullptr;
    n = count_of(start, limit, delta, wrong);
    if (wrong)
      s.bad_value("start, limit, delta",
                  cat(start.to_double(), ", ", limit.to_double(), ", ", delta.to_double()), wrong);
  }
  s.output(s.dtype(), Shape{n});
}

Status run_range(Call& c) {
  const char* wrong = nullptr;
  int64_t n = count_of(c.in(0), c.in(1), c.in(2), wrong);
  if (wrong)
    return {Code::E1103, cat("Range: start, limit and delta do not fit: expected ", wrong)};
  Tensor& y = c.out(0, Shape{n});
  visit_plain(y.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>) {
      T* out = y.mutable_raw<T>();
      if constexpr (std::is_integral_v<T>) {
        auto a = static_cast<uint64_t>(*c.in(0).raw<T>()),
             d = static_cast<uint64_t>(*c.in(2).raw<T>());
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(a + static_cast<uint64_t>(i) * d);
      } else {
        auto a = static_cast<float_of<T>>(*c.in(0).raw<T>()),
             d = static_cast<float_of<T>>(*c.in(2).raw<T>());
        for (int64_t i = 0; i < n; ++i)
          out[i] = static_cast<T>(a + static_cast<float_of<T>>(i) * d);
      }
    }
  });
  return {};
}

// The widest of the dtypes, as tf.range infers it.
int width(DType d) {
  constexpr DType kOrder[] = {int32, int64, float16, bfloat16, float32, float64};
  for (int i = 0; i < 6; ++i)
    if (kOrder[i] == d) return i;
  return -1;
}

// A scalar under another dtype; a weak number takes it by itself. A number that is there is written
// anew: a cast would hide it from the shape rule while tracing.
Tensor as(const In& x, DType d) {
  if (x.weak()) return x.tensor(d);
  Tensor t = x;
  if (t.dtype() == d) return t;
  bool there = t.dtype() == int32 && t.rank() == 0 && !t.is_symbolic() && known(t).defined();
  return there && (is_floating(d) || d == int64) ? Tensor::scalar(t.to_int(), d) : cast(t, d);
}

void infer_linspace(Infer& s) {
  auto num = s.ints(2);
  if (s.shape(2).elements().value_or(1) != 1) s.bad_shape(2, "one number");
  if (num && (*num)[0] < 0) s.bad_value("num", cat((*num)[0]), "0 or more");
  auto both = s.shape(0).merged(s.shape(1));
  if (!both) s.bad_shape(1, cat("shape ", s.shape(0).text(), ", that of `start`"));
  if (!both->has_rank()) return s.output(s.dtype(), Shape::unknown());
  Shape out = *both;
  out.dims().insert(static_cast<size_t>(s.axis(s.attrs<LinSpaceAttrs>().axis(), 0, "axis", 1)),
                    num ? (*num)[0] : kUnknown);
  s.output(s.dtype(), out);
}

Status run_linspace(Call& c) {
  Tensor& y = c.out();
  int64_t n = only(c.ints(2)), axis = c.attrs<LinSpaceAttrs>().axis(), inner = 1;
  if (axis < 0) axis += y.rank();
  if (!y.size()) return {};
  for (auto i = static_cast<int>(axis) + 1; i < y.rank(); ++i) inner *= y.dim(i);
  visit_floats(y.dtype(), [&]<class T>(T) {
    using W = float_of<T>;
    const T *a = c.in(0).raw<T>(), *b = c.in(1).raw<T>();
    for (int64_t o = 0, outer = c.in(0).size() / inner; o < outer; ++o)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < inner; ++k) {
          W start = a[o * inner + k], stop = b[o * inner + k];
          W step = n > 1 ? (stop - start) / static_cast<W>(n - 1) : W(0);
          y.mutable_raw<T>()[(o * n + i) * inner + k] =
              static_cast<T>(i > 0 && i == n - 1 ? stop : start + step * static_cast<W>(i));
        }
  });
  return {};
}

}  // namespace

static const Op range_op =
    OP(Range, &range)
        .args("start: A, limit: B, delta: C, dtype")
        .inputs("start, limit, delta")
        .dtypes(kRange)
        .doc("start, start + delta, ... up to but without `limit`; `range(n)` counts from 0.")
        .no_gradient()
        .infer(infer_range)
        .kernel("reference", run_range)
        .samples("5", "2, 10, 3", "10, 2, -3", "0.0, 1.0, 0.25", "3, 3")
        .reference("np.arange(start, limit, 1 if delta is None else delta)")
        .checks({.gradient = false, .second_gradient = false});
Tensor range(const In& start, const MaybeIn& limit, const MaybeIn& delta,
             std::optional<DType> dtype) {
  In from = limit ? start : In(0), to = limit ? *limit : start, step = delta ? *delta : In(1);
  DType d = dtype.value_or(DType::kInvalid);
  if (!dtype) {
    // Numbers without a dtype of their own join in as int32 or float32.
    for (const In* x : {&from, &to, &step}) {
      DType own = x->weak() ? x->tensor().dtype() : x->dtype();
      if (x == &from && !limit) continue;
      if (x == &step && !delta) continue;
      if (d == DType::kInvalid || width(own) > width(d)) d = own;
    }
  }
  return range_op({as(from, d), as(to, d), as(step, d)});
}

static Tensors linspace_back(Grad& g) {
  auto a = g.attrs<LinSpaceAttrs>();
  // y_i = start + w_i * (stop - start), w running from 0 to 1 along the axis.
  Tensor dy = g.dy();
  int64_t axis = a.axis() < 0 ? a.axis() + g.x().rank() + 1 : a.axis();
  Dims along(static_cast<size_t>(g.x().rank() + 1), 1);
  along[static_cast<size_t>(axis)] = -1;
  Tensor w = reshape(
      linspace(Tensor::scalar(0.0, dy.dtype()), Tensor::scalar(1.0, dy.dtype()), g.x(2)), along);
  Tensor stop = reduce_sum(dy * w, {.axis = Sizes(axis)});
  return {reduce_sum(dy, {.axis = Sizes(axis)}) - stop, stop, Tensor()};
}

static const Op linspace_op =
    OP(LinSpace, &linspace)
        .args("start, stop, num")
        .options<&LinspaceOptions::axis>("axis")
        .python("linspace")
        .doc("`num` values from `start` to `stop`, both included, evenly spaced along a new axis.")
        .inputs("start, stop, num: Tidx!")
        .attr("axis", 0)
        .attrs<&LinSpaceAttrs::axis>()
        .dtypes(kFloats)
        .infer(infer_linspace)
        .kernel("reference", run_linspace)
        .gradient(linspace_back)
        .keeps("num")
        .samples("uniform(), uniform(), 5", "uniform(2, 3), uniform(2, 3), 4",
                 "uniform(2), uniform(2), 3, axis=-1", "uniform(), uniform(), 1")
        .reference("np.linspace(start, stop, int(num), axis=axis)");
Tensor linspace(const In& start, const In& stop, const Sizes& num, const LinspaceOptions& o) {
  // Numbers take the dtype of the operand beside them; integers are spaced in float64, as in
  // TensorFlow.
  DType d = !start.weak()                                                       ? start.dtype()
            : !stop.weak()                                                      ? stop.dtype()
            : start.tensor().dtype() == int32 && stop.tensor().dtype() == int32 ? int32
                                                                                : float32;
  Tensor a = start.tensor(d), b = stop.tensor(d);
  if (is_integer(a.dtype())) a = cast(a, float64);
  if (is_integer(b.dtype())) b = cast(b, float64);
  if (!(a.shape() == b.shape()) || !a.shape().is_full()) {
    auto both = broadcast(a.shape(), b.shape());
    if (!both)
      fail(Code::E1102, cat("linspace: `start` ", a.shape().text(), " and `stop` ",
                            b.shape().text(), " do not broadcast"));
    Sizes to = both->is_full() ? Sizes(*both) : Sizes(broadcast_dynamic_shape(shape(a), shape(b)));
    // What is known of the sizes stays known where some are not.
    auto spread = [&](const Tensor& t) {
      Tensor wide = broadcast_to(t, to);
      return both->has_rank() && !both->is_full() ? ensure_shape(wide, *both) : wide;
    };
    a = spread(a);
    b = spread(b);
  }
  return linspace_op({a, b, num.tensor()}, {o.axis});
}

REGISTER(FUNCTION(&meshgrid)
             .args("args")
             .options<&MeshgridOptions::indexing>("indexing")
             .doc("Coordinates of the grid that the vectors span, one tensor for each.")
             .samples("[uniform(3), uniform(2)]",
                      "[uniform(3), uniform(2), uniform(4)], indexing='ij'")
             .reference("np.meshgrid(*args, indexing=indexing)"));
Tensors meshgrid(const Ins& args, const MeshgridOptions& o) {
  if (o.indexing != "xy" && o.indexing != "ij")
    fail(Code::E1103, cat("meshgrid: `indexing` is '", o.indexing, "', expected 'xy' or 'ij'"));
  Tensors flat, out;
  for (const Tensor& t : args.tensors()) flat.push_back(reshape(t, {-1}));
  size_t n = flat.size();
  auto axis = [&](size_t i) { return o.indexing == "xy" && n > 1 && i < 2 ? 1 - i : i; };
  std::vector<Tensor> sizes(n);
  Dims dims(n, 0);
  bool full = true;
  for (size_t i = 0; i < n; ++i) {
    dims[axis(i)] = flat[i].dim(0);
    full = full && flat[i].dim(0) >= 0;
  }
  if (!full)
    for (size_t i = 0; i < n; ++i) sizes[axis(i)] = shape(flat[i]);
  Sizes grid = full ? Sizes(dims) : Sizes(concat(sizes, 0));
  for (size_t i = 0; i < n; ++i) {
    Dims along(n, 1);
    along[axis(i)] = -1;
    out.push_back(broadcast_to(reshape(flat[i], along), grid));
  }
  return out;
}

}  // namespace holdfast
