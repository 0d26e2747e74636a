// Floats rounded to integers of a few bits and back.
#include <cmath>
#include <limits>

#include "holdfast/base/checked.h"
#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/quantization.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::quantization {
namespace {

struct QuantizeAttrs {
  Attr<bool> signed_input;
  Attr<int64_t> num_bits;
  Attr<bool> range_given;
  Attr<std::string> round_mode;
  Attr<bool> narrow_range;
  Attr<int64_t> axis;
};
// Of the op whose number of bits is a tensor.
struct QuantizeV3Attrs {
  Attr<bool> signed_input;
  Attr<bool> range_given;
  Attr<bool> narrow_range;
  Attr<int64_t> axis;
};
struct AxisAttrs {
  Attr<int64_t> axis;
};

struct Rules {
  bool signed_input, range_given, narrow_range, half_up;
  int64_t bits, axis;  // axis -1: one range for all
};

int64_t most_bits(bool signed_input) { return signed_input ? 61 : 62; }

// -- shape rules

void check_axis(const Infer& s, int input, int64_t axis) {
  const Shape& x = s.shape(input);
  if (axis < -1 || (x.has_rank() && axis >= x.rank()))
    s.bad_value("axis", cat(axis),
                x.has_rank() ? cat("-1 for one range, or 0 to ", x.rank() - 1)
                             : std::string("-1 for one range, or an axis"));
}

// The shape of the inputs that hold ranges, of which the first is `at`.
Shape infer_range(const Infer& s, const Shape& x, int at, int64_t axis) {
  Shape range;
  if (axis >= 0) range = Shape{x.has_rank() ? x[static_cast<int>(axis)] : kUnknown};
  for (int i = at; i < at + 2; ++i)
    if (!s.shape(i).compatible(range))
      s.bad_shape(i, axis < 0 ? std::string("a scalar")
                              : cat(range.text(), ", a number for each element of axis ", axis));
  return range;
}

void infer_quantize(Infer& s) {
  auto a = s.attrs<QuantizeAttrs>();
  const std::string& mode = a.round_mode();
  if (mode != "HALF_TO_EVEN" && mode != "HALF_UP")
    s.bad_value("round_mode", cat("\"", mode, "\""), "\"HALF_TO_EVEN\" or \"HALF_UP\"");
  int64_t most = most_bits(a.signed_input());
  if (a.num_bits() < 1 || a.num_bits() > most)
    s.bad_value("num_bits", cat(a.num_bits()), cat("1 to ", most));
  check_axis(s, 0, a.axis());
  if (a.range_given()) infer_range(s, s.shape(), 1, a.axis());
  s.output(s.dtype(), s.shape());
}

void infer_quantize_v3(Infer& s) {
  auto a = s.attrs<QuantizeV3Attrs>();
  check_axis(s, 0, a.axis());
  if (a.range_given()) infer_range(s, s.shape(), 1, a.axis());
  s.need_rank(3, 0, 0);
  s.output(s.dtype(), s.shape());
}

void infer_gradient(Infer& s) {
  int64_t axis = s.attrs<AxisAttrs>().axis();
  if (!s.shape(1).compatible(s.shape(0)))
    s.bad_shape(1, cat(s.shape(0).text(), ", the shape of `gradients`"));
  check_axis(s, 1, axis);
  Shape range = infer_range(s, s.shape(1), 2, axis);
  s.output(s.dtype(), s.shape(1));
  s.output(s.dtype(), range);
  s.output(s.dtype(), range);
}

// -- kernels

// Elements as they lie in memory: `outer` times each channel, `inner` elements of it.
struct Channels {
  int64_t outer = 1, count = 1, inner = 1;
  Channels(const Tensor& x, int64_t axis) {
    for (int k = 0; k < x.rank(); ++k)
      (axis < 0 || k > axis ? inner : k < axis ? outer : count) *= x.dim(k);
  }
  // `f(begin, end)` for each run of elements of a channel.
  template <class F>
  void each_run(int64_t channel, F&& f) const {
    for (int64_t o = 0; o < outer; ++o) {
      int64_t begin = (o * count + channel) * inner;
      f(begin, begin + inner);
    }
  }
};

// What a range makes of numbers.
template <class W>
struct Scale {
  W low, high, factor, inverse;

