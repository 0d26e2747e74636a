// The Python type `Tensor`. Written against CPython itself: an eager add of two small tensors costs
// about what the arithmetic around it costs, so no layer may sit in between.
#include <Python.h>
#include <structmember.h>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/graph/graph.h"
#include "holdfast/graph/open_graph.h"
#include "holdfast/graph/trace.h"
#include "holdfast/tensor/complex.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/graph_keeper.h"
#include "python/bind/py.h"

namespace holdfast::py {

PyTypeObject* tensor_type = nullptr;

namespace {

// The whole object: one of a graph written by hand holds who keeps that graph's Python code.
struct Whole {
  PyTensor tensor;
  PyObject* keeper;
};

Whole& whole(PyObject* o) { return *reinterpret_cast<Whole*>(o); }

}  // namespace

PyObject* wrap(Tensor t) {
  if (!t.defined()) Py_RETURN_NONE;
  Object keeper;
  if (t.is_symbolic())
    if (OpenGraph* graph = graph_of(t)) keeper = keeper_of(*graph);
  auto* self = PyObject_GC_New(Whole, tensor_type);
  if (!self) return nullptr;
  self->tensor.rep = Ref<TensorRep>(t.ref()).leak();
  self->tensor.weakrefs = nullptr;
  self->tensor.dict = nullptr;
  self->keeper = keeper.release();
  auto* made = reinterpret_cast<PyObject*>(self);
  if (self->keeper) PyObject_GC_Track(made);
  return made;
}

Tensor read(PyObject* o, const char* what) {
  Tensor t = tensor_of(o);
  if (!context().tapes.empty() && std::string_view(what) != "len") {
    // A tape wants to know where its path ends.
    mark();
    GradientTape::taken(t);
  }
  if (!t.is_symbolic()) return t;
  if (has_value(t)) return value(t);
  mark();
  Object answer = Object::steal(PyObject_CallFunction(hooks().symbol.get(), "Os", o, what));
  if (!is_tensor(answer.get())) type_error(cat("a symbol was asked for its ", what));
  return tensor_of(answer.get());
}

namespace {

void dealloc(PyObject* o) {
  auto* self = reinterpret_cast<PyTensor*>(o);
  if (self->dict || whole(o).keeper) {
    PyObject_GC_UnTrack(o);
    Py_CLEAR(self->dict);
    Py_CLEAR(whole(o).keeper);
  }
  if (self->weakrefs) PyObject_ClearWeakRefs(o);
  Ref<TensorRep>::take(self->rep);  // released at the end of the statement
  PyTypeObject* type = Py_TYPE(o);
  PyObject_GC_Del(o);
  Py_DECREF(type);
}

// A tensor can be part of a cycle only through what a program puts on it, or through the code that
// its graph calls, so Python's collector looks at those alone.
int set_attribute(PyObject* o, PyObject* name, PyObject* value) {
  if (PyObject_GenericSetAttr(o, name, value) < 0) return -1;
  if (reinterpret_cast<PyTensor*>(o)->dict && !PyObject_GC_IsTracked(o)) PyObject_GC_Track(o);
  return 0;
}
int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(reinterpret_cast<PyTensor*>(o)->dict);
  Py_VISIT(whole(o).keeper);
  return 0;
}
int clear(PyObject* o) {
  if (PyObject* held = reinterpret_cast<PyTensor*>(o)->dict) PyDict_Clear(held);
  Py_CLEAR(whole(o).keeper);
  return 0;
}

PyObject* no_new(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Tensor cannot be made directly: use tf.constant or tf.convert_to_tensor");
  return nullptr;
}

// -- operators

// What may stand beside a tensor in an expression; for anything else Python asks the other side.
bool may_be_operand(PyObject* o) {
  return is_tensor(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) ||
         is_variable(o) || PyUnicode_Check(o) || PyBytes_Check(o) || PyList_Check(o) ||
         PyTuple_Check(o) || PyObject_CheckBuffer(o) || PyObject_HasAttrString(o, "__array__") ||
         PyObject_HasAttrString(o, "__tf_tensor__") || has_own_conversion(o);
}

// A tensor, or a variable, which is read.
bool is_value(PyObject* o) { return is_tensor(o) || is_variable(o); }
Tensor value_now(PyObject* o) { return is_tensor(o) ? tensor_of(o) : read_variable(o); }

bool operands(PyObject* a, PyObject* b, Tensor out[2]) {
  if (is_value(a)) {
    out[0] = value_now(a);
    if (is_tensor(b)) {
      out[1] = tensor_of(b);
      return true;
    }
    if (!may_be_operand(b)) return false;
    out[1] = convert(b, out[0].dtype());
    return true;
  }
  if (!may_be_operand(a)) return false;
  out[1] = value_now(b);
  out[0] = convert(a, out[1].dtype());
  return true;
}

// The op behind an operator: looked up once, by the path Python users know it under.
struct Operator {
  const char* path;
  const char* name = nullptr;  // of the node in a graph; null: the op's
  const FunctionDef* def = nullptr;
  const FunctionDef* get() {
    if (!def) def = find_function(path);
    if (!def) fail(Code::E1105, cat("the operator `", path, "` is not supported"));
    return def;
  }
};

// Names the node that an operator makes: `x + y` is "add", whatever the op is called.
class OperatorName {
 public:
  OperatorName(const char* name, const Tensor& a, const Tensor& b)
      : set_(name && (context().interpreter || a.is_symbolic() || b.is_symbolic())) {
    if (set_) context().op_name = name;
  }
  ~OperatorName() {
    if (set_) context().op_name.clear();
  }
  OperatorName(const OperatorName&) = delete;

