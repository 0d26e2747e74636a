#include "python/bind/template.h"

#include <string_view>

#include "python/bind/structure.h"

namespace holdfast::py {
namespace {

// For each key of a dict, in the order it was filled in, its place in the order of flattening.
std::vector<size_t> places(PyObject* keys) {
  Object sorted = Object::steal(PySequence_List(keys));
  if (PyList_Sort(sorted.get()) < 0) throw PythonError{};
  std::vector<size_t> out;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i) {
    Py_ssize_t at = PySequence_Index(sorted.get(), PyTuple_GET_ITEM(keys, i));
    if (at < 0) throw PythonError{};
    out.push_back(static_cast<size_t>(at));
  }
  return out;
}

}  // namespace

Template::Template(PyObject* description) {
  const char* kind;
  PyObject *what, *parts = nullptr;
  if (!PyArg_ParseTuple(description, "sO|O!", &kind, &what, &PyList_Type, &parts))
    throw PythonError{};
  std::string_view k = kind;
  if (k == "slot") {
    kind_ = kSlot;
    slot_ = PyLong_AsSize_t(what);
    if (PyErr_Occurred()) throw PythonError{};
    return;
  }
  object_ = Object::share(what);
  for (Py_ssize_t i = 0; parts && i < PyList_GET_SIZE(parts); ++i)
    parts_.emplace_back(PyList_GET_ITEM(parts, i));
  if (k == "constant") return;
  if (k == "made")
    kind_ = kMade;
  else if (PyList_CheckExact(what))
    kind_ = kList;
  else if (PyTuple_CheckExact(what))
    kind_ = kTuple;
  else if (PyDict_CheckExact(what)) {
    kind_ = kDict;
    object_ = Object::steal(PySequence_Tuple(what));
    order_ = places(object_.get());
  } else
    kind_ = kNested;
}

Object Template::filled(const Tensors& outputs) const {
  auto n = static_cast<Py_ssize_t>(parts_.size());
  switch (kind_) {
    case kSlot: return Object::steal(wrap(outputs[slot_]));
    case kConstant: return object_;
    case kList: {
      Object list = Object::steal(PyList_New(n));
      for (Py_ssize_t i = 0; i < n; ++i)
        PyList_SET_ITEM(list.get(), i, parts_[static_cast<size_t>(i)].filled(outputs).release());
      return list;
    }
    case kTuple: {
      Object tuple = Object::steal(PyTuple_New(n));
      for (Py_ssize_t i = 0; i < n; ++i)
        PyTuple_SET_ITEM(tuple.get(), i, parts_[static_cast<size_t>(i)].filled(outputs).release());
      return tuple;
    }
    case kDict: {
      Object dict = Object::steal(PyDict_New());
      for (Py_ssize_t i = 0; i < n; ++i)
        if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(object_.get(), i),
                           parts_[order_[static_cast<size_t>(i)]].filled(outputs).get()) < 0)
          throw PythonError{};
      return dict;
    }
    case kNested: {
      std::vector<Object> parts;
      for (const Template& p : parts_) parts.push_back(p.filled(outputs));
      return rebuilt(object_.get(), std::move(parts));
    }
    case kMade: {
      std::vector<Object> parts;
      std::vector<PyObject*> args;
      for (const Template& p : parts_) args.push_back(parts.emplace_back(p.filled(outputs)).get());
      return Object::steal(PyObject_Vectorcall(object_.get(), args.data(), args.size(), nullptr));
    }
  }
  return {};
}

}  // namespace holdfast::py
