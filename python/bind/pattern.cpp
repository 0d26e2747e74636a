#include "python/bind/pattern.h"

#include <string_view>

#include "holdfast/exec/retracing.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/plain.h"

namespace holdfast::py {
namespace {

bool is_of(PyObject* o, const Object& type) {
  return reinterpret_cast<PyObject*>(Py_TYPE(o)) == type.get();
}

// Arrays and scalars of NumPy that are arguments by their type: those of its scalars that are
// Python's numbers or texts as well are known by their value. What else becomes a tensor is
// Python's to say.
bool is_numpy(PyObject* o) {
  static PyObject* kinds = [] {
    PyObject* pair = Py_BuildValue("(NN)", PyObject_GetAttrString(numpy(), "ndarray"),
                                   PyObject_GetAttrString(numpy(), "generic"));
    if (!pair) PyErr_Clear();
    return pair;  // for ever
  }();
  if (!kinds) return false;
  if (reinterpret_cast<PyObject*>(Py_TYPE(o)) == PyTuple_GET_ITEM(kinds, 0)) return true;
  return PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(kinds, 1))) &&
         !PyFloat_Check(o) && !PyComplex_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o);
}

// Steals a result of the user's code; null with the error gone where it raised one.
Object quietly(PyObject* given) {
  if (given) return Object::steal(given);
  drop_error();
  return {};
}

}  // namespace

Pattern::Pattern(Py_ssize_t count, PyObject* names, PyObject* tokens)
    : positional_(static_cast<size_t>(count)) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* name = Py_NewRef(PyTuple_GET_ITEM(names, i));
    PyUnicode_InternInPlace(&name);
    names_.push_back(Object::steal(name));
  }
  for (Py_ssize_t at = 0; at < PyList_GET_SIZE(tokens);) {
    begins_.push_back(tokens_.size());
    parse(tokens, at);
  }
  if (begins_.size() != positional_ + names_.size())
    type_error("tokens of a trace and its arguments do not agree");
}

void Pattern::parse(PyObject* tokens, Py_ssize_t& at) {
  if (at >= PyList_GET_SIZE(tokens)) type_error("a token of a trace lacks its parts");
  const char* kind;
  PyObject *what, *more = nullptr, *metadata = nullptr;
  if (!PyArg_ParseTuple(PyList_GET_ITEM(tokens, at++), "sO|OO", &kind, &what, &more, &metadata))
    throw PythonError{};
  std::string_view k = kind;
  Token t;
  if (k == "tensor") {
    t.type = {dtype_of_object(what), shape_of(more)};
    tokens_.push_back(std::move(t));
    return;
  }
  if (k == "value" || k == "weak" || k == "held") {
    t.kind = k == "value" ? Token::kValue : k == "weak" ? Token::kWeak : Token::kHeld;
    t.value = Object::share(what);
    tokens_.push_back(std::move(t));
    return;
  }
  t.type_of = Object::share(what);
  if (k == "mapping" || k == "fields") {
    t.kind = k == "mapping" ? Token::kMapping : Token::kFields;
    t.value = Object::share(more);
    t.count = PyTuple_GET_SIZE(more);
  } else {
    t.kind = k == "sequence" ? Token::kSequence : Token::kCustom;
    t.count = PyLong_AsSsize_t(more);
    t.value = Object::share(metadata);
  }
  Py_ssize_t parts = t.count;
  tokens_.push_back(std::move(t));
  for (Py_ssize_t i = 0; i < parts; ++i) parse(tokens, at);
}

bool Pattern::fits_tensor(const Token& t, PyObject* o, Inputs& in) const {
  auto suits = [&](const TensorRep& rep) { return !rep.symbolic && serves(t.type, rep); };
  if (is_tensor(o)) {
    if (!suits(*reinterpret_cast<PyTensor*>(o)->rep)) return false;
    in.push_back(tensor_of(o));
    return true;
  }
  if (!is_numpy(o) || has_own_conversion(o)) return false;
  mark();
  Tensor made;
  try {
    made = from_buffer(o);
  } catch (const PythonError&) {
    PyErr_Clear();  // of a dtype that takes more: Python converts it, or refuses
    return false;
  }
  if (!suits(*made.rep())) return false;
  in.push_back(std::move(made));
  return true;
}

