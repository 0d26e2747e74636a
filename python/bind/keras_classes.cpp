// Python's types for all declared classes of Keras.
#include "holdfast/base/text.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/layer_function.h"
#include "holdfast/keras/loss.h"
#include "holdfast/keras/made.h"
#include "holdfast/keras/optimizer.h"
#include "holdfast/keras/watching.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/keras.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

PyTypeObject* add_layer_type(PyObject* module);
extern PyMethodDef model_methods[];
extern PyGetSetDef model_properties[];
PyMethodDef* callback_methods();
PyTypeObject* add_training_type(PyObject* module, const keras::ClassDef& def);

namespace {

using keras::ClassDef;
using keras::Declared;
using keras::Option;

Declared& declared_of(PyObject* o) {
  auto* d = object_behind<Declared>(o);
  if (!d) type_error(cat("expected an object of Keras, got ", repr_of(o)));
  return *d;
}

// Python's name of a type, which lives as long as the type.
const char* type_name(const ClassDef& def) {
  std::string name = cat("holdfast._holdfast.", def.path, "Base");
  return (new std::string(std::move(name)))->c_str();
}

// -- calls of objects that are functions

// Of a class of Python's that derives from the base alone, and leaves out what it is for.
[[noreturn]] void has_no_call(PyObject* self) {
  fail(Code::E1105, cat(repr_of(self), " has no `__call__`"),
       "its class derives from the base of its kind, which does not say what is computed",
       {manual_fix("define `__call__` in the class")});
}

PyObject* call_initializer(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    static const char* names[] = {"shape", "dtype", nullptr};
    PyObject *shape, *dtype = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", const_cast<char**>(names), &shape,
                                     &dtype))
      return nullptr;
    mark();
    auto* make = object_behind<keras::Initializer>(self);
    if (!make) has_no_call(self);
    DType of = dtype == Py_None ? keras::floatx() : dtype_of_object(dtype);
    return wrap((*make)(shape_of(shape, "`shape`"), of));
  });
}

template <class F>
PyObject* call_rule(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    static const char* names[] = {"x", nullptr};
    PyObject* x;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char**>(names), &x))
      return nullptr;
    mark();
    auto* rule = object_behind<F>(self);
    if (rule) return wrap((*rule)(convert(x, DType::kInvalid, false, "x")));
    // A constraint that says nothing lets every value be.
    if constexpr (std::is_same_v<F, Constraint>) return Py_NewRef(x);
    has_no_call(self);
  });
}

ternaryfunc call_of(const ClassDef& def) {
  if (def.path.starts_with("initializers.")) return &call_initializer;
  if (def.path.starts_with("regularizers.")) return &call_rule<keras::Regularizer>;
  if (def.path.starts_with("constraints.")) return &call_rule<Constraint>;
  return nullptr;
}

PyObject* config_of(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    // A class of Python's that derives from the base alone has no options that C++ knows.
    if (!object_behind<Declared>(self)) return PyDict_New();
    return python_from(keras::declared_config(declared_of(self))).release();
  });
}

PyMethodDef plain_methods[] = {
    {"get_config", &config_of, METH_NOARGS,
     "get_config($self)\n--\n\nWhat the object can be made from again."},
    {nullptr, nullptr, 0, nullptr},
};

// What the type itself has; others are inherited.
PyMethodDef* methods_of(const ClassDef& def) {
  if (&def == &keras::ModelLayer::def()) return model_methods;
  if (&def == &keras::Callback::def()) return callback_methods();
  return def.base ? nullptr : plain_methods;
}

std::unordered_map<const ClassDef*, PyTypeObject*>& types() {
  static auto* all = new std::unordered_map<const ClassDef*, PyTypeObject*>;
  return *all;
}

PyTypeObject* type_of_class(PyObject* module, const ClassDef& def) {
  auto it = types().find(&def);
  if (it != types().end()) return it->second;
  PyTypeObject* made = nullptr;
  if (&def == &keras::Layer::def()) {
    made = add_layer_type(module);
  } else if (PyTypeObject* root = add_training_type(module, def)) {
    made = root;
  } else {
    PyTypeObject* base = def.base ? type_of_class(module, *def.base) : nullptr;
    auto make = def.make_foreign ? def.make_foreign : def.make;
    made = add_object_type(
        module, {.name = type_name(def),
                 .kind = &def.kind,
                 .base = base,
                 .methods = methods_of(def),
                 .getset = &def == &keras::ModelLayer::def() ? model_properties : nullptr,
                 .make = make,
                 .doc = def.doc.c_str(),
                 .call = base ? nullptr : call_of(def)});
  }
  return types()[&def] = made;
}

