// `t[key]`: from Python's keys to the items of a slice.
#include "holdfast/base/text.h"
#include "holdfast/ops/slicing.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"

namespace holdfast::py {
namespace {

// Whether an index is a `Dimension` of version 1 whose size nobody knows: as a bound it is none.
bool is_unknown(PyObject* o) {
  if (PyLong_Check(o)) return false;
  PyObject* size = PyObject_GetAttrString(o, "value");
  if (!size) PyErr_Clear();
  bool unknown = size == Py_None;
  Py_XDECREF(size);
  return unknown;
}

int64_t number_of(PyObject* o) {
  Object i = Object::steal(PyNumber_Index(o));
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(i.get(), &overflow);
  return overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN : v;
}

// A bound of a slice: an int, an integer tensor, or nothing.
void bound(PyObject* o, std::optional<int64_t>& number, Tensor& tensor) {
  if (o == Py_None) return;
  if (is_tensor(o) || is_variable(o)) {
    tensor = convert(o);
    return;
  }
  if (!PyIndex_Check(o))
    type_error(cat("a slice has the bound ", repr_of(o),
                   ", expected an int, an integer tensor or nothing"));
  if (!is_unknown(o)) number = number_of(o);
}

bool has_axes(PyObject* array) {
  Object axes = Object::steal(PyObject_GetAttrString(array, "ndim"));
  long n = PyLong_AsLong(axes.get());
  if (n == -1 && PyErr_Occurred()) throw PythonError{};
  return n > 0;
}

IndexItem item_of(PyObject* o) {
  IndexItem item;
  if (o == Py_Ellipsis) {
    item.kind = IndexItem::kEllipsis;
  } else if (o == Py_None) {
    item.kind = IndexItem::kNewAxis;
  } else if (PySlice_Check(o)) {
    auto* s = reinterpret_cast<PySliceObject*>(o);
    bound(s->start, item.start, item.bounds[0]);
    bound(s->stop, item.stop, item.bounds[1]);
    bound(s->step, item.step, item.bounds[2]);
  } else if (is_tensor(o) || is_variable(o)) {
    item.kind = IndexItem::kTensor;
    item.tensor = convert(o);
  } else if (!PyLong_Check(o) && is_array(o) && has_axes(o)) {  // a mask, or what `index` refuses
    item.kind = IndexItem::kTensor;
    item.tensor = from_array(o);
  } else if (PyBool_Check(o) || PyList_Check(o) || !PyIndex_Check(o)) {
    type_error(
        cat("a tensor is indexed with ", repr_of(o), " of type ", Py_TYPE(o)->tp_name,
            ", expected ints, slices, `...`, `tf.newaxis` or scalar integer tensors"),
        "only basic indexing is done by brackets",
        {manual_fix(
            "`tf.gather` takes rows by number, `tf.boolean_mask` those where a mask is true")});
  } else {
    item.kind = IndexItem::kInt;
    item.start = number_of(o);
  }
  return item;
}

}  // namespace

std::vector<IndexItem> items_of(PyObject* key) {
  std::vector<IndexItem> items;
  if (!PyTuple_Check(key)) return {item_of(key)};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i)
    items.push_back(item_of(PyTuple_GET_ITEM(key, i)));
  return items;
}

Tensor index_with(const Tensor& t, PyObject* key) { return index(t, items_of(key)); }
void assign_with(const Variable& v, PyObject* key, const Tensor& value) {
  index_assign(v, items_of(key), value);
}

}  // namespace holdfast::py
