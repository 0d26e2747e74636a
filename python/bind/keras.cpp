// Python's layers: the C++ classes themselves, with one count for both languages.
#include "holdfast/autodiff/tape.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/function.h"
#include "holdfast/keras/layers/dense.h"
#include "holdfast/keras/sequential.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "python/bind/call.h"
#include "python/bind/config.h"
#include "python/bind/in_python.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using keras::CallOptions;
using keras::Layer;
using keras::SequentialLayer;
using keras::layers::DenseLayer;

Method& build_method() {
  static auto* m = new Method("build");
  return *m;
}
Method& call_method() {
  static auto* m = new Method("call");
  return *m;
}
Method& config_method() {
  static auto* m = new Method("get_config");
  return *m;
}

// Calls a layer's Python `call` with the arguments that it takes; set by the package.
Object& call_hook() {
  static auto* f = new Object;
  return *f;
}

// Calls an initializer with a shape and the keyword `dtype`.
Object& initializer_hook() {
  static auto* f = new Object;
  return *f;
}

/// What `super()` reaches from a layer's Python class.
class PythonLayer {
 public:
  virtual ~PythonLayer() = default;
  virtual void own_build(const Shape&) = 0;
  virtual Tensor own_call(const Tensor&, const CallOptions&) = 0;
  virtual ConfigDict own_config() const = 0;
};

/// A layer of class L that Python made.
template <class L>
class LayerInPython final : public ModuleInPython<L>, public PythonLayer {
 public:
  void build(const Shape& inputs) override {
    if (WithGil gil; gil)
      if (Object own = build_method().of(*this)) {
        Object shape = shape_object(inputs);
        called(own.get(), shape.get());
        return;
      }
    L::build(inputs);
  }
  Tensor call(const Tensor& inputs, const CallOptions& o) override {
    if (WithGil gil; gil)
      if (Object own = call_method().of(*this)) {
        Object x = Object::steal(wrap(inputs));
        PyObject* training = !o.training ? Py_None : *o.training ? Py_True : Py_False;
        Object y = called(call_hook().get(), own.get(), x.get(), training);
        if (!is_tensor(y.get()))
          type_error(
              cat(this->described(), ": `call` gave ", repr_of(y.get()), ", expected a tensor"),
              "C++ code called the layer, and goes on with what it gave");
        return tensor_of(y.get());
      }
    return L::call(inputs, o);
  }
  ConfigDict get_config() const override {
    if (WithGil gil; gil)
      if (Object own = config_method().of(*this)) {
        Object config = called(own.get());
        return config_from(config.get(), cat("the config of ", class_name())).as_dict();
      }
    return L::get_config();
  }
  std::string class_name() const override {
    if (WithGil gil; gil && this->shared()) {
      const char* name = Py_TYPE(static_cast<PyObject*>(this->shared()))->tp_name;
      const char* dot = strrchr(name, '.');
      return dot ? dot + 1 : name;
    }
    return L::class_name();
  }
  std::string registered_name() const override {
    WithGil gil;
    if (!gil || !this->shared()) return {};
    nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(static_cast<PyObject*>(this->shared()))));
    nb::object name = nb::getattr(type, "_registered_name", nb::none());
    return PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8(name.ptr()) : "";
  }
  void own_build(const Shape& inputs) override { L::build(inputs); }
  Tensor own_call(const Tensor& x, const CallOptions& o) override { return L::call(x, o); }
  ConfigDict own_config() const override { return L::get_config(); }
};

class PyActivation final : public keras::Activation {
 public:
  explicit PyActivation(PyRef f) : function_(std::move(f)) {}
  void visit(Visitor& see) const override { see.foreign(function_.get()); }
  Tensor operator()(const Tensor& x) const override {
    NeedGil gil("an activation of Python's");
    PyRef in = PyRef::steal(wrap(x));
    return convert(called(function_.get(), in.get()).get());
  }
  Config config() const override {
    NeedGil gil("the name of a Python activation");
    nb::handle f(function_.get());
    try {
      if (nb::hasattr(f, "__name__"))
        return keras::activation(nb::cast<std::string>(f.attr("__name__")))->config();
    } catch (const Error&) {  // none of ours has that name
    }
    fail(Code::E1105, cat("an activation has no name in a config: ", repr_of(function_.get())),
         "a config is text, and names activations that are known",
         {manual_fix("give the activation by its name")});
  }
  PyObject* function() const { return function_.get(); }

 private:
  Callable function_;
};

