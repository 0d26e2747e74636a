#include "holdfast/keras/layers/normalization/batch_normalization.h"

#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/keras/watching.h"
#include "holdfast/ops/activations.h"
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
        .weight<&BatchNormalizationLayer::moving_variance>("moving_variance")
        .weight<&BatchNormalizationLayer::moving_stddev>("moving_stddev")
        .weight<&BatchNormalizationLayer::renorm_mean>("renorm_mean")
        .weight<&BatchNormalizationLayer::renorm_stddev>("renorm_stddev");

// Deviations begin with the roots of what variances begin with.
class RootOf final : public Initializer {
 public:
  explicit RootOf(Ref<Initializer> squares) : squares_(std::move(squares)) {}
  void visit(Visitor& see) const override { see.child(squares_); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    return sqrt((*squares_)(shape, dtype));
  }

 private:
  Ref<Initializer> squares_;
};

}  // namespace

const ClassDef& BatchNormalizationLayer::definition() const { return declared; }

void BatchNormalizationLayer::check() {
  const O& o = options_;
  if (o.renorm && o.renorm_clipping.is_null()) options_.renorm_clipping = ConfigDict{};
  if (o.renorm) {
    const ConfigDict& clipping =
        o.renorm_clipping.as_dict("`renorm_clipping` of BatchNormalization");
    for (const auto& [key, value] : clipping)
      if (key != "rmin" && key != "rmax" && key != "dmax")
        unknown_identifier("a bound of `renorm_clipping`", key, {"dmax", "rmax", "rmin"});
    auto rmin = bound("rmin"), rmax = bound("rmax"), dmax = bound("dmax");
    if (rmin && rmax && *rmax < *rmin)
      fail(Code::E1103, cat("BatchNormalization: `renorm_clipping` has the rmax ", *rmax,
                            ", expected at least its rmin, ", *rmin));
    if (dmax && *dmax < 0)
      fail(Code::E1103, cat("BatchNormalization: `renorm_clipping` has the dmax ", *dmax,
                            ", expected at least 0"));
  }
  if (o.epsilon < 0)
    fail(Code::E1103, cat("BatchNormalization: `epsilon` is ", o.epsilon, ", expected at least 0"));
}

std::optional<double> BatchNormalizationLayer::bound(const char* name) const {
  const Config* said = options_.renorm_clipping.as_dict().find(name);
  if (!said || said->is_null()) return {};
  return said->as_number(cat("`", name, "` of `renorm_clipping`"));
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
  if (!o.renorm) return;
  InitializerOption deviation(make_ref<RootOf>(o.moving_variance_initializer.function));
  moving_stddev = weight("moving_stddev", deviation, {}, {}, false);
  renorm_mean = weight("renorm_mean", o.moving_mean_initializer, {}, {}, false);
  renorm_stddev = weight("renorm_stddev", deviation, {}, {}, false);
}

BatchNormalizationLayer::Correction BatchNormalizationLayer::renormalized(
    const Tensor& mean, const Tensor& variance) const {
  const O& o = options_;
  auto now = [&](const Variable& v) { return cast(v.read(), mean.dtype()); };
  auto move = [&](const Variable& average, double momentum, const Tensor& to) {
    Tensor moved = now(average) * momentum + to * (1 - momentum);
    average.assign(cast(moved, average.dtype()));
    return moved;
  };
  Tensor deviation = sqrt(variance + o.epsilon);
  // Averages that are near zero in the beginning divide nothing.
  Tensor expected = maximum(now(renorm_stddev), Tensor::scalar(std::sqrt(o.epsilon), mean.dtype()));
  Tensor factor = deviation / expected, offset = (mean - now(renorm_mean)) / expected;
  if (auto least = bound("rmin")) factor = maximum(factor, *least);
  if (auto most = bound("rmax")) factor = minimum(factor, *most);
  if (auto most = bound("dmax")) offset = clip_by_value(offset, -*most, *most);
  move(renorm_mean, o.renorm_momentum, mean);
  move(renorm_stddev, o.renorm_momentum, deviation);
  move(moving_mean, o.momentum, mean);
  Tensor moved = move(moving_stddev, o.momentum, deviation);
  moving_variance.assign(cast(nn::relu(moved * moved - o.epsilon), moving_variance.dtype()));
  return {stop_gradient(factor), stop_gradient(offset)};
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

std::optional<InputSpec> BatchNormalizationLayer::input_spec() const {
  if (!moving_mean.defined() || !built_for() || built_for()->empty()) return {};
  const Shape& s = built_for()->front();
  if (!s.has_rank()) return {};
  return InputSpec{.axes = s.rank(),
                   .sizes = {{static_cast<int>(options_.axis), moving_mean.shape()[0]}}};
}

Tensor BatchNormalizationLayer::call(const Tensor& inputs, const CallOptions& c) {
  const O& o = options_;
  need_built(*this, moving_mean, "moving_mean");
  if (!inputs.shape().has_rank())
    fail(Code::E1102, cat(described(), ": `inputs` has the shape ", inputs.shape().text(),
                          ", expected a known number of axes"));
  if (std::optional<InputSpec> spec = input_spec())
    need_axes(*this, inputs.shape(), spec->axes, "those that the layer was built for");
  int axis = axis_of(*this, inputs.shape(), o.axis);
  need_size(*this, inputs.shape(), axis, moving_mean.shape()[0],
            "the layer was built for so many channels");
  // Small floats have too few digits for sums over a batch.
  Tensor x = inputs;
  if (x.dtype() != float64) x = cast(x, float32);
  auto in_dtype = [&](const Variable& v) { return cast(v.read(), x.dtype()); };
  Tensor mean = in_dtype(moving_mean), variance = in_dtype(moving_variance);
  Tensor scaled = gamma.defined() ? in_dtype(gamma) : Tensor();
  Tensor shifted = beta.defined() ? in_dtype(beta) : Tensor();
  if (c.training.value_or(false)) goes_by_training(*this);
  if (c.training.value_or(false) && trainable()) {
    if (o.synchronized) need_one_replica(cat("`synchronized` of `", name(), "`"));
    auto [batch_mean, batch_variance] = moments(x, axis, c.mask);
    auto move = [&](const Variable& average, const Tensor& was, const Tensor& now) {
      average.assign(cast(was * o.momentum + now * (1 - o.momentum), average.dtype()));
    };
    if (o.renorm) {
      Correction by = renormalized(batch_mean, batch_variance);
      Tensor offset = scaled.defined() ? by.offset * scaled : by.offset;
      scaled = scaled.defined() ? by.factor * scaled : by.factor;
      shifted = shifted.defined() ? offset + shifted : offset;
    } else {
      move(moving_mean, mean, batch_mean);
      move(moving_variance, variance, batch_variance);
    }
    mean = batch_mean;
    variance = batch_variance;
  }
  bool last = axis == x.rank() - 1;
  std::vector<int64_t> dims(static_cast<size_t>(x.rank() - axis), 1);
  dims[0] = -1;
  auto placed = [&](const Tensor& t) { return last ? t : reshape(t, dims); };
  MaybeIn offset, factor;
  if (shifted.defined()) offset = placed(shifted);
  if (scaled.defined()) factor = placed(scaled);
  Tensor y = nn::batch_normalization(x, placed(mean), placed(variance), offset, factor, o.epsilon);
  return y.dtype() == compute_dtype() || !is_floating(compute_dtype()) ? y
                                                                       : cast(y, compute_dtype());
}

}  // namespace holdfast::keras::layers
