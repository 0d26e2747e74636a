#include "holdfast/keras/layers/normalization/layer_normalization.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/normalization.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

template <class L>
Declare<L>&& declare_scaled(Declare<L>&& d) {
  using O = typename L::Options;
  return std::move(d)
      .template option<&O::epsilon>("epsilon")
      .template option<&O::center>("center")
      .template option<&O::scale>("scale")
      .template option<&O::beta_initializer>("beta_initializer")
      .template option<&O::gamma_initializer>("gamma_initializer")
      .template option<&O::beta_regularizer>("beta_regularizer")
      .template option<&O::gamma_regularizer>("gamma_regularizer")
      .template option<&O::beta_constraint>("beta_constraint")
      .template option<&O::gamma_constraint>("gamma_constraint")
      .layer_options()
      .template weight<&L::gamma>("gamma")
      .template weight<&L::beta>("beta");
}

ClassDef& layer_normalization =
    declare_scaled(Declare<LayerNormalizationLayer>("layers.LayerNormalization",
                                                    "Each example brought to mean 0 and variance 1 "
                                                    "over `axis`, times `gamma`, plus `beta`.",
                                                    &Layer::def())
                       .option<&LayerNormalizationOptions::axis>("axis"))
        .option<&LayerNormalizationOptions::rms_scaling>("rms_scaling")
        .key_before("rms_scaling", "beta_initializer");
ClassDef& group_normalization = declare_scaled(
    Declare<GroupNormalizationLayer>(
        "layers.GroupNormalization",
        "Groups of channels of each example brought to mean 0 and variance 1.", &Layer::def())
        .option<&GroupNormalizationOptions::groups>("groups")
        .option<&GroupNormalizationOptions::axis>("axis"));
ClassDef& rms_normalization =
    Declare<RMSNormalizationLayer>("layers.RMSNormalization",
                                   "Each example over its root mean square along `axis`, times "
                                   "`scale`.",
                                   &Layer::def())
        .option<&RMSNormalizationOptions::axis>("axis")
        .option<&RMSNormalizationOptions::epsilon>("epsilon")
        .layer_options()
        .weight<&RMSNormalizationLayer::scale>("scale");
ClassDef& unit_normalization =
    Declare<UnitNormalizationLayer>("layers.UnitNormalization",
                                    "Each example over its length along `axis`.", &Layer::def())
        .option<&UnitNormalizationOptions::axis>("axis")
        .layer_options();

void need_rank(const Layer& layer, const Shape& inputs) {
  if (!inputs.has_rank())
    fail(Code::E1102, cat(layer.described(), ": `inputs` has the shape ", inputs.text(),
                          ", expected a known number of axes"));
}

// The axes, counted from the front. Their order is that of the numbers as they were given, which
// is the order of the weights' axes.
std::vector<int64_t> axes_of(const Layer& layer, const Shape& inputs, const Sides& axis) {
  need_rank(layer, inputs);
  std::vector<int64_t> given = axis.sizes, out;
  std::sort(given.begin(), given.end());
  for (int64_t a : given) {
    int64_t at = axis_of(layer, inputs, a);
    if (std::find(out.begin(), out.end(), at) != out.end())
      fail(Code::E1103,
           cat(layer.described(), ": `axis` is ", OptionType<Sides>::get(axis).to_json(),
               ", expected different axes of `inputs` ", inputs.text()));
    out.push_back(at);
  }
  return out;
}

Shape sizes_of(const Layer& layer, const Shape& inputs, const std::vector<int64_t>& axes) {
  std::vector<int64_t> out;
  for (int64_t a : axes)
    out.push_back(known_size(layer, inputs, static_cast<int>(a),
                             "there is a weight for each element of the layer's `axis`"));
  return out;
}

void need_sizes(const Layer& layer, const Shape& inputs, const std::vector<int64_t>& axes,
                const Variable& weight) {
  if (weight.defined() && weight.shape().rank() == static_cast<int>(axes.size()))
    for (size_t i = 0; i < axes.size(); ++i)
      need_size(layer, inputs, static_cast<int>(axes[i]), weight.shape()[static_cast<int>(i)],
                "the layer was built for that size");
}

bool are_last(const std::vector<int64_t>& axes, int rank) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return false;
  return true;
}