class PyInitializer final : public keras::Initializer {
 public:
  explicit PyInitializer(PyRef f) : function_(std::move(f)) {}
  void visit(Visitor& see) const override { see.foreign(function_.get()); }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    NeedGil gil("an initializer of Python's");
    PyRef size = shape_object(shape);
    return convert(
        called(initializer_hook().get(), function_.get(), size.get(), dtype_object(dtype)).get(),
        dtype);
  }
  Config config() const override {
    NeedGil gil("the config of a Python initializer");
    return config_from(function_.get(), "an initializer");
  }

 private:
  Callable function_;
};

keras::ActivationOption activation_from(nb::handle o) {
  if (o.is_none()) return {};
  if (PyUnicode_Check(o.ptr())) return keras::activation(PyUnicode_AsUTF8(o.ptr()));
  if (!PyCallable_Check(o.ptr()))
    type_error(cat("`activation` is ", repr_of(o.ptr()), ", expected a name or a function"));
  return Ref<keras::Activation>(make_ref<PyActivation>(Object::share(o.ptr())));
}

Ref<keras::Initializer> initializer_from(nb::handle o, const char* what) {
  if (o.is_none()) return {};
  if (PyUnicode_Check(o.ptr()) || PyDict_Check(o.ptr()))
    return keras::initializer(config_from(o.ptr(), cat("`", what, "`")));
  if (!PyCallable_Check(o.ptr()))
    type_error(cat("`", what, "` is ", repr_of(o.ptr()), ", expected a name or a function"));
  return make_ref<PyInitializer>(Object::share(o.ptr()));
}

template <class L = Layer>
L& layer_of(nb::handle o) {
  auto* layer = object_behind<L>(o.ptr());
  if (!layer) type_error(cat("expected a layer, got ", repr_of(o.ptr())));
  return *layer;
}

std::optional<bool> training_from(nb::handle o) {
  if (o.is_none()) return {};
  int truth = PyObject_IsTrue(o.ptr());
  if (truth < 0) throw PythonError{};
  return truth == 1;
}

// -- methods that a Python class may override are C functions of the type

PyObject* layer_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    static const char* names[] = {"inputs", "training", nullptr};
    PyObject *inputs, *training = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", const_cast<char**>(names), &inputs,
                                     &training))
      return nullptr;
    mark();
    Layer& layer = layer_of(self);
    Tensor x = convert(inputs, DType::kInvalid, false, "inputs");
    CallOptions o{training_from(training)};
    auto* python = dynamic_cast<PythonLayer*>(&layer);
    return wrap(python ? python->own_call(x, o) : layer.call(x, o));
  });
}

PyObject* layer_build(PyObject* self, PyObject* shape) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    Shape inputs = shape_of(shape, "`input_shape`");
    auto* python = dynamic_cast<PythonLayer*>(&layer);
    python ? python->own_build(inputs) : layer.build(inputs);
    layer.set_built_for(inputs);
    Py_RETURN_NONE;
  });
}

PyObject* layer_config(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    Layer& layer = layer_of(self);
    auto* python = dynamic_cast<PythonLayer*>(&layer);
    return python_from(python ? python->own_config() : layer.get_config()).release();
  });
}

