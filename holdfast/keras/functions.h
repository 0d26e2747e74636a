// What layers are given by name: activations and initializers.
#pragma once

#include <string>

#include "holdfast/base/config.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::keras {

/// A function of tensors that a layer ends with.
class HOLDFAST_API Activation : public Object {
 public:
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// Its name; or what `get_config` says of it.
  virtual Config config() const = 0;
};

/// Makes the first value of a weight.
class HOLDFAST_API Initializer : public Object {
 public:
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  virtual Tensor operator()(const Shape& shape, DType dtype) const = 0;
  virtual Config config() const = 0;
};

/// The activation of a name: "relu", "softmax", ... An unknown one is refused with those there are.
HOLDFAST_API Ref<Activation> activation(const std::string& name);
/// The initializer of a name ("glorot_uniform"), or of an object that a config describes.
HOLDFAST_API Ref<Initializer> initializer(const Config& described);

/// An option that takes a name, a function, or nothing.
struct ActivationOption {
  ActivationOption() = default;
  ActivationOption(const char* name) : function(activation(name)) {}
  ActivationOption(const std::string& name) : function(activation(name)) {}
  ActivationOption(Ref<Activation> f) : function(std::move(f)) {}
  Ref<Activation> function;
};
struct InitializerOption {
  InitializerOption(const char* name) : function(initializer(name)) {}
  InitializerOption(const std::string& name) : function(initializer(name)) {}
  InitializerOption(Ref<Initializer> f) : function(std::move(f)) {}
  Ref<Initializer> function;
};

}  // namespace holdfast::keras
