// Sharing memory with NumPy and others through Python's buffer protocol.
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "python/bind/arrays.h"

namespace holdfast::py {
namespace {

std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
  if (!format) return uint8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  std::string f = format;
  auto sized = [&](DType a, DType b, DType c, DType d) -> std::optional<DType> {
    switch (size) {
      case 1: return a;
      case 2: return b;
      case 4: return c;
      case 8: return d;
      default: return std::nullopt;
    }
  };
  if (f == "?") return DType::kBool;
  if (f == "e") return float16;
  if (f == "f") return float32;
  if (f == "d") return float64;
  if (f == "Zf") return DType::kComplex64;
  if (f == "Zd") return DType::kComplex128;
  if (f.size() == 1 && std::strchr("bhilqn", f[0])) return sized(int8, int16, int32, int64);
  if (f.size() == 1 && std::strchr("BHILQN", f[0])) return sized(uint8, uint16, uint32, uint64);
  return std::nullopt;
}

struct View {
  Py_buffer buffer;
  ~View() { PyBuffer_Release(&buffer); }
};

struct Shared {  // what an exported view needs to outlive the call
  Py_ssize_t shape[kMaxRank], strides[kMaxRank];
  Tensor host;
};

}  // namespace

const char* buffer_format(DType d) {
  switch (d) {
    case DType::kBool: return "?";
    case DType::kInt8: return "b";
    case DType::kInt16: return "h";
    case DType::kInt32: return "i";
    case DType::kInt64: return sizeof(long) == 8 ? "l" : "q";  // what NumPy takes for its own
    case DType::kUInt8: return "B";
    case DType::kUInt16: return "H";
    case DType::kUInt32: return "I";
    case DType::kUInt64: return sizeof(long) == 8 ? "L" : "Q";
    case DType::kFloat16: return "e";
    case DType::kFloat32: return "f";
    case DType::kFloat64: return "d";
    case DType::kComplex64: return "Zf";
    case DType::kComplex128: return "Zd";
    default: return nullptr;
  }
}

Tensor from_buffer(PyObject* o) {
  View view;
  if (PyObject_GetBuffer(o, &view.buffer, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
    view.buffer.obj = nullptr;
    throw PythonError{};
  }
  Py_buffer& b = view.buffer;
  auto dtype = dtype_of_format(b.format, b.itemsize);
  bool swapped = b.format && (*b.format == '>' || *b.format == '!');
  if (!dtype || swapped || b.itemsize != size_of(*dtype)) {
    PyErr_Format(PyExc_TypeError, "a buffer of format %s cannot become a tensor",
                 b.format ? b.format : "?");
    throw PythonError{};
  }
  Shape shape(std::span<const int64_t>(reinterpret_cast<const int64_t*>(b.shape),
                                       static_cast<size_t>(b.ndim)));
  Tensor t = empty(*dtype, shape, cpu());
  t.rep()->op = "Const";
  if (b.len > 0 && PyBuffer_ToContiguous(t.mutable_raw(), &b, b.len, 'C') < 0) throw PythonError{};
  return t;
}

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  Tensor t;
  if (!guarded([&]() -> PyObject* {
        t = read(self, "buffer");
        return Py_None;
      }))
    return -1;
  const char* format = buffer_format(t.dtype());
  if (!format || !t.rep()->buffer) {
    PyErr_Format(PyExc_BufferError, "a %s tensor has no buffer; use .numpy()", name(t.dtype()));
    return -1;
  }
  if (t.rank() > PyBUF_MAX_NDIM) {
    PyErr_Format(PyExc_BufferError, "a tensor of %d dimensions has no buffer: it may have %d",
                 t.rank(), PyBUF_MAX_NDIM);
    return -1;
  }
  if (flags & PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "a Tensor is immutable; take a copy with .numpy()");
    return -1;
  }
  PyObject* ok = guarded([&]() -> PyObject* {
    auto shared = std::make_unique<Shared>();
    shared->host = copy_to(t, cpu());
    Dims strides = strides_of(t.shape());
    for (int i = 0; i < t.rank(); ++i) {
      shared->shape[i] = t.dim(i);
      shared->strides[i] = strides[static_cast<size_t>(i)] * size_of(t.dtype());
    }
    view->buf = shared->host.mutable_raw();
    view->itemsize = size_of(t.dtype());
    view->len = t.bytes();
    view->readonly = 1;
    view->ndim = t.rank();
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->shape = flags & PyBUF_ND ? shared->shape : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shared->strides : nullptr;
    view->suboffsets = nullptr;
    view->internal = shared.release();
    view->obj = self;
    Py_INCREF(self);
    return Py_None;
  });
  return ok ? 0 : -1;
}

