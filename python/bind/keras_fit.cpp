// Training from Python: C++'s loops, with steps and callbacks that may be Python's.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/outputs.h"
#include "holdfast/keras/step_scope.h"
#include "holdfast/keras/training.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using keras::Callback;
using keras::Logs;
using keras::ModelLayer;
using keras::Moment;
using Kind = ModelLayer::StepKind;

struct TrainingCalls {
  Object make_step, write, is_terminal;
};
TrainingCalls& calls() {
  static auto* c = new TrainingCalls;
  return *c;
}

const char* const kSteps[] = {"train_step", "test_step", "predict_step"};

ModelLayer& model_of(PyObject* o) { return layer_of<ModelLayer>(o); }

// -- what C++ asks a Python class

bool python_step(ModelLayer& model, Kind kind, const Nested& data, Nested& out) {
  WithGil gil;
  Object own = gil ? overridable(kSteps[static_cast<size_t>(kind)]).of(model) : Object();
  if (!own) return false;
  Object batch = python_from(data);
  out =
      nested_from(called(own.get(), batch.get()).get(), cat("what `", kSteps[int(kind)], "` gave"));
  return true;
}

// The arguments of `compute_loss` and `compute_metrics`.
Object by_name(const Nested& x, const Nested& y, const Nested& y_pred, const Nested& weight) {
  Object out = Object::steal(PyDict_New());
  const std::pair<const char*, const Nested*> all[] = {
      {"x", &x}, {"y", &y}, {"y_pred", &y_pred}, {"sample_weight", &weight}};
  for (auto [name, value] : all) {
    Object item = python_from(*value);
    if (PyDict_SetItemString(out.get(), name, item.get()) < 0) throw PythonError{};
  }
  return out;
}

Object called_by_name(const Object& f, const Object& kwargs) {
  Object none = Object::steal(PyTuple_New(0));
  PyObject* out = PyObject_Call(f.get(), none.get(), kwargs.get());
  if (!out) throw nb::python_error();
  return Object::steal(out);
}

// Programs of before Keras 3 have a `compute_loss` without it.
bool takes_training(const Object& f) {
  nb::object signature = nb::module_::import_("inspect").attr("signature")(nb::handle(f.get()));
  nb::object parameters = signature.attr("parameters");
  for (nb::handle one : nb::iter(parameters.attr("values")())) {
    bool any = nb::cast<int>(one.attr("kind")) == 4;  // **kwargs
    if (any || nb::cast<std::string>(one.attr("name")) == "training") return true;
  }
  return false;
}

bool python_loss(ModelLayer& model, const Nested& x, const Nested& y, const Nested& y_pred,
                 const Nested& weight, Tensor& out) {
  WithGil gil;
  Object own = gil ? overridable("compute_loss").of(model) : Object();
  if (!own) return false;
  Object arguments = by_name(x, y, y_pred, weight);
  const keras::StepScope* step = keras::StepScope::current();
  PyObject* training = !step || step->trains() ? Py_True : Py_False;
  if (takes_training(own) && PyDict_SetItemString(arguments.get(), "training", training) < 0)
    throw PythonError{};
  Object made = called_by_name(own, arguments);
  out = convert(made.get(), DType::kInvalid, false, "what `compute_loss` gave");
  return true;
}

bool python_metrics(ModelLayer& model, const Nested& x, const Nested& y, const Nested& y_pred,
                    const Nested& weight, Nested& out) {
  WithGil gil;
  Object own = gil ? overridable("compute_metrics").of(model) : Object();
  if (!own) return false;
  out = nested_from(called_by_name(own, by_name(x, y, y_pred, weight)).get(),
                    "what `compute_metrics` gave");
  return true;
}

bool python_compile_config(const ModelLayer& model, Config& out) {
  WithGil gil;
  Object own = gil ? overridable("get_compile_config").of(model) : Object();
  if (!own) return false;
  out = config_from(called(own.get()).get(), "what `get_compile_config` gave");
  if (out.kind() == Config::Kind::kDict && out.as_dict().size() == 0) out = Config();
  return true;
}

// Metrics in what a class says that it has.
std::vector<Ref<keras::Metric>> metrics_from(const ModelLayer& model, PyObject* list) {
  std::vector<Ref<keras::Metric>> out;
  for (nb::handle one : nb::iter(list)) {
    auto* metric = object_behind<keras::Metric>(one.ptr());
    if (!metric)
      type_error(cat(model.described(), ": `metrics` has ", repr_of(one.ptr()),
                     " in it, expected metrics"),
                 "training sets each to its beginning, and tells what it says",
                 {manual_fix("derive its class from `keras.metrics.Metric`")});
    out.emplace_back(metric);
  }
  return out;
}

