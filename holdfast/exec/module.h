// Modules: named things that hold variables and other modules.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "holdfast/base/concepts.h"
#include "holdfast/base/object.h"
#include "holdfast/exec/attribute.h"
#include "holdfast/exec/shared_list.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/op/variable.h"

namespace holdfast {

/// What a Module refers to: one object for both languages. Python's `tf.Module` is this class, so
/// C++ finds what Python put on a module as attributes, and Python what C++ made known.
class HOLDFAST_API ModuleObject : public Object {
 public:
  static const ObjectClass kClass;
  ModuleObject() = default;
  ModuleObject(std::string name, std::string scope);

  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor&) const override;
  void clear() override;
  std::string text() const override { return "the module `" + name_ + "`"; }

  const std::string& name() const { return name_; }
  const std::string& scope_name() const { return scope_; }
  void set_name(std::string name, std::string scope);

  /// Makes known that this module holds them.
  void hold(const Variable&);
  void hold(const Ref<ModuleObject>&);
  /// Another variable, or none, stands from now on where this module held `before`.
  virtual void replace(const Variable& before, const Variable& now);

  /// All variables of this module, then those of the modules it holds; each once.
  virtual std::vector<Variable> variables() const;
  /// Those that training changes.
  virtual std::vector<Variable> trainable_variables() const;
  virtual std::vector<Variable> non_trainable_variables() const;
  /// All modules that this one holds, at any depth, each once.
  virtual std::vector<Ref<ModuleObject>> submodules() const;

 private:
  std::string name_ = "module", scope_ = "module/";
  SharedList<Variable> variables_;
  SharedList<Ref<ModuleObject>> modules_;
};

/// Base of what holds variables and other modules.
///
///   struct Dense : Module {
///     Dense(int64_t in, int64_t out) : Module("dense"), w(variable("w", random::normal({in,
///     out}))), b(variable("b", zeros({out}))) {} Tensor operator()(const Tensor& x) const { return
///     matmul(x, w) + b; } Variable w, b;
///   };
///   struct Net : Module {
///     Net() : Module("net") {}
///     Dense first = module(Dense(8, 4)), second = module(Dense(4, 1));
///   };
///
/// What `variable` and `module` make known is found by `variables`. Copies of a module are the same
/// module, as copies of a Variable are the same variable: a module can be moved, copied and kept in
/// containers, and what it holds lives as long as one of them, or a module that holds it.
class HOLDFAST_API Module {
 public:
  explicit Module(std::string name = "module");
  /// One that was made elsewhere, perhaps in Python.
  explicit Module(Ref<ModuleObject> object) : object_(std::move(object)) {}
  // A move is a copy, so that what was moved from is still a module.
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;

  const std::string& name() const { return object_->name(); }
  /// The prefix under which this module names its variables, with its slash.
  const std::string& scope_name() const { return object_->scope_name(); }
  /// Opens it: `NameScope in = name_scope();`
  NameScope name_scope() const { return NameScope(object_->scope_name()); }

  /// All variables of this module, in the order they were made known, then those of the modules it
  /// holds; each once.
  std::vector<Variable> variables() const { return object_->variables(); }
  std::vector<Variable> trainable_variables() const { return object_->trainable_variables(); }
  std::vector<Variable> non_trainable_variables() const {
    return object_->non_trainable_variables();
  }
  /// All modules that this one holds, at any depth, each once.
  std::vector<Module> submodules() const;
  const Ref<ModuleObject>& object() const { return object_; }
  bool operator==(const Module& o) const { return object_ == o.object_; }

 protected:
  /// A new variable of this module, named in its scope.
  Variable variable(const std::string& name, const In& initial, VariableOptions = {});
  /// Makes a variable known that was made elsewhere.
  Variable variable(const Variable&);
  /// A place for a tensor that calls of this module leave behind, named in its scope.
  TensorAttribute attribute(const std::string& name, Tensor initial = {}) const;
  /// Makes a module known that this one holds, and gives it back.
  template <DerivesFrom<Module> M>
  M module(M held) {
    hold(held);
    return held;
  }
  /// The same for a handle of one: a layer of Keras'.
  template <ConvertsTo<Module> H>
    requires(!DerivesFrom<H, Module>)
  H module(H held) {
    hold(held);
    return held;
  }

 private:
  void hold(const Module&);

  Ref<ModuleObject> object_;
};

}  // namespace holdfast