// Weights of some axes, in a shape that broadcasts to the inputs.
Tensor placed(const Tensor& weight, const std::vector<int64_t>& axes, const Shape& inputs) {
  if (are_last(axes, inputs.rank())) return weight;
  std::vector<int64_t> dims(static_cast<size_t>(inputs.rank()), 1);
  for (size_t i = 0; i < axes.size(); ++i)
    dims[static_cast<size_t>(axes[i])] = weight.shape()[static_cast<int>(i)];
  return reshape(weight, dims);
}

// Small floats have too few digits for sums.
Tensor wide(const Tensor& x) {
  return x.dtype() == float64 || x.dtype() == float32 ? x : cast(x, float32);
}
Tensor narrow(const Tensor& y, DType dtype) {
  return is_floating(dtype) && y.dtype() != dtype ? cast(y, dtype) : y;
}

}  // namespace

const ClassDef& LayerNormalizationLayer::definition() const { return layer_normalization; }
const ClassDef& GroupNormalizationLayer::definition() const { return group_normalization; }
const ClassDef& RMSNormalizationLayer::definition() const { return rms_normalization; }
const ClassDef& UnitNormalizationLayer::definition() const { return unit_normalization; }

void LayerNormalizationLayer::check() {
  if (options_.epsilon < 0)
    fail(Code::E1103,
         cat(definition().name, ": `epsilon` is ", options_.epsilon, ", expected at least 0"));
}

void LayerNormalizationLayer::build(const Shape& inputs) {
  LayerNormalizationOptions& o = options_;
  o.axis.single = false;  // as Keras writes it once the layer is built
  Shape shape = sizes_of(*this, inputs, axes_of(*this, inputs, o.axis));
  if (o.scale || o.rms_scaling)
    gamma = add_weight({.name = "gamma",
                        .shape = shape,
                        .initializer = o.gamma_initializer,
                        .regularizer = o.gamma_regularizer,
                        .constraint = o.gamma_constraint,
                        .autocast = false});
  if (o.center && !o.rms_scaling)
    beta = add_weight({.name = "beta",
                       .shape = shape,
                       .initializer = o.beta_initializer,
                       .regularizer = o.beta_regularizer,
                       .constraint = o.beta_constraint,
                       .autocast = false});
}

Tensor LayerNormalizationLayer::call(const Tensor& inputs, const CallOptions&) {
  const LayerNormalizationOptions& o = options_;
  const Shape& s = inputs.shape();
  std::vector<int64_t> axes = axes_of(*this, s, o.axis);
  need_sizes(*this, s, axes, gamma.defined() ? gamma : beta);
  Tensor x = wide(inputs);
  if (are_last(axes, s.rank()) && gamma.defined() && beta.defined() &&
      gamma.dtype() == x.dtype())  // in one step
    return narrow(nn::layer_normalization(x, gamma, beta, {.epsilon = o.epsilon}), compute_dtype());
  auto [mean, variance] = nn::moments(x, axes, {.keepdims = true});
  MaybeIn offset, factor;
  if (beta.defined()) offset = placed(cast(beta.read(), x.dtype()), axes, s);
  if (gamma.defined()) factor = placed(cast(gamma.read(), x.dtype()), axes, s);
  if (o.rms_scaling)  // Keras' meaning of it: over the deviation, and the mean stays
    return narrow(x * rsqrt(variance + o.epsilon) * factor->tensor(), compute_dtype());
  return narrow(nn::batch_normalization(x, mean, variance, offset, factor, o.epsilon),
                compute_dtype());
}

void GroupNormalizationLayer::check() {
  if (options_.groups < 1 && options_.groups != -1)
    fail(Code::E1103, cat(definition().name, ": `groups` is ", options_.groups,
                          ", expected at least 1, or -1 for as many as there are channels"));
}

void GroupNormalizationLayer::build(const Shape& inputs) {
  GroupNormalizationOptions& o = options_;
  need_rank(*this, inputs);
  int axis = axis_of(*this, inputs, o.axis);
  int64_t channels = known_size(*this, inputs, axis, "the layer divides the channels into groups");
  if (o.groups == -1) o.groups = channels;
  if (channels % o.groups)
    fail(Code::E1102,
         cat(described(), ": `inputs` has the shape ", inputs.text(), ", expected a multiple of ",
             o.groups, " along axis ", axis),
         cat("expected a multiple of ", o.groups, " along axis ", axis,
             ": each of the layer's `groups` takes as many channels"));
  if (o.scale)
    gamma = add_weight({.name = "gamma",
                        .shape = {channels},
                        .initializer = o.gamma_initializer,
                        .regularizer = o.gamma_regularizer,
                        .constraint = o.gamma_constraint,
                        .autocast = false});
  if (o.center)
    beta = add_weight({.name = "beta",
                       .shape = {channels},
                       .initializer = o.beta_initializer,
                       .regularizer = o.beta_regularizer,
                       .constraint = o.beta_constraint,
                       .autocast = false});
}

