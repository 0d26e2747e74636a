// What of a model goes into files, and under which paths.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/keras/layer.h"

namespace holdfast::keras {

/// What hangs on an object under a name: another object, or a list of such.
struct Part {
  std::string name;  // in lists: none
  Ref<ModuleObject> object;
  std::vector<Part> list;
};

/// What an object of C++ holds under names: options and properties that are objects with variables.
HOLDFAST_API std::vector<Part> named_parts(const ModuleObject& o);
/// The attributes that another language has put on an object; set by its binding.
using AttributeParts = std::vector<Part> (*)(const Object&);
HOLDFAST_API void set_attribute_parts(AttributeParts);

/// How objects of another language keep their variables in files, where their classes say so; set
/// by its binding.
struct OwnVariables {
  using Named = std::vector<std::pair<std::string, Tensor>>;
  /// What an object wants to be kept; none where its class says nothing.
  std::optional<Named> (*save)(const ModuleObject&) = nullptr;
  /// Whether its class says how it takes them back.
  bool (*takes)(const ModuleObject&) = nullptr;
  void (*load)(const ModuleObject&, const Named&) = nullptr;
};
HOLDFAST_API void set_own_variables(OwnVariables);
HOLDFAST_API const OwnVariables& own_variables();

/// Files that objects of another language keep beside their variables (a vocabulary, say), where
/// their classes say so; set by its binding.
struct OwnAssets {
  using Files =
      std::vector<std::pair<std::string, std::string>>;  // path below its own place, bytes
  /// What an object wants to be kept; none where its class says nothing.
  std::optional<Files> (*save)(const ModuleObject&) = nullptr;
  /// Whether its class says how it takes them back.
  bool (*takes)(const ModuleObject&) = nullptr;
  void (*load)(const ModuleObject&, const Files&) = nullptr;
};
HOLDFAST_API void set_own_assets(OwnAssets);
HOLDFAST_API const OwnAssets& own_assets();

/// An object of a model, with the variables that are its own.
struct Saveable {
  std::string path;  // "layers/dense"; "" is the model
  Ref<ModuleObject> object;
  std::vector<Variable> variables;  // those that are trained, then the others
};

/// A model and all that hangs on it, each once, in the order and under the paths that Keras has: by
/// the names of attributes, in lists by class (`layers/dense`, `layers/dense_1`).
HOLDFAST_API std::vector<Saveable> saveables(const Layer& model);

}  // namespace holdfast::keras