 private:
  bool set_;
};

PyObject* run_operator(Operator& op, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    mark();
    Tensor in[2];
    if (!operands(a, b, in)) {
      if (a == Py_None || b == Py_None)
        type_error(
            cat("`", op.path, "`: the ", a == Py_None ? "left" : "right",
                " operand is None, expected a tensor or a number"),
            "None is what a function without `return` gives, and a gradient that no path leads to");
      Py_RETURN_NOTIMPLEMENTED;
    }
    const FunctionDef* def = op.get();
    if (def->op && def->op->attrs.empty() && def->op->inputs.size() == 2) {
      static const Attrs none{};
      Tensors out;
      OperatorName named(op.name, in[0], in[1]);
      Unlocked unlocked(in);
      apply(*def->op, in, none, out);
      unlocked.relock();
      return wrap(std::move(out[0]));
    }
    bool written = op.name && (context().interpreter || in[0].is_symbolic() || in[1].is_symbolic());
    std::optional<NamedCall> named;
    if (written) named.emplace(op.name, in);
    Arg args[2] = {in[0], in[1]};
    Tensor out = call_with_defaults(*def, args)[0];
    if (named) named->finish(out);
    return wrap(std::move(out));
  });
}

PyObject* run_unary(Operator& op, PyObject* a) {
  return guarded([&]() -> PyObject* {
    mark();
    Arg args[1] = {value_now(a)};
    return wrap(call_with_defaults(*op.get(), args)[0]);
  });
}

#define HOLDFAST_BINARY(slot, path, name)    \
  PyObject* slot(PyObject* a, PyObject* b) { \
    static Operator op{path, name};          \
    return run_operator(op, a, b);           \
  }
HOLDFAST_BINARY(nb_add, "add", "add")
HOLDFAST_BINARY(nb_subtract, "subtract", "sub")
HOLDFAST_BINARY(nb_multiply, "multiply", "mul")
HOLDFAST_BINARY(nb_true_divide, "truediv", "truediv")
HOLDFAST_BINARY(nb_floor_divide, "math.floordiv", "floordiv")
HOLDFAST_BINARY(nb_remainder, "math.floormod", "mod")
HOLDFAST_BINARY(nb_matmul, "matmul", "matmul")
#undef HOLDFAST_BINARY

PyObject* nb_power(PyObject* a, PyObject* b, PyObject*) {
  static Operator op{"pow", "pow"};
  return run_operator(op, a, b);
}

// `&`, `|`, `^` mean logic on bools and bits on integers.
PyObject* logic(Operator& on_bools, Operator& on_ints, PyObject* a, PyObject* b) {
  PyObject* t = is_value(a) ? a : b;
  return run_operator(known_dtype(t) == DType::kBool ? on_bools : on_ints, a, b);
}
#define HOLDFAST_LOGIC(slot, bools, ints)           \
  PyObject* slot(PyObject* a, PyObject* b) {        \
    static Operator on_bools{bools}, on_ints{ints}; \
    return logic(on_bools, on_ints, a, b);          \
  }
