// Losses of numbers: how far predictions are from what was measured.
#pragma once

#include "holdfast/keras/loss.h"

namespace holdfast::keras::losses {

struct HuberOptions {
  double delta = 1;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "huber_loss";
  DType dtype = DType::kInvalid;
};
struct CosineSimilarityOptions {
  int64_t axis = -1;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "cosine_similarity";
  DType dtype = DType::kInvalid;
};

// -- of each example

/// Mean over the last axis of (y - p)^2.
HOLDFAST_API Tensor mean_squared_error(const In& y_true, const In& y_pred);
/// Mean over the last axis of |y - p|.
HOLDFAST_API Tensor mean_absolute_error(const In& y_true, const In& y_pred);
/// Mean over the last axis of 100 |y - p| / |y|.
HOLDFAST_API Tensor mean_absolute_percentage_error(const In& y_true, const In& y_pred);
/// Mean over the last axis of (log(y + 1) - log(p + 1))^2.
HOLDFAST_API Tensor mean_squared_logarithmic_error(const In& y_true, const In& y_pred);
/// Mean over the last axis of log(cosh(p - y)).
HOLDFAST_API Tensor log_cosh(const In& y_true, const In& y_pred);
/// Sum over the last axis of y log(y / p).
HOLDFAST_API Tensor kl_divergence(const In& y_true, const In& y_pred);
/// Mean over the last axis of p - y log(p).
HOLDFAST_API Tensor poisson(const In& y_true, const In& y_pred);
/// Mean over the last axis of (p - y)^2 / 2, and of a line from where |p - y| is `delta`.
HOLDFAST_API Tensor huber(const In& y_true, const In& y_pred, const HuberOptions& = {});
/// Minus the cosine of the angle between y and p along `axis`.
HOLDFAST_API Tensor cosine_similarity(const In& y_true, const In& y_pred,
                                      const CosineSimilarityOptions& = {});

class HOLDFAST_API MeanSquaredErrorLoss : public Declares<LossOptions, Loss> {
 public:
  MeanSquaredErrorLoss() { options_.name = "mean_squared_error"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API MeanAbsoluteErrorLoss : public Declares<LossOptions, Loss> {
 public:
  MeanAbsoluteErrorLoss() { options_.name = "mean_absolute_error"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API MeanAbsolutePercentageErrorLoss : public Declares<LossOptions, Loss> {
 public:
  MeanAbsolutePercentageErrorLoss() { options_.name = "mean_absolute_percentage_error"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API MeanSquaredLogarithmicErrorLoss : public Declares<LossOptions, Loss> {
 public:
  MeanSquaredLogarithmicErrorLoss() { options_.name = "mean_squared_logarithmic_error"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API LogCoshLoss : public Declares<LossOptions, Loss> {
 public:
  LogCoshLoss() { options_.name = "log_cosh"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API KLDivergenceLoss : public Declares<LossOptions, Loss> {
 public:
  KLDivergenceLoss() { options_.name = "kl_divergence"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API PoissonLoss : public Declares<LossOptions, Loss> {
 public:
  PoissonLoss() { options_.name = "poisson"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API HuberLoss : public Declares<HuberOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API CosineSimilarityLoss : public Declares<CosineSimilarityOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};

using MeanSquaredError = Held<MeanSquaredErrorLoss>;
using MeanAbsoluteError = Held<MeanAbsoluteErrorLoss>;
using MeanAbsolutePercentageError = Held<MeanAbsolutePercentageErrorLoss>;
using MeanSquaredLogarithmicError = Held<MeanSquaredLogarithmicErrorLoss>;
using LogCosh = Held<LogCoshLoss>;
using KLDivergence = Held<KLDivergenceLoss>;
using Poisson = Held<PoissonLoss>;
using Huber = Held<HuberLoss>;
using CosineSimilarity = Held<CosineSimilarityLoss>;

}  // namespace holdfast::keras::losses
