// Lists of tensors: what a TensorArray is, and what a loop keeps for its gradient. A list is a
// value like any other: changing an element gives another list.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

/// What is known of a list's elements.
struct ElementType {
  DType dtype = float32;
  Shape shape = Shape::unknown();
};

/// `count` elements that are not set yet.
HOLDFAST_API Tensor list_reserve(const ElementType&, In count);
/// A list with one more element.
HOLDFAST_API Tensor list_push(In list, In value);
/// A list with another element `index`; it grows if need be, or refuses the index if it must not.
HOLDFAST_API Tensor list_set(In list, In index, In value, bool grows = true);
/// Element `index`. One that is not set is zeros, where the elements' shape is known.
HOLDFAST_API Tensor list_get(In list, In index, const ElementType&);
/// The same for what a loop keeps for its gradient: a branch that is not taken leaves out what only
/// its own gradient looks at, and that is left out again when it is asked for.
HOLDFAST_API Tensor list_keep(In list, In value);
HOLDFAST_API Tensor list_kept(In list, In index, const ElementType&);
HOLDFAST_API Tensor list_length(In list);
/// The first `count` elements; further ones are not set.
HOLDFAST_API Tensor list_resize(In list, In count);
/// The elements side by side, along a new first axis.
HOLDFAST_API Tensor list_stack(In list, const ElementType&);
/// The elements joined along their first axis.
HOLDFAST_API Tensor list_concat(In list, const ElementType&);
/// The rows of a tensor.
HOLDFAST_API Tensor list_unstack(In value);
/// Pieces of a tensor along its first axis, as long as the elements of `like`.
HOLDFAST_API Tensor list_split_like(In value, In like);
/// Element by element; what is not set counts as zero.
HOLDFAST_API Tensor list_add(In a, In b);
/// As many zeros of the same shapes.
HOLDFAST_API Tensor list_zeros_like(In list);

}  // namespace holdfast
