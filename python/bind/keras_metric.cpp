// Python's metrics: the C++ classes themselves.
#include "holdfast/base/text.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/keras/metrics/mean.h"
#include "holdfast/keras/watching.h"
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
using keras::ForeignBornMetric;
using keras::Metric;

Metric& metric_of(PyObject* o) {
  auto* found = object_behind<Metric>(o);
  if (!found) type_error(cat("expected a metric, got ", repr_of(o)));
  return *found;
}

// Mean and Sum are given values in place of labels and predictions.
bool takes_values(const Metric& m) {
  return dynamic_cast<const keras::metrics::MeanMetric*>(&m) ||
         dynamic_cast<const keras::metrics::SumMetric*>(&m);
}

// -- what C++ asks a Python class

bool python_update(Metric& m, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) {
  WithGil gil;
  Object own = gil ? overridable("update_state").of(m) : Object();
  if (!own) return false;
  Object args = Object::steal(PyList_New(0)), named = Object::steal(PyDict_New());
  for (const Tensor* t : {&y_true, &y_pred})
    if (t->defined() && PyList_Append(args.get(), Object::steal(wrap(*t)).get()) < 0)
      throw PythonError{};
  if (weight.defined() &&
      PyDict_SetItemString(named.get(), "sample_weight", Object::steal(wrap(weight)).get()) < 0)
    throw PythonError{};
  Object tuple = Object::steal(PyList_AsTuple(args.get()));
  Object done = Object::steal(PyObject_Call(own.get(), tuple.get(), named.get()));
  if (!done) throw nb::python_error();
  return true;
}

bool python_result(Metric& m, Nested& out) {
  WithGil gil;
  Object own = gil ? overridable("result").of(m) : Object();
  if (!own) return false;
  out = nested_from(called(own.get()).get(), cat(m.described(), ": what `result` gave"));
  return true;
}

bool python_reset(Metric& m) {
  WithGil gil;
  Object own = gil ? overridable("reset_state").of(m) : Object();
  if (!own) return false;
  called(own.get());
  return true;
}

bool python_config(const Metric& m, ConfigDict& out) {
  WithGil gil;
  Object own = gil ? overridable("get_config").of(m) : Object();
  if (!own) return false;
  Object config = called(own.get());
  out = config_from(config.get(), cat("the config of ", m.class_name())).as_dict();
  return true;
}

// Keras' classes say it by `_direction`, and so may those of programs.
bool python_rises(const Metric& m, bool& out) {
  WithGil gil;
  if (!gil || !m.shared()) return false;
  nb::object said =
      nb::getattr(nb::handle(static_cast<PyObject*>(m.shared())), "_direction", nb::none());
  if (!nb::isinstance<nb::str>(said)) return false;
  out = nb::cast<std::string>(said) == "up";
  return true;
}

bool python_class_name(const Metric& m, std::string& out) {
  WithGil gil;
  if (!gil || !m.shared()) return false;
  const char* name = Py_TYPE(static_cast<PyObject*>(m.shared()))->tp_name;
  const char* dot = strrchr(name, '.');
  out = dot ? dot + 1 : name;
  return true;
}

bool python_registered_name(const Metric& m, std::string& out) {
  WithGil gil;
  if (!gil || !m.shared()) return false;
  nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(static_cast<PyObject*>(m.shared()))));
  nb::object name = nb::getattr(type, "_registered_name", nb::none());
  if (PyUnicode_Check(name.ptr())) out = bytes_of(name.ptr());
  return true;
}

// -- what `super()` reaches

PyObject* metric_update(PyObject* self, PyObject* args, PyObject* kwargs) {
  return method([&]() -> PyObject* {
    mark();
    Metric& m = metric_of(self);
    Ref<Metric> keep(&m);
    static const char* of_values[] = {"values", "sample_weight", nullptr};
    static const char* of_labels[] = {"y_true", "y_pred", "sample_weight", nullptr};
    PyObject *y = nullptr, *p = nullptr, *w = nullptr;
    bool values = takes_values(m);
    if (values ? !PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", const_cast<char**>(of_values),
                                              &y, &w)
               : !PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O", const_cast<char**>(of_labels),
                                              &y, &p, &w))
      throw PythonError{};
    auto given_as = [](PyObject* o, const char* name) {
      return o && o != Py_None ? convert(o, DType::kInvalid, false, name) : Tensor();
    };
    Tensor labels = given_as(y, values ? "values" : "y_true"), predictions = given_as(p, "y_pred"),
           weight = given_as(w, "sample_weight");
    if (!labels.defined() || (!values && !predictions.defined()))
      type_error(cat(m.described(), ": `update_state` got None, expected a tensor"));
    keras::goes_by(m);
    if (auto* born = dynamic_cast<ForeignBornMetric*>(&m))
      born->own_update(labels, predictions, weight);
    else
      m.update_state(labels, predictions, weight);
    Py_RETURN_NONE;
  });
}

