// Floats rounded to the steps that integers of a few bits would have between two numbers.
#include <cmath>
#include <limits>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/quantization.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::quantization {
namespace {

struct RangeAttrs {
  Attr<double> min;
  Attr<double> max;
  Attr<int64_t> num_bits;
  Attr<bool> narrow_range;
};
struct StepAttrs {
  Attr<int64_t> num_bits;
  Attr<bool> narrow_range;
};

// A range, moved so that zero is one of its steps.
struct Steps {
  float low, high;      // its ends
  float size, inverse;  // of a step
  float zero;           // its number
  bool none = false;    // of an empty range everything is zero, and gradients pass

  template <class A>
  Steps(float min, float max, const A& a) {
    float first = a.narrow_range() ? 1 : 0, last = static_cast<float>((1 << a.num_bits()) - 1);
    none = min == 0 && max == 0;
    size = (max - min) / (last - first);
    inverse = (last - first) / (max - min);
    float from_min = first - min / size;
    float nudged = from_min > last ? last : std::round(from_min);
    if (!(from_min >= first)) nudged = first;  // also of ranges that are none
    low = (first - nudged) * size;
    high = (last - nudged) * size;
    zero = std::floor(-low * inverse + 0.5f);
  }
  float cut(float x) const { return std::max(std::min(x, high), low) - low; }
  bool inside(float x) const { return x >= low && x <= high; }
};

// `f(begin, end, channel)` for runs of elements of one channel: all of them where there is one.
template <class F>
void each_channel(int64_t size, int64_t channels, F&& f) {
  if (channels == 1)
    return parallel_for(size, grain_for(8), [&](int64_t b, int64_t e) { f(b, e, int64_t{0}); });
  parallel_for(channels ? size / channels : 0, grain_for(8 * channels), [&](int64_t b, int64_t e) {
    for (int64_t i = b * channels; i < e * channels; ++i) f(i, i + 1, i % channels);
  });
}

template <class A>
std::vector<Steps> steps_of(const Tensor& min, const Tensor& max, const A& a) {
  std::vector<Steps> all;
  for (int64_t i = 0; i < min.size(); ++i)
    all.emplace_back(min.raw<float>()[i], max.raw<float>()[i], a);
  return all;
}

// -- shape rules

template <class A>
void check_steps(const Infer& s) {
  int64_t bits = s.attrs<A>().num_bits();
  if (bits < 2 || bits > 16) s.bad_value("num_bits", cat(bits), "2 to 16");
}

void check_range(const Infer& s) {
  auto a = s.attrs<RangeAttrs>();
  if (!(a.min() < a.max()))
    s.bad_value("min", cat(a.min(), ", and `max` ", a.max()), "a number, and a larger one");
  check_steps<RangeAttrs>(s);
}

void need_same(const Infer& s, int i) {
  if (!s.shape(i).compatible(s.shape(0)))
    s.bad_shape(i, cat(s.shape(0).text(), ", the shape of `gradients`"));
}

Shape either(const Shape& a, const Shape& b) { return a.merged(b).value_or(a); }

void infer_args(Infer& s) {
  check_range(s);
  s.output(float32, s.shape());
}
void infer_args_gradient(Infer& s) {
  check_range(s);
  need_same(s, 1);
  s.output(float32, either(s.shape(0), s.shape(1)));
}

// Ranges begin at input `at`: scalars, or vectors as long as the last axis of `x`.
Shape infer_ranges(Infer& s, int at, const Shape& x, bool per_channel) {
  check_steps<StepAttrs>(s);
  Shape range;
  if (per_channel) {
    if (x.has_rank() && x.rank() < 1) s.bad_shape(at - 1, "one axis or more");
    range = Shape{x.has_rank() ? x[x.rank() - 1] : kUnknown};
  }
  for (int i = at; i < at + 2; ++i) {
    if (!s.shape(i).compatible(range))
      s.bad_shape(i, per_channel ? cat(range.text(), ", one for each element of the last axis")
                                 : "a scalar");
    range = either(range, s.shape(i));
  }
  return range;
}

template <bool kPerChannel>
void infer_vars(Infer& s) {
  infer_ranges(s, 1, s.shape(), kPerChannel);
  s.output(float32, s.shape());
}
template <bool kPerChannel>
void infer_vars_gradient(Infer& s) {
  need_same(s, 1);
  Shape x = either(s.shape(0), s.shape(1));
  Shape range = infer_ranges(s, 2, x, kPerChannel);
  s.output(float32, x);
  s.output(float32, range);
  s.output(float32, range);
}

// -- kernels

Status run_args(Call& c) {
  auto a = c.attrs<RangeAttrs>();
  Steps steps(static_cast<float>(a.min()), static_cast<float>(a.max()), a);
  const auto* x = c.in().raw<float>();
  auto* y = c.out().mutable_raw<float>();
  each_channel(c.in().size(), 1, [&](int64_t b, int64_t e, int64_t) {
    for (int64_t i = b; i < e; ++i)
      y[i] = std::floor(steps.cut(x[i]) * steps.inverse - steps.zero + 0.5f) * steps.size;
  });
  return {};
}

Status run_args_gradient(Call& c) {
  auto a = c.attrs<RangeAttrs>();
  Steps steps(static_cast<float>(a.min()), static_cast<float>(a.max()), a);
  const auto *dy = c.in(0).raw<float>(), *x = c.in(1).raw<float>();
  auto* dx = c.out().mutable_raw<float>();
  each_channel(c.in().size(), 1, [&](int64_t b, int64_t e, int64_t) {
    for (int64_t i = b; i < e; ++i) dx[i] = steps.inside(x[i]) ? dy[i] : 0;
  });
  return {};
}

Status check_channels(const Call& c, const Tensor& x, int at, bool per_channel) {
  int64_t channels = per_channel ? x.rank() ? x.dim(-1) : -1 : 1;
  if (c.in(at).size() == channels && c.in(at + 1).size() == channels) return {};
  return {Code::E1102,
          cat(c.op.name, ": ranges of ", c.in(at).shape().text(), " and ",
              c.in(at + 1).shape().text(), " don't fit to `inputs` of ", x.shape().text())};
}

template <bool kPerChannel>
Status run_vars(Call& c) {
  const Tensor& in = c.in(0);
  if (Status bad = check_channels(c, in, 1, kPerChannel); !bad.ok()) return bad;
  auto steps = steps_of(c.in(1), c.in(2), c.attrs<StepAttrs>());
  const auto* x = in.raw<float>();
  auto* y = c.out().mutable_raw<float>();
  each_channel(in.size(), c.in(1).size(), [&](int64_t b, int64_t e, int64_t channel) {
    const Steps& s = steps[static_cast<size_t>(channel)];
    for (int64_t i = b; i < e; ++i) {
      // One divides and the other multiplies, as TensorFlow's do: some floats differ by a step.
      float number = kPerChannel ? s.cut(x[i]) * s.inverse : s.cut(x[i]) / s.size;
      y[i] = s.none ? 0 : std::floor(number - s.zero + 0.5f) * s.size;
    }
  });
  return {};
}

template <bool kPerChannel>
Status run_vars_gradient(Call& c) {
  const Tensor& in = c.in(1);
  if (Status bad = check_channels(c, in, 2, kPerChannel); !bad.ok()) return bad;
  if (c.in(0).shape() != in.shape())
    return {Code::E1102, cat(c.op.name, ": `gradients` of ", c.in(0).shape().text(),
                             " and `inputs` of ", in.shape().text(), ", expected the same shape")};
  auto steps = steps_of(c.in(2), c.in(3), c.attrs<StepAttrs>());
  auto channels = static_cast<int64_t>(steps.size());
  const auto *dy = c.in(0).raw<float>(), *x = in.raw<float>();
  auto* dx = c.out(0, in.shape()).mutable_raw<float>();
  auto* dmin = c.out(1, c.in(2).shape()).mutable_raw<float>();
  auto* dmax = c.out(2, c.in(2).shape()).mutable_raw<float>();
  // Sums in one order, whatever the number of threads.
  std::vector<double> below(steps.size()), above(steps.size());
  for (int64_t i = 0; i < in.size(); ++i) {
    auto k = static_cast<size_t>(i % channels);
    const Steps& s = steps[k];
    dx[i] = s.none || s.inside(x[i]) ? dy[i] : 0;
    if (s.none) continue;
    if (x[i] < s.low) below[k] += dy[i];
    if (x[i] > s.high) above[k] += dy[i];
  }
  for (size_t k = 0; k < steps.size(); ++k)
    dmin[k] = static_cast<float>(below[k]), dmax[k] = static_cast<float>(above[k]);
  return {};
}

// -- gradients

// What gradient ops give is linear in `gradients`: each element counts for the output that it went
// to. Where a range ends is what becomes of numbers below and above all others.
Tensors of_gradients(Grad& g, const Op& quantized) {
  const Tensor &x = g.x(1), &min = g.x(2), &max = g.x(3);
  float infinite = std::numeric_limits<float>::infinity();
  Tensor low = quantized({zeros_like(min) - infinite, min, max}, g.attrs()),
         high = quantized({zeros_like(min) + infinite, min, max}, g.attrs());
  Tensor cut = select(less(x, low), g.dy(1), select(greater(x, high), g.dy(2), g.dy(0)));
  Tensor none = logical_and(equal(min, 0.f), equal(max, 0.f));
  return {select(none, g.dy(0), cut), {}, {}, {}};
}

// -- what users call

using ArgsOptions = FakeQuantArgsOptions;
using Options = FakeQuantOptions;

Builder& with_range(Builder& b) {
  return b
      .options<&ArgsOptions::min, &ArgsOptions::max, &ArgsOptions::num_bits,
               &ArgsOptions::narrow_range>("min, max, num_bits, narrow_range")
      .dtypes(DTypes{float32})
      .attrs<&RangeAttrs::min, &RangeAttrs::max, &RangeAttrs::num_bits,
             &RangeAttrs::narrow_range>();
}
Builder& with_steps(Builder& b) {
  return b.options<&Options::num_bits, &Options::narrow_range>("num_bits, narrow_range")
      .dtypes(DTypes{float32})
      .attrs<&StepAttrs::num_bits, &StepAttrs::narrow_range>();
}

extern const Op args_gradient_op, vars_op, channels_op;

const Op args_op =
    with_range(OP(FakeQuantWithMinMaxArgs, &fake_quant_with_min_max_args).args("inputs"))
        .python("quantization.fake_quant_with_min_max_args")
        .doc(
            "`inputs` cut off at `min` and `max`, which are moved so that zero is exact, and "
            "rounded to one of 2 ** num_bits steps.")
        .infer(infer_args)
        .kernel("reference", run_args)
        .gradient(
            +[](Grad& g) -> Tensors { return {args_gradient_op({g.dy(), g.x()}, g.attrs())}; })
        .keeps("inputs")
        .samples("uniform(3, 4, low=-9, high=9), min=0.0, max=6.0")
        .reference("np.clip(np.floor(inputs * 255 / 6 + 0.5), 0, 255) * 6 / 255")
        .checks({.gradient = false});

const Op args_gradient_op =
    with_range(OP(FakeQuantWithMinMaxArgsGradient, &fake_quant_with_min_max_args_gradient)
                   .args("gradients, inputs"))
        .python("quantization.fake_quant_with_min_max_args_gradient")
        .doc("`gradients` where `inputs` are not cut off.")
        .infer(infer_args_gradient)
        .kernel("reference", run_args_gradient)
        .gradient(
            +[](Grad& g) -> Tensors { return {args_gradient_op({g.dy(), g.x(1)}, g.attrs()), {}}; })
        .keeps("inputs")
        .samples("uniform(3, 4, low=-2, high=2), uniform(3, 4, low=-9, high=9), min=0.0, max=6.0")
        .reference("gradients * (inputs >= 0) * (inputs <= 6)")
        .checks({.gradient = false});

const Op vars_gradient_op =
    with_steps(OP(FakeQuantWithMinMaxVarsGradient, &fake_quant_with_min_max_vars_gradient)
                   .args("gradients, inputs, min, max"))
        .outputs("backprops_wrt_input, backprop_wrt_min, backprop_wrt_max")
        .returns("backprops_wrt_input, backprop_wrt_min, backprop_wrt_max")
        .python("quantization.fake_quant_with_min_max_vars_gradient")
        .doc("Gradients of fake_quant_with_min_max_vars: of `inputs`, `min` and `max`.")
        .infer(infer_vars_gradient<false>)
        .kernel("reference", run_vars_gradient<false>)
        .gradient(+[](Grad& g) -> Tensors { return of_gradients(g, vars_op); })
        .keeps("inputs, min, max")
        .samples("uniform(3, 4, low=-2, high=2), uniform(3, 4, low=-9, high=9), 0.0, 6.0")
        .reference(
            "(gradients * (inputs >= 0) * (inputs <= 6), np.sum(gradients * (inputs < 0)), "
            "np.sum(gradients * (inputs > 6)))")
        .checks({.gradient = false});

const Op vars_op =
    with_steps(OP(FakeQuantWithMinMaxVars, &fake_quant_with_min_max_vars).args("inputs, min, max"))
        .python("quantization.fake_quant_with_min_max_vars")
        .doc(
            "`inputs` cut off at `min` and `max`, which are moved so that zero is exact, and "
            "rounded to one of 2 ** num_bits steps.")
        .infer(infer_vars<false>)
        .kernel("reference", run_vars<false>)
        .gradient(+[](Grad& g) -> Tensors {
          return vars_gradient_op.many({g.dy(), g.x(0), g.x(1), g.x(2)}, g.attrs());
        })
        .keeps("inputs, min, max")
        .samples("uniform(3, 4, low=-9, high=9), 0.0, 6.0",
                 "uniform(3, 4, low=-9, high=9), 0.0, 6.0, num_bits=4, narrow_range=True")
        .reference(
            "np.clip(np.floor(inputs / 6 * (2**num_bits - 1 - narrow_range) + 0.5), 0, "
            "2**num_bits - 1 - narrow_range) * 6 / (2**num_bits - 1 - narrow_range)")
        .checks({.gradient = false});

const Op channels_gradient_op =
    with_steps(OP(FakeQuantWithMinMaxVarsPerChannelGradient,
                  &fake_quant_with_min_max_vars_per_channel_gradient)
                   .args("gradients, inputs, min, max"))
        .outputs("backprops_wrt_input, backprop_wrt_min, backprop_wrt_max")
        .returns("backprops_wrt_input, backprop_wrt_min, backprop_wrt_max")
        .python("quantization.fake_quant_with_min_max_vars_per_channel_gradient")
        .doc("Gradients of fake_quant_with_min_max_vars_per_channel: of `inputs`, `min` and `max`.")
        .infer(infer_vars_gradient<true>)
        .kernel("reference", run_vars_gradient<true>)
        .gradient(+[](Grad& g) -> Tensors { return of_gradients(g, channels_op); })
        .keeps("inputs, min, max")
        .samples(
            "uniform(3, 2, low=-2, high=2), uniform(3, 2, low=-9, high=9), [0.0, 0.0], "
            "[6.0, 3.0]")
        .reference(
            "(gradients * (inputs >= 0) * (inputs <= np.array(max)), np.sum(gradients * "
            "(inputs < 0), 0), np.sum(gradients * (inputs > np.array(max)), 0))")
        .checks({.gradient = false});

const Op channels_op =
    with_steps(OP(FakeQuantWithMinMaxVarsPerChannel, &fake_quant_with_min_max_vars_per_channel)
                   .args("inputs, min, max"))
        .python("quantization.fake_quant_with_min_max_vars_per_channel")
        .doc("fake_quant_with_min_max_vars with a range for each element of the last axis.")
        .infer(infer_vars<true>)
        .kernel("reference", run_vars<true>)
        .gradient(+[](Grad& g) -> Tensors {
          return channels_gradient_op.many({g.dy(), g.x(0), g.x(1), g.x(2)}, g.attrs());
        })
        .keeps("inputs, min, max")
        .samples("uniform(3, 2, low=-9, high=9), [0.0, 0.0], [6.0, 3.0]")
        .reference(
            "np.clip(np.floor(inputs / np.array(max) * 255 + 0.5), 0, 255) * np.array(max) "
            "/ 255")
        .checks({.gradient = false});

}  // namespace

