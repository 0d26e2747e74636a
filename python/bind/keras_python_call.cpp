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

void bind_keras_calls(nb::module_& m) {
  m.def("is_model_symbol", [](nb::handle t) {
    return is_tensor(t.ptr()) && keras::is_model_symbol(tensor_of(t.ptr()));
  });
  m.def(
      "record_call",
      [](nb::handle self, nb::tuple args, nb::dict kwargs, nb::list shapes, nb::callable declared) {
        return run([&] {
          mark();
          keras::Layer& l = layer_of(self.ptr());
          std::vector<Shape> inputs;
          for (nb::handle s : shapes) inputs.push_back(shape_of(s.ptr(), "`inputs`"));
          l.name_it();
          l.build_once(inputs);
          PyRef said = called(declared.ptr());
          auto call = make_ref<PythonCall>(l, args.ptr(), kwargs.ptr());
          std::vector<Tensor> tensors = std::move(call->tensors);
          if (said.get() != Py_None)
            return given(python_from(keras::record(
                call, tensors, nested_from(said.get(), "what `compute_output_spec` gave"))));
          keras::LossesKept kept(l);
          Nested types = keras::traced_types(
              l.name(), tensors,
              [&](std::span<const Tensor> symbols) { return call->replay(symbols, {}); });
          return given(python_from(keras::record(call, tensors, types)));
        });
      },
      "A call on symbols of a layer with a `call` in Python. `declared()` says what it gives, "
      "without a run of it; None where it has to be run.");
  m.def("layer_called_at", [](nb::handle self) -> nb::object {
    return run([&]() -> nb::object {
      Where where = layer_of(self.ptr()).called_eagerly();
      return where ? given(to_dict(locate(where))) : nb::none();
    });
  });
  m.def("layer_called_on_symbol_at", [](nb::handle self) -> nb::object {
    return run([&]() -> nb::object {
      Where where = layer_of(self.ptr()).called_on_symbol();
      return where ? given(to_dict(locate(where))) : nb::none();
    });
  });
  m.def("layer_outputs", [](nb::handle self) {
    return run([&] {
      nb::list out;
      for (keras::LayerCall* call : layer_of(self.ptr()).calls())
        if (call->node) out.append(given(python_from(keras::outputs_of(*call))));
      return out;
    });
  });
  m.def("any_output", [](nb::handle self) {
    return run([&] {
      mark();
      return given(python_from(keras::any_output(layer_of(self.ptr()))));
    });
  });
  m.def("layer_call_lines", [](nb::handle self) {
    return run([&] {
      nb::list out;
      for (keras::LayerCall* call : layer_of(self.ptr()).calls())
        if (call->node) out.append(given(to_dict(locate(call->node->where))));
      return out;
    });
  });
  m.def("layer_inputs", [](nb::handle self) {
    return run([&] {
      nb::list out;
      for (keras::LayerCall* call : layer_of(self.ptr()).calls())
        if (call->node) out.append(given(python_from(call->arguments()[0])));
      return out;
    });
  });
}

}  // namespace holdfast::py
