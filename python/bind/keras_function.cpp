// Python's functions as activations, initializers, regularizers and constraints.
#include "holdfast/base/text.h"
#include "holdfast/keras/activations.h"
#include "holdfast/keras/foreign_loss.h"
#include "holdfast/keras/known_class.h"
#include "holdfast/keras/layer_function.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"

namespace nb = nanobind;

namespace holdfast::py {
namespace {

// Calls an initializer with a shape and the keyword `dtype`; functions of ours by name.
struct FunctionHooks {
  Object initialize, by_name;
};
FunctionHooks& function_hooks() {
  static auto* h = new FunctionHooks;
  return *h;
}

class PyFunction final : public keras::ForeignFunction, public keras::TakesNested {
 public:
  explicit PyFunction(PyRef f) : function_(std::move(f)) {}
  static const ObjectClass kClass;
  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor& see) const override { see.foreign(function_.get()); }
  PyObject* function() const { return function_.get(); }

  Tensor of(std::span<const Tensor> inputs) const override {
    NeedGil gil("a function of Python's");
    std::vector<PyRef> held;
    for (const Tensor& t : inputs) held.push_back(PyRef::steal(wrap(t)));
    return of_objects(held);
  }
  Tensor of_nested(std::span<const Nested> inputs) const override {
    NeedGil gil("a function of Python's");
    std::vector<PyRef> held;
    for (const Nested& n : inputs) held.push_back(python_from(n));
    return of_objects(held);
  }
  Tensor first_value(const Shape& shape, DType dtype) const override {
    NeedGil gil("an initializer of Python's");
    PyRef size = shape_object(shape);
    return convert(
        called(function_hooks().initialize.get(), function_.get(), size.get(), dtype_object(dtype))
            .get(),
        dtype);
  }
  Config of_values(const Config::List& arguments) const override {
    NeedGil gil("a function of Python's");
    size_t count = std::min(arguments.size(), takes());
    PyRef args = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i), python_from(arguments[i]).release());
    PyObject* out = PyObject_CallObject(function_.get(), args.get());
    if (!out) throw nb::python_error();
    return config_from(PyRef::steal(out).get(), cat("what `", name(), "` gave"));
  }
  std::string registered_name() const override {
    NeedGil gil("the name of a Python function");
    nb::handle f(function_.get());
    if (!nb::hasattr(f, "_registered_name") || f.attr("_registered_name").is_none()) return {};
    return nb::cast<std::string>(f.attr("_registered_name"));
  }
  std::string name() const override {
    NeedGil gil("the name of a Python function");
    nb::handle f(function_.get());
    if (!nb::hasattr(f, "__name__")) return repr_of(function_.get());
    auto name = nb::cast<std::string>(f.attr("__name__"));
    return name == "<lambda>" ? "lambda" : name;
  }
  // An object says it itself; a function is written by a name that is known.
  Config config() const override {
    NeedGil gil("the config of a Python function");
    nb::handle f(function_.get());
    if (nb::hasattr(f, "get_config")) return config_from(function_.get(), "a function");
    if (std::string registered = registered_name(); !registered.empty())
      return keras::function_config(registered);
    std::string called_ = name();
    if (keras::activations::find(called_)) return called_;
    if (nb::hasattr(f, "__name__") && called_ != "lambda") return keras::function_config(called_);
    fail(Code::E1105, cat("a function has no name in a config: ", repr_of(function_.get())),
         "a config is text, and names functions that are known",
         {manual_fix("define it by `def`, or give it by its name")});
  }
  std::string text() const override {
    if (WithGil gil; gil) return repr_of(function_.get());
    return "a function";
  }

 private:
  Tensor of_objects(const std::vector<PyRef>& arguments) const {
    std::vector<PyObject*> args;
    for (const PyRef& one : arguments) args.push_back(one.get());
    PyObject* out = call_python(function_.get(), args.data(), args.size());
    if (!out) throw nb::python_error();
    return convert(PyRef::steal(out).get());
  }
  // How many arguments it takes by position: one that takes fewer is given the first ones.
  size_t takes() const {
    nb::object inspect = nb::module_::import_("inspect");
    size_t out = 0;
    try {
      nb::object all = inspect.attr("signature")(nb::handle(function_.get())).attr("parameters");
      for (nb::handle p : all.attr("values")()) {
        auto kind = nb::cast<int>(p.attr("kind"));
        if (kind == 2) return SIZE_MAX;
        if (kind < 2) ++out;
      }
    } catch (nb::python_error& e) {
      if (!e.matches(PyExc_ValueError) && !e.matches(PyExc_TypeError)) throw;
      return SIZE_MAX;  // a builtin does not say
    }
    return out;
  }
  Callable function_;
};

const ObjectClass PyFunction::kClass{"PythonFunction"};

}  // namespace

Ref<keras::ForeignFunction> foreign_function(PyObject* f) {
  auto made = make_ref<PyFunction>(Object::share(f));
  // An option and the rule of a weight hold it both: as an object of Python's it is one that the
  // collector can count references to.
  python_of(*made);
  return made;
}

Object python_face(const Shared& object) {
  if (auto* stands = dynamic_cast<const keras::StandsFor*>(&object))
    return python_face(*stands->function);
  if (auto* f = dynamic_cast<const PyFunction*>(&object)) return Object::share(f->function());
  if (auto* f = dynamic_cast<const keras::LayerFunction*>(&object)) return python_of(*f->layer);
  if (auto* f = dynamic_cast<const keras::Activation*>(&object)) {
    Object name = text_object(f->config().as_text());
    return function_hooks().by_name ? called(function_hooks().by_name.get(), name.get()) : name;
  }
  if (Object stream = python_stream(object)) return stream;
  return python_of(object);
}

void bind_keras(nb::module_& m) {
  m.def("set_function_hooks", [](nb::object initialize, nb::object by_name) {
    function_hooks().initialize = Object::share(initialize.ptr());
    function_hooks().by_name = Object::share(by_name.ptr());
  });
  m.def(
      "activate",
      [](const std::string& name, nb::handle x, nb::handle options) {
        return run([&] {
          mark();
          const keras::activations::Named* f = keras::activations::named(name);
          if (!f) fail(Code::E1104, cat("there is no activation \"", name, "\""));
          Config given = config_from(options.ptr(), "options of an activation");
          return (*f)(convert(x.ptr(), DType::kInvalid, false, "x"), given.as_dict());
        });
      },
      "An activation by its name, with its options in a dict.");
  m.def(
      "activations",
      [] {
        nb::list out;
        for (const keras::activations::Named& f : keras::activations::all()) {
          nb::list options;
          for (const keras::Option& o : f.options)
            options.append(nb::make_tuple(o.name, nb::steal(python_from(f.standard(o)).release()),
                                          o.required));
          out.append(nb::make_tuple(f.name, f.doc, options));
        }
        return out;
      },
      "Names, docs and options (name, default, whether it is required) of all activations.");
  bind_keras_layers(m);
  bind_keras_calls(m);
  bind_keras_classes(m);
  bind_keras_training(m);
  bind_keras_features(m);
  bind_keras_metrics(m);
  bind_keras_models(m);
  bind_keras_views(m);
  bind_keras_fit(m);
  bind_keras_backend(m);
  bind_keras_saving(m);
}

}  // namespace holdfast::py
