#include "python/bind/keras_python_call.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/symbol.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/structure.h"

namespace nb = nanobind;

namespace holdfast::py {
namespace {

// The tensors alone: what else was given is no tensor.
Nested symbols_of(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o);
  if (nesting(Py_TYPE(o)) == Nesting::kLeaf) return {};
  std::vector<Nested> items;
  for (const PyRef& c : children_of(o)) items.push_back(symbols_of(c.get()));
  return Nested::tuple(std::move(items));
}

// `o` with what `leaf` gives for each tensor in its place.
template <class F>
PyRef with_tensors(PyObject* o, F&& leaf) {
  if (is_tensor(o)) return PyRef::steal(wrap(leaf(tensor_of(o))));
  if (nesting(Py_TYPE(o)) == Nesting::kLeaf) return PyRef::share(o);
  std::vector<PyRef> children = children_of(o);
  for (PyRef& c : children) c = with_tensors(c.get(), leaf);
  return rebuilt(o, std::move(children));
}

PyRef places(PyObject* o, std::vector<Tensor>& found) {
  return with_tensors(o, [&](const Tensor& t) {
    found.push_back(t);
    return keras::kept_place();
  });
}

PyRef filled(PyObject* o, std::span<const Tensor> given, size_t& next) {
  return with_tensors(o, [&](const Tensor&) { return given[next++]; });
}

}  // namespace

PythonCall::PythonCall(keras::Layer& of, PyObject* args, PyObject* kwargs)
    : LayerCall(of), args_(places(args, tensors)), kwargs_(places(kwargs, tensors)) {
  PyObject* said = PyDict_GetItemString(kwargs, "training");
  if (said && PyBool_Check(said)) training = said == Py_True;
}

Nested PythonCall::replay_on(keras::Layer& other, std::span<const Tensor> given,
                             std::optional<bool> around) const {
  NeedGil gil("a layer of Python's");
  PyRef self = python_of(other);
  return call_with(self.get(), {}, given, around);
}

Nested PythonCall::call_with(PyObject* f, const PyRef& first, std::span<const Tensor> given,
                             std::optional<bool> around) const {
  size_t next = 0;
  PyRef args = filled(args_.get(), given, next), kwargs = filled(kwargs_.get(), given, next);
  if (first) {
    PyRef front = PyRef::steal(PyTuple_Pack(1, first.get()));
    args = PyRef::steal(PySequence_Concat(front.get(), args.get()));
    if (!args) throw nb::python_error();
  }
  bool says = PyDict_GetItemString(kwargs.get(), "training") != nullptr;
  if (!says && around)
    if (PyDict_SetItemString(kwargs.get(), "training", truth_object(around)) < 0)
      throw nb::python_error();
  PyObject* out = PyObject_Call(f, args.get(), kwargs.get());
  if (!out) throw nb::python_error();
  return nested_from(PyRef::steal(out).get(), cat(layer->described(), ": what `call` gave"));
}

Nested PythonCall::arguments_with(std::span<const Tensor> used) const {
  NeedGil gil("arguments of a layer of Python's");
  size_t next = 0;
  PyRef args = filled(args_.get(), used, next), kwargs = filled(kwargs_.get(), used, next);
  return Nested::tuple({symbols_of(args.get()), symbols_of(kwargs.get())});
}

Nested called_through(PyObject* f, keras::Layer& layer, const keras::LayerCall& call,
                      std::span<const Tensor> inputs) {
  NeedGil gil("a function of Python's");
  PyRef face = python_of(layer);
  if (auto* python = dynamic_cast<const PythonCall*>(&call))
    return python->call_with(f, face, inputs, {});
  Nested given = call.arguments_with(inputs);
  PyRef front = PyRef::steal(PyTuple_Pack(1, face.get())), rest = python_from(given[0]);
  PyRef args = PyRef::steal(PySequence_Concat(front.get(), rest.get()));
  PyRef kwargs = python_from(given[1]);
  PyObject* out = args ? PyObject_Call(f, args.get(), kwargs.get()) : nullptr;
  if (!out) throw nb::python_error();
  return nested_from(PyRef::steal(out).get(), "what `call_function` gave");
}

}  // namespace holdfast::py