HOLDFAST_LOGIC(nb_and, "logical_and", "bitwise.bitwise_and")
HOLDFAST_LOGIC(nb_or, "logical_or", "bitwise.bitwise_or")
HOLDFAST_LOGIC(nb_xor, "math.logical_xor", "bitwise.bitwise_xor")
#undef HOLDFAST_LOGIC

PyObject* nb_negative(PyObject* a) {
  static Operator op{"negative"};
  return run_unary(op, a);
}
PyObject* nb_absolute(PyObject* a) {
  static Operator op{"abs"};
  return run_unary(op, a);
}
PyObject* nb_positive(PyObject* a) {
  if (is_tensor(a)) return Py_NewRef(a);
  return guarded([&] {
    mark();
    return wrap(read_variable(a));
  });
}
PyObject* nb_invert(PyObject* a) {
  static Operator on_bools{"logical_not"}, on_ints{"bitwise.invert"};
  return run_unary(known_dtype(a) == DType::kBool ? on_bools : on_ints, a);
}

// Tensors of a graph that is written by hand are compared by identity, as in TensorFlow, so that
// they can be keys of a `feed_dict`.
bool is_key(PyObject* o) {
  return reinterpret_cast<PyTensor*>(o)->rep->symbolic && graph_of(tensor_of(o));
}

PyObject* compare(PyObject* a, PyObject* b, int which) {
  static Operator ops[] = {{"less"},      {"less_equal"}, {"equal"},
                           {"not_equal"}, {"greater"},    {"greater_equal"}};
  if (which != Py_EQ && which != Py_NE) return run_operator(ops[which], a, b);
  if (b == Py_None) return PyBool_FromLong(which == Py_NE);
  if (is_variable(a))
    return guarded([&]() -> PyObject* {
      mark();
      Object now = Object::steal(wrap(read_variable(a)));
      Object other = is_variable(b) ? Object::steal(wrap(read_variable(b))) : Object::share(b);
      return compare(now.get(), other.get(), which);
    });
  if (is_key(a) || (is_tensor(b) && is_key(b)))
    return PyBool_FromLong((is_key(a) && is_tensor(b) && is_key(b) &&
                            edge_of(tensor_of(a)) == edge_of(tensor_of(b))) == (which == Py_EQ));
  return guarded([&]() -> PyObject* {
    mark();
    Tensor in[2];
    if (!operands(a, b, in)) Py_RETURN_NOTIMPLEMENTED;
    // Shapes that do not fit are unequal, not an error: as in TensorFlow.
    if (!broadcast(in[0].shape(), in[1].shape())) return wrap(Tensor::scalar(which == Py_NE));
    Arg args[2] = {std::move(in[0]), std::move(in[1])};
    return wrap(call_with_defaults(*ops[which].get(), args)[0]);
  });
}

// -- reading values

Tensor host_scalar(PyObject* o, const char* what) {
  Tensor t = read(o, what);
  if (t.size() != 1) {
    mark();
    fail(Code::E1102,
         cat(what, " of a tensor of shape ", t.shape().text(), ", expected one element"),
         "only a tensor with a single element has one Python value",
         {manual_fix("reduce it first: `tf.reduce_all`, `tf.reduce_any`, or take one element")});
  }
  if (!kPlain.has(t.dtype())) {
    mark();
    fail(Code::E1101, cat(what, " of a ", name(t.dtype()), " tensor, expected numbers or bool"));
  }
  return copy_to(t, cpu());
}

int nb_bool(PyObject* o) {
  int answer = -1;
  PyObject* ok = guarded([&]() -> PyObject* {
    Tensor t = read(o, "bool");
    if (t.dtype() == DType::kString && t.size() == 1) {
      answer = !copy_to(t, cpu()).raw<std::string>()->empty();
      return Py_None;
    }
    t = host_scalar(o, "bool");
    if (t.dtype() == DType::kComplex64)
      answer = *t.raw<complex64>() != complex64(0);
    else if (t.dtype() == DType::kComplex128)
      answer = *t.raw<complex128>() != complex128(0);
    else
      answer = t.to_double() != 0;
    return Py_None;
  });
  return ok ? answer : -1;
}
PyObject* nb_int(PyObject* o) {
  return guarded([&] {
    Tensor t = host_scalar(o, "int");
    if (is_floating(t.dtype())) return PyLong_FromDouble(t.to_double());
    if (t.dtype() == DType::kUInt64) return PyLong_FromUnsignedLongLong(*t.raw<uint64_t>());
    return PyLong_FromLongLong(t.to_int());
  });
}
PyObject* nb_index(PyObject* o) {
  return guarded([&]() -> PyObject* {
    Tensor t = host_scalar(o, "index");
    if (!is_integer(t.dtype())) {
      PyErr_Format(PyExc_TypeError, "a %s tensor is no index, expected integers", name(t.dtype()));
      return nullptr;
    }
    return PyLong_FromLongLong(t.to_int());
  });
}
PyObject* nb_float(PyObject* o) {
  return guarded([&] { return PyFloat_FromDouble(host_scalar(o, "float").to_double()); });
}

