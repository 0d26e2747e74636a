// Iterators of graphs that sessions run: nodes stand for them, and each run goes on where the last
// one stopped.
#pragma once

#include "holdfast/data/dataset.h"

namespace holdfast::data {

/// An iterator as part of a graph, which lives as long as somebody holds it or a node of it. It has
/// a name, by which other graphs find it.
class IteratorSlot;

/// One that begins by itself; without a dataset one that `initialize` begins.
HOLDFAST_API Ref<RefCounted> iterator_slot(const Dataset* dataset = nullptr);
/// A scalar that leads to it, for `next_element`, `advance_loop` and those below.
HOLDFAST_API Tensor iterator_handle(const Ref<RefCounted>& slot);
/// The op that begins it, or begins it anew, with the elements of `dataset`.
HOLDFAST_API Tensor initialize(const Tensor& handle, const Dataset& dataset);
/// Its name, as a scalar of text, and what leads to the iterator of a name.
HOLDFAST_API Tensor string_handle(const Tensor& handle);
HOLDFAST_API Tensor from_string_handle(const Tensor& name);

}  // namespace holdfast::data
