// Nested structures: lists, tuples, dicts, named tuples, attrs classes and classes with
// `__tf_flatten__`. One rule for `tf.nest`, for arguments and for results of traced functions.
#pragma once

#include <vector>

#include "python/bind/py.h"

namespace holdfast::py {

/// How a class takes part in structures.
enum class Nesting : uint8_t {
  kLeaf,
  kSequence,   // children are its items; also views of dicts, ranges, other sequences
  kMapping,    // children are its values, in the order of sorted keys
  kFields,     // a class by attrs: children are its fields
  kCustom,     // a class with `__tf_flatten__` and `__tf_unflatten__`
  kComposite,  // the same, and one value to the user: a ragged or a sparse tensor
};
Nesting nesting(PyTypeObject* type);

/// What a structure holds, in the order of flattening.
std::vector<Object> children_of(PyObject* structure);
/// A structure of the same type with other children, given in the order of flattening.
Object rebuilt(PyObject* structure, std::vector<Object> children);
/// Appends the leaves of a structure; itself where it is one. `whole`: composites are leaves.
void flatten(PyObject* structure, std::vector<Object>& out, bool whole = false);

void init_structure(PyObject* module);

}  // namespace holdfast::py