Py_ssize_t length(PyObject* o) {
  const Shape& s = reinterpret_cast<PyTensor*>(o)->rep->shape;
  if (s.rank() > 0 && s[0] >= 0) return static_cast<Py_ssize_t>(s[0]);
  if (s.rank() != 0) {
    Py_ssize_t n = -1;
    PyObject* ok = guarded([&]() -> PyObject* {
      n = static_cast<Py_ssize_t>(read(o, "len").dim(0));
      return Py_None;
    });
    return ok ? n : -1;
  }
  PyErr_SetString(PyExc_TypeError, "`len` of a scalar tensor, expected one with rows");
  return -1;
}

Py_hash_t hash(PyObject* o) {
  const Tensor& t = tensor_of(o);
  if (is_key(o)) {
    Edge e = edge_of(t);
    return static_cast<Py_hash_t>(reinterpret_cast<size_t>(e.node.get()) >> 4) + e.output;
  }
  if (t.is_symbolic() && symbol_of(t)->scope->open()) {  // it is to stand for a value it will have
    guarded([&]() -> PyObject* {
      read(o, "key");
      return Py_None;
    });
    if (PyErr_Occurred()) return -1;
  }
  PyErr_SetString(PyExc_TypeError,
                  "a tensor compares by its value, so it is no key: use `tensor.ref()`");
  return -1;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    mark();
    Tensor t = tensor_of(self);
    if (!t.is_symbolic()) return wrap(index_with(t, key));
    NamedCall named("strided_slice", {&t, 1});
    Tensor out = index_with(t, key);
    named.finish(out);
    return wrap(std::move(out));
  });
}

// -- attributes

PyObject* get_dtype(PyObject* o, void*) {
  PyObject* d = dtype_object(tensor_of(o).dtype());
  Py_XINCREF(d);
  return d;
}
PyObject* get_shape(PyObject* o, void*) {
  return guarded(
      [&] { return shape_object(reinterpret_cast<PyTensor*>(o)->rep->shape).release(); });
}
PyObject* get_ndim(PyObject* o, void*) {
  const Shape& s = reinterpret_cast<PyTensor*>(o)->rep->shape;
  if (!s.has_rank()) Py_RETURN_NONE;
  return PyLong_FromLong(s.rank());
}
PyObject* get_symbolic(PyObject* o, void*) {
  return PyBool_FromLong(reinterpret_cast<PyTensor*>(o)->rep->symbolic);
}
PyObject* get_device(PyObject* o, void*) {
  const Tensor& t = tensor_of(o);
  Device* d = t.device();
  if (d || !t.is_symbolic()) return PyUnicode_FromString(d ? d->name().c_str() : "");
  // Of a symbol, where its op was asked to run; which process that is in shows in a run.
  constexpr std::string_view kHere = "/job:localhost/replica:0/task:0";
  std::string name = node_of(t)->device ? node_of(t)->device->name() : std::string();
  if (name.starts_with(kHere)) name.erase(0, kHere.size());
  return PyUnicode_FromString(name.c_str());
}
PyObject* get_id(PyObject* o, void*) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<PyTensor*>(o)->rep->id);
}
PyObject* get_op(PyObject* o, void*) {
  return PyUnicode_FromString(reinterpret_cast<PyTensor*>(o)->rep->op);
}
PyObject* get_buffer_id(PyObject* o, void*) {
  return PyLong_FromVoidPtr(reinterpret_cast<PyTensor*>(o)->rep->buffer.get());
}

