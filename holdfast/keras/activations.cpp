#include "holdfast/keras/activations.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/sort.h"

namespace holdfast::keras::activations {
namespace {

// Floats for what only floats have.
Tensor floats(const Tensor& x) {
  return is_floating(x.dtype()) || is_complex(x.dtype()) ? x : cast(x, float32);
}

}  // namespace

Tensor celu(const Tensor& x, const AlphaOptions& o) {
  if (o.alpha == 0) fail(Code::E1103, "celu: `alpha` is 0, expected another number");
  return maximum(x, 0) + o.alpha * expm1(minimum(x, 0) / o.alpha);
}

Tensor elu(const Tensor& x, const AlphaOptions& o) {
  Tensor y = nn::elu(x);
  return o.alpha == 1 ? y : select(x > 0, y, o.alpha * y);
}

Tensor exponential(const Tensor& x) { return exp(floats(x)); }

Tensor gelu(const Tensor& x, const GeluOptions& o) {
  return nn::gelu(x, {.approximate = o.approximate});
}

Tensor glu(const Tensor& x, const AxisOptions& o) {
  const Shape& s = x.shape();
  if (s.has_rank()) {
    int64_t axis = o.axis < 0 ? o.axis + s.rank() : o.axis;
    if (axis < 0 || axis >= s.rank())
      fail(Code::E1103, cat("glu: `axis` is ", o.axis, ", and x has the shape ", s.text()));
    if (s[static_cast<int>(axis)] % 2 != 0 && s[static_cast<int>(axis)] >= 0)
      fail(Code::E1102, cat("glu: x has the shape ", s.text(), ", expected an even size of axis ",
                            o.axis, ", which is cut into halves"));
  }
  Tensors halves = split(x, 2, {.axis = o.axis});
  return halves[0] * holdfast::sigmoid(halves[1]);
}

Tensor hard_shrink(const Tensor& x, const ShrinkOptions& o) {
  return select(abs(x) > o.threshold, x, zeros_like(x));
}
Tensor hard_sigmoid(const Tensor& given) {
  Tensor x = floats(given);
  return nn::relu6(x + 3) / 6;
}
Tensor hard_silu(const Tensor& x) { return floats(x) * hard_sigmoid(x); }
Tensor hard_tanh(const Tensor& x) { return clip_by_value(x, -1, 1); }
Tensor leaky_relu(const Tensor& x, const LeakyReluOptions& o) {
  return nn::leaky_relu(x, {.alpha = o.negative_slope});
}
Tensor linear(const Tensor& x) { return x; }
Tensor log_sigmoid(const Tensor& x) { return holdfast::log_sigmoid(x); }
Tensor log_softmax(const Tensor& x, const SoftmaxOptions& o) {
  const std::vector<int64_t>& axes = o.axis.sizes;
  if (axes.size() == 1) return nn::log_softmax(x, {.axis = axes[0]});
  return x - reduce_logsumexp(x, {.axis = axes, .keepdims = true});
}
Tensor mish(const Tensor& x) { return x * holdfast::tanh(holdfast::softplus(x)); }

Tensor relu(const Tensor& x, const ReluOptions& o) {
  if (o.negative_slope == 0 && o.threshold == 0 && !o.max_value) return nn::relu(x);
  if (o.max_value && *o.max_value < 0)
    fail(Code::E1103, cat("relu: `max_value` is ", *o.max_value, ", expected at least 0"));
  if (o.threshold == 0 && !o.max_value) return nn::leaky_relu(x, {.alpha = o.negative_slope});
  if (o.negative_slope == 0 && o.threshold == 0 && *o.max_value == 6) return nn::relu6(x);
  Tensor y = o.threshold == 0 ? nn::relu(x) : select(x > o.threshold, x, zeros_like(x));
  if (o.max_value) y = clip_by_value(y, 0, *o.max_value);
  return o.negative_slope == 0 ? y : y - o.negative_slope * nn::relu(o.threshold - x);
}

Tensor relu6(const Tensor& x) { return nn::relu6(x); }
Tensor selu(const Tensor& x) { return nn::selu(x); }
Tensor sigmoid(const Tensor& x) { return holdfast::sigmoid(x); }
Tensor silu(const Tensor& x) { return nn::silu(x); }
Tensor soft_shrink(const Tensor& x, const ShrinkOptions& o) {
  return select(x > o.threshold, x - o.threshold,
                select(x < -o.threshold, x + o.threshold, zeros_like(x)));
}
Tensor softmax(const Tensor& x, const SoftmaxOptions& o) {
  const std::vector<int64_t>& axes = o.axis.sizes;
  return axes.size() == 1 ? nn::softmax(x, {.axis = axes[0]}) : exp(log_softmax(x, o));
}
Tensor softplus(const Tensor& x) { return holdfast::softplus(x); }
Tensor softsign(const Tensor& x) { return holdfast::softsign(x); }
Tensor sparse_plus(const Tensor& x) {
  return select(x <= -1, zeros_like(x), select(x < 1, 0.25 * square(x + 1), x));
}
Tensor sparse_sigmoid(const Tensor& x) { return clip_by_value(0.5 * (x + 1), 0, 1); }

Tensor sparsemax(const Tensor& x, const AxisOptions& o) {
  if (x.shape().has_rank() && x.shape().rank() == 0)
    fail(Code::E1102, "sparsemax: x is a scalar, expected at least one axis");
  // Of the numbers in falling order, those count that stay above the mean excess of all before.
  Tensor falling = sort(x, {.axis = o.axis, .direction = "DESCENDING"});
  Tensor sums = cumsum(falling, {.axis = o.axis});
  Tensor place = cumsum(ones_like(falling), {.axis = o.axis});
  Tensor counts = place * falling > sums - 1;
  Tensor zero = zeros_like(falling);
  Tensor many =
      reduce_sum(select(counts, ones_like(falling), zero), {.axis = {o.axis}, .keepdims = true});
  Tensor sum = reduce_sum(select(counts, falling, zero), {.axis = {o.axis}, .keepdims = true});
  return maximum(x - (sum - 1) / many, 0);
}

Tensor squareplus(const Tensor& x, const SquareplusOptions& o) {
  return (x + sqrt(square(x) + o.b)) / 2;
}
Tensor tanh(const Tensor& x) { return holdfast::tanh(x); }
Tensor tanh_shrink(const Tensor& x) { return x - holdfast::tanh(x); }
Tensor threshold(const Tensor& x, const ThresholdOptions& o) {
  return select(x > o.threshold, x, zeros_like(x) + o.default_value);
}

namespace {

struct NoOptions {};

void take(void* options, const Named& of, const ConfigDict& given) {
  for (const auto& [key, value] : given) {
    const Option* found = nullptr;
    for (const Option& one : of.options)
      if (key == one.name) found = &one;
    if (!found) {
      std::string known = name_list(of.options, [](const Option& one) { return one.name; });
      fail(Code::E1104, cat("the activation ", of.name, " has no option `", key, "`"),
           known.empty() ? "it has none" : cat("it has ", known));
    }
    found->set(options, value, cat("`", key, "` of the activation ", of.name));
  }
  for (const Option& one : of.options)
    if (one.required && !given.has(one.name))
      fail(Code::E1104, cat("the activation ", of.name, " was not given its `", one.name, "`"),
           "it has no default",
           {manual_fix("call it in a function of your own, with its options")});
}

template <auto f>
Named plain(const char* name, const char* doc) {
  return {name,
          doc,
          {},
          [](const Tensor& x, const Named& of, const ConfigDict& given) {
            NoOptions none;
            take(&none, of, given);
            return f(x);
          },
          [](const Option&) { return Config(); }};
}

template <class O, Tensor (*f)(const Tensor&, const O&)>
Named with(const char* name, const char* doc, std::vector<Option> options) {
  return {name, doc, std::move(options),
          [](const Tensor& x, const Named& of, const ConfigDict& given) {
            O o;
            take(&o, of, given);
            return f(x, o);
          },
          [](const Option& one) {
            O o;
            return one.get(&o);
          }};
}

class ByName final : public Activation {
 public:
  explicit ByName(const Named& of) : of_(of) {}
  Tensor operator()(const Tensor& x) const override { return of_(x); }
  Config config() const override { return of_.name; }
  std::string text() const override { return "the activation " + of_.name; }

