// Means and sums of numbers.
#pragma once

#include "holdfast/keras/foreign_metric.h"

namespace holdfast::keras::metrics {

/// The mean of what it is given: `update_state(values, {}, weights)`.
class HOLDFAST_API MeanMetric : public Declares<MetricOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& given, const Tensor&) override { return given; }
};
using Mean = Held<MeanMetric>;

/// The sum of what it is given.
class HOLDFAST_API SumMetric : public Declares<MetricOptions, Metric> {
 public:
  const ClassDef& definition() const override;
  void update_state(const Tensor& values, const Tensor&, const Tensor& sample_weight) override;
  Nested result() override;
  std::vector<Variable> variables() const override;

 private:
  void make_variables();
  Variable total_;
};
using Sum = Held<SumMetric>;

}  // namespace holdfast::keras::metrics
