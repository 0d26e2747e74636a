#include "python/bind/call.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

PyTypeObject* variable_type = nullptr;

bool is_variable(PyObject* o) { return variable_type && PyObject_TypeCheck(o, variable_type); }
Variable variable_of(PyObject* o) { return nb::inst_ptr<VariableBox>(o)->variable; }

Object wrap_variable(const Variable& v) {
  // A Variable's Python object dies with its last Python reference; C++ may hold the state longer,
  // and then a plain one stands for it.
  if (v.state()->wrapper) return Object::share(static_cast<PyObject*>(v.state()->wrapper));
  return Object::share(nb::cast(VariableBox{v}).release().ptr());
}

namespace {

// Unhooks the Python object from the state when it goes.
struct Hooked : VariableBox {
  ~Hooked() { if (variable && variable.state()->wrapper == self) variable.state()->wrapper = nullptr; }
  void* self = nullptr;
};

}  // namespace

void bind_variable(nb::module_& m) {
  auto box = nb::class_<VariableBox>(m, "VariableBox");
  (void)box;
  auto c = nb::class_<Hooked, VariableBox>(m, "VariableBase", nb::is_weak_referenceable());
  c.def(nb::init<>());
  c.def("_make", [](nb::handle self, const Tensor& initial, bool trainable, const std::string& name, nb::handle shape) {
    run([&] {
      mark();
      VariableOptions o;
      o.trainable = trainable;
      o.name = name;
      if (!shape.is_none()) {
        auto dims = ints_of(shape.ptr());
        if (!dims) type_error("Variable: `shape` is no shape");
        o.shape = Shape(*dims);
      }
      auto* box = nb::inst_ptr<Hooked>(self);
      box->variable = Variable(initial, o);
      box->self = self.ptr();
      box->variable.state()->wrapper = self.ptr();
      return 0;
    });
  }, "initial"_a, "trainable"_a, "name"_a, "shape"_a.none() = nb::none());
  c.def("read", [](Hooked& v) { return run([&] { mark(); return v.variable.read(); }); });
  c.def("_assign", [](Hooked& v, const Tensor& t) { run([&] { mark(); v.variable.assign(t); return 0; }); });
  c.def("_assign_add", [](Hooked& v, const Tensor& t) { run([&] { mark(); v.variable.assign_add(t); return 0; }); });
  c.def("_assign_sub", [](Hooked& v, const Tensor& t) { run([&] { mark(); v.variable.assign_sub(t); return 0; }); });
  c.def("_assign_index", [](Hooked& v, nb::handle key, const Tensor& t) {
    run([&] { mark(); assign_with(v.variable, key.ptr(), t); return 0; });
  });
  c.def_prop_ro("handle", [](Hooked& v) { return v.variable.handle(); });
  c.def_prop_ro("_dtype", [](Hooked& v) { return nb::borrow(dtype_object(v.variable.dtype())); });
  c.def_prop_ro("_shape", [](Hooked& v) { return run([&] { return nb::steal(shape_object(v.variable.shape()).release()); }); });
  c.def_prop_ro("_name", [](Hooked& v) { return v.variable.name(); });
  c.def_prop_ro("_trainable", [](Hooked& v) { return v.variable.trainable(); });
  c.def("_born", [](Hooked& v) -> nb::object {
    Loc at = locate(v.variable.state()->born);
    if (at.line <= 0) return nb::none();
    return run([&] { return nb::steal(to_dict(at).release()); });
  });
  variable_type = reinterpret_cast<PyTypeObject*>(c.ptr());
}

}  // namespace holdfast::py