 private:
  const Named& of_;
};

}  // namespace

const std::vector<Named>& all() {
  static const auto* list = [] {
    auto axis = option_of<&AxisOptions::axis>("axis");
    auto axes = option_of<&SoftmaxOptions::axis>("axis");
    auto alpha = option_of<&AlphaOptions::alpha>("alpha");
    auto shrink = option_of<&ShrinkOptions::threshold>("threshold");
    auto required = [](Option o) {
      o.required = true;
      return o;
    };
    return new std::vector<Named>{
        with<AlphaOptions, celu>("celu", "x, and alpha * (exp(x / alpha) - 1) below 0.", {alpha}),
        with<AlphaOptions, elu>("elu", "x, and alpha * (exp(x) - 1) below 0.", {alpha}),
        plain<exponential>("exponential", "exp(x)."),
        with<GeluOptions, gelu>("gelu", "x times the share of a normal distribution below it.",
                                {option_of<&GeluOptions::approximate>("approximate")}),
        with<AxisOptions, glu>("glu", "One half of an axis times the sigmoid of the other.",
                               {axis}),
        with<ShrinkOptions, hard_shrink>("hard_shrink", "x where it is far from 0, else 0.",
                                         {shrink}),
        plain<hard_sigmoid>("hard_sigmoid", "relu6(x + 3) / 6."),
        plain<hard_silu>("hard_silu", "x * hard_sigmoid(x)."),
        plain<hard_silu>("hard_swish", "x * hard_sigmoid(x)."),
        plain<hard_tanh>("hard_tanh", "x, cut at -1 and 1."),
        with<LeakyReluOptions, leaky_relu>(
            "leaky_relu", "x, and negative_slope * x below 0.",
            {option_of<&LeakyReluOptions::negative_slope>("negative_slope")}),
        plain<linear>("linear", "x itself."),
        plain<log_sigmoid>("log_sigmoid", "log(sigmoid(x))."),
        with<SoftmaxOptions, log_softmax>("log_softmax", "log(softmax(x)).", {axes}),
        plain<mish>("mish", "x * tanh(softplus(x))."),
        with<ReluOptions, relu>("relu", "max(x, 0), with a slope below, a cut and a threshold.",
                                {option_of<&ReluOptions::negative_slope>("negative_slope"),
                                 option_of<&ReluOptions::max_value>("max_value"),
                                 option_of<&ReluOptions::threshold>("threshold")}),
        plain<relu6>("relu6", "min(max(x, 0), 6)."),
        plain<selu>("selu", "An elu that keeps mean 0 and variance 1."),
        plain<sigmoid>("sigmoid", "1 / (1 + exp(-x))."),
        plain<silu>("silu", "x * sigmoid(x)."),
        with<ShrinkOptions, soft_shrink>("soft_shrink", "x moved towards 0.", {shrink}),
        with<SoftmaxOptions, softmax>("softmax", "exp(x), divided by its sum over axes.", {axes}),
        plain<softplus>("softplus", "log(exp(x) + 1)."),
        plain<softsign>("softsign", "x / (abs(x) + 1)."),
        plain<sparse_plus>("sparse_plus", "0 up to -1, x from 1 on, a parabola between."),
        plain<sparse_sigmoid>("sparse_sigmoid", "0 up to -1, 1 from 1 on, a line between."),
        with<AxisOptions, sparsemax>("sparsemax", "The point of the simplex nearest to x.", {axis}),
        with<SquareplusOptions, squareplus>("squareplus", "(x + sqrt(x^2 + b)) / 2.",
                                            {option_of<&SquareplusOptions::b>("b")}),
        plain<silu>("swish", "x * sigmoid(x)."),
        plain<tanh>("tanh", "The hyperbolic tangent."),
        plain<tanh_shrink>("tanh_shrink", "x - tanh(x)."),
        with<ThresholdOptions, threshold>(
            "threshold", "x where it is above a threshold, else default_value.",
            {required(option_of<&ThresholdOptions::threshold>("threshold")),
             required(option_of<&ThresholdOptions::default_value>("default_value"))}),
    };
  }();
  return *list;
}

const Named* named(const std::string& name) {
  for (const Named& one : all())
    if (one.name == name) return &one;
  return nullptr;
}

Ref<Activation> find(const std::string& name) {
  const Named* found = named(name);
  return found ? Ref<Activation>(make_ref<ByName>(*found)) : Ref<Activation>();
}

}  // namespace holdfast::keras::activations
