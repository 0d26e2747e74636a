// A model as a list of its calls, for whoever shows it.
#pragma once

#include "holdfast/keras/model.h"
#include "holdfast/keras/models/cost.h"

namespace holdfast::keras {

/// Where a value comes from: the entry, which of its calls, which of the results of that.
struct Source {
  size_t entry = 0;
  int64_t call = 0, result = 0;
};

/// An Input, a layer, or an op on symbols.
struct OutlineEntry {
  std::string name;
  std::string kind;  // the class's name, or the op's
  Ref<Layer> layer;  // null for Inputs and ops
  bool is_input = false;
  std::vector<Shape> inputs, outputs;  // of the last call, as far as they are known
  std::vector<DType> dtypes;           // of the outputs
  bool several = false;                // gives a structure of tensors, not one
  std::vector<Source> from;            // what its calls take, in their order
  int64_t parameters = 0;
  bool built = true;
  int64_t activation_bytes = 0;      // of what its calls give; unknown sizes count as 1
  std::vector<OutlineEntry> inside;  // of a model
  std::vector<Source> gives;         // what of these the model gives
};

struct HOLDFAST_API Outline {
  std::vector<OutlineEntry> entries;
  std::vector<Source> outputs;  // what the model gives
  bool is_chain = true;         // each takes what the one before gives, and each is called once
};

struct OutlineOptions {
  bool expand_nested = false;
  bool inputs_of_sequential = false;  // whether a Sequential's Input is an entry
};
HOLDFAST_API Outline outline_of(const ModelLayer& model, const OutlineOptions& = {});

/// What an entry's calls compute.
HOLDFAST_API Cost cost_of(const ModelLayer& model, const OutlineEntry& entry);

/// "(None, 64)"
HOLDFAST_API std::string shape_text(const Shape& shape);
/// The shape of one output, or a list of them; "?" where none is known.
HOLDFAST_API std::string shapes_text(const std::vector<Shape>& shapes);
/// How many numbers variables hold, each counted once; and how many bytes.
HOLDFAST_API int64_t count_of(const std::vector<Variable>& variables);
HOLDFAST_API int64_t bytes_of(const std::vector<Variable>& variables);

}  // namespace holdfast::keras
