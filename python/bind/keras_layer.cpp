// Python's layers: the C++ classes themselves, with one count for both languages.
#include "python/bind/keras_layer.h"

#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/keras/built_at_once.h"
#include "holdfast/keras/built_for.h"
#include "holdfast/keras/call_parameters.h"
#include "holdfast/keras/made.h"
#include "holdfast/keras/symbol.h"
#include "holdfast/keras/watching.h"
#include "holdfast/op/context.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/structure.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using keras::CallOptions;
using keras::ForeignBorn;
using keras::Layer;

// -- methods that a Python class may override are C functions of the type: what `super()` reaches

// The arguments of a call of C++'s own `call`, by position and by name.
std::pair<Nested, CallOptions> arguments_of(Layer& layer, PyObject* args, PyObject* kwargs) {
  const std::vector<std::string>& names = keras::call_parameters(layer.definition());
  Nested inputs;
  CallOptions o;
  bool given = false;
  auto take = [&](const std::string& name, PyObject* value) {
    if (name == names[0] || (name == "inputs" && !given)) {
      if (auto* other = object_behind<Layer>(value)) {
        other->name_it();
        layer.name_it();
        type_error(cat(layer.described(), " is called on ", other->described(), ", not a tensor"),
                   "a layer computes from tensors, and gives one when it is called itself",
                   {manual_fix(cat("call `", other->name(), "` on a tensor first: `", layer.name(),
                                   "(", other->name(), "(x))`"))});
      }
      inputs = nested_from(value, cat(layer.described(), ": `", names[0], "`"));
      given = true;
    } else if (name == "training") {
      o.training = truth_from(value);
    } else if (name == "mask") {
      o.mask = nested_from(value, cat(layer.described(), ": `mask`"));
    } else if (std::find(names.begin(), names.end(), name) != names.end()) {
      if (value != Py_None)
        o.named.emplace_back(name, nested_from(value, cat(layer.described(), ": `", name, "`")));
    } else {
      std::string known;
      for (const std::string& n : names)
        if (n != "training" && n != "mask") known += cat("`", n, "`, ");
      type_error(cat(layer.described(), " is called with `", name, "`, which it does not take"),
                 cat("it takes ", known, "`training` and `mask`"));
    }
  };
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  if (n > static_cast<Py_ssize_t>(names.size()))
    type_error(cat(layer.described(), " is called with ", n, " arguments by position"),
               cat("it takes ", names.size(), ": ", name_list(names)));
  for (Py_ssize_t i = 0; i < n; ++i) take(names[static_cast<size_t>(i)], PyTuple_GET_ITEM(args, i));
  PyObject *key, *value;
  for (Py_ssize_t i = 0; kwargs && PyDict_Next(kwargs, &i, &key, &value);)
    take(bytes_of(key), value);
  if (!given)
    type_error(cat(layer.described(), " is called without `", names[0], "`"), "",
               {manual_fix("give it a tensor: `layer(x)`")});
  return {std::move(inputs), std::move(o)};
}

PyObject* layer_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    Ref<Layer> keep(&layer);
    auto [inputs, o] = arguments_of(layer, args, kwargs);
    auto* born = dynamic_cast<ForeignBorn*>(&layer);
    try {
      return python_from(born ? born->own_call(inputs, o) : layer.call_all(inputs, o)).release();
    } catch (const Error& e) {
      keras::refuse_other_shapes(layer, inputs, e);
      throw;
    }
  });
}

// Refuses inputs that do not fit an `input_spec` which the program has set on a layer of ours.
void check_spec(PyObject* self, const Nested& inputs) {
  static PyObject* key = PyUnicode_InternFromString("input_spec");
  Object own = Object::steal(PyObject_GetAttrString(self, "__dict__"));
  PyObject* spec = own ? PyDict_GetItem(own.get(), key) : nullptr;
  if (spec && spec != Py_None)
    called(layer_calls().check_inputs.get(), self, spec, python_from(inputs).get());
}