bool python_tracked(const ModelLayer& model, std::vector<Ref<keras::Metric>>& out) {
  WithGil gil;
  Object own = gil ? overridable("metrics").of(model) : Object();
  if (!own) return false;
  out = metrics_from(model, own.get());
  return true;
}

bool python_metrics_result(ModelLayer& model, Nested& out) {
  WithGil gil;
  Object own = gil ? overridable("get_metrics_result").of(model) : Object();
  if (!own) return false;
  out = nested_from(called(own.get()).get(), "what `get_metrics_result` gave");
  return true;
}

bool python_reset_metrics(ModelLayer& model) {
  WithGil gil;
  Object own = gil ? overridable("reset_metrics").of(model) : Object();
  if (!own) return false;
  called(own.get());
  return true;
}

// A step as Python's traced function.
class PyStep final : public keras::StepFunction {
 public:
  explicit PyStep(PyRef f) : function_(std::move(f)) {}
  Nested operator()(const Nested& batch) override {
    NeedGil gil("a step of Python's");
    PyRef data = python_from(batch);
    return nested_from(called(function_.get(), data.get()).get(), "what a step gave");
  }

 private:
  Callable function_;
};

Ref<keras::StepFunction> python_make_step(ModelLayer& model, Kind kind) {
  NeedGil gil("a step of Python's");
  Object self = python_of(model), name = text_object(kSteps[static_cast<size_t>(kind)]);
  return make_ref<PyStep>(called(calls().make_step.get(), self.get(), name.get()));
}

// -- batches that Python gives

class PySource final : public keras::BatchSource {
 public:
  PySource(nb::object source, int64_t batches)
      : begin_(method_of(source, "begin")),
        next_(method_of(source, "next_batch")),
        position_(method_of(source, "position")),
        resume_(method_of(source, "resume")),
        batches_(batches) {}
  void begin() override {
    NeedGil gil("batches of Python's");
    called(begin_.get());
  }
  bool next(Nested& batch) override {
    NeedGil gil("batches of Python's");
    PyRef got = called(next_.get());
    if (got.get() == Py_None) return false;
    batch = nested_from(got.get(), "a batch");
    return true;
  }
  int64_t batches() const override { return batches_; }
  std::optional<std::string> position() const override {
    NeedGil gil("a position among batches");
    PyRef got = called(position_.get());
    if (got.get() == Py_None) return {};
    return bytes_of(got.get());
  }
  void resume(std::string_view position) override {
    NeedGil gil("batches of Python's");
    nb::bytes bytes(position.data(), position.size());
    called(resume_.get(), bytes.ptr());
  }

 private:
  static PyRef method_of(nb::handle source, const char* name) {
    return Object::share(nb::object(source.attr(name)).ptr());
  }
  Callable begin_, next_, position_, resume_;
  int64_t batches_;
};

// Batches: of arrays `(x, y, sample_weight)`, or what Python gives.
Ref<keras::BatchSource> source_from(nb::handle o) {
  if (o.is_none()) return {};
  if (nb::hasattr(o, "next_batch")) {
    nb::object batches = o.attr("batches");
    return make_ref<PySource>(nb::borrow(o), batches.is_none() ? -1 : nb::cast<int64_t>(batches));
  }
  nb::dict d = nb::borrow<nb::dict>(o);
  auto part = [&](const char* name) {
    return nested_from(nb::handle(d[name]).ptr(), cat("`", name, "`"));
  };
  return keras::array_source(part("x"), part("y"), part("sample_weight"),
                             {.batch_size = nb::cast<int64_t>(d["batch_size"]),
                              .shuffle = nb::cast<bool>(d["shuffle"]),
                              .leave_out_last = nb::cast<double>(d["leave_out_last"]),
                              .only_last = nb::cast<bool>(d["only_last"])});
}

std::vector<Ref<Callback>> callbacks_from(nb::handle list) {
  std::vector<Ref<Callback>> out;
  for (nb::handle c : nb::borrow<nb::list>(list)) {
    auto* callback = object_behind<Callback>(c.ptr());
    if (!callback)
      type_error(cat("`callbacks` has ", repr_of(c.ptr()), " in it, expected callbacks"), "",
                 {manual_fix("derive its class from `tf.keras.callbacks.Callback`")});
    out.emplace_back(callback);
  }
  return out;
}

template <class T>
std::optional<T> maybe(nb::handle o) {
  if (o.is_none()) return {};
  return nb::cast<T>(o);
}

