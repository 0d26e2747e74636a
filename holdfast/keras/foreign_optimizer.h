// Optimizers whose class is of another language.
#pragma once

#include "holdfast/keras/optimizer.h"

namespace holdfast::keras {

/// How the other language is asked. Each gives false where the object's class does not override the
/// method. The binding sets them, once.
struct OptimizerHooks {
  /// `rate` is the learning rate in the dtype of the variable.
  bool (*update_step)(Optimizer&, const Gradient&, const Variable&, const Tensor& rate);
  bool (*apply)(Optimizer&, const std::vector<Gradient>&, const std::vector<Variable>&);
  bool (*build)(Optimizer&, const std::vector<Variable>& variables);
  bool (*config)(const Optimizer&, ConfigDict& out);
  bool (*class_name)(const Optimizer&, std::string& out);
  bool (*registered_name)(const Optimizer&, std::string& out);
  bool (*has_rate)(const Optimizer&);
};
HOLDFAST_API OptimizerHooks& optimizer_hooks();

/// C++'s own answers for an object whose class may have others: what `super()` reaches.
class HOLDFAST_API ForeignBornOptimizer {
 public:
  virtual void own_update_step(const Gradient&, const Variable&, const Tensor& rate) = 0;
  virtual void own_make_slots(const std::vector<Variable>& variables) = 0;
  virtual ConfigDict own_config() const = 0;

 protected:
  ~ForeignBornOptimizer() = default;
};

template <class L>
class ForeignOptimizer final : public L, public ForeignBornOptimizer {
 public:
  using Step = Optimizer::Step;
  void update_step(const Gradient& g, const Variable& v, Step& step) override {
    if (!optimizer_hooks().update_step(*this, g, v, step.rate(v.dtype())))
      L::update_step(g, v, step);
  }
  void apply(const std::vector<Gradient>& gradients,
             const std::vector<Variable>& variables) override {
    if (!optimizer_hooks().apply(*this, gradients, variables)) L::apply(gradients, variables);
  }
  void make_slots(const std::vector<Variable>& variables) override {
    if (!optimizer_hooks().build(*this, variables)) L::make_slots(variables);
  }
  ConfigDict get_config() const override {
    ConfigDict out;
    return optimizer_hooks().config(*this, out) ? out : L::get_config();
  }
  std::string class_name() const override {
    std::string out;
    return optimizer_hooks().class_name(*this, out) ? out : L::class_name();
  }
  std::string registered_name() const override {
    std::string out;
    return optimizer_hooks().registered_name(*this, out) ? out : L::registered_name();
  }

  bool has_rate() const override { return optimizer_hooks().has_rate(*this); }

  void own_update_step(const Gradient& g, const Variable& v, const Tensor& rate) override {
    Step step(rate, this->updates_done());
    L::update_step(g, v, step);
  }
  void own_make_slots(const std::vector<Variable>& variables) override { L::make_slots(variables); }
  ConfigDict own_config() const override { return L::get_config(); }
};

namespace detail {
template <DerivesFrom<Optimizer> L>
struct ForeignOf<L> {
  using type = ForeignOptimizer<L>;
};
}  // namespace detail

}  // namespace holdfast::keras
