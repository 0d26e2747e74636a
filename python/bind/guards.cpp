#include "python/bind/guards.h"

#include <string_view>

namespace holdfast::py {
namespace {

// Only containers of Python's own classes have a length that runs no code.
Answer has_length(PyObject* o, Py_ssize_t count) {
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) return answer(Py_SIZE(o) == count);
  if (PyDict_CheckExact(o)) return answer(PyDict_GET_SIZE(o) == count);
  if (PyAnySet_CheckExact(o)) return answer(PySet_GET_SIZE(o) == count);
  return Answer::kUnsure;
}

Answer has_keys(PyObject* o, PyObject* keys) {
  if (!PyDict_CheckExact(o)) return Answer::kUnsure;
  if (PyDict_GET_SIZE(o) != PyList_GET_SIZE(keys)) return Answer::kNo;
  Py_ssize_t at = 0, i = 0;
  PyObject *key, *value;
  while (PyDict_Next(o, &at, &key, &value)) {
    PyObject* was = PyList_GET_ITEM(keys, i++);
    if (key == was) continue;
    // Equal keys of two types, 1 and True, are one key to Python.
    if (!is_plain_key(key) || Py_TYPE(key) != Py_TYPE(was)) return Answer::kUnsure;
    if (Answer same = same_value(was, key); same != Answer::kYes) return Answer::kUnsure;
  }
  return Answer::kYes;
}

Answer same_tensor(PyObject* a, PyObject* b) {
  if (!a || !b || !is_tensor(a) || !is_tensor(b)) return Answer::kUnsure;
  return reinterpret_cast<PyTensor*>(a)->rep == reinterpret_cast<PyTensor*>(b)->rep
             ? Answer::kYes
             : Answer::kUnsure;
}

// `known`: the function, weakly, its code, defaults and keyword defaults. Code may be another for
// as long as a trace is made: Python knows.
Answer is_as_known(PyObject* known) {
  Object function = target_of(PyTuple_GET_ITEM(known, 0));
  if (!function) return Answer::kYes;  // nobody calls what is gone
  PyObject* f = function.get();
  if (!PyFunction_Check(f)) return Answer::kUnsure;
  PyObject* now[] = {PyFunction_GET_CODE(f), PyFunction_GET_DEFAULTS(f),
                     PyFunction_GET_KW_DEFAULTS(f)};
  for (Py_ssize_t i = 0; i < 3; ++i)
    if ((now[i] ? now[i] : Py_None) != PyTuple_GET_ITEM(known, i + 1)) return Answer::kUnsure;
  return Answer::kYes;
}

// 0 where Python has not counted.
Py_ssize_t version_of(PyObject* kind) {
  if (!kind || !PyType_Check(kind)) return 0;
  auto* type = reinterpret_cast<PyTypeObject*>(kind);
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
}

}  // namespace

Guard::Guard(PyObject* description, size_t places) {
  constexpr std::string_view kinds[] = {"weak",     "identity",    "value", "missing", "same",
                                        "length",   "keys",        "type",  "class",   "own class",
                                        "function", "definitions", "asked"};
  const char* how;
  Py_ssize_t place;
  PyObject *expected, *python;
  if (!PyArg_ParseTuple(description, "snOO", &how, &place, &expected, &python)) throw PythonError{};
  size_t k = 0;
  while (k < std::size(kinds) && kinds[k] != how) ++k;
  if (k == std::size(kinds)) type_error("a guard of a trace is of no known kind");
  kind_ = static_cast<Kind>(k);
  place_ = static_cast<size_t>(place);
  expected_ = Object::share(expected);
  python_ = Object::share(python);
  if (kind_ == kSame) other_ = PyLong_AsSize_t(expected);
  if (kind_ == kLength) count_ = PyLong_AsSsize_t(expected);
  if (kind_ == kTuple) {
    PyObject* type;
    if (!PyArg_ParseTuple(expected, "On", &type, &count_)) throw PythonError{};
    expected_ = Object::share(type);
  }
  if (kind_ == kKeys && !PyList_CheckExact(expected)) kind_ = kAsked;
  if (kind_ == kFunction && !(PyTuple_CheckExact(expected) && PyTuple_GET_SIZE(expected) == 4))
    type_error("a guard of a function has no parts of it");
  if (PyErr_Occurred()) throw PythonError{};
  if (kind_ < kFunction && (place_ >= places || other_ >= places))
    type_error("a guard of a trace has no place");
}

Answer Guard::holds(const Places& places) const {
  if (kind_ == kAsked) return Answer::kUnsure;
  if (kind_ == kFunction) return is_as_known(expected_.get());
  if (kind_ == kDefinitions) {
    Object kind = target_of(expected_.get());
    return !kind || (count_ && version_of(kind.get()) == count_) ? Answer::kYes : Answer::kUnsure;
  }
  PyObject* now = places[place_].get();
  if (kind_ == kMissing) return answer(!now);
  if (!now) return answer(kind_ == kOwnClass);
  switch (kind_) {
    case kWeak: return answer(target_of(expected_.get()).get() == now);
    case kIdentity: return answer(expected_.get() == now);
    case kValue: return same_value(expected_.get(), now);
    case kSame: return same_tensor(now, places[other_].get());
    case kLength: return has_length(now, count_);
    case kKeys: return has_keys(now, expected_.get());
    case kTuple:
      if (!PyTuple_Check(now)) return Answer::kNo;
      if (reinterpret_cast<PyObject*>(Py_TYPE(now)) != expected_.get()) return Answer::kNo;
      return Py_TYPE(now)->tp_as_sequence->sq_length == PyTuple_Type.tp_as_sequence->sq_length
                 ? answer(PyTuple_GET_SIZE(now) == count_)
                 : Answer::kUnsure;
    case kClass:
    case kOwnClass: return answer(reinterpret_cast<PyObject*>(Py_TYPE(now)) == expected_.get());
    default: return Answer::kUnsure;
  }
}

bool Guard::ask() const {
  PyObject* said = PyObject_CallMethod(python_.get(), "holds", nullptr);
  int yes = said ? PyObject_IsTrue(said) : -1;
  Py_XDECREF(said);
  if (yes < 0) drop_error();
  if (yes == 1 && kind_ == kDefinitions) count_ = version_of(target_of(expected_.get()).get());
  return yes == 1;
}

}  // namespace holdfast::py