PyMethodDef layer_methods[] = {
    {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&layer_call)),
     METH_VARARGS | METH_KEYWORDS, "What a call computes; subclasses say it."},
    {"build", &layer_build, METH_O, "Makes the weights for inputs of a shape."},
    {"get_config", &layer_config, METH_NOARGS, "What the layer can be made from again."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef layer_properties[] = {
    {"_built_for",
     [](PyObject* o, void*) {
       return method([&]() -> PyObject* {
         const auto& shape = layer_of(o).built_for();
         if (!shape) Py_RETURN_NONE;
         return PyTuple_Pack(1, sizes_object(*shape).get());
       });
     },
     nullptr,
     "The sizes of the inputs that it was built for, in a tuple of one; None if it wasn't.",
     nullptr},
    {"built",
     [](PyObject* o, void*) {
       return method([&] { return PyBool_FromLong(layer_of(o).built()); });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter([&] { layer_of(o).set_built(v && PyObject_IsTrue(v) == 1); });
     },
     "Whether its weights are made.", nullptr},
    {"trainable",
     [](PyObject* o, void*) {
       return method([&] { return PyBool_FromLong(layer_of(o).trainable()); });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter([&] { layer_of(o).set_trainable(v && PyObject_IsTrue(v) == 1); });
     },
     "Whether training changes its weights.", nullptr},
    {"_layer_dtype",
     [](PyObject* o, void*) {
       return method([&] { return Py_NewRef(dtype_object(layer_of(o).dtype())); });
     },
     nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyObject* weight(PyObject* o, const Variable& v, const char* name) {
  if (v.defined()) return wrap_variable(v).release();
  PyErr_Format(PyExc_AttributeError, "the %s has no `%s`: it is not built yet, or has none",
               layer_of(o).described().c_str(), name);
  throw PythonError{};
}

PyGetSetDef dense_properties[] = {
    {"kernel",
     [](PyObject* o, void*) {
       return method([&] { return weight(o, layer_of<DenseLayer>(o).kernel(), "kernel"); });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter([&] { layer_of<DenseLayer>(o).set_kernel(v ? variable_of(v) : Variable()); });
     },
     "The matrix that inputs are multiplied with.", nullptr},
    {"bias",
     [](PyObject* o, void*) {
       return method([&]() -> PyObject* {
         auto& layer = layer_of<DenseLayer>(o);
         if (!layer.options().use_bias) Py_RETURN_NONE;
         return weight(o, layer.bias(), "bias");
       });
     },
     [](PyObject* o, PyObject* v, void*) {
       return setter([&] {
         layer_of<DenseLayer>(o).set_bias(v && v != Py_None ? variable_of(v) : Variable());
       });
     },
     "What is added; None if there is none.", nullptr},
    {"units",
     [](PyObject* o, void*) {
       return method([&] { return PyLong_FromLongLong(layer_of<DenseLayer>(o).options().units); });
     },
     nullptr, "The size of the last axis of what it gives.", nullptr},
    {"use_bias",
     [](PyObject* o, void*) {
       return method([&] { return PyBool_FromLong(layer_of<DenseLayer>(o).options().use_bias); });
     },
     nullptr, "Whether a bias is added.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <class L>
Ref<Shared> make_layer() {
  return Ref<Shared>(make_ref<LayerInPython<L>>());
}

// Trains a layer by plain descent on squared errors. The loop is C++'s and runs without the GIL: a
// step is traced once, through the layer's Python `call` if it has one.
std::vector<float> train_steps(Layer& layer, const Tensor& x, const Tensor& y, int64_t steps,
                               float rate) {
  WithoutGil without;
  keras::AnyLayer model{Ref<Layer>(&layer)};
  model(x);
  auto step = function([&](Tensor inputs, Tensor targets) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(inputs, {.training = true}) - targets));
    auto weights = model->trainable_variables();
    auto slopes = tape.gradients({loss}, {weights.begin(), weights.end()});
    for (size_t i = 0; i < weights.size(); ++i)
      if (!slopes[i].none()) weights[i].assign_sub(slopes[i].tensor() * rate);
    return loss;
  });
  std::vector<float> losses;
  for (int64_t i = 0; i < steps; ++i) losses.push_back(step(x, y).item<float>());
  return losses;
}

}  // namespace

void bind_keras(nb::module_& m) {
  PyTypeObject* layer = add_object_type(m.ptr(), {.name = "holdfast._holdfast.LayerBase",
                                                  .kind = &Layer::kClass,
                                                  .base = module_type,
                                                  .methods = layer_methods,
                                                  .getset = layer_properties,
                                                  .make = &make_layer<Layer>,
                                                  .doc = "What every layer is."});
  add_object_type(m.ptr(), {.name = "holdfast._holdfast.DenseBase",
                            .kind = &DenseLayer::kClass,
                            .base = layer,
                            .getset = dense_properties,
                            .make = &make_layer<DenseLayer>,
                            .doc = "A product with a matrix, a bias, an activation."});
  add_object_type(m.ptr(), {.name = "holdfast._holdfast.SequentialBase",
                            .kind = &SequentialLayer::kClass,
                            .base = layer,
                            .make = &make_layer<SequentialLayer>,
                            .doc = "Layers one after the other."});
  m.def("set_layer_calls", [](nb::object call, nb::object initializer) {
    call_hook() = Object::share(call.ptr());
    initializer_hook() = Object::share(initializer.ptr());
  });
  m.def(
      "layer_options",
      [](nb::handle self, const std::string& name, bool trainable, nb::handle dtype) {
        run([&] {
          mark();
          Layer& l = layer_of(self);
          l.set_options({name, trainable, dtype_of_object(dtype.ptr())});
          l.name_it();
          return 0;
        });
      },
      "self"_a, "name"_a, "trainable"_a, "dtype"_a);
  m.def(
      "dense_options",
      [](nb::handle self, int64_t units, nb::handle activation, bool use_bias,
         nb::handle kernel_initializer, nb::handle bias_initializer, nb::handle kernel_constraint,
         nb::handle bias_constraint, const std::string& name, bool trainable, nb::handle dtype) {
        run([&] {
          mark();
          keras::layers::DenseOptions o;
          o.units = units;
          o.activation = activation_from(activation);
          o.use_bias = use_bias;
          if (auto f = initializer_from(kernel_initializer, "kernel_initializer"))
            o.kernel_initializer = f;
          if (auto f = initializer_from(bias_initializer, "bias_initializer"))
            o.bias_initializer = f;
          o.kernel_constraint = constraint_of(kernel_constraint.ptr());
          o.bias_constraint = constraint_of(bias_constraint.ptr());
          o.name = name;
          o.trainable = trainable;
          o.dtype = dtype_of_object(dtype.ptr());
          auto& l = layer_of<DenseLayer>(self);
          l.configure(o);
          l.name_it();
          return 0;
        });
      },
      "self"_a, "units"_a, "activation"_a.none(), "use_bias"_a, "kernel_initializer"_a.none(),
      "bias_initializer"_a.none(), "kernel_constraint"_a.none(), "bias_constraint"_a.none(),
      "name"_a, "trainable"_a, "dtype"_a);
  m.def(
      "dense_activation",
      [](nb::handle self) -> nb::object {
        return run([&]() -> nb::object {
          const auto& f = layer_of<DenseLayer>(self).options().activation.function;
          if (!f) return nb::none();
          if (auto* python = dynamic_cast<PyActivation*>(f.get()))
            return nb::borrow(python->function());
          return given(python_from(f->config()));
        });
      },
      "The function, or the name, of a Dense's activation.");
  m.def(
      "add_weight",
      [](nb::handle self, const std::string& name, nb::handle shape, nb::handle dtype,
         nb::handle initializer, bool trainable, nb::handle constraint) {
        return run([&] {
          mark();
          keras::WeightOptions o;
          o.name = name;
          o.shape = shape_of(shape.ptr(), "`shape`");
          if (!dtype.is_none()) o.dtype = dtype_of_object(dtype.ptr());
          if (auto f = initializer_from(initializer, "initializer"))
            o.initializer = keras::InitializerOption(f);
          o.trainable = trainable;
          o.constraint = constraint_of(constraint.ptr());
          return given(wrap_variable(layer_of(self).add_weight(std::move(o))));
        });
      },
      "self"_a, "name"_a, "shape"_a.none(), "dtype"_a.none(), "initializer"_a.none(), "trainable"_a,
      "constraint"_a.none());
  m.def(
      "call_layer",
      [](nb::handle self, nb::handle shape, nb::callable f, nb::handle training) {
        return run([&] {
          mark();
          Layer& l = layer_of(self);
          Ref<Layer> keep(&l);
          keras::CallScope scope(l, training_from(training));
          l.build_once(shape_of(shape.ptr(), "`inputs`"));
          auto now = scope.training();
          return given(called(f.ptr(), !now ? Py_None : *now ? Py_True : Py_False));
        });
      },
      "self"_a, "shape"_a.none(), "f"_a, "training"_a.none(),
      "Calls `f(training)` as the call of a layer: built, in its name scope.");
  m.def(
      "build_layer",
      [](nb::handle self, nb::handle shape) {
        run([&] {
          mark();
          layer_of(self).build_once(shape_of(shape.ptr(), "`input_shape`"));
          return 0;
        });
      },
      "self"_a, "shape"_a.none(), "Makes a layer's weights, unless they are there.");
  m.def("sequential_add", [](nb::handle self, nb::handle added) {
    run([&] {
      mark();
      layer_of<SequentialLayer>(self).add(keras::AnyLayer(Ref<Layer>(&layer_of(added))));
      return 0;
    });
  });
  m.def("sequential_layers", [](nb::handle self) {
    return run([&] {
      nb::list out;
      for (const Ref<Layer>& l : layer_of<SequentialLayer>(self).layers())
        out.append(given(python_of(*l)));
      return out;
    });
  });
  m.def("train_steps",
        [](nb::handle trained, const Tensor& x, const Tensor& y, int64_t steps, float rate) {
          return run([&] { return train_steps(layer_of(trained), x, y, steps, rate); });
        });
}

}  // namespace holdfast::py