// What `layer(x)` does. A class with a `call` in Python takes whatever that takes.
PyObject* layer_called(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    Ref<Layer> keep(&layer);
    if (overridable("call").overridden(self)) {
      Object named = kwargs ? Object::share(kwargs) : Object::steal(PyDict_New());
      return called(layer_calls().from_python.get(), self, args, named.get()).release();
    }
    auto [inputs, o] = arguments_of(layer, args, kwargs);
    check_spec(self, inputs);
    return python_from(layer.run(inputs, std::move(o))).release();
  });
}

std::vector<Shape> shapes_from(PyObject* o) {
  std::vector<Shape> out;
  if (PyDict_Check(o)) {  // in the order of the keys, as inputs in a dict are flattened
    Object keys = Object::steal(PyMapping_Keys(o));
    if (!keys || PyList_Sort(keys.get()) < 0) throw PythonError();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i)
      for (Shape& s : shapes_from(PyDict_GetItem(o, PyList_GET_ITEM(keys.get(), i))))
        out.push_back(std::move(s));
    return out;
  }
  bool several = PyList_Check(o) ||
                 (PyTuple_Check(o) && PyTuple_GET_SIZE(o) > 0 &&
                  (PyTuple_Check(PyTuple_GET_ITEM(o, 0)) || PyList_Check(PyTuple_GET_ITEM(o, 0))));
  if (several && PyList_Check(o) && PyList_GET_SIZE(o) > 0) {
    PyObject* first = PyList_GET_ITEM(o, 0);
    several = !(PyLong_Check(first) || first == Py_None);
  }
  if (!several) return {shape_of(o, "`input_shape`")};
  Object items = Object::steal(PySequence_Fast(o, ""));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    out.push_back(shape_of(PySequence_Fast_GET_ITEM(items.get(), i), "`input_shape`"));
  return out;
}

// One shape, or one for each argument of `call`, by position or by name.
std::vector<Shape> shape_arguments(PyObject* args, PyObject* kwargs) {
  std::vector<Shape> out;
  auto add = [&](PyObject* o) {
    if (o == Py_None) return;
    for (Shape& s : shapes_from(o)) out.push_back(std::move(s));
  };
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) add(PyTuple_GET_ITEM(args, i));
  PyObject *name, *value;
  for (Py_ssize_t i = 0; kwargs && PyDict_Next(kwargs, &i, &name, &value);) add(value);
  return out;
}

// Whether a layer that has made weights has them for these shapes, which a shape that was asked for
// has made, say. Weights that a second `build` made beside them would be trained by nobody, and be
// counted and saved all the same: for other shapes it is refused.
bool has_weights_for(const Layer& layer, const std::vector<Shape>& wanted, bool made) {
  if (!made || !layer.built() || !layer.built_for()) return false;
  const std::vector<Shape>& had = *layer.built_for();
  for (size_t i = 0; i < had.size() && i < wanted.size(); ++i) {
    const Shape &a = had[i], &b = wanted[i];
    bool fits = !a.has_rank() || !b.has_rank() || a.rank() == b.rank();
    for (int k = 1; fits && a.has_rank() && b.has_rank() && k < a.rank(); ++k)
      fits = a[k] < 0 || b[k] < 0 || a[k] == b[k];
    if (!fits)
      fail(Code::E1201,
           cat(layer.described(), " was built for ", a.text(), ", and `build` got ", b.text()),
           "`build` makes the weights, once",
           {manual_fix("make a layer of its own for the other shape")});
  }
  return true;
}