Tensor fake_quant_with_min_max_args(const In& x, const FakeQuantArgsOptions& o) {
  return args_op({x}, {o.min, o.max, o.num_bits, o.narrow_range});
}
Tensor fake_quant_with_min_max_args_gradient(const In& gradients, const In& x,
                                             const FakeQuantArgsOptions& o) {
  return args_gradient_op({gradients, x}, {o.min, o.max, o.num_bits, o.narrow_range});
}
Tensor fake_quant_with_min_max_vars(const In& x, const In& min, const In& max,
                                    const FakeQuantOptions& o) {
  return vars_op({x, min, max}, {o.num_bits, o.narrow_range});
}
std::tuple<Tensor, Tensor, Tensor> fake_quant_with_min_max_vars_gradient(
    const In& gradients, const In& x, const In& min, const In& max, const FakeQuantOptions& o) {
  Tensors out = vars_gradient_op.many({gradients, x, min, max}, {o.num_bits, o.narrow_range});
  return {out[0], out[1], out[2]};
}
Tensor fake_quant_with_min_max_vars_per_channel(const In& x, const In& min, const In& max,
                                                const FakeQuantOptions& o) {
  return channels_op({x, min, max}, {o.num_bits, o.narrow_range});
}
std::tuple<Tensor, Tensor, Tensor> fake_quant_with_min_max_vars_per_channel_gradient(
    const In& gradients, const In& x, const In& min, const In& max, const FakeQuantOptions& o) {
  Tensors out = channels_gradient_op.many({gradients, x, min, max}, {o.num_bits, o.narrow_range});
  return {out[0], out[1], out[2]};
}

}  // namespace holdfast::quantization