void compile(nb::handle model, nb::dict given) {
  ConfigDict options;
  for (auto [key, value] : given) {
    auto name = nb::cast<std::string>(key);
    options.set(name, live_config(value.ptr(), cat("`", name, "`")));
  }
  model_of(model.ptr()).compile(keras::compile_options(options));
}

// -- C methods of the types

// Predictions in the named tuple that the model's own `call` gave: a tuple like others for C++.
Object in_named_tuple(PyObject* model, Object made) {
  nb::object named = nb::getattr(model, "_named_outputs", nb::none());
  if (named.is_none() || !PyTuple_CheckExact(made.get())) return made;
  Py_ssize_t fields = PyObject_Length(nb::object(named.attr("_fields")).ptr());
  if (fields != PyTuple_GET_SIZE(made.get())) return made;
  return Object::steal(PyObject_CallObject(named.ptr(), made.get()));
}

template <Kind kind>
PyObject* own_step(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    static const char* names[] = {"data", nullptr};
    PyObject* data;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char**>(names), &data))
      return nullptr;
    mark();
    ModelLayer& model = model_of(self);
    Nested batch = nested_from(data, "`data`");
    auto* born = dynamic_cast<keras::ForeignModelBorn*>(&model);
    Nested out = born                   ? born->own_step(kind, batch)
                 : kind == Kind::kTrain ? model.train_step(batch)
                 : kind == Kind::kTest  ? model.test_step(batch)
                                        : model.predict_step(batch);
    Object made = python_from(out);
    return kind == Kind::kPredict ? in_named_tuple(self, std::move(made)).release()
                                  : made.release();
  });
}

struct LossArguments {
  Nested x, y, y_pred, weight;
};
bool loss_arguments(PyObject* args, PyObject* kwargs, LossArguments& out) {
  static const char* names[] = {"x", "y", "y_pred", "sample_weight", "training", nullptr};
  PyObject *x = Py_None, *y = Py_None, *p = Py_None, *w = Py_None, *training = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOOO", const_cast<char**>(names), &x, &y, &p,
                                   &w, &training))
    return false;
  out = {nested_from(x, "`x`"), nested_from(y, "`y`"), nested_from(p, "`y_pred`"),
         nested_from(w, "`sample_weight`")};
  return true;
}

PyObject* own_loss(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    LossArguments a;
    if (!loss_arguments(args, kwargs, a)) return nullptr;
    mark();
    ModelLayer& m = model_of(self);
    auto* born = dynamic_cast<keras::ForeignModelBorn*>(&m);
    return wrap(born ? born->own_loss(a.x, a.y, a.y_pred, a.weight)
                     : m.compute_loss(a.x, a.y, a.y_pred, a.weight));
  });
}

PyObject* own_metrics(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    LossArguments a;
    if (!loss_arguments(args, kwargs, a)) return nullptr;
    mark();
    ModelLayer& m = model_of(self);
    auto* born = dynamic_cast<keras::ForeignModelBorn*>(&m);
    return python_from(born ? born->own_metrics(a.x, a.y, a.y_pred, a.weight)
                            : m.compute_metrics(a.x, a.y, a.y_pred, a.weight))
        .release();
  });
}

PyObject* own_compile_config(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    ModelLayer& m = model_of(self);
    auto* born = dynamic_cast<keras::ForeignModelBorn*>(&m);
    Config made = born ? born->own_compile_config() : m.get_compile_config();
    return python_from(made).release();
  });
}

PyObject* own_metrics_result(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    ModelLayer& m = model_of(self);
    auto* born = dynamic_cast<keras::ForeignModelBorn*>(&m);
    return python_from(born ? born->own_metrics_result() : m.get_metrics_result()).release();
  });
}

PyObject* own_reset_metrics(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    ModelLayer& m = model_of(self);
    auto* born = dynamic_cast<keras::ForeignModelBorn*>(&m);
    if (born)
      born->own_reset_metrics();
    else
      m.reset_metrics();
    Py_RETURN_NONE;
  });
}

PyObject* own_tracked(PyObject* self, void*) {
  return method([&]() -> PyObject* {
    const ModelLayer& m = model_of(self);
    auto* born = dynamic_cast<const keras::ForeignModelBorn*>(&m);
    nb::list out;
    for (const Ref<keras::Metric>& metric : born ? born->own_tracked() : m.metrics())
      out.append(given(python_of(*metric)));
    return out.release().ptr();
  });
}

}  // namespace