  Scale(W min, W max, const Rules& rules) {
    auto first = rules.signed_input
                     ? -(int64_t{1} << (rules.bits - 1)) + (rules.narrow_range ? 1 : 0)
                     : int64_t{0},
         last = (int64_t{1} << (rules.signed_input ? rules.bits - 1 : rules.bits)) - 1;
    auto lowest = static_cast<W>(first), highest = static_cast<W>(last);
    W none = std::numeric_limits<W>::max();
    W from_min = lowest * min > 0 ? lowest / min : none,
      from_max = highest * max > 0 ? highest / max : none;
    low = min, high = max;
    if (from_min < from_max) {
      factor = from_min, inverse = min / lowest;
      high = highest * inverse;
    } else {
      factor = from_max, inverse = max / highest;
      low = lowest * inverse;
    }
  }
};

template <class T>
void quantize(const Tensor& in, const Tensor& min, const Tensor& max, const Rules& rules,
              Tensor& out) {
  using W = float_of<T>;
  const T* x = in.raw<T>();
  T* y = out.mutable_raw<T>();
  Channels channels(in, rules.axis);
  for (int64_t k = 0; k < channels.count; ++k) {
    W low = std::numeric_limits<W>::max(), high = std::numeric_limits<W>::lowest();
    if (rules.range_given) {
      low = static_cast<W>(min.raw<T>()[k]), high = static_cast<W>(max.raw<T>()[k]);
    } else {
      channels.each_run(k, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          low = std::min(low, static_cast<W>(x[i]));
          high = std::max(high, static_cast<W>(x[i]));
        }
      });
    }
    Scale<W> scale(low, high, rules);
    channels.each_run(k, [&](int64_t begin, int64_t end) {
      parallel_for(end - begin, grain_for(8), [&](int64_t b, int64_t e) {
        for (int64_t i = begin + b; i < begin + e; ++i) {
          W v = static_cast<W>(x[i]);
          if (rules.range_given) v = std::max(std::min(v, scale.high), scale.low);
          v *= scale.factor;
          v = rules.half_up ? std::floor(v + W(0.5)) : std::nearbyint(v);
          y[i] = static_cast<T>(v * scale.inverse);
        }
      });
    });
  }
}

Status run(Call& c, const Rules& rules) {
  const Tensor &in = c.in(0), &min = c.in(1), &max = c.in(2);
  if (rules.axis < -1 || rules.axis >= in.rank())
    return {Code::E1103,
            cat(c.op.name, ": `axis` is ", rules.axis, " of an input of ", in.shape().text())};
  int64_t ranges = rules.axis < 0 ? 1 : in.dim(static_cast<int>(rules.axis));
  if (rules.range_given && (min.size() != ranges || max.size() != ranges))
    return {Code::E1102, cat(c.op.name, ": ranges of ", min.shape().text(), " and ",
                             max.shape().text(), ", expected ", ranges, " numbers each")};
  Status bad;
  Tensor& out = c.out();
  visit_floats(in.dtype(), [&]<class T>(T) {
    using W = float_of<T>;
    if (rules.range_given)
      for (int64_t k = 0; k < ranges; ++k) {
        auto low = static_cast<W>(min.raw<T>()[k]), high = static_cast<W>(max.raw<T>()[k]);
        if (!(low > high)) continue;
        bad = {Code::E1103, cat(c.op.name, ": `input_min` is ", low, " and `input_max` ", high,
                                ", expected a number that is not less")};
        return;
      }
    quantize<T>(in, min, max, rules, out);
  });
  return bad;
}

Status run_quantize(Call& c) {
  auto a = c.attrs<QuantizeAttrs>();
  return run(c, {.signed_input = a.signed_input(),
                 .range_given = a.range_given(),
                 .narrow_range = a.narrow_range(),
                 .half_up = a.round_mode() == "HALF_UP",
                 .bits = a.num_bits(),
                 .axis = a.axis()});
}

