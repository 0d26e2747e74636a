// Python's Variable: the state itself, with one count for both languages.
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/creations.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/graph/open_graph.h"
#include "holdfast/op/variable_watcher.h"
#include "holdfast/ops/scatter.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/keras.h"

namespace nb = nanobind;

namespace holdfast::py {

PyTypeObject* variable_type = nullptr;

namespace {

VariableState* state_of(PyObject* o) {
  Shared* object = reinterpret_cast<PyShared*>(o)->object;
  if (!object || &object->object_class() != &VariableState::kClass)
    fail(Code::E1104, "a Variable is used before it was made",
         "its `__init__` did not run, or has not come to the end",
         {manual_fix("call `super().__init__(initial_value)` first")});
  return static_cast<VariableState*>(object);
}

// A variable that Python is making has no Python object yet: Python tells of it itself.
thread_local bool python_is_making = false;

// Python's functions that want to know of variables.
class PythonWatcher final : public VariableWatcher {
 public:
  PythonWatcher(PyObject* made, PyObject* changes)
      : made_(PyRef::share(made)), changes_(PyRef::share(changes)) {}
  void made(VariableState& v) override {
    if (!python_is_making) tell(made_, v);
  }
  void changes(VariableState& v) override {
    if (!python_is_making) tell(changes_, v);
  }

 private:
  static void tell(const PyRef& listener, VariableState& v) {
    NeedGil gil("a variable of a strategy");
    PyRef variable = python_of(v);
    called(listener.get(), variable.get());
  }
  PyRef made_, changes_;
};

const Tensor& tensor_argument(PyObject* o, Tensor& kept) {
  if (!is_tensor(o)) type_error(cat("expected a tensor, got ", repr_of(o)));
  kept = tensor_of(o);
  return kept;
}

Shape shape_argument(PyObject* o) {
  if (o == Py_Ellipsis) return Shape::unknown();
  auto dims = ints_of(o);
  if (!dims) type_error("Variable: `shape` is no shape");
  return Shape(*dims);
}

// _make(initial, trainable, name, shape=None, in_graph=False)
PyObject* make(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return method([&]() -> PyObject* {
    if (n < 3 || n > 5 || !PyUnicode_Check(args[2])) type_error("`_make` got wrong arguments");
    if (reinterpret_cast<PyShared*>(self)->object)
      fail(Code::E1104, "a Variable is made a second time",
           "`__init__` runs once, and `assign` gives a Variable another value",
           {manual_fix("use `assign`, or make another Variable")});
    mark();
    Tensor initial;
    VariableOptions o;
    o.trainable = truth_from(args[1]).value_or(false);
    o.name = bytes_of(args[2]);
    if (n > 3 && args[3] != Py_None) o.shape = shape_argument(args[3]);
    OpenGraph* graph = n > 4 && truth_from(args[4]).value_or(false) ? current_graph() : nullptr;
    const Tensor& value = tensor_argument(args[0], initial);
    struct Making {
      Making() { python_is_making = true; }
      ~Making() { python_is_making = before; }
      bool before = python_is_making;
    } making;
    if (graph) {
      // A graph's nodes hold their variables, and a variable's Python object holds the graph.
      adopt_apart(self, Ref<Shared>(graph->variable(value, o).state()));
    } else {
      NameScope whole("");      // the name comes with its prefix
      UnwatchedCreation later;  // Python tells of it when it is whole
      adopt(self, Ref<Shared>(Variable(value, o).state()));
    }
    Py_RETURN_NONE;
  });
}

// _make_beside(variable): another Python object of the same variable.
PyObject* make_beside(PyObject* self, PyObject* variable) {
  return method([&]() -> PyObject* {
    if (!is_variable(variable)) type_error("`_make_beside` got no Variable");
    if (reinterpret_cast<PyShared*>(self)->object) type_error("this Variable is made already");
    adopt_beside(self, Ref<Shared>(state_of(variable)));
    Py_RETURN_NONE;
  });
}

Tensor read_state(PyObject* o) {
  static const OpDef& op = *find_op("ReadVariableOp");
  static const Attrs own_dtype{Arg(DType::kInvalid)};
  Tensors out;
  apply(op, {&state_of(o)->handle(), 1}, own_dtype, out);
  return std::move(out[0]);
}

PyObject* read(PyObject* self, PyObject*) {
  return method([&] {
    mark();
    return wrap(read_variable(self));
  });
}

// value(), read_value()
template <const char* name>
PyObject* value_of(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method([&] {
    if (n || kwnames) refuse_arguments(variable_type, name, self, args, n, kwnames);
    mark();
    return wrap(read_state(self));
  });
}

// A way to change a variable.
struct Change {
  const char* method;    // as users call it
  const char* argument;  // what they give it
  const char* kind;      // what it is called in a graph
  const char* quietly;   // the method that does it and no more
  const char* op;
};
constexpr Change kAssign{"assign", "value", "Assign", "_assign", "AssignVariableOp"},
    kAdd{"assign_add", "delta", "AssignAdd", "_assign_add", "AssignAddVariableOp"},
    kSubtract{"assign_sub", "delta", "AssignSub", "_assign_sub", "AssignSubVariableOp"};

template <const Change& c>
void perform(PyObject* self, const Tensor& value) {
  static const Op op(find_op(c.op));
  op(state_of(self)->handle(), value);
}

template <const Change& c>
PyObject* changed(PyObject* self, PyObject* value) {
  return method([&]() -> PyObject* {
    mark();
    Tensor kept;
    perform<c>(self, tensor_argument(value, kept));
    Py_RETURN_NONE;
  });
}

// Finds the arguments of (value, use_locking=None, name=None, read_value=True) by position and
// name. Assignments are atomic, with or without `use_locking`.
template <const Change& c>
void change_arguments(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames,
                      PyObject* (&found)[4]) {
  static const char* names[4] = {c.argument, "use_locking", "name", "read_value"};
  bool fits = n <= 4;
  for (Py_ssize_t i = 0; fits && i < n; ++i) found[i] = args[i];
  for (Py_ssize_t i = 0; fits && kwnames && i < PyTuple_GET_SIZE(kwnames); ++i) {
    int at = 0;
    while (at < 4 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), names[at]))
      ++at;
    fits = at < 4 && !found[at];
    if (fits) found[at] = args[n + i];
  }
  if (!fits || !found[0]) refuse_arguments(variable_type, c.method, self, args, n, kwnames);
}