nb::object described(const ClassDef& def, PyTypeObject* type) {
  nb::dict out;
  out["path"] = def.path;
  out["name"] = def.name;
  out["doc"] = def.doc;
  out["base"] = def.base ? nb::cast(def.base->path) : nb::none();
  out["type"] = nb::borrow(reinterpret_cast<PyObject*>(type));
  out["aliases"] = nb::cast(def.aliases);
  out["short_names"] = nb::cast(def.short_names);
  out["by_position"] = std::min(def.by_position, def.options.size());
  out["abstract"] = def.make == nullptr;
  nb::list options, weights;
  Ref<Shared> fresh = def.make ? def.make() : Ref<Shared>();
  auto* declared = dynamic_cast<Declared*>(fresh.get());
  for (const Option& o : def.options) {
    nb::object value = nb::none();
    if (declared && !o.required) {
      Config v = o.get(declared->option_place());
      // Defaults are shown as configs write them: "glorot_uniform".
      Config plain = v.live() ? keras::described(*v.live()) : v;
      if (plain.kind() == Config::Kind::kObject)
        plain = Config(keras::snake_case(plain.as_object().class_name));
      if (plain.kind() == Config::Kind::kText && plain.as_text().empty()) plain = Config();
      if (std::string_view(o.name) == "dtype") plain = Config();
      value = given(python_from(plain));
    }
    options.append(nb::make_tuple(o.name, value, o.required));
  }
  for (const keras::Weight& w : def.weights) weights.append(w.name);
  nb::list properties, actions;
  for (const keras::Property& p : def.properties) properties.append(p.name);
  for (const keras::Action& a : def.actions) actions.append(a.name);
  out["properties"] = properties;
  out["actions"] = actions;
  out["options"] = options;
  out["weights"] = weights;
  return out;
}

// An option of an object that is at work already; it stays as it was where that is refused.
void set_later(Declared& object, const ClassDef& def, const std::string& name,
               const Config& value) {
  const keras::Option* option = def.find(name);
  Config before = option ? option->get(object.option_place()) : Config();
  keras::set_option(object, def, name, value);
  // Others read their options where they lie; these have made something of them.
  auto* layer = dynamic_cast<keras::Layer*>(&object);
  if (!layer && !dynamic_cast<keras::Optimizer*>(&object) && !dynamic_cast<keras::Loss*>(&object))
    return;
  try {
    if (layer)
      layer->hold_given_layers();
    else
      object.configured();
  } catch (...) {
    keras::set_option(object, def, name, before);
    throw;
  }
}

// A weight is a Variable or not there: nothing else has a path, takes part in training, is saved.
Variable weight_from(PyObject* value, const Declared& object, const std::string& name) {
  if (value == Py_None) return {};
  if (is_variable(value)) return variable_of(value);
  auto* layer = dynamic_cast<const keras::Layer*>(&object);
  std::string whose = layer ? cat("layer `", layer->name(), "` (", object.definition().name, ")")
                            : object.definition().name;
  type_error(cat("`", name, "` of ", whose, " is ", is_tensor(value) ? "a tensor" : repr_of(value),
                 ", expected a Variable"),
             "a weight is trained, saved and counted, which only a Variable can be",
             {manual_fix(cat("give its Variable another value: `layer.", name, ".assign(...)`")),
              manual_fix("or compute with the tensor in `call` of a layer of your own, where "
                         "gradients go on to what it was made from")});
}

std::atomic<bool> some_frozen = false;  // whether a program has ever said it of a variable

}  // namespace