Status run_quantize_v3(Call& c) {
  auto a = c.attrs<QuantizeV3Attrs>();
  int64_t bits = c.ints(3)[0], most = most_bits(a.signed_input());
  if (bits < 1 || bits > most)
    return {Code::E1103, cat(c.op.name, ": `num_bits` is ", bits, ", expected 1 to ", most)};
  return run(c, {.signed_input = a.signed_input(),
                 .range_given = a.range_given(),
                 .narrow_range = a.narrow_range(),
                 .half_up = false,
                 .bits = bits,
                 .axis = a.axis()});
}

Status run_gradient(Call& c) {
  const Tensor &dy = c.in(0), &in = c.in(1), &min = c.in(2), &max = c.in(3);
  int64_t axis = c.attrs<AxisAttrs>().axis();
  Channels channels(in, axis);
  if (dy.shape() != in.shape() || min.size() != channels.count || max.size() != channels.count)
    return {Code::E1102, cat(c.op.name, ": `gradients` of ", dy.shape().text(), ", `input` of ",
                             in.shape().text(), " and ranges of ", min.shape().text(),
                             " don't belong together")};
  Tensor &dx = c.out(0, in.shape()), &dmin = c.out(1, min.shape()), &dmax = c.out(2, max.shape());
  visit_floats(in.dtype(), [&]<class T>(T) {
    const T *x = in.raw<T>(), *from = dy.raw<T>();
    T* to = dx.mutable_raw<T>();
    for (int64_t k = 0; k < channels.count; ++k) {
      auto low = static_cast<float_of<T>>(min.raw<T>()[k]),
           high = static_cast<float_of<T>>(max.raw<T>()[k]);
      channels.each_run(k, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          auto v = static_cast<float_of<T>>(x[i]);
          to[i] = v >= low && v <= high ? from[i] : T(0.f);
        }
      });
    }
    std::fill_n(dmin.mutable_raw<T>(), dmin.size(), T(0.f));
    std::fill_n(dmax.mutable_raw<T>(), dmax.size(), T(0.f));
  });
  return {};
}

// -- ops

Builder& quantizes(Builder& b) {
  return b.inputs("input, input_min, input_max")
      .dtypes(kFloats)
      .attr("signed_input", true)
      .attr("num_bits", 8)
      .attr("range_given", false)
      .attr("round_mode", "HALF_TO_EVEN")
      .attr("narrow_range", false)
      .attr("axis", -1)
      .attrs<&QuantizeAttrs::signed_input, &QuantizeAttrs::num_bits, &QuantizeAttrs::range_given,
             &QuantizeAttrs::round_mode, &QuantizeAttrs::narrow_range, &QuantizeAttrs::axis>()
      .infer(infer_quantize)
      .kernel("reference", run_quantize);
}

const Op gradient_op = RAW_OP(QuantizeAndDequantizeV4Grad)
                           .doc("`gradients` where `input` is within its range.")
                           .inputs("gradients, input, input_min, input_max")
                           .outputs("input_backprop, input_min_backprop, input_max_backprop")
                           .dtypes(kFloats)
                           .attr("axis", -1)
                           .attrs<&AxisAttrs::axis>()
                           .infer(infer_gradient)
                           .kernel("reference", run_gradient)
                           .gradient(+[](Grad& g) -> Tensors {
                             Tensors back =
                                 gradient_op.many({g.dy(), g.x(1), g.x(2), g.x(3)}, g.attrs());
                             return {back[0], {}, {}, {}};
                           })
                           .keeps("input, input_min, input_max");

// The gradient of rounding is that of what is rounded, as if there were no steps.
const Op v2_op = quantizes(RAW_OP(QuantizeAndDequantizeV2)
                               .doc("`input` rounded to integers and "
                                    "back; its gradient passes."))
                     .gradient(+[](Grad& g) -> Tensors { return {g.dy(), {}, {}}; })
                     .keeps("");