// assign(value, use_locking=None, name=None, read_value=True): itself after the change.
template <const Change& c>
PyObject* change(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method([&]() -> PyObject* {
    PyObject* given[4] = {};
    change_arguments<c>(self, args, n, kwnames, given);
    int read = given[3] ? PyObject_IsTrue(given[3]) : 1;
    if (read < 0) throw PythonError{};
    VariableState* v = state_of(self);
    if (reinterpret_cast<PyShared*>(self)->apart || current_graph()) {
      // Python writes an op into the graph, and gives the value after it, or the op.
      PyRef quietly = PyRef::steal(PyObject_GetAttrString(self, c.quietly));
      return PyRef::steal(PyObject_CallMethod(self, "_changed", "OOOOs", quietly.get(), given[0],
                                              given[2] ? given[2] : Py_None,
                                              read ? Py_True : Py_False, c.kind))
          .release();
    }
    mark();
    perform<c>(self, convert(given[0], v->dtype, true));
    return Py_NewRef(read ? self : Py_None);
  });
}

PyObject* assign_index(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return method([&]() -> PyObject* {
    if (n != 2) type_error("`_assign_index` got wrong arguments");
    mark();
    Tensor kept;
    assign_with(variable_of(self), args[0], tensor_argument(args[1], kept));
    Py_RETURN_NONE;
  });
}

PyObject* scatter_batches(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return method([&]() -> PyObject* {
    if (n != 2) type_error("`_batch_scatter_update` got wrong arguments");
    mark();
    Tensor indices, updates;
    batch_scatter_update(variable_of(self), {tensor_argument(args[1], updates),
                                             tensor_argument(args[0], indices), Tensor()});
    Py_RETURN_NONE;
  });
}

PyObject* born(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    Loc at = locate(state_of(self)->born);
    if (at.line <= 0) Py_RETURN_NONE;
    return to_dict(at).release();
  });
}

PyCFunction as_method(_PyCFunctionFastWithKeywords f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}
constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
constexpr char kValue[] = "value", kReadValue[] = "read_value";

