#include "python/bind/config.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/known_class.h"
#include "python/bind/held.h"
#include "python/bind/keras.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

constexpr int kDeepest = 256;

std::string text_of(PyObject* o, const std::string& what) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(o, &size);
  if (!text) {
    PyErr_Clear();
    type_error(cat(what, " is ", repr_of(o), ", which is no valid text"));
  }
  return {text, static_cast<size_t>(size)};
}

struct FromPython {
  bool live = false;  // whether objects stay what they are

  Config value(PyObject* o, const std::string& what, int depth) {
    if (depth > kDeepest)
      type_error(cat("a config has more than ", kDeepest, " levels"),
                 "a config holds values, and no value holds itself");
    if (o == Py_None) return nullptr;
    if (PyBool_Check(o)) return o == Py_True;
    if (PyUnicode_Check(o)) return text_of(o, what);
    if (PyLong_Check(o) || (is_one_int(o) && !is_tensor(o))) return integer(o, what);
    if (PyFloat_Check(o)) return PyFloat_AsDouble(o);
    if (PyDict_Check(o)) return dict(o, what, depth);
    if (PyList_Check(o) || PyTuple_Check(o)) return list(o, what, depth);
    // One of a class that derives from a base alone has nothing behind it: it is a function.
    if (Shared* behind = live && is_shared(o) ? object_behind<Shared>(o) : nullptr)
      return Ref<Shared>(behind);
    if (Ref<keras::SeedSource> stream = live ? seed_stream(o) : Ref<keras::SeedSource>())
      return Ref<Shared>(stream);
    if (live && makes_functions(o)) return value(instance_of(o).get(), what, depth + 1);
    if (live && PyCallable_Check(o) && !named(o)) return Ref<Shared>(foreign_function(o));
    // A model of calls has a class of its own in configs, which C++ knows.
    if (auto* layer = object_behind<keras::Layer>(o)) return Config(keras::serialize(*layer));
    if (PyObject_HasAttrString(o, "get_config")) return object(o, what, depth);
    bool plain_name = PyObject_HasAttrString(o, "__name__") && !PyType_Check(o) && !named(o);
    if (plain_name && PyCallable_Check(o)) return function(o, what);
    if (PyObject_HasAttrString(o, "__fspath__")) {
      Object path = Object::steal(PyOS_FSPath(o));
      if (!path) throw PythonError{};
      return text_of(path.get(), what);
    }
    // A number of NumPy's, or a dtype, which is known by its name.
    if (Object text = named(o)) return text_of(text.get(), what);
    if (const char* kind = array_kind(o)) return array(o, kind, what, depth);
    if (!is_tensor(o) && PyNumber_Check(o)) {
      double d = PyFloat_AsDouble(o);
      if (!PyErr_Occurred()) return d;
      PyErr_Clear();
    }
    type_error(cat(what, " is ", repr_of(o),
                   ", expected None, a bool, a number, a text, a list, a dict, or an object with a "
                   "`get_config`"));
  }

 private:
  // Whether it is a class of losses, metrics or the like: Keras makes one of it.
  static bool makes_functions(PyObject* o) {
    if (!PyType_Check(o)) return false;
    nb::object keras = nb::module_::import_("holdfast.keras");
    for (const char* base : {"Loss", "Metric", "Initializer", "Regularizer"})
      if (PyObject_IsSubclass(o, nb::object(keras.attr(base)).ptr()) == 1) return true;
    nb::object constraint = keras.attr("constraints").attr("Constraint");
    return PyObject_IsSubclass(o, constraint.ptr()) == 1;
  }
  static Object instance_of(PyObject* type) {
    Object made = Object::steal(PyObject_CallNoArgs(type));
    if (!made) throw PythonError{};
    return made;
  }