const Op v3_op =
    RAW_OP(QuantizeAndDequantizeV3)
        .doc(
            "`input` rounded to integers and back, of a number of bits that a tensor says; its "
            "gradient passes.")
        .inputs("input, input_min, input_max, num_bits: I!")
        .dtypes(kFloats)
        .dtypes(DTypes{int32}, "I")
        .attr("signed_input", true)
        .attr("range_given", true)
        .attr("narrow_range", false)
        .attr("axis", -1)
        .attrs<&QuantizeV3Attrs::signed_input, &QuantizeV3Attrs::range_given,
               &QuantizeV3Attrs::narrow_range, &QuantizeV3Attrs::axis>()
        .infer(infer_quantize_v3)
        .kernel("reference", run_quantize_v3)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy(), {}, {}, {}}; })
        .keeps("");

const Op v4_op = quantizes(RAW_OP(QuantizeAndDequantizeV4)
                               .doc("`input` rounded to integers and back; its gradient passes "
                                    "within the range."))
                     .gradient(+[](Grad& g) -> Tensors {
                       return gradient_op.many({g.dy(), g.x(0), g.x(1), g.x(2)},
                                               {g.attrs<QuantizeAttrs>().axis.arg()});
                     })
                     .keeps("input, input_min, input_max");

// -- what users call

Tensor call(const char* function, const Op& op, const In& input, const In& input_min,
            const In& input_max, const QuantizeAndDequantizeOptions& o) {
  Tensor x = input.tensor(float32);
  int64_t axis = o.axis.value_or(-1);
  if (o.axis && axis < 0) {
    if (!x.shape().has_rank())
      fail(Code::E1102,
           cat(function, ": `axis` is ", axis, ", and the number of axes of `input` is not known"),
           "an axis counted from the end can only be found where that is known");
    if (axis < -x.rank())
      fail(Code::E1103, cat(function, ": `axis` is ", axis, ", and `input` ", type_text(x)));
    axis += x.rank();
  }
  return op({x, cast(input_min.tensor(x.dtype()), x.dtype()),
             cast(input_max.tensor(x.dtype()), x.dtype())},
            {o.signed_input, o.num_bits, o.range_given, o.round_mode, o.narrow_range, axis});
}

Builder& with_options(Builder& b) {
  using O = QuantizeAndDequantizeOptions;
  return b.options<&O::signed_input, &O::num_bits, &O::range_given, &O::round_mode,
                   &O::narrow_range, &O::axis>(
      "signed_input, num_bits, range_given, round_mode, narrow_range, axis");
}

}  // namespace

REGISTER(with_options(FUNCTION(&quantize_and_dequantize_v2).args("input, input_min, input_max"))
             .python("quantization.quantize_and_dequantize_v2")
             .doc("`input` rounded to integers of `num_bits` and back; zero stays zero. The "
                  "gradient passes where `input` is from `input_min` to `input_max`.")
             .samples("uniform(3, 4, low=-2, high=2), -1.0, 1.0, range_given=True",
                      "uniform(3, 4, low=-2, high=2), -1.0, 1.0, num_bits=5, range_given=True")
             .reference("np.round(np.clip(input, -(2**(num_bits - 1)) / (2**(num_bits - 1) - 1), "
                        "1) * (2**(num_bits - 1) - 1)) / (2**(num_bits - 1) - 1)")
             .checks({.gradient = false}));
Tensor quantize_and_dequantize_v2(const In& input, const In& input_min, const In& input_max,
                                  const QuantizeAndDequantizeOptions& o) {
  return call("quantize_and_dequantize_v2", v4_op, input, input_min, input_max, o);
}

REGISTER(with_options(FUNCTION(&quantize_and_dequantize).args("input, input_min, input_max"))
             .python("quantization.quantize_and_dequantize")
             .doc("`input` rounded to integers of `num_bits` and back; the gradient passes.")
             .samples("uniform(3, 4, low=-2, high=2), -1.0, 1.0, range_given=True")
             .reference("np.round(np.clip(input, -128 / 127, 1) * 127) / 127")
             .checks({.gradient = false}));
Tensor quantize_and_dequantize(const In& input, const In& input_min, const In& input_max,
                               const QuantizeAndDequantizeOptions& o) {
  return call("quantize_and_dequantize", v2_op, input, input_min, input_max, o);
}

}  // namespace holdfast::quantization
