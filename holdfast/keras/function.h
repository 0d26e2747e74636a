// Functions that layers are given: activations, initializers, regularizers, constraints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "holdfast/keras/declare.h"
#include "holdfast/tensor/tensor.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast::keras {

/// What says itself how a config writes it: a function is its name.
class HOLDFAST_API HasConfig {
 public:
  virtual Config config() const = 0;

 protected:
  ~HasConfig() = default;
};

/// A function of another language, in whatever role it is used.
class HOLDFAST_API ForeignFunction : public Object, public HasConfig {
 public:
  /// Of tensors: an activation, a regularizer, a loss.
  virtual Tensor of(std::span<const Tensor> inputs) const = 0;
  /// An initializer.
  virtual Tensor first_value(const Shape& shape, DType dtype) const = 0;
  /// Of plain values: what a callback asks for the rate of an epoch.
  virtual Config of_values(const Config::List& arguments) const = 0;
  virtual std::string name() const = 0;
  /// The name under which a program registered it; empty where it did not.
  virtual std::string registered_name() const { return {}; }
};

/// What stands for a function of another language in some role.
class HOLDFAST_API StandsFor {
 public:
  explicit StandsFor(Ref<ForeignFunction> f) : function(std::move(f)) {}
  virtual ~StandsFor() = default;
  const Ref<ForeignFunction> function;
};

/// A function of tensors that a layer ends with.
class HOLDFAST_API Activation : public Object, public HasConfig {
 public:
  static constexpr const char* kFolder = "activations";
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  virtual Tensor operator()(const Tensor& x) const = 0;
  static Ref<Activation> from(const Ref<Object>& object, const std::string& what);
};

/// Makes the first value of a weight.
class HOLDFAST_API Initializer : public Object, public Declared {
 public:
  static constexpr const char* kFolder = "initializers";
  static ClassDef& def();
  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return nullptr; }
  std::string text() const override;
  virtual Tensor operator()(const Shape& shape, DType dtype) const = 0;
  static Ref<Initializer> from(const Ref<Object>& object, const std::string& what);
};

/// A penalty on a weight or on what a layer gives.
class HOLDFAST_API Regularizer : public Object, public Declared {
 public:
  static constexpr const char* kFolder = "regularizers";
  static ClassDef& def();
  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return nullptr; }
  std::string text() const override;
  virtual Tensor operator()(const Tensor& x) const = 0;
  static Ref<Regularizer> from(const Ref<Object>& object, const std::string& what);
};

/// A rule that values of a weight keep: a `Constraint` of variables that has a config.
class HOLDFAST_API DeclaredConstraint : public Constraint, public Declared {
 public:
  static constexpr const char* kFolder = "constraints";
  static ClassDef& def();
  const ClassDef& definition() const override { return def(); }
  const ObjectClass& object_class() const override { return definition().kind; }
  void* option_place() override { return nullptr; }
};
template <>
struct HOLDFAST_API Choice<Constraint> {
  Choice() = default;
  Choice(std::nullptr_t) {}
  [[gnu::always_inline]] Choice(const char* name,
                                const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    set(Config(name), "a constraint");
  }
  [[gnu::always_inline]] Choice(const std::string& name,
                                const std::source_location& at = std::source_location::current())
      : Choice(name.c_str(), at) {}
  Choice(Ref<Constraint> object) : function(std::move(object)) {}
  explicit operator bool() const { return static_cast<bool>(function); }
  operator Ref<Constraint>() const { return function; }
  void set(const Config& config, const std::string& what);
  Ref<Constraint> function;
};

/// No activation is "linear" in configs.
template <>
struct HOLDFAST_API OptionType<Choice<Activation>> {
  static Config get(const Choice<Activation>& v) {
    return v.function ? Config(Ref<Object>(v.function)) : Config();
  }
  static Config written(const Choice<Activation>& v) { return v.function ? get(v) : "linear"; }
  static void set(Choice<Activation>& v, const Config& c, const std::string& what) {
    v.set(c, what);
  }
};

using ActivationOption = Choice<Activation>;
using InitializerOption = Choice<Initializer>;
using RegularizerOption = Choice<Regularizer>;
using ConstraintOption = Choice<Constraint>;

/// The activation of a name, the initializer of a name or a config.
HOLDFAST_API Ref<Activation> activation(const Config& described);
HOLDFAST_API Ref<Initializer> initializer(const Config& described);

/// Functions by name in a folder: "activations" has "relu".
HOLDFAST_API std::vector<std::string> function_names(const std::string& folder);
/// Null where there is none.
HOLDFAST_API Ref<Object> named_function(const std::string& folder, const std::string& name);

}  // namespace holdfast::keras
