// Metrics over how often predictions above a threshold are right and wrong.
#pragma once

#include "holdfast/keras/foreign_metric.h"

namespace holdfast::keras::metrics {

/// One threshold, several, or none.
struct Thresholds {
  std::optional<std::vector<double>> values = {};
  bool single = false;
};

/// Counts true and false positives and negatives for each threshold.
class HOLDFAST_API Confusion : public Metric {
 public:
  /// What is counted: each for all thresholds, in the order in which files of Keras have them.
  enum Kind : uint8_t { kTruePositives, kFalsePositives, kTrueNegatives, kFalseNegatives };

 protected:
  struct Counting {
    std::vector<double> thresholds = {0.5};
    std::optional<int64_t> top_k = {}, class_id = {};
    int64_t labels = 0;  // where each label has counts of its own: how many
    std::vector<double> label_weights = {};
  };
  /// Makes the counters, once.
  void make_counters(const std::vector<Kind>& kinds, int64_t thresholds, int64_t labels = 0);
  void count(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight, const Counting&);
  Tensor counted(Kind kind) const;

 private:
  std::vector<std::pair<Kind, Variable>> counters_;
};

}  // namespace holdfast::keras::metrics

namespace holdfast::keras {
template <>
struct OptionType<metrics::Thresholds> {
  static Config get(const metrics::Thresholds& v) {
    if (!v.values) return {};
    return v.single ? Config(v.values->at(0)) : OptionType<std::vector<double>>::get(*v.values);
  }
  static void set(metrics::Thresholds& v, const Config& c, const std::string& what);
};
}  // namespace holdfast::keras