PyObject* layer_build(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    Ref<Layer> keep(&layer);
    std::vector<Shape> shapes = shape_arguments(args, kwargs);
    bool made = false;  // of its class's own
    for (const keras::Weight& w : layer.definition().weights) made |= w.get(layer).defined();
    if (has_weights_for(layer, shapes, made)) Py_RETURN_NONE;
    layer.name_it();
    // Built by another layer it is in that one's scope; alone, its weights name its own.
    const std::string around = context().name_scope;
    std::optional<NameScope> inside;
    if (!around.empty() && around != layer.name() + "/" &&
        !around.ends_with(cat("/", layer.name(), "/")))
      inside.emplace(cat(around, layer.name(), "/"));
    auto* born = dynamic_cast<ForeignBorn*>(&layer);
    std::vector<Shape> known = shapes;
    // A layer of ours that needs no shape makes its weights; one that does says what it misses.
    const bool plain = &layer.definition() == &Layer::def();
    if (known.empty() && !plain && !dynamic_cast<keras::ModelLayer*>(&layer))
      known.push_back(Shape::unknown());
    if (!known.empty()) born ? born->own_build(known) : layer.build_all(known);
    layer.set_built_for(std::move(shapes));
    keras::note_made(layer);
    Py_RETURN_NONE;
  });
}

PyObject* layer_config(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    auto* born = dynamic_cast<ForeignBorn*>(&layer);
    return python_from(born ? born->own_config() : layer.get_config()).release();
  });
}

// The shapes of tensors, as the tensors lie in lists, tuples and dicts.
Object shapes_object(const Nested& types) {
  if (types.is_tensor()) return sizes_object(types.tensor().shape());
  if (types.is_dict()) {
    Object out = Object::steal(PyDict_New());
    for (const auto& [key, value] : types.entries())
      if (PyDict_SetItemString(out.get(), key.c_str(), shapes_object(value).get()) < 0)
        throw PythonError();
    return out;
  }
  Object out = Object::steal(PyTuple_New(static_cast<Py_ssize_t>(types.size())));
  for (size_t i = 0; i < types.size(); ++i)
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), shapes_object(types[i]).release());
  return out;
}

PyObject* layer_output_shape(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    Ref<Layer> keep(&layer);
    layer.name_it();
    std::vector<Shape> shapes = shape_arguments(args, kwargs);
    if (shapes.empty())
      fail(Code::E1104, cat(layer.described(), ": `compute_output_shape` got no shape"));
    std::vector<Nested> symbols;
    for (const Shape& s : shapes)
      symbols.emplace_back(keras::symbol_of_type(layer.compute_dtype(), s));
    const std::vector<std::string>& names = layer.definition().parameters;
    bool one_each = PyTuple_GET_SIZE(args) + (kwargs ? PyDict_GET_SIZE(kwargs) : 0) > 1;
    CallOptions o;
    if (one_each && shapes.size() <= names.size())
      for (size_t i = 1; i < symbols.size(); ++i) o.named.emplace_back(names[i], symbols[i]);
    bool first_alone = symbols.size() == 1 || !o.named.empty();
    Nested inputs = first_alone ? symbols[0] : Nested::list(std::move(symbols));
    return shapes_object(keras::output_types(layer, inputs, o)).release();
  });
}

PyObject* layer_mask(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    // Keras' own layers call it either way.
    static const char* names[] = {"inputs", "previous_mask", "mask", nullptr};
    PyObject *inputs, *previous = Py_None, *mask = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$O", const_cast<char**>(names), &inputs,
                                     &previous, &mask))
      return nullptr;
    if (!mask) mask = previous;
    mark();
    Layer& layer = layer_of(self);
    Nested x = nested_from(inputs, "`inputs`"), m = nested_from(mask, "`previous_mask`");
    auto* born = dynamic_cast<ForeignBorn*>(&layer);
    return python_from(born ? born->own_mask(x, m) : layer.compute_mask(x, m)).release();
  });
}

PyObject* layer_build_config(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    auto* born = dynamic_cast<ForeignBorn*>(&layer);
    return python_from(born ? born->own_build_config() : layer.get_build_config()).release();
  });
}