void bind_keras_classes(nb::module_& m) {
  keras::set_frozen_listener([](const Variable& v) {
    if (WithGil gil; gil) {
      Object done =
          Object::steal(PyObject_CallMethod(wrap_variable(v).get(), "_freeze", "O", Py_True));
    }
  });
  keras::set_frozen_question([](const VariableState& v) {
    if (!some_frozen || !v.shared()) return false;
    WithGil gil;
    if (!gil) return false;
    PyObject* said = PyObject_GetAttrString(static_cast<PyObject*>(v.shared()), "_frozen");
    if (!said) PyErr_Clear();  // a variable that is not Keras'
    bool frozen = said == Py_True;
    Py_XDECREF(said);
    return frozen;
  });
  m.def("note_frozen", [](nb::handle variable) {
    some_frozen = true;
    note_change(*variable_of(variable.ptr()).state());
  });
  m.def("goes_by_trainable",
        [](nb::handle variable) { keras::goes_by_training(variable_of(variable.ptr())); });
  // Named constraints are constraints of variables too.
  for (ClassDef* def : std::vector<ClassDef*>(keras::all_classes())) type_of_class(m.ptr(), *def);
  m.def("keras_classes", [] {
    nb::list out;
    for (ClassDef* def : keras::all_classes()) out.append(described(*def, types().at(def)));
    return out;
  });
  m.def(
      "keras_configure",
      [](nb::handle self, nb::dict options) {
        run([&] {
          mark();
          Declared& object = declared_of(self.ptr());
          const ClassDef& def = object.definition();
          for (auto [key, value] : options) {
            auto name = nb::cast<std::string>(key);
            keras::set_option(object, def, name,
                              live_config(value.ptr(), cat("`", name, "` of ", def.name)));
          }
          object.configured();
          if (auto* layer = object_behind<keras::Layer>(self.ptr())) layer->name_it();
          return 0;
        });
      },
      "Gives an object its options.");
  m.def(
      "keras_is_declared",
      [](nb::handle self) { return object_behind<Declared>(self.ptr()) != nullptr; },
      "Whether an object has options that C++ knows: not one of a class of Python's that derives "
      "from the base of its kind alone.");
  m.def(
      "keras_attribute",
      [](nb::handle self, const std::string& name) -> nb::object {
        return run([&]() -> nb::object {
          Declared& object = declared_of(self.ptr());
          if (WatchRecord::current()) keras::goes_by(*object_behind<Shared>(self.ptr()));
          const ClassDef& def = object.definition();
          for (const keras::Weight& w : def.weights)
            if (name == w.name) {
              const Variable& v = w.get(*object_behind<Shared>(self.ptr()));
              return v.defined() ? given(wrap_variable(v)) : nb::none();
            }
          for (const ClassDef* of = &def; of; of = of->base)
            for (const keras::Property& p : of->properties)
              if (name == p.name)
                return given(python_from(p.get(*object_behind<Shared>(self.ptr()))));
          const Option* o = def.find(name);
          if (!o) throw nb::attribute_error(name.c_str());
          Config value = o->get(object.option_place());
          // No activation is one that changes nothing.
          if (Config said = o->written(object.option_place());
              value.is_null() && said.kind() == Config::Kind::kText)
            value = keras::named_function("activations", said.as_text());
          return given(python_from(value));
        });
      },
      "An option, or a weight, of an object.");
  m.def(
      "keras_action",
      [](nb::handle self, const std::string& name) {
        run([&] {
          mark();
          for (const ClassDef* def = &declared_of(self.ptr()).definition(); def; def = def->base)
            for (const keras::Action& a : def->actions)
              if (name == a.name) {
                a.run(*object_behind<Shared>(self.ptr()));
                return 0;
              }
          throw nb::attribute_error(name.c_str());
        });
      },
      "Runs a method of C++'s that takes and gives nothing.");
  m.def(
      "set_keras_attribute",
      [](nb::handle self, const std::string& name, nb::handle value) {
        run([&] {
          mark();
          Declared& object = declared_of(self.ptr());
          const ClassDef& def = object.definition();
          for (const keras::Weight& w : def.weights)
            if (name == w.name) {
              w.set(*object_behind<Shared>(self.ptr()), weight_from(value.ptr(), object, name));
              return 0;
            }
          set_later(object, def, name, live_config(value.ptr(), cat("`", name, "` of ", def.name)));
          return 0;
        });
      },
      "self"_a, "name"_a, "value"_a.none());
  m.def(
      "keras_object",
      [](nb::handle value, const std::string& folder, const std::string& what) -> nb::object {
        return run([&]() -> nb::object {
          mark();
          Ref<Shared> made = keras::object_from(live_config(value.ptr(), what), folder, what);
          return made ? given(python_face(*made)) : nb::none();
        });
      },
      "value"_a.none(), "folder"_a, "what"_a, "The object of a name, of a config, or itself.");
}

}  // namespace holdfast::py