PyMethodDef methods[] = {
    {"_make", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&make)), METH_FASTCALL,
     "Gives it a value. `shape`: None, the value's; `...`, any, of any rank; else sizes, None "
     "where "
     "they are open."},
    {"_make_beside", &make_beside, METH_O, nullptr},
    {"read", &read, METH_NOARGS, "The value now; tapes see the read."},
    {kValue, as_method(&value_of<kValue>), kFast,
     "value($self)\n--\n\nThe value now; tapes see the read."},
    {kReadValue, as_method(&value_of<kReadValue>), kFast,
     "read_value($self)\n--\n\nThe value now; tapes see the read."},
    {kAssign.method, as_method(&change<kAssign>), kFast,
     "assign($self, value, use_locking=None, name=None, read_value=True)\n--\n\n"
     "Gives it another value. Assignments are atomic, with or without `use_locking`."},
    {kAdd.method, as_method(&change<kAdd>), kFast,
     "assign_add($self, delta, use_locking=None, name=None, read_value=True)\n--\n\n"
     "Adds `delta` to the value."},
    {kSubtract.method, as_method(&change<kSubtract>), kFast,
     "assign_sub($self, delta, use_locking=None, name=None, read_value=True)\n--\n\n"
     "Subtracts `delta` from the value."},
    {kAssign.quietly, &changed<kAssign>, METH_O, nullptr},
    {kAdd.quietly, &changed<kAdd>, METH_O, nullptr},
    {kSubtract.quietly, &changed<kSubtract>, METH_O, nullptr},
    {"_assign_index", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&assign_index)),
     METH_FASTCALL, nullptr},
    {"_batch_scatter_update",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&scatter_batches)), METH_FASTCALL,
     nullptr},
    {"_born", &born, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

template <class F>
PyObject* property(PyObject* self, F&& f) {
  return method([&]() -> PyObject* { return f(*state_of(self)); });
}

PyObject* handle_object(PyObject* o, void*) {
  return property(o, [](VariableState& v) { return wrap(v.handle()); });
}

PyGetSetDef properties[] = {
    {"handle", &handle_object, nullptr, "What raw ops take in its place.", nullptr},
    {"_handle", &handle_object, nullptr, nullptr, nullptr},
    {"dtype",
     [](PyObject* o, void*) {
       return property(o, [](VariableState& v) { return Py_NewRef(dtype_object(v.dtype)); });
     },
     nullptr, "The dtype of the value.", nullptr},
    {"_shape",
     [](PyObject* o, void*) {
       return property(o, [](VariableState& v) { return shape_object(v.shape).release(); });
     },
     nullptr, nullptr, nullptr},
    {"name",
     [](PyObject* o, void*) {
       return property(o, [](VariableState& v) { return text_object(v.name + ":0").release(); });
     },
     nullptr, "The name, with the output's number that TensorFlow adds.", nullptr},
    {"_full_name",
     [](PyObject* o, void*) {
       return property(o, [](VariableState& v) { return text_object(v.name).release(); });
     },
     nullptr, nullptr, nullptr},
    {"trainable",
     [](PyObject* o, void*) {
       return property(o, [](VariableState& v) { return PyBool_FromLong(v.trainable); });
     },
     nullptr, "Whether tapes watch it by themselves.", nullptr},
    {"device",
     [](PyObject* o, void*) {
       return property(o, [](VariableState& v) {
         Tensor now = v.get();
         return text_object(now.defined() && now.device() ? now.device()->name() : "").release();
       });
     },
     nullptr, "The device that holds the value.", nullptr},
    {"_constraint",
     [](PyObject* o, void*) {
       return property(o, [](VariableState& v) -> PyObject* {
         if (!v.constraint) Py_RETURN_NONE;
         return python_face(*v.constraint).release();
       });
     },
     [](PyObject* o, PyObject* f, void*) {
       return setter(f, "constraint", [&] { state_of(o)->constraint = constraint_of(f); });
     },
     nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

bool is_variable(PyObject* o) { return variable_type && PyObject_TypeCheck(o, variable_type); }
Tensor read_variable(PyObject* o) {
  // In a graph a variable may say where its value comes from: a cached read, one after a change.
  static auto* value = new Method("value");  // for ever
  if (!reinterpret_cast<PyShared*>(o)->apart || !value->overridden(o)) return read_state(o);
  PyRef now = PyRef::steal(PyObject_CallMethod(o, value->name(), nullptr));
  Tensor kept;
  return tensor_argument(now.get(), kept);
}
DType variable_dtype(PyObject* o) { return state_of(o)->dtype; }
Variable variable_of(PyObject* o) { return Variable(Ref<VariableState>(state_of(o))); }
Variable variable_argument(PyObject* o, const std::string& what) {
  if (!is_variable(o)) type_error(cat(what, " is ", repr_of(o), ", expected a Variable"));
  return variable_of(o);
}
Ref<Constraint> constraint_of(PyObject* f) {
  if (!f || f == Py_None) return {};
  if (!PyCallable_Check(f))
    type_error(cat("a constraint is ", repr_of(f), ", expected a function"));
  keras::ConstraintOption out;
  out.set(live_config(f, "a constraint"), "a constraint");
  return out.function;
}
Object wrap_variable(const Variable& v) { return python_of(*v.state()); }

void bind_variable(nb::module_& m) {
  variable_type = add_object_type(m.ptr(), {.name = "holdfast._holdfast.VariableBase",
                                            .kind = &VariableState::kClass,
                                            .methods = methods,
                                            .getset = properties,
                                            .doc = "A named place that holds a tensor.",
                                            .slots = operator_slots()});
  m.def("watch_variables", [](nb::handle made, nb::handle changes) {
    set_variable_watcher(new PythonWatcher(made.ptr(), changes.ptr()));  // for ever
  });
}

}  // namespace holdfast::py
