// Modules: named things that hold variables and other modules.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "holdfast/graph/name_scope.h"
#include "holdfast/op/variable.h"

namespace holdfast {

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
  // A move is a copy, so that what was moved from is still a module.
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;

  const std::string& name() const { return state_->name; }
  /// The prefix under which this module names its variables, with its slash.
  const std::string& scope_name() const { return state_->scope; }
  /// Opens it: `NameScope in = name_scope();`
  NameScope name_scope() const { return NameScope(state_->scope); }

  /// All variables of this module, in the order they were made known, then those of the modules it
  /// holds; each once.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  /// All modules that this one holds, at any depth, each once.
  std::vector<Module> submodules() const;
  bool operator==(const Module& o) const { return state_ == o.state_; }

 protected:
  /// A new variable of this module, named in its scope.
  Variable variable(const std::string& name, const In& initial, VariableOptions = {});
  /// Makes a variable known that was made elsewhere.
  Variable variable(const Variable&);
  /// Makes a module known that this one holds, and gives it back.
  template <std::derived_from<Module> M>
  M module(M held) {
    hold(held);
    return held;
  }

 private:
  struct State final : RefCounted {
    std::string name, scope;
    std::vector<Variable> variables;
    std::vector<Ref<State>> modules;
  };
  explicit Module(Ref<State> state) : state_(std::move(state)) {}
  void hold(const Module&);
  /// This one and all it holds, each once: what a part holds comes before what stands beside it.
  std::vector<Ref<State>> all() const;

  Ref<State> state_;
};

}  // namespace holdfast