  static Config integer(PyObject* o, const std::string& what) {
    Object index = Object::steal(PyNumber_Index(o));
    int64_t n = PyLong_AsLongLong(index.get());
    if (n == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      type_error(cat(what, " is ", repr_of(o), ", expected an integer of at most 64 bits"));
    }
    return n;
  }

  Config list(PyObject* o, const std::string& what, int depth) {
    Config::List out;
    Object items = Object::steal(PySequence_Fast(o, ""));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
      out.push_back(value(PySequence_Fast_GET_ITEM(items.get(), i),
                          cat(what, "[", static_cast<int64_t>(i), "]"), depth + 1));
    return out;
  }

  Config dict(PyObject* o, const std::string& what, int depth) {
    return Config::described(entries(o, what, depth));
  }

  ConfigDict entries(PyObject* o, const std::string& what, int depth) {
    ConfigDict out;
    Object copy = Object::steal(PyDict_Copy(o));  // reading a value may run the program's code
    PyObject *key, *item;
    for (Py_ssize_t i = 0; PyDict_Next(copy.get(), &i, &key, &item);) {
      if (!PyUnicode_Check(key)) type_error(cat(what, " has the key ", repr_of(key), ", no text"));
      std::string name = text_of(key, what);
      out.set(name, value(item, cat(what, "[\"", name, "\"]"), depth + 1));
    }
    return out;
  }

  Config object(PyObject* o, const std::string& what, int depth) {
    Object config = Object::steal(PyObject_CallMethod(o, "get_config", nullptr));
    if (!PyDict_Check(config.get()))
      type_error(cat(what, ": `get_config` gave ", repr_of(config.get()), ", expected a dict"));
    nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(o)));
    ConfigObject out{
        nb::cast<std::string>(type.attr("__name__")), entries(config.get(), what, depth + 1), {}};
    nb::object registered = nb::getattr(type, "_registered_name", nb::none());
    if (PyUnicode_Check(registered.ptr())) out.registered_name = text_of(registered.ptr(), what);
    // A loss and a metric may share a name: the folder tells them apart.
    auto* declared =
        dynamic_cast<keras::Declared*>(is_shared(o) ? object_behind<Shared>(o) : nullptr);
    if (declared && out.registered_name.empty() && declared->definition().name == out.class_name)
      out.more.set("module", keras::module_path(declared->definition()));
    return out;
  }

  // How Keras' files say what an array is; null for what is none.
  static const char* array_kind(PyObject* o) {
    if (is_tensor(o)) return PyObject_HasAttrString(o, "numpy") ? "__tensor__" : nullptr;
    // A memoryview and an `array.array` have lists of their elements, but no dtype.
    bool numpy = PyObject_HasAttrString(o, "tolist") && PyObject_HasAttrString(o, "dtype");
    return numpy ? "__numpy__" : nullptr;
  }

  Config array(PyObject* o, const char* kind, const std::string& what, int depth) {
    nb::object numbers = nb::borrow(o);
    if (is_tensor(o)) numbers = numbers.attr("numpy")();
    nb::object plain = numbers.attr("tolist")();
    if (!PyList_Check(plain.ptr())) return value(plain.ptr(), what, depth + 1);
    nb::object named = nb::steal(PyObject_Str(nb::object(numbers.attr("dtype")).ptr()));
    std::string dtype = text_of(named.ptr(), what);
    return ConfigObject{
        kind, {{"value", value(plain.ptr(), what, depth + 1)}, {"dtype", dtype}}, {}};
  }

  static Config function(PyObject* o, const std::string& what) {
    nb::handle f(o);
    nb::object name = nb::getattr(f, "_registered_name", f.attr("__name__"));
    std::string text = text_of(name.ptr(), what);
    if (text == "<lambda>")
      fail(Code::E1105, cat(what, " is a lambda, which has no name in a config"),
           "a config holds a function's name alone", {manual_fix("define it by `def`")});
    return keras::function_config(text);
  }

  static Object named(PyObject* o) {
    if (is_tensor(o) || PyType_Check(o) || !PyObject_HasAttrString(o, "as_numpy_dtype")) return {};
    Object name = Object::steal(PyObject_GetAttrString(o, "name"));
    return PyUnicode_Check(name.get()) ? name : Object();
  }
};

