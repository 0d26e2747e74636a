// Values of several tensors in elements: ragged and sparse ones. In an element such a value is a
// tuple of its tensors; who makes a stage that has to tell them from others says which they are.
#pragma once

#include <vector>

#include "holdfast/data/dataset.h"

namespace holdfast::data {

/// One value of an element, and what becomes of it in a batch. A ragged value is the innermost
/// values and the splits of each axis, the outermost first; a sparse one is indices, values and the
/// dense shape.
struct PartRule {
  enum class Kind : uint8_t {
    kTensor,    // a tensor, which is stacked
    kRagged,    // a ragged value, which gets an axis in front; of no splits: a tensor's rows
    kRows,      // a tensor that becomes ragged, with splits for its first axes
    kSparse,    // a sparse value, which gets an axis in front
    kElements,  // a tensor that becomes sparse: all elements of it
  };
  Kind kind = Kind::kTensor;
  int splits = 0;              // of a ragged value that is no batch yet
  DType splits_dtype = int64;  // or int32
  Shape row_shape = {};        // of kElements; -1: the largest of a batch
  /// How many tensors it is in an element.
  size_t size() const {
    return kind == Kind::kRagged ? static_cast<size_t>(splits) + 1 : kind == Kind::kSparse ? 3 : 1;
  }
};

/// Batches of elements that are made of such values, in the order of their tensors; `gives` is the
/// spec of a batch.
HOLDFAST_API Dataset batch_parts(const Dataset& input, int64_t batch_size, bool drop_remainder,
                                 std::vector<PartRule> rules, const ElementSpec& gives);
/// The rows of such values: kTensor, kRagged, of which `splits` has one for the rows, and kSparse.
HOLDFAST_API Dataset unbatch_parts(const Dataset& input, std::vector<PartRule> rules,
                                   const ElementSpec& gives);

}  // namespace holdfast::data
