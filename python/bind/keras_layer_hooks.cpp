// What C++ asks a layer's Python class: whether it overrides a method, and what that gives.
#include "holdfast/base/text.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/keras_layer.h"

namespace nb = nanobind;

namespace holdfast::py {

Method& overridable(const char* name) {
  static auto* all = new std::unordered_map<std::string_view, Method>;
  return all->try_emplace(name, name).first->second;
}

LayerCalls& layer_calls() {
  static auto* c = new LayerCalls;
  return *c;
}

namespace {

using keras::CallOptions;
using keras::Layer;
using keras::Shown;

Object shapes_object(const std::vector<Shape>& shapes) {
  if (shapes.size() == 1) return sizes_object(shapes[0]);
  Object out = Object::steal(PyList_New(0));
  for (const Shape& s : shapes) {
    Object one = sizes_object(s);
    if (PyList_Append(out.get(), one.get()) < 0) throw PythonError{};
  }
  return out;
}

bool python_build(Layer& layer, const std::vector<Shape>& inputs) {
  WithGil gil;
  Object own = gil ? overridable("build").of(layer) : Object();
  if (!own) return false;
  Object shapes = shapes_object(inputs), self = python_of(layer);
  called(layer_calls().build.get(), self.get(), own.get(), shapes.get());
  return true;
}

// The package's own `add_weight` is written in Python too, and is no override.
bool has_own_add_weight(PyObject* self) {
  if (!overridable("add_weight").overridden(self)) return false;
  Object mine = Object::steal(PyObject_GetAttrString(self, "add_weight"));
  if (!PyMethod_Check(mine.get())) return true;
  auto* base = static_cast<PyObject*>(Layer::def().kind.type);
  Object ours = Object::steal(PyObject_GetAttrString(base, "add_weight"));
  return PyMethod_GET_FUNCTION(mine.get()) != ours.get();
}

// A rule of a weight as Python's arguments have it.
template <class Choice>
Object rule_object(const Choice& choice) {
  return choice ? python_face(*choice.function) : Object::share(Py_None);
}

bool python_add_weight(Layer& layer, const keras::WeightOptions& o, Variable& out) {
  WithGil gil;
  if (!gil || !layer.shared()) return false;
  Object self = python_of(layer);
  if (!has_own_add_weight(self.get())) return false;
  const keras::WeightOptions usual;
  Object own = Object::steal(PyObject_GetAttrString(self.get(), "add_weight"));
  Object named = Object::steal(PyDict_New()), none = Object::steal(PyTuple_New(0));
  auto say = [&](const char* name, const Object& value) {
    if (PyDict_SetItemString(named.get(), name, value.get()) < 0) throw PythonError{};
  };
  say("name", text_object(o.name));
  say("shape", sizes_object(o.shape));
  if (o.dtype != usual.dtype) say("dtype", Object::share(dtype_object(o.dtype)));
  say("initializer", rule_object(o.initializer));
  say("regularizer", rule_object(o.regularizer));
  say("constraint", rule_object(o.constraint));
  if (o.trainable != usual.trainable) say("trainable", Object::share(Py_False));
  if (o.autocast != usual.autocast) say("autocast", Object::share(Py_False));
  Object made = Object::steal(PyObject_Call(own.get(), none.get(), named.get()));
  if (!made) throw nb::python_error();
  if (!is_variable(made.get()))
    type_error(cat(layer.described(), ": `add_weight` gave ", repr_of(made.get()),
                   ", expected a Variable"),
               "the layer was about to make a weight by it",
               {manual_fix("return what `super().add_weight(...)` gives")});
  out = variable_of(made.get());
  return true;
}

bool python_call(Layer& layer, const Nested& inputs, const CallOptions& o, Nested& out) {
  WithGil gil;
  Object own = gil ? overridable("call").of(layer) : Object();
  if (!own) return false;
  Object x = python_from(inputs), mask = python_from(o.mask), self = python_of(layer);
  Object named = Object::steal(PyDict_New());
  for (const auto& [name, value] : o.named) {
    Object item = python_from(value);
    if (PyDict_SetItemString(named.get(), name.c_str(), item.get()) < 0) throw PythonError{};
  }
  Object y = called(layer_calls().call.get(), own.get(), x.get(), truth_object(o.training),
                    mask.get(), named.get());
  bool text = PyUnicode_Check(y.get()) || PyBytes_Check(y.get());
  if (!text) out = nested_from(y.get(), cat(layer.described(), ": what `call` gave"));
  if (text || out.leaves().empty())
    type_error(cat(layer.described(), ": `call` gave ", repr_of(y.get()), ", expected a tensor"),
               "C++ code called the layer, and goes on with what it gave");
  return true;
}

bool python_output_shape(Layer& layer, const Shape& inputs, Shape& out) {
  WithGil gil;
  Object own = gil ? overridable("compute_output_shape").of(layer) : Object();
  if (!own) return false;
  Object shape = sizes_object(inputs);
  out = shape_of(called(own.get(), shape.get()).get(), "what `compute_output_shape` gave");
  return true;
}

bool python_supports_masking(const Layer& layer, bool& out) {
  WithGil gil;
  if (!gil || !layer.shared()) return false;
  auto* self = static_cast<PyObject*>(layer.shared());
  Object own = Object::steal(PyObject_GetAttrString(self, "_supports_masking"));
  if (own.get() == Py_None) {
    // Who says which mask there is has one.
    out = overridable("compute_mask").overridden(self);
    return out;
  }
  out = truth_from(own.get()).value_or(false);
  return true;
}

bool python_mask(Layer& layer, const Nested& inputs, const Nested& mask, Nested& out) {
  WithGil gil;
  Object own = gil ? overridable("compute_mask").of(layer) : Object();
  if (!own) return false;
  Object x = python_from(inputs), m = python_from(mask);
  Object made = called(layer_calls().mask.get(), own.get(), x.get(), m.get());
  out = nested_from(made.get(), "what `compute_mask` gave");
  return true;
}

bool python_config(const Layer& layer, ConfigDict& out) {
  WithGil gil;
  Object own = gil ? overridable("get_config").of(layer) : Object();
  if (!own) return false;
  Object config = called(own.get());
  out = config_from(config.get(), cat("the config of ", layer.class_name())).as_dict();
  return true;
}

bool python_build_config(const Layer& layer, Config& out) {
  WithGil gil;
  Object own = gil && layer.shared() ? overridable("get_build_config").of(layer) : Object();
  if (!own) return false;
  Object config = called(own.get());
  out = config_from(config.get(), cat("`get_build_config` of ", layer.class_name()));
  return true;
}

bool python_class_name(const Layer& layer, std::string& out) {
  WithGil gil;
  if (!gil || !layer.shared()) return false;
  const char* name = Py_TYPE(static_cast<PyObject*>(layer.shared()))->tp_name;
  const char* dot = strrchr(name, '.');
  out = dot ? dot + 1 : name;
  return true;
}

bool python_registered_name(const Layer& layer, std::string& out) {
  WithGil gil;
  if (!gil || !layer.shared()) return false;
  nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(static_cast<PyObject*>(layer.shared()))));
  nb::object name = nb::getattr(type, "_registered_name", nb::none());
  if (PyUnicode_Check(name.ptr())) out = bytes_of(name.ptr());
  return true;
}

