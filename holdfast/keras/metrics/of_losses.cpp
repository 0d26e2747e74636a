// Means of what losses give, and how often the right class is among the first.
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/keras/losses.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/sort.h"

namespace holdfast::keras {
namespace {

// In the dtype of the metric.
Tensor in_dtype(const Tensor& t, DType d) { return t.dtype() == d ? t : cast(t, d); }

struct NamedOptions {
  std::string name = {};
  DType dtype = DType::kInvalid;
};

using Formula = Tensor (*)(const In& y_true, const In& y_pred);

// The mean of a formula that has no options.
template <Formula f>
class MeanOf : public Declares<NamedOptions, MeanOfValues> {
 public:
  MeanOf() { options_.name = default_name; }
  const ClassDef& definition() const override { return *declared; }
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    auto [y, p] = same_rank(in_dtype(y_true, dtype()), in_dtype(y_pred, dtype()));
    return f(y, p);
  }
  static const ClassDef* declare(const char* path, const char* name, const char* doc,
                                 std::vector<std::string> short_names = {}) {
    default_name = name;
    declared = &static_cast<ClassDef&>(Declare<MeanOf>(path, doc, &Metric::def())
                                           .template option<&NamedOptions::name>("name")
                                           .template option<&NamedOptions::dtype>("dtype")
                                           .known_as(std::move(short_names)));
    return declared;
  }

 private:
  static inline const ClassDef* declared = nullptr;
  static inline const char* default_name = "";
};

[[maybe_unused]] const ClassDef* plain[] = {
    MeanOf<losses::mean_squared_error>::declare("metrics.MeanSquaredError", "mean_squared_error",
                                                "The mean squared error.", {"mse", "MSE"}),
    MeanOf<losses::mean_absolute_error>::declare("metrics.MeanAbsoluteError", "mean_absolute_error",
                                                 "The mean absolute error.", {"mae", "MAE"}),
    MeanOf<losses::mean_absolute_percentage_error>::declare(
        "metrics.MeanAbsolutePercentageError", "mean_absolute_percentage_error",
        "The mean absolute error in percent of the labels.", {"mape", "MAPE"}),
    MeanOf<losses::mean_squared_logarithmic_error>::declare(
        "metrics.MeanSquaredLogarithmicError", "mean_squared_logarithmic_error",
        "The mean squared difference of logarithms.", {"msle", "MSLE"}),
    MeanOf<losses::log_cosh>::declare("metrics.LogCoshError", "logcosh",
                                      "The mean logarithm of the hyperbolic cosine of errors."),
    MeanOf<losses::kl_divergence>::declare("metrics.KLDivergence", "kl_divergence",
                                           "How far one distribution is from another.",
                                           {"kld", "KLD"}),
    MeanOf<losses::poisson>::declare("metrics.Poisson", "poisson", "The mean Poisson loss."),
    MeanOf<losses::hinge>::declare("metrics.Hinge", "hinge", "The mean hinge loss."),
    MeanOf<losses::squared_hinge>::declare("metrics.SquaredHinge", "squared_hinge",
                                           "The mean squared hinge loss."),
    MeanOf<losses::categorical_hinge>::declare("metrics.CategoricalHinge", "categorical_hinge",
                                               "The mean hinge loss over classes."),
};

// -- of formulas with options

struct CosineOptions {
  std::string name = "cosine_similarity";
  DType dtype = DType::kInvalid;
  int64_t axis = -1;
};
class CosineSimilarity : public Declares<CosineOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    return -losses::cosine_similarity(in_dtype(y_true, dtype()), in_dtype(y_pred, dtype()),
                                      {.axis = options_.axis});
  }
};
const ClassDef& cosine =
    Declare<CosineSimilarity>("metrics.CosineSimilarity",
                              "The cosine of the angle between labels and predictions.",
                              &Metric::def())
        .option<&CosineOptions::name>("name")
        .option<&CosineOptions::dtype>("dtype")
        .option<&CosineOptions::axis>("axis");
const ClassDef& CosineSimilarity::definition() const { return cosine; }

class RootMeanSquaredError : public Declares<NamedOptions, MeanOfValues> {
 public:
  RootMeanSquaredError() { options_.name = "root_mean_squared_error"; }
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    auto [y, p] = same_rank(in_dtype(y_true, dtype()), in_dtype(y_pred, dtype()));
    return squared_difference(p, y);
  }
  // As in Keras, where a mask of the predictions does not reach the mean of these squares.
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    add_values(values(y_true, y_pred), weight);
  }
  Nested result() override { return sqrt(MeanOfValues::result().tensor()); }
};
const ClassDef& root =
    Declare<RootMeanSquaredError>("metrics.RootMeanSquaredError",
                                  "The root of the mean squared error.", &Metric::def())
        .option<&NamedOptions::name>("name")
        .option<&NamedOptions::dtype>("dtype");
const ClassDef& RootMeanSquaredError::definition() const { return root; }

struct BinaryOptions {
  std::string name = "binary_crossentropy";
  DType dtype = DType::kInvalid;
  bool from_logits = false;
  double label_smoothing = 0;
};
class BinaryCrossentropy : public Declares<BinaryOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    auto [y, p] = same_rank(in_dtype(y_true, dtype()), in_dtype(y_pred, dtype()));
    return losses::binary_crossentropy(
        y, p, {.from_logits = options_.from_logits, .label_smoothing = options_.label_smoothing});
  }
};
const ClassDef& binary =
    Declare<BinaryCrossentropy>("metrics.BinaryCrossentropy",
                                "The mean crossentropy of labels that are 0 or 1.", &Metric::def())
        .option<&BinaryOptions::name>("name")
        .option<&BinaryOptions::dtype>("dtype")
        .option<&BinaryOptions::from_logits>("from_logits")
        .option<&BinaryOptions::label_smoothing>("label_smoothing")
        .known_as({"bce", "BCE"});
