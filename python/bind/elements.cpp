#include "python/bind/elements.h"

#include "holdfast/base/text.h"
#include "holdfast/data/inner.h"
#include "python/bind/arrays.h"
#include "python/bind/depth.h"
#include "python/bind/object.h"
#include "python/bind/structure.h"

namespace holdfast::py {
namespace {

std::string key_of(PyObject* key, const char* what) {
  if (!PyUnicode_Check(key))
    type_error(cat("a dict in ", what, " has the key ", repr_of(key), ", expected a text"));
  return bytes_of(key);
}

}  // namespace

bool has_parts(PyObject* o) {
  Nesting kind = nesting(Py_TYPE(o));
  if (kind != Nesting::kCustom) return kind == Nesting::kComposite;
  return PyObject_HasAttrString(o, "__dataclass_fields__") != 0;
}

Nested element_of(PyObject* o, const char* what) {
  if (o == Py_None) return {};
  Deeper deeper(" while an element was read");
  if (PyTuple_Check(o)) {
    std::vector<Nested> items;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
      items.push_back(element_of(PyTuple_GET_ITEM(o, i), what));
    return Nested::tuple(std::move(items));
  }
  if (PyDict_Check(o)) {
    std::vector<Nested::Entry> entries;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);) {
      Object keep = Object::share(value);
      std::string name = key_of(key, what);  // before code of the value's may take the key away
      entries.emplace_back(std::move(name), element_of(value, what));
    }
    return Nested::dict(std::move(entries));
  }
  if (auto* dataset = object_behind<data::DatasetObject>(o))
    return data::component_of(data::Dataset(Ref<data::DatasetObject>(dataset)));
  if (has_parts(o)) {
    std::vector<Nested> items;
    for (const Object& part : children_of(o)) items.push_back(element_of(part.get(), what));
    return Nested::tuple(std::move(items));
  }
  InterpreterScope at_once(nullptr);  // data has values, also where a function is being traced
  std::string name(what);
  std::erase(name, '`');  // `convert` adds its own
  return convert(o, DType::kInvalid, false, name.c_str());
}

Object leaf_of(const Tensor& t) {
  if (data::DatasetObject* inner = data::dataset_in(t)) return python_of(*inner);
  return Object::steal(wrap(t));
}

}  // namespace holdfast::py
