// Python's losses, schedules and optimizers: the C++ classes themselves.
#include "holdfast/base/text.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_loss.h"
#include "holdfast/keras/foreign_optimizer.h"
#include "holdfast/keras/foreign_schedule.h"
#include "holdfast/keras/losses/margin.h"
#include "holdfast/keras/metric.h"
#include "holdfast/ops/math.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/keras.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using keras::ClassDef;
using keras::Loss;
using keras::Optimizer;
using keras::Schedule;

template <class T>
T& behind(PyObject* o, const char* kind) {
  auto* found = object_behind<T>(o);
  if (!found) type_error(cat("expected ", kind, ", got ", repr_of(o)));
  return *found;
}
Loss& loss_of(PyObject* o) { return behind<Loss>(o, "a loss"); }
Schedule& schedule_of(PyObject* o) { return behind<Schedule>(o, "a schedule of learning rates"); }
Optimizer& optimizer_of(PyObject* o) { return behind<Optimizer>(o, "an optimizer"); }

// -- what every class is asked

template <class T>
bool python_config(const T& object, ConfigDict& out) {
  WithGil gil;
  Object own = gil ? overridable("get_config").of(object) : Object();
  if (!own) return false;
  Object config = called(own.get());
  out = config_from(config.get(), cat("the config of ", object.class_name())).as_dict();
  return true;
}

template <class T>
bool python_class_name(const T& object, std::string& out) {
  WithGil gil;
  if (!gil || !object.shared()) return false;
  const char* name = Py_TYPE(static_cast<PyObject*>(object.shared()))->tp_name;
  const char* dot = strrchr(name, '.');
  out = dot ? dot + 1 : name;
  return true;
}

template <class T>
bool python_registered_name(const T& object, std::string& out) {
  WithGil gil;
  if (!gil || !object.shared()) return false;
  nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(static_cast<PyObject*>(object.shared()))));
  nb::object name = nb::getattr(type, "_registered_name", nb::none());
  if (PyUnicode_Check(name.ptr())) out = bytes_of(name.ptr());
  return true;
}

template <class T, class Born>
PyObject* own_config(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    T& object = behind<T>(self, "an object of Keras");
    Ref<T> keep(&object);
    auto* born = dynamic_cast<Born*>(&object);
    return python_from(born ? born->own_config() : object.get_config()).release();
  });
}

// -- losses

bool python_loss_call(Loss& loss, const Nested& y_true, const Nested& y_pred, Tensor& out) {
  WithGil gil;
  Object own = gil ? overridable("call").of(loss) : Object();
  if (!own) return false;
  Object y = python_from(y_true), p = python_from(y_pred);
  out = convert(called(own.get(), y.get(), p.get()).get(), DType::kInvalid, false,
                "what `call` gave");
  return true;
}

bool python_loss_value(Loss& loss, const Nested& y_true, const Nested& y_pred,
                       const Tensor& sample_weight, Tensor& out) {
  WithGil gil;
  Object own = gil ? overridable("__call__").of(loss) : Object();
  if (!own) return false;
  Object y = python_from(y_true), p = python_from(y_pred);
  Object weight =
      sample_weight.defined() ? Object::steal(wrap(sample_weight)) : Object::share(Py_None);
  out = convert(called(own.get(), y.get(), p.get(), weight.get()).get(), DType::kInvalid, false,
                "what `__call__` gave");
  return true;
}

// Labels and predictions, and what else a call is given, by position and by name.
template <size_t N>
std::array<PyObject*, N> parsed(PyObject* args, PyObject* kwargs, const char* format,
                                const std::array<const char*, N + 1>& names) {
  std::array<PyObject*, N> out{};
  bool fits = [&]<size_t... I>(std::index_sequence<I...>) {
    return PyArg_ParseTupleAndKeywords(args, kwargs, format, const_cast<char**>(names.data()),
                                       &out[I]...);
  }(std::make_index_sequence<N>{});
  if (!fits) throw PythonError{};
  return out;
}

Tensor tensor_from(PyObject* o, const char* name) {
  return o && o != Py_None ? convert(o, DType::kInvalid, false, name) : Tensor();
}
MaybeIn maybe(const Tensor& t) { return t.defined() ? MaybeIn(t) : MaybeIn(); }

