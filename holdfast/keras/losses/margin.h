// Losses that ask for a margin, for an overlap, or for distance between classes.
#pragma once

#include "holdfast/keras/loss.h"

namespace holdfast::keras::losses {

struct DiceOptions {
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "dice";
  std::optional<std::vector<int64_t>> axis = {};  // none: over all
  DType dtype = DType::kInvalid;
};
struct TverskyOptions {
  double alpha = 0.5, beta = 0.5;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "tversky";
  std::optional<std::vector<int64_t>> axis = {};  // none: over all
  DType dtype = DType::kInvalid;
};
struct CircleOptions {
  double gamma = 80, margin = 0.4;
  bool remove_diagonal = true;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "circle";
  DType dtype = DType::kInvalid;
};
/// Further examples to compare with; those of the batch where none are given.
struct CircleReferences {
  MaybeIn labels = {}, embeddings = {};
};

// -- of each example

/// Mean over the last axis of max(1 - y p, 0).
HOLDFAST_API Tensor hinge(const In& y_true, const In& y_pred);
/// Mean over the last axis of max(1 - y p, 0)^2.
HOLDFAST_API Tensor squared_hinge(const In& y_true, const In& y_pred);
/// max(1 + max((1 - y) p) - sum(y p), 0) over the last axis.
HOLDFAST_API Tensor categorical_hinge(const In& y_true, const In& y_pred);
/// 1 - 2 sum(y p) / (sum(y) + sum(p)) over `axis`.
HOLDFAST_API Tensor dice(const In& y_true, const In& y_pred, const DiceOptions& = {});
/// 1 - t / (t + alpha fp + beta fn), with t = sum(y p) over `axis`.
HOLDFAST_API Tensor tversky(const In& y_true, const In& y_pred, const TverskyOptions& = {});
/// Of embeddings of length 1 and the numbers of their classes: those of one class are drawn
/// together, others pushed apart.
HOLDFAST_API Tensor circle(const In& y_true, const In& y_pred, const CircleOptions& = {},
                           const CircleReferences& = {});
/// Connectionist temporal classification of logits [batch, time, classes] against rows of labels,
/// which 0 pads.
HOLDFAST_API Tensor ctc(const In& y_true, const In& y_pred);

class HOLDFAST_API HingeLoss : public Declares<LossOptions, Loss> {
 public:
  HingeLoss() { options_.name = "hinge"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API SquaredHingeLoss : public Declares<LossOptions, Loss> {
 public:
  SquaredHingeLoss() { options_.name = "squared_hinge"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API CategoricalHingeLoss : public Declares<LossOptions, Loss> {
 public:
  CategoricalHingeLoss() { options_.name = "categorical_hinge"; }
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API DiceLoss : public Declares<DiceOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API TverskyLoss : public Declares<TverskyOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API CircleLoss : public Declares<CircleOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  bool takes_classes() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API CTCLoss : public Declares<LossOptions, Loss> {
 public:
  CTCLoss() { options_.name = "ctc"; }
  const ClassDef& definition() const override;
  bool takes_classes() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};

using Hinge = Held<HingeLoss>;
using SquaredHinge = Held<SquaredHingeLoss>;
using CategoricalHinge = Held<CategoricalHingeLoss>;
using Dice = Held<DiceLoss>;
using Tversky = Held<TverskyLoss>;
using Circle = Held<CircleLoss>;
using CTC = Held<CTCLoss>;

}  // namespace holdfast::keras::losses
