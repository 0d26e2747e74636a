// Arrays of NumPy and its kin, and what else shares memory by the buffer protocol.
#pragma once

#include "python/bind/py.h"

namespace holdfast::py {

/// The module. Outlives the interpreter.
PyObject* numpy();

/// What an element is, as far as lists of them care.
enum class Leaf : uint8_t { kNothing, kBool, kInt, kFloat, kComplex, kText, kOther };

/// What the elements of an array are. An object without a NumPy dtype is of no kind: kOther.
struct ArrayKind {
  Leaf leaf = Leaf::kOther;
  DType dtype = DType::kInvalid;  // of elements that we have a dtype for
};
ArrayKind array_kind(PyObject* o);
/// Whether it is a NumPy array or scalar, or the like, and no tensor.
bool is_array(PyObject* o);

/// A copy of an array, of a NumPy scalar, or of an object that becomes one. Refuses elements that
/// no dtype holds.
Tensor from_array(PyObject* o, DType want = DType::kInvalid);
/// Whether integers of a tensor all are numbers that the integer dtype `d` holds.
bool holds(DType d, const Tensor& t);
/// `t` as `want`. As an element of a list it loses nothing: floats do not become integers, nor
/// large integers small ones.
Tensor cast_array(Tensor t, DType want, PyObject* value, bool in_list = false);

/// Conversions that the program registered: `convert(value, dtype or None)` gives the tensor of an
/// object of `types`, or NotImplemented. Null until there is one.
struct OwnConversions {
  Object convert, types;
};
OwnConversions& own_conversions();
/// Whether there may be one for this object.
bool has_own_conversion(PyObject* o);

/// The text or bytes of a str or bytes object.
std::string bytes_of(PyObject* o);
/// A nested list of Python numbers or texts, none of them an array, as a tensor.
Tensor from_plain_list(PyObject* list);
[[noreturn]] void cannot_convert(PyObject* value, const char* argument,
                                 const std::string& expected);
/// `value` does not become `d` on its own.
[[noreturn]] void wrong_leaf(PyObject* value, DType d);
[[noreturn]] void too_large(PyObject* value, DType d);

}  // namespace holdfast::py
