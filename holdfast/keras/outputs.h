// The outputs of a model as losses and metrics see them: one after the other, however deep they
// lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "holdfast/exec/nested.h"

namespace holdfast::keras {

class ModelLayer;

/// What the outputs are called, and where they lie in what the model gives.
struct ModelOutputs {
  /// One that lies there by itself, in a list or in a dict.
  explicit ModelOutputs(std::vector<std::string> called) : names(std::move(called)), paths(names) {}
  /// Those of a model that gave `y_pred`.
  ModelOutputs(const ModelLayer& model, const Nested& y_pred);

  size_t size() const { return names.size(); }
  /// Whether what `compile` says for `path` is said for output `i`: for it, for what it lies in, or
  /// for a part of it.
  bool meant(size_t i, const std::string& path) const;
  /// How many outputs are in what is called `path`.
  size_t count_in(const std::string& path) const;
  /// What lies at a path in what has the form of the outputs; null where nothing does.
  static const Nested* part_at(const Nested& given, std::string_view path);
  /// The parts of `given`, which has the form of the outputs, or is a list or a dict of them; None
  /// for those that are not there.
  std::vector<Nested> each(const Nested& given) const;
  /// The same of weights of examples: one for all outputs, or each its own.
  std::vector<Nested> weights(const Nested& given) const;

  std::vector<std::string> names;  // of layers, or keys; empty where a deep one has none
  std::vector<std::string> paths;  // "head/0"
  bool deep = false;               // some lie in lists or dicts inside of others
};

/// How many examples a batch has, as a float.
Tensor examples_in(const Nested& batch);

}  // namespace holdfast::keras