PyMethodDef model_methods[] = {
    {"train_step", with_keywords(&own_step<Kind::kTrain>), METH_VARARGS | METH_KEYWORDS,
     "train_step($self, data)\n--\n\nOne step of training over a batch."},
    {"test_step", with_keywords(&own_step<Kind::kTest>), METH_VARARGS | METH_KEYWORDS,
     "test_step($self, data)\n--\n\nOne step of evaluation over a batch."},
    {"predict_step", with_keywords(&own_step<Kind::kPredict>), METH_VARARGS | METH_KEYWORDS,
     "predict_step($self, data)\n--\n\nPredictions for a batch."},
    {"compute_loss", with_keywords(&own_loss), METH_VARARGS | METH_KEYWORDS,
     "compute_loss($self, x=None, y=None, y_pred=None, sample_weight=None, training=True)\n--\n\n"
     "What training makes small."},
    {"compute_metrics", with_keywords(&own_metrics), METH_VARARGS | METH_KEYWORDS,
     "compute_metrics($self, x, y, y_pred, sample_weight=None)\n--\n\n"
     "Brings the metrics up to date, and gives them by name."},
    {"get_metrics_result", &own_metrics_result, METH_NOARGS,
     "get_metrics_result($self)\n--\n\n"
     "What the metrics say now, by the names that training tells them by."},
    {"reset_metrics", &own_reset_metrics, METH_NOARGS,
     "reset_metrics($self)\n--\n\nSets all metrics to where they begin."},
    {"get_compile_config", &own_compile_config, METH_NOARGS,
     "get_compile_config($self)\n--\n\nWhat `compile` was told, as plain values."},
    {nullptr, nullptr, 0, nullptr},
};

// A flag of a model that callbacks set.
template <bool ModelLayer::* flag>
constexpr PyGetSetDef flag_property(const char* name, const char* doc) {
  return {
      name,
      [](PyObject* o, void*) { return method([&] { return PyBool_FromLong(model_of(o).*flag); }); },
      [](PyObject* o, PyObject* v, void* its_name) {
        return setter(v, static_cast<const char*>(its_name),
                      [&] { model_of(o).*flag = truth_from(v).value_or(false); });
      },
      doc, const_cast<char*>(name)};
}