PyMethodDef layer_methods[] = {
    {"call", with_keywords(&layer_call), METH_VARARGS | METH_KEYWORDS,
     "call($self, *args, **kwargs)\n--\n\nWhat a call computes; subclasses say it."},
    {"build", with_keywords(&layer_build), METH_VARARGS | METH_KEYWORDS,
     "build($self, input_shape=None)\n--\n\nMakes the weights for inputs of a shape."},
    {"get_config", &layer_config, METH_NOARGS,
     "get_config($self)\n--\n\nWhat the layer can be made from again."},
    {"get_build_config", &layer_build_config, METH_NOARGS,
     "get_build_config($self)\n--\n\nThe shapes that it was built for; None where it was not."},
    {"compute_output_shape", with_keywords(&layer_output_shape), METH_VARARGS | METH_KEYWORDS,
     "compute_output_shape($self, input_shape)\n--\n\n"
     "The shape of what a call gives for inputs of a shape."},
    {"compute_mask", with_keywords(&layer_mask), METH_VARARGS | METH_KEYWORDS,
     "compute_mask($self, inputs, previous_mask=None)\n--\n\nThe mask of what a call gives."},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* tuple_of_shapes(const std::vector<Shape>& shapes) {
  Object out = Object::steal(PyTuple_New(static_cast<Py_ssize_t>(shapes.size())));
  for (size_t i = 0; i < shapes.size(); ++i)
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), sizes_object(shapes[i]).release());
  return out.release();
}

nb::dict spec_object(const keras::InputSpec& spec) {
  nb::dict out, sizes;
  if (spec.axes >= 0) out["ndim"] = spec.axes;
  if (spec.at_least >= 0) out["min_ndim"] = spec.at_least;
  for (auto [axis, size] : spec.sizes)
    sizes[nb::int_(axis)] = size < 0 ? nb::none() : nb::cast(size);
  if (!spec.sizes.empty()) out["axes"] = sizes;
  return out;
}