PyObject* loss_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Loss& loss = loss_of(self);
    Ref<Loss> keep(&loss);
    auto [y, p] = parsed<2>(args, kwargs, "OO", {"y_true", "y_pred", nullptr});
    Tensor labels = tensor_from(y, "y_true"), predictions = tensor_from(p, "y_pred");
    auto* born = dynamic_cast<keras::ForeignBornLoss*>(&loss);
    return wrap(born ? born->own_call(labels, predictions) : loss.call(labels, predictions));
  });
}

PyObject* loss_called(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Loss& loss = loss_of(self);
    Ref<Loss> keep(&loss);
    auto [y, p, w] =
        parsed<3>(args, kwargs, "OO|O", {"y_true", "y_pred", "sample_weight", nullptr});
    return wrap(loss.reduced(tensor_from(y, "y_true"), tensor_from(p, "y_pred"),
                             maybe(tensor_from(w, "sample_weight"))));
  });
}

PyMethodDef loss_methods[] = {
    {"call", with_keywords(&loss_call), METH_VARARGS | METH_KEYWORDS,
     "call($self, y_true, y_pred)\n--\n\nA loss for each example."},
    {"get_config", &own_config<Loss, keras::ForeignBornLoss>, METH_NOARGS,
     "get_config($self)\n--\n\nWhat the loss can be made from again."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef loss_properties[] = {
    {"name",
     [](PyObject* self, void*) {
       return method([&] { return text_object(loss_of(self).name()).release(); });
     },
     nullptr, "What results of it are called.", nullptr},
    {"dtype",
     [](PyObject* self, void*) {
       return method(
           [&] { return text_object(std::string(name(loss_of(self).dtype()))).release(); });
     },
     nullptr, "The dtype that it computes in.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// -- schedules

bool python_rate(Schedule& schedule, const Tensor& step, Tensor& out) {
  WithGil gil;
  if (!gil || !schedule.shared()) return false;
  auto* self = static_cast<PyObject*>(schedule.shared());
  static Object name = Object::steal(PyUnicode_InternFromString("__call__"));
  PyObject* found = _PyType_Lookup(Py_TYPE(self), name.get());
  if (!found || Py_IS_TYPE(found, &PyWrapperDescr_Type)) return false;
  Object at = Object::steal(wrap(step));
  out = convert(called(self, at.get()).get(), DType::kInvalid, false, "what the schedule gave");
  return true;
}

PyObject* schedule_called(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Schedule& schedule = schedule_of(self);
    Ref<Schedule> keep(&schedule);
    auto [step] = parsed<1>(args, kwargs, "O", {"step", nullptr});
    Tensor at = tensor_from(step, "step");
    auto* born = dynamic_cast<keras::ForeignBornSchedule*>(&schedule);
    return wrap(born ? born->own_rate(at) : schedule.rate(at));
  });
}

PyMethodDef schedule_methods[] = {
    {"get_config", &own_config<Schedule, keras::ForeignBornSchedule>, METH_NOARGS,
     "get_config($self)\n--\n\nWhat the schedule can be made from again."},
    {nullptr, nullptr, 0, nullptr},
};

// -- optimizers

bool python_update_step(Optimizer& o, const Gradient& g, const Variable& v, const Tensor& rate) {
  WithGil gil;
  Object own = gil ? overridable("update_step").of(o) : Object();
  if (!own) return false;
  Object gradient = Object::steal(wrap(g.tensor())), variable = wrap_variable(v),
         lr = Object::steal(wrap(rate));
  called(own.get(), gradient.get(), variable.get(), lr.get());
  return true;
}

// `apply` as Python's base class has it, and the optimizer whose `apply` this thread is inside of.
Object& standard_apply() {
  static auto* f = new Object;
  return *f;
}
thread_local Optimizer* applying = nullptr;

Object list_of(const std::vector<Variable>& variables) {
  Object out = Object::steal(PyList_New(0));
  for (const Variable& v : variables)
    if (PyList_Append(out.get(), wrap_variable(v).get()) < 0) throw PythonError{};
  return out;
}

// The optimizer whose `build` of Python's this thread is inside of, and whether C++ called it.
thread_local Optimizer* asked_to_build = nullptr;
thread_local Optimizer* building_itself = nullptr;

template <class T>
class Set {
 public:
  Set(T& place, T value) : place_(place), was_(place) { place = value; }
  ~Set() { place_ = was_; }
  Set(const Set&) = delete;

 private:
  T& place_;
  T was_;
};

bool python_apply(Optimizer& o, const std::vector<Gradient>& gradients,
                  const std::vector<Variable>& variables) {
  WithGil gil;
  if (!gil || !o.shared() || applying == &o) return false;
  auto* self = static_cast<PyObject*>(o.shared());
  static Object name = Object::steal(PyUnicode_InternFromString("apply"));
  Object found = Object::steal(PyObject_GetAttr(self, name.get()));
  if (!found) throw PythonError{};
  if (PyMethod_Check(found.get()) && PyMethod_GET_FUNCTION(found.get()) == standard_apply().get())
    return false;
  Set inside(applying, &o);
  Object all = Object::steal(PyList_New(0)), list = list_of(variables);
  for (const Gradient& g : gradients) {
    Object one = g.none() ? Object::share(Py_None) : Object::steal(wrap(g.tensor()));
    if (PyList_Append(all.get(), one.get()) < 0) throw PythonError{};
  }
  called(found.get(), all.get(), list.get());
  return true;
}

bool python_build(Optimizer& o, const std::vector<Variable>& variables) {
  WithGil gil;
  Object own = gil && building_itself != &o ? overridable("build").of(o) : Object();
  if (!own) return false;
  Set asked(asked_to_build, &o);
  Object list = list_of(variables);
  called(own.get(), list.get());
  return true;
}

// A class that holds several optimizers says that it has none itself.
bool python_has_rate(const Optimizer& o) {
  WithGil gil;
  if (!gil || !o.shared()) return true;
  nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(static_cast<PyObject*>(o.shared()))));
  nb::object said = nb::getattr(type, "_has_rate", nb::none());
  return said.is_none() || nb::cast<bool>(said);
}