const ClassDef& BinaryCrossentropy::definition() const { return binary; }

struct CategoricalOptions {
  std::string name = "categorical_crossentropy";
  DType dtype = DType::kInvalid;
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
};
class CategoricalCrossentropy : public Declares<CategoricalOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    return losses::categorical_crossentropy(in_dtype(y_true, dtype()), in_dtype(y_pred, dtype()),
                                            {.from_logits = options_.from_logits,
                                             .label_smoothing = options_.label_smoothing,
                                             .axis = options_.axis});
  }
};
const ClassDef& categorical =
    Declare<CategoricalCrossentropy>("metrics.CategoricalCrossentropy",
                                     "The mean crossentropy of probabilities of classes.",
                                     &Metric::def())
        .option<&CategoricalOptions::name>("name")
        .option<&CategoricalOptions::dtype>("dtype")
        .option<&CategoricalOptions::from_logits>("from_logits")
        .option<&CategoricalOptions::label_smoothing>("label_smoothing")
        .option<&CategoricalOptions::axis>("axis");
const ClassDef& CategoricalCrossentropy::definition() const { return categorical; }

struct SparseOptions {
  std::string name = "sparse_categorical_crossentropy";
  DType dtype = DType::kInvalid;
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  int64_t axis = -1;
};
class SparseCategoricalCrossentropy : public Declares<SparseOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    return losses::sparse_categorical_crossentropy(y_true, in_dtype(y_pred, dtype()),
                                                   {.from_logits = options_.from_logits,
                                                    .ignore_class = options_.ignore_class,
                                                    .axis = options_.axis});
  }
};
const ClassDef& sparse = Declare<SparseCategoricalCrossentropy>(
                             "metrics.SparseCategoricalCrossentropy",
                             "The mean crossentropy of numbers of classes.", &Metric::def())
                             .option<&SparseOptions::name>("name")
                             .option<&SparseOptions::dtype>("dtype")
                             .option<&SparseOptions::from_logits>("from_logits")
                             .option<&SparseOptions::ignore_class>("ignore_class")
                             .option<&SparseOptions::axis>("axis");
const ClassDef& SparseCategoricalCrossentropy::definition() const { return sparse; }

// -- the first k

// Whether the label's class is among the k that are predicted best.
Tensor among_first(Tensor classes, Tensor predictions, int64_t k, DType d) {
  int64_t last = predictions.dim(-1);
  Shape before = classes.shape();
  Tensor sizes = shape(classes);
  if (predictions.rank() != 2) predictions = reshape(predictions, {-1, last});
  if (classes.rank() != 1) classes = reshape(classes, {-1});
  Tensor hit = cast(in_top_k(cast(classes, int32), cast(predictions, float32), k), d);
  return before.rank() == 1 ? hit : reshape(hit, sizes);
}

struct TopKOptions {
  int64_t k = 5;
  std::string name = "top_k_categorical_accuracy";
  DType dtype = DType::kInvalid;
};
class TopKCategoricalAccuracy : public Declares<TopKOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    return among_first(argmax(y_true, {.axis = -1}), y_pred, options_.k, dtype());
  }
};
const ClassDef& top_k =
    Declare<TopKCategoricalAccuracy>("metrics.TopKCategoricalAccuracy",
                                     "How often the class of one-hot labels is among the first k.",
                                     &Metric::def())
        .option<&TopKOptions::k>("k")
        .option<&TopKOptions::name>("name")
        .option<&TopKOptions::dtype>("dtype");
const ClassDef& TopKCategoricalAccuracy::definition() const { return top_k; }

struct SparseTopKOptions {
  int64_t k = 5;
  std::string name = "sparse_top_k_categorical_accuracy";
  DType dtype = DType::kInvalid;
  bool from_sorted_ids = false;
};
class SparseTopKCategoricalAccuracy : public Declares<SparseTopKOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    Tensor y = y_true;
    if (y.rank() == y_pred.rank() && y.dim(-1) == 1) y = squeeze(y, {.axis = -1});
    if (!options_.from_sorted_ids) return among_first(y, y_pred, options_.k, dtype());
    // The predictions are numbers of classes, the best first.
    Tensor hits = expand_dims(cast(y, int64), -1) == cast(y_pred, int64);
    Tensor first = cast(hits, int32) * cast(cumsum(ones_like(y_pred, int32), {.axis = -1}) <=
                                                static_cast<int32_t>(options_.k),
                                            int32);
    return cast(reduce_max(first, {.axis = -1}), dtype());
  }
};
const ClassDef& sparse_top_k =
    Declare<SparseTopKCategoricalAccuracy>("metrics.SparseTopKCategoricalAccuracy",
                                           "How often the class of a label is among the first k.",
                                           &Metric::def())
        .option<&SparseTopKOptions::k>("k")
        .option<&SparseTopKOptions::name>("name")
        .option<&SparseTopKOptions::dtype>("dtype")
        .option<&SparseTopKOptions::from_sorted_ids>("from_sorted_ids");
const ClassDef& SparseTopKCategoricalAccuracy::definition() const { return sparse_top_k; }

}  // namespace
}  // namespace holdfast::keras
