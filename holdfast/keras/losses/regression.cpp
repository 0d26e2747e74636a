#include "holdfast/keras/losses/regression.h"

#include <numbers>

#include "holdfast/keras/backend.h"
#include "holdfast/keras/losses/declare.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::losses {
namespace {

// Both in one dtype and of one rank.
std::pair<Tensor, Tensor> operands(const In& y_true, const In& y_pred) {
  Tensor p = y_pred.tensor(), y = y_true.tensor(p.dtype());
  return same_rank(y.dtype() == p.dtype() ? y : cast(y, p.dtype()), p);
}

// Of length 1; a length below epsilon counts as that.
Tensor unit(const Tensor& x, int64_t axis) {
  return l2_normalize(x, {.axis = axis, .epsilon = epsilon() * epsilon()});
}

Tensor mean(const Tensor& x) { return reduce_mean(x, {.axis = -1}); }

}  // namespace

Tensor mean_squared_error(const In& y_true, const In& y_pred) {
  auto [y, p] = operands(y_true, y_pred);
  return mean(squared_difference(y, p));
}

Tensor mean_absolute_error(const In& y_true, const In& y_pred) {
  auto [y, p] = operands(y_true, y_pred);
  return mean(abs(y - p));
}

Tensor mean_absolute_percentage_error(const In& y_true, const In& y_pred) {
  auto [y, p] = operands(y_true, y_pred);
  return 100 * mean(abs((y - p) / maximum(abs(y), epsilon())));
}

Tensor mean_squared_logarithmic_error(const In& y_true, const In& y_pred) {
  auto [y, p] = operands(y_true, y_pred);
  return mean(squared_difference(log(maximum(p, epsilon()) + 1), log(maximum(y, epsilon()) + 1)));
}

Tensor log_cosh(const In& y_true, const In& y_pred) {
  auto [y, p] = operands(y_true, y_pred);
  Tensor x = p - y;
  return mean(x + softplus(-2 * x) - std::numbers::ln2);
}

Tensor kl_divergence(const In& y_true, const In& y_pred) {
  auto [y, p] = operands(y_true, y_pred);
  Tensor a = clip_by_value(y, epsilon(), 1), b = clip_by_value(p, epsilon(), 1);
  return reduce_sum(a * log(a / b), {.axis = -1});
}

Tensor poisson(const In& y_true, const In& y_pred) {
  auto [y, p] = operands(y_true, y_pred);
  return mean(p - y * log(p + epsilon()));
}

Tensor huber(const In& y_true, const In& y_pred, const HuberOptions& o) {
  auto [y, p] = operands(y_true, y_pred);
  Tensor error = p - y, size = abs(error);
  return mean(
      select(size <= o.delta, 0.5 * square(error), o.delta * size - 0.5 * o.delta * o.delta));
}

Tensor cosine_similarity(const In& y_true, const In& y_pred, const CosineSimilarityOptions& o) {
  auto [y, p] = operands(y_true, y_pred);
  return -reduce_sum(unit(y, o.axis) * unit(p, o.axis), {.axis = o.axis});
}

Tensor MeanSquaredErrorLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return mean_squared_error(y_true, y_pred);
}
Tensor MeanAbsoluteErrorLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return mean_absolute_error(y_true, y_pred);
}
Tensor MeanAbsolutePercentageErrorLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return mean_absolute_percentage_error(y_true, y_pred);
}
Tensor MeanSquaredLogarithmicErrorLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return mean_squared_logarithmic_error(y_true, y_pred);
}
Tensor LogCoshLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return log_cosh(y_true, y_pred);
}
Tensor KLDivergenceLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return kl_divergence(y_true, y_pred);
}
Tensor PoissonLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return poisson(y_true, y_pred);
}
Tensor HuberLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return huber(y_true, y_pred, options_);
}
Tensor CosineSimilarityLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return cosine_similarity(y_true, y_pred, options_);
}

namespace {

const ClassDef& mean_squared_error_def = plain<MeanSquaredErrorLoss>(
    "losses.MeanSquaredError", "Mean of squared differences.", {"mse", "MSE"});
const ClassDef& mean_absolute_error_def = plain<MeanAbsoluteErrorLoss>(
    "losses.MeanAbsoluteError", "Mean of absolute differences.", {"mae", "MAE"});
const ClassDef& mean_absolute_percentage_error_def = plain<MeanAbsolutePercentageErrorLoss>(
    "losses.MeanAbsolutePercentageError", "Mean of differences in percent of the labels.",
    {"mape", "MAPE"});
const ClassDef& mean_squared_logarithmic_error_def = plain<MeanSquaredLogarithmicErrorLoss>(
    "losses.MeanSquaredLogarithmicError", "Mean of squared differences of logarithms.",
    {"msle", "MSLE"});
const ClassDef& log_cosh_def = plain<LogCoshLoss>(
    "losses.LogCosh",
    "Logarithm of the hyperbolic cosine of differences: square near 0, absolute far away.",
    {"logcosh"});
const ClassDef& kl_divergence_def =
    plain<KLDivergenceLoss>("losses.KLDivergence", "How far one distribution is from another.",
                            {"kld", "KLD", "kullback_leibler_divergence"});
const ClassDef& poisson_def =
    plain<PoissonLoss>("losses.Poisson", "Loss of counts that follow Poisson's distribution.");

const ClassDef& huber_def =
    Declare<HuberLoss>("losses.Huber", "Square near 0, absolute from `delta` on.", &Loss::def())
        .option<&HuberOptions::delta>("delta")
        .option<&HuberOptions::reduction>("reduction")
        .option<&HuberOptions::name>("name")
        .option<&HuberOptions::dtype>("dtype", false);

const ClassDef& cosine_similarity_def =
    Declare<CosineSimilarityLoss>("losses.CosineSimilarity",
                                  "Minus the cosine of the angle between labels and predictions.",
                                  &Loss::def())
        .option<&CosineSimilarityOptions::axis>("axis")
        .option<&CosineSimilarityOptions::reduction>("reduction")
        .option<&CosineSimilarityOptions::name>("name")
        .option<&CosineSimilarityOptions::dtype>("dtype", false);

}  // namespace

const ClassDef& MeanSquaredErrorLoss::definition() const { return mean_squared_error_def; }
const ClassDef& MeanAbsoluteErrorLoss::definition() const { return mean_absolute_error_def; }
const ClassDef& MeanAbsolutePercentageErrorLoss::definition() const {
  return mean_absolute_percentage_error_def;
}
const ClassDef& MeanSquaredLogarithmicErrorLoss::definition() const {
  return mean_squared_logarithmic_error_def;
}
const ClassDef& LogCoshLoss::definition() const { return log_cosh_def; }
const ClassDef& KLDivergenceLoss::definition() const { return kl_divergence_def; }
const ClassDef& PoissonLoss::definition() const { return poisson_def; }
const ClassDef& HuberLoss::definition() const { return huber_def; }
const ClassDef& CosineSimilarityLoss::definition() const { return cosine_similarity_def; }

}  // namespace holdfast::keras::losses