PyObject* metric_result(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    Metric& m = metric_of(self);
    Ref<Metric> keep(&m);
    keras::goes_by(m);
    auto* born = dynamic_cast<ForeignBornMetric*>(&m);
    return python_from(born ? born->own_result() : m.result()).release();
  });
}

PyObject* metric_reset(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    Metric& m = metric_of(self);
    Ref<Metric> keep(&m);
    if (auto* born = dynamic_cast<ForeignBornMetric*>(&m))
      born->own_reset();
    else
      m.reset_state();
    Py_RETURN_NONE;
  });
}

PyObject* metric_config(PyObject* self, PyObject*) {
  return method([&]() -> PyObject* {
    mark();
    Metric& m = metric_of(self);
    Ref<Metric> keep(&m);
    auto* born = dynamic_cast<ForeignBornMetric*>(&m);
    return python_from(born ? born->own_config() : m.get_config()).release();
  });
}

PyMethodDef metric_methods[] = {
    {"update_state", with_keywords(&metric_update), METH_VARARGS | METH_KEYWORDS,
     "update_state($self, *args, **kwargs)\n--\n\nTakes a batch in."},
    {"result", &metric_result, METH_NOARGS,
     "result($self)\n--\n\nWhat all batches since `reset_state` say."},
    {"reset_state", &metric_reset, METH_NOARGS, "reset_state($self)\n--\n\nBegins anew."},
    {"get_config", &metric_config, METH_NOARGS,
     "get_config($self)\n--\n\nWhat the metric can be made from again."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef metric_properties[] = {
    {"name",
     [](PyObject* self, void*) {
       return method([&] {
         Metric& m = metric_of(self);
         m.name_it();
         return text_object(m.name()).release();
       });
     },
     nullptr, "What results of it are called.", nullptr},
    {"dtype",
     [](PyObject* self, void*) {
       return method(
           [&] { return text_object(std::string(name(metric_of(self).dtype()))).release(); });
     },
     nullptr, "The dtype that it gathers in.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

PyTypeObject* add_metric_type(PyObject* module) {
  const ClassDef& def = Metric::def();
  return add_object_type(module, {.name = "holdfast._holdfast.MetricBase",
                                  .kind = &def.kind,
                                  .base = module_type,
                                  .methods = metric_methods,
                                  .getset = metric_properties,
                                  .make = def.make_foreign,
                                  .doc = "What every metric is."});
}

void bind_keras_metrics(nb::module_& m) {
  keras::metric_hooks() = {&python_update, &python_result,     &python_reset,
                           &python_config, &python_class_name, &python_registered_name,
                           &python_rises};
  m.def(
      "add_metric_variable",
      [](nb::handle self, const std::string& name, nb::handle shape, nb::handle initializer,
         nb::handle dtype) {
        return run([&] {
          mark();
          keras::InitializerOption first;
          first.set(live_config(initializer.ptr(), "`initializer`"), "`initializer`");
          DType of = dtype.is_none() ? DType::kInvalid : dtype_of_object(dtype.ptr());
          return given(
              wrap_variable(metric_of(self.ptr())
                                .add_variable(shape_of(shape.ptr(), "`shape`"), first, name, of)));
        });
      },
      "self"_a, "name"_a, "shape"_a, "initializer"_a, "dtype"_a.none());
  m.def(
      "metric_values",
      [](const std::string& path, nb::handle y_true, nb::handle y_pred, nb::dict options) {
        return run([&] {
          mark();
          const ClassDef* def = keras::find_class(path);
          ConfigDict config;
          for (auto [key, value] : options) {
            auto name = nb::cast<std::string>(key);
            config.set(name, live_config(value.ptr(), cat("`", name, "` of ", def->name)));
          }
          Ref<Shared> made = keras::make_declared(*def, config);
          return dynamic_cast<keras::MeanOfValues&>(*made).values(
              convert(y_true.ptr(), DType::kInvalid, false, "y_true"),
              convert(y_pred.ptr(), DType::kInvalid, false, "y_pred"));
        });
      },
      "What a metric averages, for each example.");
}

}  // namespace holdfast::py
