// A model as a table.
#pragma once

#include "holdfast/keras/model.h"

namespace holdfast::keras {

struct SummaryOptions {
  std::optional<int64_t> line_length = {};
  /// Where columns end: parts of the line, or numbers of characters.
  std::vector<double> positions = {};
  bool expand_nested = false;   // the layers of models inside, too
  bool show_trainable = false;  // a column more
  /// The first and the last layer that are shown: names, or patterns of them.
  std::optional<std::pair<std::string, std::string>> layer_range = {};
};

/// The layers of a model with their shapes, parameters, what calls them, FLOPs and bytes; and the
/// sums of these.
HOLDFAST_API std::string summary_text(const ModelLayer& model, const SummaryOptions& = {});

}  // namespace holdfast::keras
