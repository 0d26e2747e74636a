// What the binding's files share: the Tensor type, conversion, provenance, errors.
#pragma once

#include <Python.h>

#include "holdfast/op/op.h"
#include "holdfast/op/variable.h"

namespace holdfast::py {

/// A Python reference that is dropped with it.
class Object {
 public:
  Object() = default;
  /// Takes over a new reference; null with a Python error set throws PythonError.
  static Object steal(PyObject* p);
  static Object share(PyObject* p) {
    Py_XINCREF(p);
    Object o;
    o.p_ = p;
    return o;
  }
  Object(const Object& o) : p_(o.p_) { Py_XINCREF(p_); }
  Object(Object&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Object& operator=(Object o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Object() {
    if (!p_) return;
    if (Py_REFCNT(p_) != 1)
      Py_DECREF(p_);
    else
      end(p_);
  }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  static void end(PyObject* last);
  PyObject* p_ = nullptr;
};

/// What a weak reference leads to; empty once that is gone.
inline Object target_of(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* there = nullptr;
  PyWeakref_GetRef(reference, &there);
  Object o = Object::share(there);
  Py_XDECREF(there);
  return o;
#else
  PyObject* there = PyWeakref_GetObject(reference);
  return there == Py_None ? Object() : Object::share(there);
#endif
}

/// A Python exception is set; unwinds to the C boundary.
struct PythonError {};

/// The Python object of a tensor.
struct PyTensor {
  PyObject_HEAD TensorRep* rep;
  PyObject* weakrefs;
  PyObject* dict;  // what a program puts on it; null until then
};
extern PyTypeObject* tensor_type;
extern PyTypeObject* variable_type;  // VariableBase
extern PyTypeObject* function_type;

inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type; }
bool is_variable(PyObject* o);
/// The value of a tensor that is asked for its `what`: itself, or what a finished trace computed.
/// Python decides how to refuse, or to trace again, where there is none.
Tensor read(PyObject* tensor, const char* what);
/// A new Python tensor.
PyObject* wrap(Tensor t);
inline Tensor tensor_of(PyObject* o) {
  return Tensor(Ref<TensorRep>(reinterpret_cast<PyTensor*>(o)->rep));
}
Variable variable_of(PyObject* o);
/// Likewise of anything; what is no variable is refused as `what`.
Variable variable_argument(PyObject* o, const std::string& what);
/// The value of a variable now, which the caller holds meanwhile: cheaper than through a Variable.
Tensor read_variable(PyObject* variable);
DType variable_dtype(PyObject* variable);
/// The slots of tensors' operators: they take variables as well.
std::vector<PyType_Slot> operator_slots();
/// The Python Variable of a handle, the same object every time.
Object wrap_variable(const Variable& v);

// -- provenance
/// Notes the user's executing Python line as the site of what follows.
void mark();
void init_provenance();
/// The first code object that is equal to this one and of the same file; lives for ever.
PyCodeObject* lasting(PyCodeObject* code);

// -- errors: everything called from Python runs inside `guarded`
void set_python_error(const std::exception& e);
/// Says in our words why arguments do not fit a method of ours that is written in C.
[[noreturn]] void refuse_arguments(PyTypeObject* type, const char* method, PyObject* self,
                                   PyObject* const* args, Py_ssize_t n, PyObject* kwnames);
/// Takes the package's frames out of the traceback of the Python error that is set. What stays
/// are the user's lines; HOLDFAST_DIAG=full leaves all.
void hide_frames() noexcept;
// Whether a file is Python's own or NumPy's, and not installed beside them.
bool is_library(std::string_view file) noexcept;
template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const PythonError&) {
    hide_frames();
    return nullptr;
  } catch (const std::exception& e) {
    set_python_error(e);
    return nullptr;
  }
}
[[noreturn]] void type_error(std::string headline, std::string why = {},
                             std::vector<Fix> fixes = {});
Object to_dict(const Diagnostic&);
Diagnostic from_dict(PyObject*);
Object to_dict(const Loc&);

// -- conversion
/// Any Python value as a tensor. `hint`: the dtype wanted by the operand beside it, or kInvalid;
/// `strict`: a tensor or array of another dtype is refused instead of passed through.
Tensor convert(PyObject* value, DType hint = DType::kInvalid, bool strict = false,
               const char* argument = nullptr);
/// Python's word for a dtype: a DType object, a NumPy dtype, a name.
DType dtype_of_object(PyObject* o);
PyObject* dtype_object(DType d);  // borrowed
/// The dtype an object has if it is a tensor or variable, else kInvalid.
DType known_dtype(PyObject* o);
/// A copy of what an object shares by the buffer protocol.
Tensor from_buffer(PyObject* o);
std::optional<Ints> ints_of(PyObject* o);  // an int or a sequence of ints
DType only_dtype(DTypes set);              // the one dtype of a set, kInvalid if there are more
bool is_one_int(PyObject* o);              // an int, also one of NumPy's, and no sequence
std::string repr_of(PyObject* o);
/// A Python text.
Object text_object(std::string_view s);
/// NumPy's array of a tensor: private memory, or read-only sharing.
PyObject* to_numpy(PyObject* tensor);

/// Callables and objects the Python side hands over at import.
struct Hooks {
  Object dtypes[kNumDTypes];
  Object as_dtype, shape_factory, error_factory, warning_sink, operand, alias, called, scope,
      holder, placeholder, layer, receiver, symbol;
};
Hooks& hooks();

// -- parts of the module
void init_tensor(PyObject* module);
void init_function(PyObject* module);
void init_frames(PyObject* module);
void init_interrupt();
void init_patience();
int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags);
void tensor_releasebuffer(PyObject* self, Py_buffer* view);
const char* buffer_format(DType d);

}  // namespace holdfast::py
