// Losses over probabilities of classes, or over logits.
#pragma once

#include "holdfast/keras/loss.h"

namespace holdfast::keras::losses {

struct BinaryCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "binary_crossentropy";
  DType dtype = DType::kInvalid;
};
struct CategoricalCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "categorical_crossentropy";
  DType dtype = DType::kInvalid;
};
struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  std::optional<std::string> reduction = "sum_over_batch_size";
  int64_t axis = -1;
  std::string name = "sparse_categorical_crossentropy";
  DType dtype = DType::kInvalid;
};
struct BinaryFocalCrossentropyOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "binary_focal_crossentropy";
  DType dtype = DType::kInvalid;
};
struct CategoricalFocalCrossentropyOptions {
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "categorical_focal_crossentropy";
  DType dtype = DType::kInvalid;
};
struct CategoricalGeneralizedCrossEntropyOptions {
  double q = 0.5;
  std::optional<std::string> reduction = "sum_over_batch_size";
  std::string name = "categorical_generalized_cross_entropy";
  DType dtype = DType::kInvalid;
};

// -- of each example. Options that say how to reduce are for the classes below

/// Mean over `axis` of -y log(p) - (1 - y) log(1 - p).
HOLDFAST_API Tensor binary_crossentropy(const In& y_true, const In& y_pred,
                                        const BinaryCrossentropyOptions& = {});
/// -sum(y log(p)) over `axis`; the labels are probabilities, one for each class.
HOLDFAST_API Tensor categorical_crossentropy(const In& y_true, const In& y_pred,
                                             const CategoricalCrossentropyOptions& = {});
/// -log(p[y]) over the last axis; the labels are numbers of classes.
HOLDFAST_API Tensor sparse_categorical_crossentropy(
    const In& y_true, const In& y_pred, const SparseCategoricalCrossentropyOptions& = {});
/// Binary crossentropy in which examples that are right already count less.
HOLDFAST_API Tensor binary_focal_crossentropy(const In& y_true, const In& y_pred,
                                              const BinaryFocalCrossentropyOptions& = {});
/// Categorical crossentropy in which examples that are right already count less.
HOLDFAST_API Tensor categorical_focal_crossentropy(const In& y_true, const In& y_pred,
                                                   const CategoricalFocalCrossentropyOptions& = {});
/// (1 - p[y]^q) / q: between crossentropy and the mean absolute error, so that wrong labels count
/// less.
HOLDFAST_API Tensor categorical_generalized_cross_entropy(
    const In& y_true, const In& y_pred, const CategoricalGeneralizedCrossEntropyOptions& = {});

class HOLDFAST_API BinaryCrossentropyLoss : public Declares<BinaryCrossentropyOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API CategoricalCrossentropyLoss
    : public Declares<CategoricalCrossentropyOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API SparseCategoricalCrossentropyLoss
    : public Declares<SparseCategoricalCrossentropyOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  bool takes_classes() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API BinaryFocalCrossentropyLoss
    : public Declares<BinaryFocalCrossentropyOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API CategoricalFocalCrossentropyLoss
    : public Declares<CategoricalFocalCrossentropyOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;
};
class HOLDFAST_API CategoricalGeneralizedCrossEntropyLoss
    : public Declares<CategoricalGeneralizedCrossEntropyOptions, Loss> {
 public:
  const ClassDef& definition() const override;
  bool takes_classes() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override;

 private:
  void check() override;
};

using BinaryCrossentropy = Held<BinaryCrossentropyLoss>;
using CategoricalCrossentropy = Held<CategoricalCrossentropyLoss>;
using SparseCategoricalCrossentropy = Held<SparseCategoricalCrossentropyLoss>;
using BinaryFocalCrossentropy = Held<BinaryFocalCrossentropyLoss>;
using CategoricalFocalCrossentropy = Held<CategoricalFocalCrossentropyLoss>;
using CategoricalGeneralizedCrossEntropy = Held<CategoricalGeneralizedCrossEntropyLoss>;

}  // namespace holdfast::keras::losses
