// Keras' metrics: #include <holdfast/keras/metrics.h>. A program's own derive from `Metric`.
//
//   metrics::AUC auc({.num_thresholds = 50});
//   auc.update_state(labels, predictions);
//   std::cout << auc.result();
#pragma once

#include "holdfast/keras/metrics/mean.h"

namespace holdfast::keras::metrics {

struct BinaryAccuracyOptions {
  double threshold = 0.5;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct CountOptions {
  std::vector<double> thresholds = {};  // none: 0.5
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct ShareOptions {
  std::vector<double> thresholds = {};  // none: 0.5, or what `top_k` says
  std::optional<int64_t> top_k = {}, class_id = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct AtOptions {
  double at_least = 0;  // of the share that is kept
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct AUCOptions {
  int64_t num_thresholds = 200;
  std::string curve = "ROC", summation_method = "interpolation";
  std::optional<std::vector<double>> thresholds = {};
  bool multi_label = false;
  std::optional<int64_t> num_labels = {};
  std::optional<std::vector<double>> label_weights = {};
  bool from_logits = false;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct IoUOptions {
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids = {};
  std::optional<int64_t> ignore_class = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct MeanIoUOptions {
  int64_t num_classes = 0;
  std::optional<int64_t> ignore_class = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct BinaryIoUOptions {
  std::vector<int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct BinaryCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct CategoricalCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  int64_t axis = -1;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct TopKOptions {
  int64_t k = 5;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct SparseTopKOptions {
  int64_t k = 5;
  bool from_sorted_ids = false;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct AxisOptions {
  int64_t axis = -1;
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct F1Options {
  std::optional<std::string> average = {};  // "micro", "macro" or "weighted"; none: each class
  std::optional<double> threshold = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct FBetaOptions {
  std::optional<std::string> average = {};
  double beta = 1;
  std::optional<double> threshold = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};
struct R2Options {
  std::optional<std::string> class_aggregation = "uniform_average";
  int64_t num_regressors = 0;
  std::string name = {};
  DType dtype = DType::kInvalid;
};

/// What options say, as a config of the class. An empty key is the option that comes first.
HOLDFAST_API ConfigDict config_of(const MetricOptions&);
HOLDFAST_API ConfigDict config_of(const BinaryAccuracyOptions&);
HOLDFAST_API ConfigDict config_of(const CountOptions&);
HOLDFAST_API ConfigDict config_of(const ShareOptions&);
HOLDFAST_API ConfigDict config_of(const AtOptions&);
HOLDFAST_API ConfigDict config_of(const AUCOptions&);
HOLDFAST_API ConfigDict config_of(const IoUOptions&);
HOLDFAST_API ConfigDict config_of(const MeanIoUOptions&);
HOLDFAST_API ConfigDict config_of(const BinaryIoUOptions&);
HOLDFAST_API ConfigDict config_of(const BinaryCrossentropyOptions&);
HOLDFAST_API ConfigDict config_of(const CategoricalCrossentropyOptions&);
HOLDFAST_API ConfigDict config_of(const SparseCategoricalCrossentropyOptions&);
HOLDFAST_API ConfigDict config_of(const TopKOptions&);
HOLDFAST_API ConfigDict config_of(const SparseTopKOptions&);
HOLDFAST_API ConfigDict config_of(const AxisOptions&);
HOLDFAST_API ConfigDict config_of(const F1Options&);
HOLDFAST_API ConfigDict config_of(const FBetaOptions&);
HOLDFAST_API ConfigDict config_of(const R2Options&);

/// A metric by the name of its class.
HOLDFAST_API Ref<Metric> made(const char* class_name, const ConfigDict& config);

namespace detail {
/// The name of a class, as an argument of a template.
struct ClassName {
  template <size_t n>
  consteval ClassName(const char (&name)[n]) {
    for (size_t i = 0; i < n; ++i) text[i] = name[i];
  }
  char text[40] = {};
};
}  // namespace detail

/// Holds a metric of a class: `AUC({.curve = "PR"})`.
template <detail::ClassName name, class O = MetricOptions>
class Made : public AnyMetric {
 public:
  [[gnu::always_inline]] explicit Made(
      const O& options = {}, const std::source_location& at = std::source_location::current())
      : AnyMetric((mark_caller(at), made(name.text, config_of(options)))) {}
};

// How often predictions are right.
using Accuracy = Made<"Accuracy">;
using BinaryAccuracy = Made<"BinaryAccuracy", BinaryAccuracyOptions>;
using CategoricalAccuracy = Made<"CategoricalAccuracy">;
using SparseCategoricalAccuracy = Made<"SparseCategoricalAccuracy">;
using TopKCategoricalAccuracy = Made<"TopKCategoricalAccuracy", TopKOptions>;
using SparseTopKCategoricalAccuracy = Made<"SparseTopKCategoricalAccuracy", SparseTopKOptions>;

// Means of losses.
using BinaryCrossentropy = Made<"BinaryCrossentropy", BinaryCrossentropyOptions>;
using CategoricalCrossentropy = Made<"CategoricalCrossentropy", CategoricalCrossentropyOptions>;
using CategoricalHinge = Made<"CategoricalHinge">;
using CosineSimilarity = Made<"CosineSimilarity", AxisOptions>;
using Hinge = Made<"Hinge">;
using KLDivergence = Made<"KLDivergence">;
using LogCoshError = Made<"LogCoshError">;
using MeanAbsoluteError = Made<"MeanAbsoluteError">;
using MeanAbsolutePercentageError = Made<"MeanAbsolutePercentageError">;
using MeanSquaredError = Made<"MeanSquaredError">;
using MeanSquaredLogarithmicError = Made<"MeanSquaredLogarithmicError">;
using Poisson = Made<"Poisson">;
using RootMeanSquaredError = Made<"RootMeanSquaredError">;
using SparseCategoricalCrossentropy =
    Made<"SparseCategoricalCrossentropy", SparseCategoricalCrossentropyOptions>;
using SquaredHinge = Made<"SquaredHinge">;

// Counts of right and wrong answers, and shares of them.
using AUC = Made<"AUC", AUCOptions>;
using FalseNegatives = Made<"FalseNegatives", CountOptions>;
using FalsePositives = Made<"FalsePositives", CountOptions>;
using TrueNegatives = Made<"TrueNegatives", CountOptions>;
using TruePositives = Made<"TruePositives", CountOptions>;
using Precision = Made<"Precision", ShareOptions>;
using Recall = Made<"Recall", ShareOptions>;
using PrecisionAtRecall = Made<"PrecisionAtRecall", AtOptions>;
using RecallAtPrecision = Made<"RecallAtPrecision", AtOptions>;
using SensitivityAtSpecificity = Made<"SensitivityAtSpecificity", AtOptions>;
using SpecificityAtSensitivity = Made<"SpecificityAtSensitivity", AtOptions>;
using F1Score = Made<"F1Score", F1Options>;
using FBetaScore = Made<"FBetaScore", FBetaOptions>;

// Areas that overlap.
using BinaryIoU = Made<"BinaryIoU", BinaryIoUOptions>;
using IoU = Made<"IoU", IoUOptions>;
using MeanIoU = Made<"MeanIoU", MeanIoUOptions>;
using OneHotIoU = Made<"OneHotIoU", IoUOptions>;
using OneHotMeanIoU = Made<"OneHotMeanIoU", MeanIoUOptions>;

// How labels and predictions go together.
using ConcordanceCorrelation = Made<"ConcordanceCorrelation", AxisOptions>;
using PearsonCorrelation = Made<"PearsonCorrelation", AxisOptions>;
using R2Score = Made<"R2Score", R2Options>;

}  // namespace holdfast::keras::metrics
