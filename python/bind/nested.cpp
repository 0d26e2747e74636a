#include "python/bind/nested.h"

#include "holdfast/base/text.h"
#include "python/bind/arrays.h"
#include "python/bind/depth.h"
#include "python/bind/structure.h"

namespace holdfast::py {
namespace {

constexpr const char* kWalking = " while a nested structure was walked";

// Whether a list or tuple holds numbers alone, at any depth: then it is one tensor.
bool only_numbers(PyObject* o, bool& any) {
  if (PyList_Check(o) || PyTuple_Check(o)) {
    Deeper deeper(kWalking);
    Object items = Object::steal(PySequence_Fast(o, ""));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
      if (!only_numbers(PySequence_Fast_GET_ITEM(items.get(), i), any)) return false;
    return true;
  }
  any = any || PyFloat_Check(o) || PyLong_Check(o);
  return PyFloat_Check(o) || PyLong_Check(o);
}

}  // namespace

Nested nested_from(PyObject* value, const std::string& what) {
  if (value == Py_None) return {};
  if (is_tensor(value)) return tensor_of(value);
  Nesting kind = nesting(Py_TYPE(value));
  Deeper deeper(kWalking);
  if (kind == Nesting::kMapping) {
    std::vector<Nested::Entry> entries;
    Object items = Object::steal(PyMapping_Items(value));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
      PyObject* pair = PyList_GET_ITEM(items.get(), i);
      PyObject* key = PyTuple_GET_ITEM(pair, 0);
      if (!PyUnicode_Check(key))
        type_error(cat(what, " is a dict with the key ", repr_of(key), ", expected texts as keys"));
      std::string name = bytes_of(key);
      entries.emplace_back(name,
                           nested_from(PyTuple_GET_ITEM(pair, 1), cat(what, "[\"", name, "\"]")));
    }
    return Nested::dict(std::move(entries));
  }
  bool any = false;
  bool sequence = kind == Nesting::kSequence && !PyUnicode_Check(value);
  if (sequence && !(only_numbers(value, any) && any)) {
    std::vector<Nested> items;
    for (const Object& child : children_of(value))
      items.push_back(nested_from(child.get(), cat(what, "[", items.size(), "]")));
    return PyTuple_Check(value) ? Nested::tuple(std::move(items)) : Nested::list(std::move(items));
  }
  return convert(value, DType::kInvalid, false, what.c_str());
}

}  // namespace holdfast::py
