// Layers whose class is of another language, which may override what C++ calls.
#pragma once

#include "holdfast/keras/layer.h"

namespace holdfast::keras {

/// What a module shows: the methods that both languages have.
enum class Shown : uint8_t { kVariables, kTrainable, kNonTrainable, kSubmodules };

/// How the other language is asked. Each gives false where the object's class does not override the
/// method. The binding sets them, once.
struct LayerHooks {
  bool (*build)(Layer&, const std::vector<Shape>& inputs);
  bool (*add_weight)(Layer&, const WeightOptions&, Variable& out);
  bool (*call)(Layer&, const Nested& inputs, const CallOptions&, Nested& out);
  bool (*output_shape)(Layer&, const Shape& inputs, Shape& out);
  bool (*supports_masking)(const Layer&, bool& out);
  bool (*mask)(Layer&, const Nested& inputs, const Nested& mask, Nested& out);
  bool (*config)(const Layer&, ConfigDict& out);
  bool (*build_config)(const Layer&, Config& out);
  bool (*class_name)(const Layer&, std::string& out);
  bool (*registered_name)(const Layer&, std::string& out);
  bool (*variables)(const Layer&, Shown which, std::vector<Variable>& out);
  bool (*submodules)(const Layer&, std::vector<Ref<ModuleObject>>& out);
  /// Whether the object's class says a method of its own.
  bool (*overrides)(const Layer&, const char* method);
  /// An attribute that the object's class has, and C++ has not: sizes of a cell's states.
  bool (*attribute)(const Layer&, const char* name, Config& out);
  /// The states that a cell begins with.
  bool (*initial_state)(Layer&, const Tensor& batch_size, Nested& out);
};
HOLDFAST_API LayerHooks& layer_hooks();

/// C++'s own answers for an object whose class may have others: what `super()` reaches.
class HOLDFAST_API ForeignBorn {
 public:
  virtual void own_build(const std::vector<Shape>&) = 0;
  virtual Variable own_add_weight(const WeightOptions&) = 0;
  virtual Nested own_call(const Nested&, const CallOptions&) = 0;
  virtual Shape own_output_shape(const Shape&) = 0;
  virtual bool own_supports_masking() const = 0;
  virtual Nested own_mask(const Nested&, const Nested&) = 0;
  virtual ConfigDict own_config() const = 0;
  virtual Config own_build_config() const = 0;
  virtual std::vector<Variable> own_variables(Shown) const = 0;
  virtual std::vector<Ref<ModuleObject>> own_submodules() const = 0;

 protected:
  ~ForeignBorn() = default;
};

template <class L>
class ForeignLayer : public L, public ForeignBorn {
 public:
  void build_all(const std::vector<Shape>& inputs) override {
    if (!layer_hooks().build(*this, inputs)) L::build_all(inputs);
  }
  Variable add_weight(const WeightOptions& o = {}) override {
    Variable out;
    return layer_hooks().add_weight(*this, o, out) ? out : L::add_weight(o);
  }
  Nested call_all(const Nested& inputs, const CallOptions& o) override {
    Nested out;
    return layer_hooks().call(*this, inputs, o, out) ? out : L::call_all(inputs, o);
  }
  Shape compute_output_shape(const Shape& inputs) override {
    Shape out;
    return layer_hooks().output_shape(*this, inputs, out) ? out : L::compute_output_shape(inputs);
  }
  bool supports_masking() const override {
    bool out = false;
    return layer_hooks().supports_masking(*this, out) ? out : L::supports_masking();
  }
  Nested compute_mask(const Nested& inputs, const Nested& mask) override {
    Nested out;
    return layer_hooks().mask(*this, inputs, mask, out) ? out : L::compute_mask(inputs, mask);
  }
  ConfigDict get_config() const override {
    ConfigDict out;
    return layer_hooks().config(*this, out) ? out : L::get_config();
  }
  Config get_build_config() const override {
    Config out;
    return layer_hooks().build_config(*this, out) ? out : L::get_build_config();
  }
  std::string class_name() const override {
    std::string out;
    return layer_hooks().class_name(*this, out) ? out : L::class_name();
  }
  std::string registered_name() const override {
    std::string out;
    return layer_hooks().registered_name(*this, out) ? out : L::registered_name();
  }
  std::vector<Variable> variables() const override { return shown(Shown::kVariables); }
  std::vector<Variable> trainable_variables() const override { return shown(Shown::kTrainable); }
  std::vector<Variable> non_trainable_variables() const override {
    return shown(Shown::kNonTrainable);
  }
  std::vector<Ref<ModuleObject>> submodules() const override {
    std::vector<Ref<ModuleObject>> out;
    return layer_hooks().submodules(*this, out) ? out : L::submodules();
  }

  void own_build(const std::vector<Shape>& inputs) override { L::build_all(inputs); }
  Variable own_add_weight(const WeightOptions& o) override { return L::add_weight(o); }
  Nested own_call(const Nested& inputs, const CallOptions& o) override {
    return L::call_all(inputs, o);
  }
  Shape own_output_shape(const Shape& inputs) override { return L::compute_output_shape(inputs); }
  bool own_supports_masking() const override { return L::supports_masking(); }
  Nested own_mask(const Nested& inputs, const Nested& mask) override {
    return L::compute_mask(inputs, mask);
  }
  ConfigDict own_config() const override { return L::get_config(); }
  Config own_build_config() const override { return L::get_build_config(); }
  std::vector<Variable> own_variables(Shown which) const override {
    return which == Shown::kVariables   ? L::variables()
           : which == Shown::kTrainable ? L::trainable_variables()
                                        : L::non_trainable_variables();
  }
  std::vector<Ref<ModuleObject>> own_submodules() const override { return L::submodules(); }

 private:
  std::vector<Variable> shown(Shown which) const {
    std::vector<Variable> out;
    return layer_hooks().variables(*this, which, out) ? out : own_variables(which);
  }
};

namespace detail {
template <class L>
  requires DerivesFrom<L, Layer>
struct ForeignOf<L> {
  using type = ForeignLayer<L>;
};
}  // namespace detail

}  // namespace holdfast::keras
