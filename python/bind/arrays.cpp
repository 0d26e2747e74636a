#include "python/bind/arrays.h"

#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/visit.h"
#include "python/bind/call.h"

namespace holdfast::py {
namespace {

// An attribute, or nothing.
Object attribute(PyObject* o, const char* name) {
  PyObject* found = PyObject_GetAttrString(o, name);
  if (!found) PyErr_Clear();
  Object out = Object::share(found);
  Py_XDECREF(found);
  return out;
}

// An array of objects or of text.
Tensor from_object_array(PyObject* array) {
  Object shape = Object::steal(PyObject_GetAttrString(array, "shape"));
  auto dims = ints_of(shape.get());
  // No element says of which kind they are: texts are what arrays of objects are for.
  if (dims && Shape(*dims).elements() == 0) return empty(DType::kString, Shape(*dims), cpu());
  Object list = Object::steal(PyObject_CallMethod(array, "tolist", nullptr));
  Tensor t = from_plain_list(list.get());
  // A scalar says nothing of the array's shape.
  if (dims && Shape(*dims).elements() == t.size()) t.rep()->shape = Shape(*dims);
  return t;
}

}  // namespace

PyObject* numpy() {
  static PyObject* module = Object::steal(PyImport_ImportModule("numpy")).release();
  return module;
}

ArrayKind array_kind(PyObject* o) {
  Object dtype = attribute(o, "dtype");
  Object kind = dtype ? attribute(dtype.get(), "kind") : Object();
  if (!kind || !PyUnicode_Check(kind.get()) || PyUnicode_GetLength(kind.get()) != 1) return {};
  Object size = attribute(dtype.get(), "itemsize");
  long long bytes = size && PyLong_Check(size.get()) ? PyLong_AsLongLong(size.get()) : 0;
  if (bytes == -1) PyErr_Clear();  // no size that there is
  auto sized = [&](DType a, DType b, DType c, DType d) {
    return bytes == 1 ? a : bytes == 2 ? b : bytes == 4 ? c : bytes == 8 ? d : DType::kInvalid;
  };
  switch (PyUnicode_READ_CHAR(kind.get(), 0)) {
    case 'b': return {Leaf::kBool, DType::kBool};
    case 'i': return {Leaf::kInt, sized(int8, int16, int32, int64)};
    case 'u': return {Leaf::kInt, sized(uint8, uint16, uint32, uint64)};
    case 'f': return {Leaf::kFloat, sized(DType::kInvalid, float16, float32, float64)};
    case 'c':
      return {Leaf::kComplex, bytes == 8    ? DType::kComplex64
                              : bytes == 16 ? DType::kComplex128
                                            : DType::kInvalid};
    case 'U':
    case 'S': return {Leaf::kText, DType::kString};
    case 'V': {  // ml_dtypes says so of its numbers
      Object name = attribute(dtype.get(), "name");
      if (name && PyUnicode_Check(name.get()) && bytes_of(name.get()) == "bfloat16")
        return {Leaf::kFloat, bfloat16};
      return {};
    }
    default: return {};
  }
}

bool is_array(PyObject* o) {
  return !PyList_Check(o) && !PyTuple_Check(o) && !is_tensor(o) && !is_variable(o) &&
         array_kind(o).dtype != DType::kInvalid &&
         // What holds several arrays has a dtype too, and is no array.
         (PyObject_CheckBuffer(o) || !PyObject_HasAttrString(o, "_holds_arrays"));
}

// An array of numbers that are wider than those of any tensor, which become as wide as these where
// a dtype is asked for anyway. Null where it is none.
static const char* narrower(const std::string& kind, DType want) {
  if (want == DType::kInvalid || want == DType::kString) return nullptr;
  return kind == "f" ? "float64" : kind == "c" ? "complex128" : nullptr;
}

Tensor from_array(PyObject* o, DType want) {
  Object array = attribute(o, "dtype") ? Object::share(o) : Object();
  if (!array && PyObject_CheckBuffer(o)) return from_buffer(o);
  if (!array || array_kind(o).leaf == Leaf::kOther)
    array = Object::steal(PyObject_CallMethod(numpy(), "asarray", "O", o));
  Object dtype = Object::steal(PyObject_GetAttrString(array.get(), "dtype"));
  std::string kind = bytes_of(Object::steal(PyObject_GetAttrString(dtype.get(), "kind")).get());
  if (kind == "O" || kind == "U" || kind == "S")
    return from_object_array(
        Object::steal(PyObject_CallMethod(numpy(), "asarray", "O", array.get())).get());
  DType ours = array_kind(array.get()).dtype;
  const char* other = ours == DType::kInvalid ? narrower(kind, want) : nullptr;
  if (other)
    return from_array(Object::steal(PyObject_CallMethod(array.get(), "astype", "s", other)).get());
  if (ours == DType::kInvalid)
    type_error(
        cat("got an array of dtype ", bytes_of(Object::steal(PyObject_Str(dtype.get())).get()),
            ", expected numbers, bools or strings"),
        "no dtype of a tensor holds such elements",
        {manual_fix("convert it first: `array.astype(...)`")});
  if (ours == bfloat16) {
    array = Object::steal(PyObject_CallMethod(numpy(), "asarray", "O", array.get()));
    Tensor bits =
        from_buffer(Object::steal(PyObject_CallMethod(array.get(), "view", "s", "uint16")).get());
    bits.rep()->dtype = bfloat16;
    return bits;
  }
  Object order = Object::steal(PyObject_GetAttrString(dtype.get(), "byteorder"));
  if (bytes_of(order.get()) == ">") {
    Object native = Object::steal(PyObject_CallMethod(dtype.get(), "newbyteorder", "s", "="));
    array = Object::steal(PyObject_CallMethod(array.get(), "astype", "O", native.get()));
  }
  if (!PyObject_CheckBuffer(array.get()))
    array = Object::steal(PyObject_CallMethod(numpy(), "asarray", "O", array.get()));
  return from_buffer(array.get());
}

bool holds(DType d, const Tensor& t) {
  bool all = true;
  visit_plain(t.dtype(), [&]<class From>(From) {
    if constexpr (std::is_integral_v<From> && !std::is_same_v<From, bool>) {
      visit_plain(d, [&]<class To>(To) {
        if constexpr (std::is_integral_v<To> && !std::is_same_v<To, bool>)
          for (const From *p = t.raw<From>(), *end = p + t.size(); p != end && all; ++p)
            all = std::in_range<To>(*p);
      });
    }
  });
  return all;
}

Tensor cast_array(Tensor t, DType want, PyObject* value, bool in_list) {
  if (want == DType::kInvalid || t.dtype() == want) return t;
  // An array of no objects does not say of which kind they are.
  if (t.shape().is_full() && t.size() == 0 && array_kind(value).dtype == DType::kInvalid)
    return empty(want, t.shape(), t.device());
  if (!kPlain.has(t.dtype()) || !kPlain.has(want)) wrong_leaf(value, want);
  if (in_list) {
    bool loses = (is_floating(t.dtype()) && !is_differentiable(want)) ||
                 (is_complex(t.dtype()) && !is_complex(want)) ||
                 (is_bool(want) && !is_bool(t.dtype()));
    if (loses) wrong_leaf(value, want);
    if (is_integer(t.dtype()) && is_integer(want) && !holds(want, t)) too_large(value, want);
  }
  static const FunctionDef* cast = find_function("cast");
  if (!cast)
    fail(Code::E1105,
         cat("an array of ", name(t.dtype()), " was given where ", name(want), " is needed"));
  Arg args[2] = {t, want};
  return call_with_defaults(*cast, args)[0];
}

}  // namespace holdfast::py