std::optional<InputSpec> GroupNormalizationLayer::input_spec() const {
  if (!built_for() || built_for()->empty() || !built_for()->front().has_rank()) return {};
  const Shape& s = built_for()->front();
  auto axis = static_cast<int>(options_.axis);
  return InputSpec{.axes = s.rank(), .sizes = {{axis, s[axis]}}};
}

Tensor GroupNormalizationLayer::call(const Tensor& inputs, const CallOptions&) {
  const GroupNormalizationOptions& o = options_;
  const Shape& s = inputs.shape();
  need_rank(*this, s);
  if (std::optional<InputSpec> spec = input_spec())
    need_axes(*this, s, spec->axes, "those that the layer was built for");
  int axis = axis_of(*this, s, o.axis);
  need_sizes(*this, s, {axis}, gamma.defined() ? gamma : beta);
  if (s[axis] < 0 || o.groups < 1 || s[axis] % o.groups)
    fail(Code::E1102,
         cat(described(), ": `inputs` has the shape ", s.text(), ", expected a multiple of ",
             o.groups, ", its `groups`, along axis ", axis));
  // The channels' axis becomes two: which group, and which channel of it.
  std::vector<int64_t> split{o.groups, s[axis] / o.groups};
  Tensor have = shape(inputs), x = wide(inputs);
  Sizes grouped =
      concat({at(have, slice(0, axis)), constant(std::vector<int32_t>(split.begin(), split.end())),
              at(have, slice(axis + 1, std::nullopt))},
             0);
  if (s.is_full()) {
    std::vector<int64_t> dims(s.begin(), s.end());
    dims[static_cast<size_t>(axis)] = split[1];
    dims.insert(dims.begin() + axis, split[0]);
    grouped = dims;
  }
  x = reshape(x, grouped);
  std::vector<int64_t> over, dims(static_cast<size_t>(s.rank()) + 1, 1);
  for (int i = 1; i <= s.rank(); ++i)
    if (i != axis) over.push_back(i);
  dims[static_cast<size_t>(axis)] = split[0];
  dims[static_cast<size_t>(axis) + 1] = split[1];
  auto [mean, variance] = nn::moments(x, over, {.keepdims = true});
  MaybeIn offset, factor;
  if (beta.defined()) offset = reshape(cast(beta.read(), x.dtype()), dims);
  if (gamma.defined()) factor = reshape(cast(gamma.read(), x.dtype()), dims);
  Tensor y = nn::batch_normalization(x, mean, variance, offset, factor, o.epsilon);
  y = s.is_full() ? reshape(y, s) : ensure_shape(reshape(y, have), s);
  return narrow(y, compute_dtype());
}

void RMSNormalizationLayer::build(const Shape& inputs) {
  options_.axis.single = false;
  scale = add_weight({.name = "scale",
                      .shape = sizes_of(*this, inputs, axes_of(*this, inputs, options_.axis)),
                      .initializer = "ones"});
}

Tensor RMSNormalizationLayer::call(const Tensor& inputs, const CallOptions&) {
  need_built(*this, scale, "scale");
  std::vector<int64_t> axes = axes_of(*this, inputs.shape(), options_.axis);
  need_sizes(*this, inputs.shape(), axes, scale);
  Tensor x = wide(inputs);
  Tensor root = rsqrt(reduce_mean(square(x), {.axis = axes, .keepdims = true}) + options_.epsilon);
  Tensor factor = placed(cast(read(scale), x.dtype()), axes, inputs.shape());
  return narrow(x * root * factor, inputs.dtype());
}

Tensor UnitNormalizationLayer::call(const Tensor& inputs, const CallOptions&) {
  std::vector<int64_t> axes = axes_of(*this, inputs.shape(), options_.axis);
  return l2_normalize(inputs, {.axis = axes, .epsilon = 1e-24});
}

}  // namespace holdfast::keras::layers
