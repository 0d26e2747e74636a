#include "holdfast/graph/name_scope.h"
#include "holdfast/graph/open_graph.h"
#include "holdfast/ops/scatter.h"
#include "python/bind/call.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

PyTypeObject* variable_type = nullptr;

namespace {

// What Python's Variable subclasses. Unhooks the Python object from the state when it goes.
struct VariableBox {
  VariableBox() = default;
  VariableBox(const VariableBox&) = delete;
  ~VariableBox() {
    if (variable && variable.state()->wrapper == self) variable.state()->wrapper = nullptr;
  }
  void hook(Variable v, PyObject* object) {
    variable = std::move(v);
    self = object;
    variable.state()->wrapper = object;
  }

  Variable variable;
  void* self = nullptr;
};

}  // namespace

bool is_variable(PyObject* o) { return variable_type && PyObject_TypeCheck(o, variable_type); }
Variable variable_of(PyObject* o) { return nb::inst_ptr<VariableBox>(o)->variable; }

Object wrap_variable(const Variable& v) {
  if (v.state()->wrapper) return Object::share(static_cast<PyObject*>(v.state()->wrapper));
  // The Python object died with its last Python reference while C++ held the state: a plain one
  // stands for it. Called with a tuple, since nanobind copies arguments from wherever they are, and
  // without any that is nowhere.
  Object none = Object::steal(PyTuple_New(0));
  Object fresh =
      Object::steal(PyObject_Call(reinterpret_cast<PyObject*>(variable_type), none.get(), nullptr));
  nb::inst_ptr<VariableBox>(fresh.get())->hook(v, fresh.get());
  return fresh;
}

void bind_variable(nb::module_& m) {
  auto c = nb::class_<VariableBox>(m, "VariableBase", nb::is_weak_referenceable());
  c.def(nb::init<>());
  c.def(
      "_make",
      [](nb::handle self, const Tensor& initial, bool trainable, const std::string& name,
         nb::handle shape, bool in_graph) {
        run([&] {
          mark();
          VariableOptions o;
          o.trainable = trainable;
          o.name = name;
          if (shape.ptr() == Py_Ellipsis) {
            o.shape = Shape::unknown();
          } else if (!shape.is_none()) {
            auto dims = ints_of(shape.ptr());
            if (!dims) type_error("Variable: `shape` is no shape");
            o.shape = Shape(*dims);
          }
          OpenGraph* graph = in_graph ? current_graph() : nullptr;
          if (!graph) {
            NameScope whole("");  // the name comes with its prefix
            nb::inst_ptr<VariableBox>(self)->hook(Variable(initial, o), self.ptr());
            return 0;
          }
          nb::inst_ptr<VariableBox>(self)->hook(graph->variable(initial, o), self.ptr());
          return 0;
        });
      },
      "initial"_a, "trainable"_a, "name"_a, "shape"_a.none() = nb::none(), "in_graph"_a = false,
      "`shape`: None, the value's; `...`, any, of any rank; else sizes, None where they are open.");
  c.def("read", [](VariableBox& v) {
    return run([&] {
      mark();
      return v.variable.read();
    });
  });
  c.def("_assign", [](VariableBox& v, const Tensor& t) {
    run([&] {
      mark();
      v.variable.assign(t);
      return 0;
    });
  });
  c.def("_assign_add", [](VariableBox& v, const Tensor& t) {
    run([&] {
      mark();
      v.variable.assign_add(t);
      return 0;
    });
  });
  c.def("_assign_sub", [](VariableBox& v, const Tensor& t) {
    run([&] {
      mark();
      v.variable.assign_sub(t);
      return 0;
    });
  });
  c.def(
      "_assign_index",
      [](VariableBox& v, nb::handle key, const Tensor& t) {
        run([&] {
          mark();
          assign_with(v.variable, key.ptr(), t);
          return 0;
        });
      },
      "key"_a.none(), "value"_a);
  c.def("_batch_scatter_update", [](VariableBox& v, const Tensor& indices, const Tensor& updates) {
    run([&] {
      mark();
      batch_scatter_update(v.variable, {updates, indices, Tensor()});
      return 0;
    });
  });
  c.def_prop_ro("handle", [](VariableBox& v) { return v.variable.handle(); });
  c.def_prop_ro("_dtype",
                [](VariableBox& v) { return nb::borrow(dtype_object(v.variable.dtype())); });
  c.def_prop_ro("_shape", [](VariableBox& v) {
    return run([&] { return nb::steal(shape_object(v.variable.shape()).release()); });
  });
  c.def_prop_ro("_name", [](VariableBox& v) { return v.variable.name(); });
  c.def_prop_ro("_trainable", [](VariableBox& v) { return v.variable.trainable(); });
  c.def("_born", [](VariableBox& v) -> nb::object {
    Loc at = locate(v.variable.state()->born);
    if (at.line <= 0) return nb::none();
    return run([&] { return nb::steal(to_dict(at).release()); });
  });
  variable_type = reinterpret_cast<PyTypeObject*>(c.ptr());
}

}  // namespace holdfast::py