// What `super().build(variables)` reaches, and `build` of a class that does not override it.
PyObject* optimizer_build(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    auto [variables] = parsed<1>(args, kwargs, "O", {"variables", nullptr});
    mark();
    Optimizer& o = optimizer_of(self);
    Ref<Optimizer> keep(&o);
    std::vector<Variable> all = variables_from(variables, "variables");
    auto* born = dynamic_cast<keras::ForeignBornOptimizer*>(&o);
    if (asked_to_build == &o && born) {
      born->own_make_slots(all);
    } else {
      Set alone(building_itself, &o);
      o.build(all);
    }
    Py_RETURN_NONE;
  });
}

PyObject* optimizer_update_step(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Optimizer& o = optimizer_of(self);
    Ref<Optimizer> keep(&o);
    auto [g, v, lr] =
        parsed<3>(args, kwargs, "OOO", {"gradient", "variable", "learning_rate", nullptr});
    Variable moved = variable_argument(v, "`variable`");
    Gradient gradient{tensor_from(g, "gradient")};
    Tensor rate = tensor_from(lr, "learning_rate");
    if (auto* born = dynamic_cast<keras::ForeignBornOptimizer*>(&o)) {
      born->own_update_step(gradient, moved, rate);
    } else {
      Optimizer::Step step(rate, o.updates_done());
      o.update_step(gradient, moved, step);
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef optimizer_methods[] = {
    {"build", with_keywords(&optimizer_build), METH_VARARGS | METH_KEYWORDS,
     "build($self, variables)\n--\n\nMakes what is kept for these variables."},
    {"update_step", with_keywords(&optimizer_update_step), METH_VARARGS | METH_KEYWORDS,
     "update_step($self, gradient, variable, learning_rate)\n--\n\nMoves one variable."},
    {"get_config", &own_config<Optimizer, keras::ForeignBornOptimizer>, METH_NOARGS,
     "get_config($self)\n--\n\nWhat the optimizer can be made from again."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef optimizer_properties[] = {
    {"name",
     [](PyObject* self, void*) {
       return method([&] {
         Optimizer& o = optimizer_of(self);
         o.name_it();
         return text_object(o.name()).release();
       });
     },
     nullptr, "The name that its variables stand under.", nullptr},
    {"built",
     [](PyObject* self, void*) {
       return method([&] { return PyBool_FromLong(optimizer_of(self).built()); });
     },
     nullptr, "Whether it has made what it keeps.", nullptr},
    {"iterations",
     [](PyObject* self, void*) {
       return method([&]() -> PyObject* {
         mark();
         Optimizer& o = optimizer_of(self);
         if (o.common().gradient_accumulation_steps) return wrap(o.updates_done());
         return wrap_variable(o.iterations()).release();
       });
     },
     nullptr, "How many steps were made.", nullptr},
    {"learning_rate",
     [](PyObject* self, void*) {
       return method([&]() -> PyObject* {
         mark();
         Optimizer& o = optimizer_of(self);
         Variable v = o.rate_variable();
         return v.defined() ? wrap_variable(v).release() : wrap(o.learning_rate());
       });
     },
     [](PyObject* self, PyObject* value, void*) {
       return setter(value, "learning_rate", [&] {
         mark();
         Optimizer& o = optimizer_of(self);
         keras::LearningRate to;
         if (is_tensor(value) || is_variable(value))
           to = convert(value, DType::kInvalid, false, "learning_rate").to_double();
         else
           keras::OptionType<keras::LearningRate>::set(to, live_config(value, "`learning_rate`"),
                                                       "`learning_rate`");
         o.set_learning_rate(to);
       });
     },
     "The rate of the next step: a Variable, or what a schedule says.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// A gradient: a tensor, None, or the three parts of IndexedSlices.
Gradient gradient_from(nb::handle g) {
  if (g.is_none()) return {};
  if (PyTuple_Check(g.ptr()) && PyTuple_GET_SIZE(g.ptr()) == 3) {
    auto part = [&](Py_ssize_t i, const char* name) {
      return tensor_from(PyTuple_GET_ITEM(g.ptr(), i), name);
    };
    return {{}, IndexedSlices{part(0, "values"), part(1, "indices"), part(2, "dense_shape")}};
  }
  return {tensor_from(g.ptr(), "a gradient")};
}

}  // namespace

PyTypeObject* add_metric_type(PyObject* module);

// The types of roots whose objects are called or asked in ways of their own; null for others.
PyTypeObject* add_training_type(PyObject* module, const ClassDef& def) {
  if (&def == &Loss::def())
    return add_object_type(module, {.name = "holdfast._holdfast.LossBase",
                                    .kind = &def.kind,
                                    .methods = loss_methods,
                                    .getset = loss_properties,
                                    .make = def.make_foreign,
                                    .doc = "What every loss is.",
                                    .call = &loss_called});
  if (&def == &Schedule::def())
    return add_object_type(module, {.name = "holdfast._holdfast.ScheduleBase",
                                    .kind = &def.kind,
                                    .methods = schedule_methods,
                                    .make = def.make_foreign,
                                    .doc = "A learning rate that changes from step to step.",
                                    .call = &schedule_called});
  if (&def == &Optimizer::def())
    return add_object_type(module, {.name = "holdfast._holdfast.OptimizerBase",
                                    .kind = &def.kind,
                                    .base = module_type,
                                    .methods = optimizer_methods,
                                    .getset = optimizer_properties,
                                    .make = def.make_foreign,
                                    .doc = "What every optimizer is."});
  if (&def == &keras::Metric::def()) return add_metric_type(module);
  return nullptr;
}

void bind_keras_training(nb::module_& m) {
  keras::loss_hooks() = {&python_loss_call, &python_loss_value, &python_config<Loss>,
                         &python_class_name<Loss>, &python_registered_name<Loss>};
  keras::schedule_hooks() = {&python_rate, &python_config<Schedule>, &python_class_name<Schedule>,
                             &python_registered_name<Schedule>};
  keras::optimizer_hooks() = {&python_update_step,
                              &python_apply,
                              &python_build,
                              &python_config<Optimizer>,
                              &python_class_name<Optimizer>,
                              &python_registered_name<Optimizer>,
                              &python_has_rate};
  m.def(
      "set_standard_apply", [](nb::object f) { standard_apply() = Object::share(f.ptr()); },
      "`apply` of optimizers whose class says none.");
  m.def(
      "loss_function",
      [](const std::string& path, nb::handle y_true, nb::handle y_pred, nb::dict options) {
        return run([&] {
          mark();
          const ClassDef* def = keras::find_class(path);
          ConfigDict config;
          for (auto [key, value] : options) {
            auto name = nb::cast<std::string>(key);
            config.set(name, live_config(value.ptr(), cat("`", name, "` of ", def->name)));
          }
          Ref<Loss> loss = Loss::from(keras::make_declared(*def, config), path);
          Tensor p = convert(y_pred.ptr(), DType::kInvalid, false, "y_pred");
          Tensor y = convert(y_true.ptr(), DType::kInvalid, false, "y_true");
          return loss->call(y, is_floating(p.dtype()) ? p : holdfast::cast(p, keras::floatx()));
        });
      },
      "The losses of each example, of a class by its path.");
  m.def(
      "circle_loss",
      [](nb::handle y_true, nb::handle y_pred, nb::handle labels, nb::handle embeddings,
         bool remove_diagonal, double gamma, double margin) {
        return run([&] {
          mark();
          return keras::losses::circle(
              tensor_from(y_true.ptr(), "y_true"), tensor_from(y_pred.ptr(), "y_pred"),
              {.gamma = gamma, .margin = margin, .remove_diagonal = remove_diagonal},
              {.labels = maybe(tensor_from(labels.ptr(), "ref_labels")),
               .embeddings = maybe(tensor_from(embeddings.ptr(), "ref_embeddings"))});
        });
      },
      nb::arg("y_true"), nb::arg("y_pred"), nb::arg("ref_labels").none(),
      nb::arg("ref_embeddings").none(), nb::arg("remove_diagonal"), nb::arg("gamma"),
      nb::arg("margin"), "The circle loss of each example, also against further ones.");
  m.def("apply_gradients", [](nb::handle self, nb::list gradients, nb::list variables) {
    run([&] {
      mark();
      Optimizer& o = optimizer_of(self.ptr());
      Ref<Optimizer> keep(&o);
      std::vector<Gradient> all;
      for (nb::handle g : gradients) all.push_back(gradient_from(g));
      Set inside(applying, &o);  // Python has found its own `apply` already
      o.apply(all, variables_from(variables.ptr(), "trainable_variables"));
      return 0;
    });
  });
  m.def("trained_variables", [](nb::handle self) {
    return run([&] { return given(list_of(optimizer_of(self.ptr()).trained())); });
  });
  m.def("scale_loss", [](nb::handle self, const Tensor& loss) {
    return run([&] {
      mark();
      return optimizer_of(self.ptr()).scale_loss(loss);
    });
  });
  m.def("finalize_variables", [](nb::handle self, nb::handle variables) {
    run([&] {
      mark();
      optimizer_of(self.ptr())
          .finalize_variable_values(variables_from(variables.ptr(), "var_list"));
      return 0;
    });
  });
  m.def("exclude_from_decay",
        [](nb::handle self, nb::handle variables, const std::vector<std::string>& names) {
          run([&] {
            mark();
            optimizer_of(self.ptr())
                .exclude_from_weight_decay(variables_from(variables.ptr(), "var_list"), names);
            return 0;
          });
        });
  m.def("variable_index", [](nb::handle self, nb::handle variable) {
    return run([&] {
      mark();
      return optimizer_of(self.ptr()).index_of(variable_argument(variable.ptr(), "`variable`"));
    });
  });
  m.def(
      "add_optimizer_variable",
      [](nb::handle self, const std::string& name, nb::handle shape, nb::handle initializer,
         nb::handle dtype) {
        return run([&] {
          mark();
          InterpreterScope eagerly(nullptr);
          NoTapes unseen;
          keras::InitializerOption first;
          first.set(live_config(initializer.ptr(), "`initializer`"), "`initializer`");
          DType of = dtype.is_none() ? keras::floatx() : dtype_of_object(dtype.ptr());
          Optimizer& o = optimizer_of(self.ptr());
          return given(
              wrap_variable(o.add_kept(name, (*first)(shape_of(shape.ptr(), "`shape`"), of))));
        });
      },
      "self"_a, "name"_a, "shape"_a, "initializer"_a, "dtype"_a.none());
  m.def("epsilon", &keras::epsilon);
  m.def("set_epsilon", [](double value) {
    run([&] {
      mark();
      keras::set_epsilon(value);
      return 0;
    });
  });
  m.def("floatx", [] { return std::string(name(keras::floatx())); });
  m.def("set_floatx", [](nb::handle dtype) {
    run([&] {
      mark();
      keras::set_floatx(dtype_of_object(dtype.ptr()));
      return 0;
    });
  });
}

}  // namespace holdfast::py