void put(PyObject* dict, const std::string& key, const Object& value) {
  if (PyDict_SetItemString(dict, key.c_str(), value.get()) < 0) throw PythonError{};
}

// A Python class, as what makes objects of a config.
registry::Maker maker_of(nb::handle type) {
  auto held = make_ref<Held>(Object::share(type.ptr()));
  return [held](const ConfigDict& config) -> Ref<Shared> {
    NeedGil gil("a class of Python's");
    Object class_ = held->get(), dict = python_from(config);
    Object make = Object::steal(PyObject_GetAttrString(class_.get(), "from_config"));
    Object made = called(make.get(), dict.get());
    if (auto* object = object_behind<Shared>(made.get())) return Ref<Shared>(object);
    if (PyCallable_Check(made.get())) return Ref<Shared>(foreign_function(made.get()));
    type_error(cat("`from_config` of ", repr_of(class_.get()), " gave ", repr_of(made.get()),
                   ", expected a layer or a function"));
  };
}

}  // namespace

Config config_from(PyObject* value, const std::string& what) {
  return FromPython().value(value, what, 0);
}

Config live_config(PyObject* value, const std::string& what) {
  return FromPython{.live = true}.value(value, what, 0);
}

Object python_from(const ConfigDict& config) {
  Object out = Object::steal(PyDict_New());
  for (const auto& [key, value] : config) put(out.get(), key, python_from(value));
  return out;
}

Object python_from(const Config& config) {
  switch (config.kind()) {
    case Config::Kind::kNull: return Object::share(Py_None);
    case Config::Kind::kBool: return Object::share(config.as_bool() ? Py_True : Py_False);
    case Config::Kind::kInteger: return Object::steal(PyLong_FromLongLong(config.as_integer()));
    case Config::Kind::kNumber: return Object::steal(PyFloat_FromDouble(config.as_number()));
    case Config::Kind::kText: return text_object(config.as_text());
    case Config::Kind::kList: {
      Object out = Object::steal(PyList_New(0));
      for (const Config& one : config.as_list()) {
        Object item = python_from(one);
        if (PyList_Append(out.get(), item.get()) < 0) throw PythonError{};
      }
      return out;
    }
    case Config::Kind::kDict: return python_from(config.as_dict());
    case Config::Kind::kObject: {
      return python_from(keras::spelled(config.as_object()));
    }
    case Config::Kind::kLive: return python_face(*config.live());
  }
  return Object::share(Py_None);
}

void bind_config(nb::module_& m) {
  m.def(
      "config_to_json",
      [](nb::handle value, int indent) {
        return run([&] {
          mark();
          return config_from(value.ptr()).to_json(indent);
        });
      },
      "value"_a.none(), "indent"_a = -1);
  m.def("config_from_json", [](const std::string& text) {
    return run([&] {
      mark();
      return given(python_from(Config::from_json(text)));
    });
  });
  m.def(
      "plain_config",
      [](nb::handle value) {
        return run([&] {
          mark();
          return given(python_from(config_from(value.ptr())));
        });
      },
      "value"_a.none(), "A config of plain values: what JSON can say.");
  m.def(
      "register_class",
      [](const std::string& name, nb::handle type) {
        run([&] {
          registry::add_class(name, maker_of(type), true);
          return 0;
        });
      },
      "Makes a Python class known under a name, for reading configs.");
  m.def("make_object", [](nb::handle described) {
    return run([&] {
      mark();
      Config config = config_from(described.ptr());
      const ConfigObject& object = config.as_object("the config of an object");
      keras::need_class(object);
      return given(python_of(*registry::make_object(object)));
    });
  });
}

}  // namespace holdfast::py
