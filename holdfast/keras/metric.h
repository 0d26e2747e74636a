// What every metric is: numbers that are gathered over batches, and what they say together.
#pragma once

#include <string>

#include "holdfast/exec/module.h"
#include "holdfast/exec/nested.h"
#include "holdfast/keras/function.h"
#include "holdfast/keras/held.h"

namespace holdfast::keras {

struct MetricOptions {
  std::string name = {};          // that of the class, if not given
  DType dtype = DType::kInvalid;  // kInvalid: float32
};

/// Base of metrics. A program derives from it:
///
///   struct Misses : keras::Metric {
///     void update_state(const Tensor& y, const Tensor& p, const Tensor&) override {
///       count.assign_add(reduce_sum(cast(y != p, float32)));
///     }
///     Nested result() override { return count.read(); }
///     Variable count = add_variable({}, "zeros", "count");
///   };
class HOLDFAST_API Metric : public ModuleObject, public Declared, public HasConfig {
 public:
  using Options = MetricOptions;
  static constexpr const char* kFolder = "metrics";
  static ClassDef& def();

  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return &common_; }
  void configured() override { take_options(common_); }
  void configure(const MetricOptions& o) { take_options(o); }
  void visit(Visitor&) const override;
  void clear() override;
  std::string text() const override { return described(); }

  /// Takes a batch in. An empty `sample_weight`: all count alike.
  virtual void update_state(const Tensor& y_true, const Tensor& y_pred,
                            const Tensor& sample_weight);
  /// What all batches since `reset_state` say.
  virtual Nested result();
  virtual void reset_state();
  virtual ConfigDict get_config() const;
  virtual std::string class_name() const;
  virtual std::string registered_name() const { return {}; }
  Config config() const override;

  /// A number, or several, that the metric gathers; made at once, also inside a trace.
  Variable add_variable(const Shape& shape, const InitializerOption& initializer = "zeros",
                        const std::string& name = "variable", DType dtype = DType::kInvalid);
  DType dtype() const;
  std::string described() const;
  void name_it();
  /// Gives it another name: "accuracy" for what that turns out to mean.
  void rename(const std::string& name);
  template <class O>
  void take_options(const O& o) {
    set_options({.name = o.name, .dtype = o.dtype});
  }
  /// A metric; a loss or a function becomes the mean of what it gives.
  static Ref<Metric> from(const Ref<Object>& object, const std::string& what);

 private:
  void set_options(const MetricOptions& o);

  MetricOptions common_;
  bool named_ = false;
  std::vector<Variable> mine_;
};

/// Gathers a mean: values, and how much they weigh.
class HOLDFAST_API MeanOfValues : public Metric {
 public:
  /// What is averaged for a batch, one value for each example.
  virtual Tensor values(const Tensor& y_true, const Tensor& y_pred) = 0;
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override;
  Nested result() override;
  std::vector<Variable> variables() const override;

 protected:
  void add_values(const Tensor& values, Tensor sample_weight);

 private:
  void make_variables();
  Variable total_, count_;
};

using MetricOption = Choice<Metric>;
using AnyMetric = Held<Metric>;

/// The mean of numbers: `update_state(values, {}, weights)`.
HOLDFAST_API Ref<Metric> make_mean(const std::string& name);

}  // namespace holdfast::keras