bool Pattern::fits_parts(const Token& t, size_t& at, PyObject* sequence, Inputs& in) const {
  bool list = PyList_Check(sequence);
  for (Py_ssize_t i = 0; i < t.count; ++i) {
    // Code of the user's classes may have changed the list.
    if (i >= (list ? PyList_GET_SIZE(sequence) : PyTuple_GET_SIZE(sequence))) return false;
    Object part =
        Object::share(list ? PyList_GET_ITEM(sequence, i) : PyTuple_GET_ITEM(sequence, i));
    if (!fits_from(at, part.get(), in)) return false;
  }
  return true;
}

bool Pattern::fits_from(size_t& at, PyObject* o, Inputs& in) const {
  const Token& t = tokens_[at++];
  switch (t.kind) {
    case Token::kTensor: return fits_tensor(t, o, in);
    case Token::kValue: return same_value(t.value.get(), o) == Answer::kYes;
    case Token::kWeak: return target_of(t.value.get()).get() == o;
    case Token::kHeld: return t.value.get() == o;
    default: break;
  }
  if (!is_of(o, t.type_of)) return false;
  if (t.kind == Token::kSequence) return Py_SIZE(o) == t.count && fits_parts(t, at, o, in);
  if (t.kind == Token::kMapping) {
    if (PyDict_GET_SIZE(o) != t.count) return false;
    for (Py_ssize_t i = 0; i < t.count; ++i) {
      PyObject* found = PyDict_GetItemWithError(o, PyTuple_GET_ITEM(t.value.get(), i));
      if (!found) PyErr_Clear();
      Object part = Object::share(found);
      if (!found || !fits_from(at, part.get(), in)) return false;
    }
    return true;
  }
  if (t.kind == Token::kFields) {
    for (Py_ssize_t i = 0; i < t.count; ++i) {
      Object part = quietly(PyObject_GetAttr(o, PyTuple_GET_ITEM(t.value.get(), i)));
      if (!part || !fits_from(at, part.get(), in)) return false;
    }
    return true;
  }
  Object both = quietly(PyObject_CallMethod(o, "__tf_flatten__", nullptr));
  if (!both || !PyTuple_Check(both.get()) || PyTuple_GET_SIZE(both.get()) != 2) return false;
  int same = PyObject_RichCompareBool(PyTuple_GET_ITEM(both.get(), 0), t.value.get(), Py_EQ);
  if (same < 0) drop_error();
  PyObject* parts = PyTuple_GET_ITEM(both.get(), 1);
  return same == 1 && PyTuple_CheckExact(parts) && PyTuple_GET_SIZE(parts) == t.count &&
         fits_parts(t, at, parts, in);
}

bool Pattern::fits(size_t argument, PyObject* value, Inputs& in) const {
  size_t at = begins_[argument];
  return fits_from(at, value, in);
}

bool Pattern::fits(const Bound& call, Inputs& in) const {
  if (call.positional.size() != positional_ || call.names.size() != names_.size()) return false;
  for (size_t i = 0; i < names_.size(); ++i)
    if (call.names[i] != names_[i].get() && PyUnicode_Compare(call.names[i], names_[i].get()) != 0)
      return false;
  size_t at = 0;
  for (PyObject* o : call.positional)
    if (!fits_from(at, o, in)) return false;
  for (PyObject* o : call.keywords)
    if (!fits_from(at, o, in)) return false;
  return true;
}

bool Pattern::is_open(size_t argument) const {
  size_t end = argument + 1 < begins_.size() ? begins_[argument + 1] : tokens_.size();
  for (size_t i = begins_[argument]; i < end; ++i)
    if (tokens_[i].kind == Token::kTensor) return true;
  return false;
}

}  // namespace holdfast::py