PyObject* get_mask(PyObject* o, void*) {
  return guarded([&] { return wrap(tensor_of(o).mask()); });
}
int set_mask(PyObject* o, PyObject* value, void*) {
  PyObject* done = guarded([&]() -> PyObject* {
    mark();
    bool none = !value || value == Py_None;
    if (!none && !is_tensor(value))
      type_error(cat("_keras_mask: got ", Py_TYPE(value)->tp_name, ", expected a Tensor or None"));
    tensor_of(o).set_mask(none ? Tensor() : tensor_of(value));
    Py_RETURN_NONE;
  });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

PyObject* born_of(Where w) {
  return guarded([&]() -> PyObject* {
    Loc at = locate(w);
    if (at.line <= 0) Py_RETURN_NONE;
    return to_dict(at).release();
  });
}
PyObject* method_born(PyObject* o, PyObject*) {
  auto* rep = reinterpret_cast<PyTensor*>(o)->rep;
  return born_of(rep->variable_born ? rep->variable_born : rep->born);
}
PyObject* method_variable_born(PyObject* o, PyObject*) {
  return born_of(reinterpret_cast<PyTensor*>(o)->rep->from_variable);
}
PyObject* method_numpy(PyObject* o, PyObject*) {
  return guarded([&] { return to_numpy(o); });
}

PyGetSetDef getset[] = {
    {"dtype", get_dtype, nullptr, "The dtype of the elements.", nullptr},
    {"shape", get_shape, nullptr, "The TensorShape.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"device", get_device, nullptr, "The full name of the device that holds it.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"_symbolic", get_symbolic, nullptr, nullptr, nullptr},
    {"_id", get_id, nullptr, nullptr, nullptr},
    {"_op", get_op, nullptr, nullptr, nullptr},
    {"_buffer_id", get_buffer_id, nullptr, nullptr, nullptr},
    {"_keras_mask", get_mask, set_mask, "Which of its steps count, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {{"numpy", method_numpy, METH_NOARGS, "A NumPy copy of the value."},
                         {"_born", method_born, METH_NOARGS, nullptr},
                         {"_variable_born", method_variable_born, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weakrefs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

#define SLOT(id, fn) {id, reinterpret_cast<void*>(fn)}
PyType_Slot slots[] = {
    SLOT(Py_tp_dealloc, dealloc),
    SLOT(Py_tp_new, no_new),
    SLOT(Py_tp_traverse, traverse),
    SLOT(Py_tp_clear, clear),
    SLOT(Py_tp_setattro, set_attribute),
    SLOT(Py_tp_hash, hash),
    SLOT(Py_tp_getset, getset),
    SLOT(Py_tp_methods, methods),
    SLOT(Py_tp_members, members),
    SLOT(Py_nb_bool, nb_bool),
    SLOT(Py_nb_int, nb_int),
    SLOT(Py_nb_float, nb_float),
    SLOT(Py_nb_index, nb_index),
    SLOT(Py_mp_length, length),
    SLOT(Py_mp_subscript, subscript),
    SLOT(Py_bf_getbuffer, tensor_getbuffer),
    SLOT(Py_bf_releasebuffer, tensor_releasebuffer),
    {Py_tp_doc,
     const_cast<char*>("An immutable array of numbers, bools or strings, on some device.")},
    {0, nullptr}};

}  // namespace

std::vector<PyType_Slot> operator_slots() {
  return {SLOT(Py_tp_richcompare, compare),
          SLOT(Py_nb_add, nb_add),
          SLOT(Py_nb_subtract, nb_subtract),
          SLOT(Py_nb_multiply, nb_multiply),
          SLOT(Py_nb_true_divide, nb_true_divide),
          SLOT(Py_nb_floor_divide, nb_floor_divide),
          SLOT(Py_nb_remainder, nb_remainder),
          SLOT(Py_nb_power, nb_power),
          SLOT(Py_nb_matrix_multiply, nb_matmul),
          SLOT(Py_nb_and, nb_and),
          SLOT(Py_nb_or, nb_or),
          SLOT(Py_nb_xor, nb_xor),
          SLOT(Py_nb_negative, nb_negative),
          SLOT(Py_nb_positive, nb_positive),
          SLOT(Py_nb_absolute, nb_absolute),
          SLOT(Py_nb_invert, nb_invert)};
}

void init_tensor(PyObject* module) {
  std::vector<PyType_Slot> all = operator_slots();
  all.insert(all.end(), std::begin(slots), std::end(slots));
  PyType_Spec spec{"holdfast.Tensor", sizeof(Whole), 0,
                   static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC), all.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type ||
      PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type)) < 0)
    throw PythonError{};
}

}  // namespace holdfast::py
