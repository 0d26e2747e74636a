#include "holdfast/keras/layers/normalization/batch_normalization.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/normalization.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

using O = BatchNormalizationOptions;
ClassDef& declared =
    Declare<BatchNormalizationLayer>(
        "layers.BatchNormalization",
        "Each channel brought to mean 0 and variance 1: over the batch while training, by moving "
        "averages otherwise.",
        &Layer::def())
        .option<&O::axis>("axis")
        .option<&O::momentum>("momentum")
        .option<&O::epsilon>("epsilon")
        .option<&O::center>("center")
        .option<&O::scale>("scale")
        .option<&O::beta_initializer>("beta_initializer")
        .option<&O::gamma_initializer>("gamma_initializer")
        .option<&O::moving_mean_initializer>("moving_mean_initializer")
        .option<&O::moving_variance_initializer>("moving_variance_initializer")
        .option<&O::beta_regularizer>("beta_regularizer")
        .option<&O::gamma_regularizer>("gamma_regularizer")
        .option<&O::beta_constraint>("beta_constraint")
        .option<&O::gamma_constraint>("gamma_constraint")
        .option<&O::renorm>("renorm")
        .option<&O::renorm_clipping>("renorm_clipping")
        .option<&O::renorm_momentum>("renorm_momentum")
        .option<&O::synchronized>("synchronized")
        .layer_options()
        .key_before("synchronized", "renorm")
        .weight<&BatchNormalizationLayer::gamma>("gamma")
        .weight<&BatchNormalizationLayer::beta>("beta")
        .weight<&BatchNormalizationLayer::moving_mean>("moving_mean")
        .weight<&BatchNormalizationLayer::moving_variance>("moving_variance");

}  // namespace

const ClassDef& BatchNormalizationLayer::definition() const { return declared; }

void BatchNormalizationLayer::check() {
  const O& o = options_;
  if (o.renorm)
    fail(Code::E1105, "BatchNormalization: `renorm` is true, and renormalisation is not there yet",
         "the batch's own statistics are used while training");
  if (o.epsilon < 0)
    fail(Code::E1103, cat("BatchNormalization: `epsilon` is ", o.epsilon, ", expected at least 0"));
}

void BatchNormalizationLayer::build(const Shape& inputs) {
  const O& o = options_;
  if (!inputs.has_rank())
    fail(Code::E1102, cat(described(), ": `inputs` has the shape ", inputs.text(),
                          ", expected a known number of axes"));
  int axis = axis_of(*this, inputs, o.axis);
  Shape shape{known_size(*this, inputs, axis,
                         "there is one mean and one variance for each "
                         "element of the layer's `axis`")};
  auto weight = [&](const char* name, const InitializerOption& initializer,
                    const RegularizerOption& regularizer, const ConstraintOption& constraint,
                    bool trained) {
    return add_weight({.name = name,
                       .shape = shape,
                       .initializer = initializer,
                       .regularizer = regularizer,
                       .constraint = constraint,
                       .trainable = trained,
                       .autocast = false});
  };
  if (o.scale)
    gamma = weight("gamma", o.gamma_initializer, o.gamma_regularizer, o.gamma_constraint, true);
  if (o.center)
    beta = weight("beta", o.beta_initializer, o.beta_regularizer, o.beta_constraint, true);
  moving_mean = weight("moving_mean", o.moving_mean_initializer, {}, {}, false);
  moving_variance = weight("moving_variance", o.moving_variance_initializer, {}, {}, false);
}

// Mean and variance over all axes but the channels', of what the mask keeps.
std::tuple<Tensor, Tensor> BatchNormalizationLayer::moments(const Tensor& x, int axis,
                                                            const Nested& mask) const {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) axes.push_back(i);
  if (!mask.is_tensor()) return nn::moments(x, axes);
  const Tensor& m = mask.tensor();
  if (m.rank() != x.rank() - 1)
    fail(Code::E1102,
         cat(described(), ": `mask` has the shape ", m.shape().text(), ", expected ", x.rank() - 1,
             " axes: those of `inputs` ", x.shape().text(), " but the last"));
  Tensor kept = cast(expand_dims(m, -1), x.dtype()) * ones_like(x);
  constexpr double kTiny = 1e-7;  // where all of a channel is masked, its mean is 0
  Tensor weights = reduce_sum(kept, {.axis = axes, .keepdims = true}) + kTiny;
  Tensor inside = kept > 0, none = zeros_like(x);
  Tensor mean = reduce_sum(select(inside, x, none), {.axis = axes, .keepdims = true}) / weights;
  Tensor off = square(select(inside, x - mean, none));
  Tensor variance = reduce_sum(off, {.axis = axes, .keepdims = true}) / weights;
  return {squeeze(mean, {.axis = axes}), squeeze(variance, {.axis = axes})};
}

Tensor BatchNormalizationLayer::call(const Tensor& inputs, const CallOptions& c) {
  const O& o = options_;
  need_built(*this, moving_mean, "moving_mean");
  if (!inputs.shape().has_rank())
    fail(Code::E1102, cat(described(), ": `inputs` has the shape ", inputs.shape().text(),
                          ", expected a known number of axes"));
  int axis = axis_of(*this, inputs.shape(), o.axis);
  need_size(*this, inputs.shape(), axis, moving_mean.shape()[0],
            "the layer was built for so many channels");
  // Small floats have too few digits for sums over a batch.
  Tensor x = inputs;
  if (x.dtype() != float64) x = cast(x, float32);
  auto in_dtype = [&](const Variable& v) { return cast(v.read(), x.dtype()); };
  Tensor mean = in_dtype(moving_mean), variance = in_dtype(moving_variance);
  if (c.training.value_or(false) && trainable()) {
    auto [batch_mean, batch_variance] = moments(x, axis, c.mask);
    auto move = [&](const Variable& average, const Tensor& was, const Tensor& now) {
      average.assign(cast(was * o.momentum + now * (1 - o.momentum), average.dtype()));
    };
    move(moving_mean, mean, batch_mean);
    move(moving_variance, variance, batch_variance);
    mean = batch_mean;
    variance = batch_variance;
  }
  bool last = axis == x.rank() - 1;
  std::vector<int64_t> dims(static_cast<size_t>(x.rank() - axis), 1);
  dims[0] = -1;
  auto placed = [&](const Tensor& t) { return last ? t : reshape(t, dims); };
  MaybeIn offset, factor;
  if (beta.defined()) offset = placed(in_dtype(beta));
  if (gamma.defined()) factor = placed(in_dtype(gamma));
  Tensor y = nn::batch_normalization(x, placed(mean), placed(variance), offset, factor, o.epsilon);
  return y.dtype() == compute_dtype() || !is_floating(compute_dtype()) ? y
                                                                       : cast(y, compute_dtype());
}

}  // namespace holdfast::keras::layers
