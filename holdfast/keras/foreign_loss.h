// Losses whose class is of another language.
#pragma once

#include "holdfast/keras/loss.h"

namespace holdfast::keras {

/// How the other language is asked. Each gives false where the object's class does not override the
/// method. The binding sets them, once.
struct LossHooks {
  bool (*call)(Loss&, const Nested& y_true, const Nested& y_pred, Tensor& out);
  bool (*value)(Loss&, const Nested& y_true, const Nested& y_pred, const Tensor& sample_weight,
                Tensor& out);
  bool (*config)(const Loss&, ConfigDict& out);
  bool (*class_name)(const Loss&, std::string& out);
  bool (*registered_name)(const Loss&, std::string& out);
};
HOLDFAST_API LossHooks& loss_hooks();

/// A function of another language that takes tensors in lists and dicts as well.
class HOLDFAST_API TakesNested {
 public:
  virtual Tensor of_nested(std::span<const Nested> inputs) const = 0;

 protected:
  ~TakesNested() = default;
};

/// C++'s own answers for an object whose class may have others: what `super()` reaches.
class HOLDFAST_API ForeignBornLoss {
 public:
  virtual Tensor own_call(const Tensor& y_true, const Tensor& y_pred) = 0;
  virtual ConfigDict own_config() const = 0;

 protected:
  ~ForeignBornLoss() = default;
};

template <class L>
class ForeignLoss final : public L, public ForeignBornLoss {
 public:
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    Tensor out;
    return loss_hooks().call(*this, y_true, y_pred, out) ? out : L::call(y_true, y_pred);
  }
  Tensor call_parts(const Nested& y_true, const Nested& y_pred) override {
    Tensor out;
    return loss_hooks().call(*this, y_true, y_pred, out) ? out : L::call_parts(y_true, y_pred);
  }
  bool own_value(const Nested& y_true, const Nested& y_pred, const Tensor& sample_weight,
                 Tensor& out) override {
    return loss_hooks().value(*this, y_true, y_pred, sample_weight, out);
  }
  ConfigDict get_config() const override {
    ConfigDict out;
    return loss_hooks().config(*this, out) ? out : L::get_config();
  }
  std::string class_name() const override {
    std::string out;
    return loss_hooks().class_name(*this, out) ? out : L::class_name();
  }
  std::string registered_name() const override {
    std::string out;
    return loss_hooks().registered_name(*this, out) ? out : L::registered_name();
  }

  Tensor own_call(const Tensor& y_true, const Tensor& y_pred) override {
    return L::call(y_true, y_pred);
  }
  ConfigDict own_config() const override { return L::get_config(); }
};

namespace detail {
template <DerivesFrom<Loss> L>
struct ForeignOf<L> {
  using type = ForeignLoss<L>;
};
}  // namespace detail

}  // namespace holdfast::keras