bool python_variables(const Layer& layer, Shown which, std::vector<Variable>& out) {
  WithGil gil;
  if (!gil || !layer.shared()) return false;
  // What Python calls a layer's variables has states of random numbers among them.
  static auto* all = new Method[3]{Method("weights"), Method("trainable_variables"),
                                   Method("non_trainable_weights")};
  Method& method = all[static_cast<size_t>(which)];
  Object own = method.of(layer);
  if (!own) return false;
  out = variables_from(own.get(), method.name());
  return true;
}

bool python_submodules(const Layer& layer, std::vector<Ref<ModuleObject>>& out) {
  WithGil gil;
  if (!gil || !layer.shared()) return false;
  Object own = shown(py::Shown::kSubmodules).of(layer);
  if (!own) return false;
  out = modules_from(own.get(), "submodules");
  return true;
}

bool python_overrides(const Layer& layer, const char* method) {
  WithGil gil;
  return gil && layer.shared() && overridable(method).of(layer);
}

// An attribute of a layer's object; empty where it has none.
Object attribute_of(const Layer& layer, const char* name) {
  if (!layer.shared()) return {};
  PyObject* value = PyObject_GetAttrString(static_cast<PyObject*>(layer.shared()), name);
  if (value) return Object::steal(value);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError{};
  PyErr_Clear();
  return {};
}

bool python_attribute(const Layer& layer, const char* name, Config& out) {
  WithGil gil;
  Object value = gil ? attribute_of(layer, name) : Object();
  if (!value) return false;
  out = config_from(value.get(), cat("`", name, "` of ", layer.described()));
  return true;
}

bool python_states(Layer& layer, const Tensor& batch_size, Nested& out) {
  WithGil gil;
  Object method = gil ? attribute_of(layer, "get_initial_state") : Object();
  if (!method) return false;
  Object args = Object::steal(PyTuple_New(0)), named = Object::steal(PyDict_New()),
         batch = Object::steal(wrap(batch_size));
  if (PyDict_SetItemString(named.get(), "batch_size", batch.get()) < 0) throw PythonError{};
  Object made = Object::steal(PyObject_Call(method.get(), args.get(), named.get()));
  out = nested_from(made.get(), cat(layer.described(), ": what `get_initial_state` gave"));
  return true;
}

}  // namespace

void set_layer_hooks() {
  keras::layer_hooks() = {&python_build,           &python_add_weight,       &python_call,
                          &python_output_shape,    &python_supports_masking, &python_mask,
                          &python_config,          &python_build_config,     &python_class_name,
                          &python_registered_name, &python_variables,        &python_submodules,
                          &python_overrides,       &python_attribute,        &python_states};
}

}  // namespace holdfast::py