PyGetSetDef layer_properties[] = {
    {"_built_for",
     [](PyObject* o, void*) {
       return method([&]() -> PyObject* {
         const auto& shapes = layer_of(o).built_for();
         if (!shapes) Py_RETURN_NONE;
         return tuple_of_shapes(*shapes);
       });
     },
     nullptr, "The shapes of the inputs that it was built for; None if it wasn't.", nullptr},
    {"_own_spec",
     [](PyObject* o, void*) {
       return method([&]() -> PyObject* {
         std::optional<keras::InputSpec> spec = layer_of(o).input_spec();
         return (spec ? nb::object(spec_object(*spec)) : nb::object(nb::none())).release().ptr();
       });
     },
     nullptr, "What its class wants of its inputs, as arguments of an `InputSpec`.", nullptr},
    {"built",
     [](PyObject* o, void*) {
       return method([&] {
         const Layer& layer = layer_of(o);
         bool at_once =
             dynamic_cast<const keras::BuiltAtOnce*>(&layer) && !overridable("build").overridden(o);
         return PyBool_FromLong(layer.built() || at_once);
       });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter(v, "built", [&] { layer_of(o).set_built(truth_from(v).value_or(false)); });
     },
     "Whether its weights are made.", nullptr},
    {"trainable",
     [](PyObject* o, void*) {
       return method([&] {
         keras::goes_by_training(layer_of(o));
         return PyBool_FromLong(layer_of(o).trainable());
       });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter(v, "trainable",
                     [&] { layer_of(o).set_trainable(truth_from(v).value_or(false)); });
     },
     "Whether training changes its weights.", nullptr},
    {"supports_masking",
     [](PyObject* o, void*) {
       return method([&] { return PyBool_FromLong(layer_of(o).supports_masking()); });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter(v, "supports_masking", [&] {
         std::optional<bool> yes = truth_from(v);  // None: what the class says
         PyObject* kept = !yes ? Py_None : *yes ? Py_True : Py_False;
         if (PyObject_SetAttrString(o, "_supports_masking", kept) < 0) throw PythonError{};
         note_change(layer_of(o));
       });
     },
     "Whether masks go through it.", nullptr},
    {"losses",
     [](PyObject* o, void*) {
       return method([&] {
         mark();
         Object out = Object::steal(PyList_New(0));
         for (const Tensor& t : layer_of(o).losses()) {
           Object one = Object::steal(wrap(t));
           if (PyList_Append(out.get(), one.get()) < 0) throw PythonError{};
         }
         return out.release();
       });
     },
     nullptr, "What was added by `add_loss` in the last call, and the penalties on weights.",
     nullptr},
    {"_policy_name",
     [](PyObject* o, void*) {
       return method([&] {
         keras::goes_by(layer_of(o));
         return text_object(layer_of(o).policy().name).release();
       });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter(v, "_policy_name", [&] {
         mark();
         layer_of(o).set_policy(keras::Policy(nb::cast<std::string>(nb::handle(v))));
       });
     },
     nullptr, nullptr},
    {"_layer_dtype",
     [](PyObject* o, void*) {
       return method([&] {
         keras::goes_by(layer_of(o));
         return Py_NewRef(dtype_object(layer_of(o).dtype()));
       });
     },
     nullptr, nullptr, nullptr},
    {"_compute_dtype",
     [](PyObject* o, void*) {
       return method([&] {
         keras::goes_by(layer_of(o));
         return Py_NewRef(dtype_object(layer_of(o).compute_dtype()));
       });
     },
     nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

std::optional<bool> truth_from(PyObject* o) {
  if (o == Py_None) return {};
  int truth = PyObject_IsTrue(o);
  if (truth < 0) throw PythonError{};
  return truth == 1;
}

// The types of layers; others derive from this one.
PyTypeObject* add_layer_type(PyObject* module) {
  return add_object_type(module, {.name = "holdfast._holdfast.LayerBase",
                                  .kind = &Layer::def().kind,
                                  .base = module_type,
                                  .methods = layer_methods,
                                  .getset = layer_properties,
                                  .make = Layer::def().make_foreign,
                                  .doc = "What every layer is.",
                                  .call = &layer_called});
}

void bind_keras_layers(nb::module_& m) {
  set_layer_hooks();
  m.def("set_layer_calls", [](nb::object build, nb::object call, nb::object mask,
                              nb::object from_python, nb::object check_inputs) {
    layer_calls() = {Object::share(build.ptr()), Object::share(call.ptr()),
                     Object::share(mask.ptr()), Object::share(from_python.ptr()),
                     Object::share(check_inputs.ptr())};
  });
  m.def(
      "add_weight",
      [](nb::handle self, const std::string& name, nb::handle shape, nb::handle dtype,
         nb::handle initializer, nb::handle regularizer, nb::handle constraint, bool trainable,
         bool autocast) {
        return run([&] {
          mark();
          keras::WeightOptions o;
          o.name = name;
          o.shape = shape_of(shape.ptr(), "`shape`");
          if (!dtype.is_none()) o.dtype = dtype_of_object(dtype.ptr());
          o.initializer.set(live_config(initializer.ptr(), "`initializer`"), "`initializer`");
          o.regularizer.set(live_config(regularizer.ptr(), "`regularizer`"), "`regularizer`");
          o.constraint.set(live_config(constraint.ptr(), "`constraint`"), "`constraint`");
          o.trainable = trainable;
          o.autocast = autocast;
          Layer& layer = layer_of(self.ptr());
          auto* born = dynamic_cast<ForeignBorn*>(&layer);
          return given(wrap_variable(born ? born->own_add_weight(o) : layer.Layer::add_weight(o)));
        });
      },
      "self"_a, "name"_a, "shape"_a.none(), "dtype"_a.none(), "initializer"_a.none(),
      "regularizer"_a.none(), "constraint"_a.none(), "trainable"_a, "autocast"_a);
  m.def("note_own_method", [](nb::handle self, const std::string& name) {
    run([&] {
      mark();
      Layer& layer = layer_of(self.ptr());
      if (!dynamic_cast<ForeignBorn*>(&layer))
        fail(Code::E1105, cat("`", name, "` of ", layer.described(), " can't be set"),
             "the layer was made by C++, which asks no Python object for its methods",
             {manual_fix(cat("give a class of your own that method, and make the layer from it"))});
      Method::ask_objects();
      layer.note_own_method();
      return 0;
    });
  });
  m.def("add_loss", [](nb::handle self, nb::handle loss) {
    run([&] {
      mark();
      layer_of(self.ptr()).add_loss(convert(loss.ptr(), DType::kInvalid, false, "losses"));
      return 0;
    });
  });
  m.def(
      "call_layer",
      [](nb::handle self, nb::handle shapes, nb::callable f, nb::handle training) {
        return run([&] {
          mark();
          Layer& l = layer_of(self.ptr());
          Ref<Layer> keep(&l);
          keras::CallScope scope(l, truth_from(training.ptr()));
          if (!l.built()) {
            std::vector<Shape> inputs;
            for (nb::handle s : nb::borrow<nb::list>(shapes))
              inputs.push_back(shape_of(s.ptr(), "`inputs`"));
            l.build_once(inputs);
          }
          return given(called(f.ptr(), truth_object(scope.training())));
        });
      },
      "self"_a, "shapes"_a, "f"_a, "training"_a.none(),
      "Calls `f(training)` as the call of a layer: built, in its name scope.");
  m.def(
      "finish_call",
      [](nb::handle self, nb::handle inputs, nb::handle mask, nb::handle outputs) {
        run([&] {
          mark();
          Layer& l = layer_of(self.ptr());
          const auto& rule = l.activity_regularizer();
          if (!rule && !l.supports_masking()) return 0;
          l.finish(nested_from(inputs.ptr(), "`inputs`"), nested_from(mask.ptr(), "`mask`"),
                   nested_from(outputs.ptr(), "what `call` gave"));
          return 0;
        });
      },
      "self"_a, "inputs"_a, "mask"_a.none(), "outputs"_a.none(),
      "What follows each call of a layer: penalties on what it gave, and its mask.");
  m.def(
      "build_layer",
      [](nb::handle self, nb::list shapes) {
        run([&] {
          mark();
          std::vector<Shape> inputs;
          for (nb::handle s : shapes) inputs.push_back(shape_of(s.ptr(), "`input_shape`"));
          layer_of(self.ptr()).build_once(inputs);
          return 0;
        });
      },
      "self"_a, "shapes"_a, "Makes a layer's weights, unless they are there.");
  m.def("is_built_for", [](nb::handle self, nb::args shapes) {
    return run([&] {
      mark();
      const Layer& layer = layer_of(self.ptr());
      bool made = !layer.variables().empty();
      return has_weights_for(layer, shape_arguments(shapes.ptr(), nullptr), made);
    });
  });
  m.def("note_built", [](nb::handle self, nb::args given) {
    run([&] {
      mark();
      Layer& layer = layer_of(self.ptr());
      std::vector<Shape> shapes = shape_arguments(given.ptr(), nullptr);
      if (!shapes.empty()) layer.set_built_for(std::move(shapes));
      layer.set_built(true);
      keras::note_made(layer);
      return 0;
    });
  });
  m.def("keras_mask", [](const Tensor& t) -> nb::object {
    Tensor mask = keras::mask_of(t);
    return mask.defined() ? nb::cast(mask) : nb::none();
  });
  m.def("reset_layer_names", [] { keras::reset_layer_names(); });
  m.def("unique_layer_name", &keras::unique_layer_name);
  m.def("global_policy", [] { return keras::global_policy().name; });
  m.def("set_global_policy", [](const std::string& name) {
    run([&] {
      mark();
      keras::set_global_policy(keras::Policy(name));
      return 0;
    });
  });
}

}  // namespace holdfast::py