PyGetSetDef model_properties[] = {
    flag_property<&ModelLayer::stop_training>("stop_training",
                                              "Whether training ends after this batch."),
    flag_property<&ModelLayer::stop_evaluating>("stop_evaluating",
                                                "Whether evaluation ends after this batch."),
    flag_property<&ModelLayer::stop_predicting>("stop_predicting",
                                                "Whether prediction ends after this batch."),
    {"metrics", &own_tracked, nullptr,
     "The metrics that training brings up to date, the loss first; a class may say others.",
     nullptr},
    {"compiled",
     [](PyObject* o, void*) {
       return method([&] { return PyBool_FromLong(model_of(o).is_compiled()); });
     },
     nullptr, "Whether `compile` was called.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

void bind_keras_fit(nb::module_& m) {
  keras::model_hooks() = {&python_step,           &python_loss,           &python_metrics,
                          &python_make_step,      &python_compile_config, &python_tracked,
                          &python_metrics_result, &python_reset_metrics};
  bind_keras_callbacks(m);
  struct InStep {
    explicit InStep(bool changes) : trains(changes) {}
    InStep(const InStep&) = delete;
    bool trains;
    std::vector<std::unique_ptr<keras::StepScope>> open;
  };
  nb::class_<InStep>(m, "StepScope")
      .def(nb::init<bool>())
      .def("__enter__",
           [](InStep& s) { s.open.push_back(std::make_unique<keras::StepScope>(s.trains)); })
      .def("__exit__", [](InStep& s, nb::args) {
        if (!s.open.empty()) s.open.pop_back();
      });
  m.def("set_training_calls", [](nb::object make_step, nb::object write, nb::object is_terminal) {
    calls() = {Object::share(make_step.ptr()), Object::share(write.ptr()),
               Object::share(is_terminal.ptr())};
    keras::training_output() = {[](const std::string& text) {
                                  NeedGil gil("progress");
                                  Object said = text_object(text);
                                  called(calls().write.get(), said.get());
                                },
                                [] {
                                  NeedGil gil("progress");
                                  return PyObject_IsTrue(called(calls().is_terminal.get()).get()) ==
                                         1;
                                }};
  });
  m.def("model_compile", [](nb::handle model, nb::dict options) {
    run([&] {
      mark();
      compile(model, options);
      return 0;
    });
  });
  m.def(
      "model_fit",
      [](nb::handle self, nb::handle batches, nb::handle validation, nb::dict given) {
        return run([&] {
          mark();
          keras::FitOptions o;
          o.epochs = nb::cast<int64_t>(given["epochs"]);
          o.initial_epoch = nb::cast<int64_t>(given["initial_epoch"]);
          o.verbose = nb::cast<int64_t>(given["verbose"]);
          o.callbacks = callbacks_from(given["callbacks"]);
          o.steps_per_epoch = maybe<int64_t>(given["steps_per_epoch"]);
          o.validation_steps = maybe<int64_t>(given["validation_steps"]);
          nb::handle freq = given["validation_freq"];
          if (PyLong_Check(freq.ptr()))
            o.validation_freq = nb::cast<int64_t>(freq);
          else
            o.validation_epochs = nb::cast<std::vector<int64_t>>(freq);
          ModelLayer& model = model_of(self.ptr());
          Ref<keras::BatchSource> train = source_from(batches), test = source_from(validation);
          keras::History h = keras::fit(model, *train, test.get(), o);
          nb::dict history;
          for (const auto& [name, values] : h.history) history[name.c_str()] = values;
          return nb::make_tuple(h.epoch, history);
        });
      },
      "self"_a, "batches"_a, "validation"_a.none(), "options"_a);
  auto options_from = [](nb::dict given) {
    keras::EvaluateOptions o;
    o.verbose = nb::cast<int64_t>(given["verbose"]);
    o.steps = maybe<int64_t>(given["steps"]);
    o.callbacks = callbacks_from(given["callbacks"]);
    return o;
  };
  m.def("model_evaluate", [options_from](nb::handle self, nb::handle batches, nb::dict given) {
    return run([&] {
      mark();
      Ref<keras::BatchSource> source = source_from(batches);
      return py::given(
          logs_object(keras::evaluate(model_of(self.ptr()), *source, options_from(given))));
    });
  });
  m.def("model_predict", [options_from](nb::handle self, nb::handle batches, nb::dict given) {
    return run([&] {
      mark();
      Ref<keras::BatchSource> source = source_from(batches);
      return py::given(
          python_from(keras::predict(model_of(self.ptr()), *source, options_from(given))));
    });
  });
  m.def(
      "weights_by_class",
      [](nb::handle y, nb::dict weights) {
        return run([&] {
          mark();
          keras::ClassWeights list;
          for (auto [label, weight] : weights)
            list.emplace_back(nb::cast<int64_t>(label), nb::cast<double>(weight));
          return keras::weights_by_class(convert(y.ptr(), DType::kInvalid, false, "y"), list);
        });
      },
      "The weights of examples by the classes of their targets.");
  m.def(
      "metric_order",
      [](nb::handle self) {
        return run([&] {
          mark();
          std::vector<std::string> out;
          ModelLayer& model = model_of(self.ptr());
          std::vector<keras::Compiled::Told> told;
          if (model.is_compiled()) told = model.compiled().told();
          for (const Ref<keras::Metric>& one : model.metrics()) {
            auto mine = std::find_if(told.begin(), told.end(),
                                     [&](const auto& t) { return t.metric == one; });
            if (mine == told.end())
              out.push_back(one->name());
            else if (!mine->part)
              out.push_back(mine->plain);
          }
          return out;
        });
      },
      "The names of the metrics in their order, without those of outputs.");
  m.def("model_metrics", [](nb::handle self) {
    return run([&] {
      nb::list out;
      ModelLayer& model = model_of(self.ptr());
      if (model.is_compiled()) {
        model.compiled().loss_tracker();  // there from the start; others come with the first batch
        for (const Ref<keras::Metric>& metric : model.compiled().metrics())
          out.append(py::given(python_of(*metric)));
      }
      return out;
    });
  });
  m.def("metric_names_to_come", [](nb::handle self, const std::vector<std::string>& outputs) {
    return run([&] {
      // The metrics themselves are made with the first batch: which ones, its shapes tell.
      auto like = make_ref<keras::Compiled>(model_of(self.ptr()).compiled().options());
      like->prepare({}, {}, keras::ModelOutputs(outputs));
      nb::list out;
      for (const Ref<keras::Metric>& metric : like->metrics()) out.append(metric->name());
      return out;
    });
  });
  m.def("model_optimizer", [](nb::handle self) -> nb::object {
    return run([&]() -> nb::object {
      ModelLayer& model = model_of(self.ptr());
      if (!model.is_compiled() || !model.compiled().optimizer()) return nb::none();
      return py::given(python_of(*model.compiled().optimizer()));
    });
  });
}

}  // namespace holdfast::py
