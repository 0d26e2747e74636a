// Metrics whose class is of another language.
#pragma once

#include "holdfast/keras/metric.h"

namespace holdfast::keras {

/// How the other language is asked; each gives false where the class does not override the method.
struct MetricHooks {
  bool (*update)(Metric&, const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight);
  bool (*result)(Metric&, Nested& out);
  bool (*reset)(Metric&);
  bool (*config)(const Metric&, ConfigDict& out);
  bool (*class_name)(const Metric&, std::string& out);
  bool (*registered_name)(const Metric&, std::string& out);
  /// Whether it is to become large, where its class says so.
  bool (*rises)(const Metric&, bool& out);
};
HOLDFAST_API MetricHooks& metric_hooks();

/// C++'s own answers for an object whose class may have others: what `super()` reaches.
class HOLDFAST_API ForeignBornMetric {
 public:
  virtual void own_update(const Tensor&, const Tensor&, const Tensor&) = 0;
  virtual Nested own_result() = 0;
  virtual void own_reset() = 0;
  virtual ConfigDict own_config() const = 0;

 protected:
  ~ForeignBornMetric() = default;
};

template <class M>
class ForeignMetric final : public M, public ForeignBornMetric {
 public:
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    if (!metric_hooks().update(*this, y_true, y_pred, weight))
      M::update_state(y_true, y_pred, weight);
  }
  Nested result() override {
    Nested out;
    return metric_hooks().result(*this, out) ? out : M::result();
  }
  void reset_state() override {
    if (!metric_hooks().reset(*this)) M::reset_state();
  }
  ConfigDict get_config() const override {
    ConfigDict out;
    return metric_hooks().config(*this, out) ? out : M::get_config();
  }
  std::string class_name() const override {
    std::string out;
    return metric_hooks().class_name(*this, out) ? out : M::class_name();
  }
  std::string registered_name() const override {
    std::string out;
    return metric_hooks().registered_name(*this, out) ? out : M::registered_name();
  }
  void own_update(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    M::update_state(y_true, y_pred, weight);
  }
  Nested own_result() override { return M::result(); }
  void own_reset() override { M::reset_state(); }
  ConfigDict own_config() const override { return M::get_config(); }
};

namespace detail {
template <DerivesFrom<Metric> M>
struct ForeignOf<M> {
  using type = ForeignMetric<M>;
};
}  // namespace detail

}  // namespace holdfast::keras
