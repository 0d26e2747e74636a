// Datasets inside graphs: each run of a loop iterates anew, an iterator goes on where it is.
#pragma once

#include "holdfast/data/dataset.h"

namespace holdfast::data {

/// What is said to who asks for an element behind the last one (E1402).
inline constexpr const char* kEndOfSequence = "End of sequence: the iterator has no element left";

/// Where a loop stands: an opaque scalar, for the two below. An iterator goes on where it is.
HOLDFAST_API Tensor begin_loop(const Dataset& dataset);
HOLDFAST_API Tensor begin_loop(const Iterator& iterator);
/// Goes to the next element; whether there is one, as a bool scalar.
HOLDFAST_API Tensor advance_loop(const Tensor& position);
/// The element that it went to.
HOLDFAST_API Nested loop_element(const Tensor& position, const ElementSpec& spec);
/// Goes to the next element of an iterator and gives it; E1402 at the end.
HOLDFAST_API Nested next_element(const Tensor& position, const ElementSpec& spec);
/// The only element of a dataset, which is iterated whenever the graph runs.
HOLDFAST_API Nested single_element(const Dataset& dataset);

}  // namespace holdfast::data