void tensor_releasebuffer(PyObject*, Py_buffer* view) {
  delete static_cast<Shared*>(view->internal);
}

// NumPy multiplies the sizes that are not 0 and wants the product to fit, even where there is no
// element.
void need_numpy_shape(const Tensor& t) {
  constexpr int kMost = 64;  // Python's buffers have no more dimensions either
  if (t.rank() > kMost)
    fail(Code::E1102,
         cat("NumPy has arrays of at most ", kMost, " dimensions, and this tensor has ", t.rank()));
  int64_t bytes = size_of(t.dtype());
  for (int64_t n : t.shape())
    if (n != 0 && __builtin_mul_overflow(bytes, n, &bytes))
      fail(Code::E1102, cat("NumPy has no arrays of shape ", t.shape().text()),
           "the sizes that are not 0 make a product beyond 2^63 bytes; the tensor itself is empty");
}

PyObject* to_numpy(PyObject* o) {
  Tensor t = read(o, "numpy");
  need_numpy_shape(t);
  Object held = Object::steal(wrap(t));
  o = held.get();
  if (t.dtype() == DType::kString) {
    Tensor host = copy_to(t, cpu());
    const std::string* p = host.raw<std::string>();
    auto bytes = [](const std::string& s) {
      return Object::steal(PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
    };
    if (t.rank() == 0) return bytes(*p).release();
    Object shape = Object::steal(PyTuple_New(t.rank()));
    for (int i = 0; i < t.rank(); ++i)
      PyTuple_SET_ITEM(shape.get(), i, PyLong_FromLongLong(t.dim(i)));
    Object array = Object::steal(PyObject_CallMethod(
        numpy(), "empty", "OO", shape.get(), reinterpret_cast<PyObject*>(&PyBaseObject_Type)));
    Object flat = Object::steal(PyObject_GetAttrString(array.get(), "flat"));
    for (int64_t i = 0; i < t.size(); ++i) {
      Object item = bytes(p[i]);
      Object at = Object::steal(PyLong_FromLongLong(i));
      if (PyObject_SetItem(flat.get(), at.get(), item.get()) < 0) throw PythonError{};
    }
    return array.release();
  }
  if (t.dtype() == DType::kBFloat16) {
    Tensor bits = view_of(t, t.shape());
    bits.rep()->dtype = uint16;
    Object raw = Object::steal(wrap(bits));
    Object array = Object::steal(PyObject_CallMethod(numpy(), "array", "O", raw.get()));
    Object kind = Object::steal(PyObject_GetAttrString(dtype_object(bfloat16), "as_numpy_dtype"));
    return PyObject_CallMethod(array.get(), "view", "O", kind.get());
  }
  if (!t.rep()->buffer) type_error(cat("a ", name(t.dtype()), " tensor has no value"));
  Object array = Object::steal(PyObject_CallMethod(numpy(), "array", "O", o));
  if (t.rank() > 0) return array.release();
  Object empty_key = Object::steal(PyTuple_New(0));
  return PyObject_GetItem(array.get(), empty_key.get());
}

}  // namespace holdfast::py
