// Callbacks that are Python's, or have a face there: what they are told, and what `super()`
// reaches.
#include "holdfast/base/text.h"
#include "holdfast/keras/callbacks.h"
#include "holdfast/keras/model.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

using keras::Logs;

namespace {

Object array_of(const Tensor& numbers) {
  return Object::steal(PyObject_CallMethod(Object::steal(wrap(numbers)).get(), "numpy", nullptr));
}

}  // namespace

Object logs_object(const Logs& logs) {
  Object out = Object::steal(PyDict_New());
  auto add = [&](const std::string& name, const Object& value) {
    if (!value || PyDict_SetItemString(out.get(), name.c_str(), value.get()) < 0)
      throw PythonError{};
  };
  logs.each([&](const std::string& name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>)
      add(name, Object::steal(PyFloat_FromDouble(value)));
    else
      add(name, array_of(value));
  });
  if (logs.outputs) add("outputs", python_from(*logs.outputs));
  return out;
}

namespace {

using keras::Callback;
using keras::ModelLayer;
using keras::Moment;

const char* const kMomentNames[] = {
    "on_train_begin",         "on_train_end",        "on_epoch_begin",   "on_epoch_end",
    "on_train_batch_begin",   "on_train_batch_end",  "on_test_begin",    "on_test_end",
    "on_test_batch_begin",    "on_test_batch_end",   "on_predict_begin", "on_predict_end",
    "on_predict_batch_begin", "on_predict_batch_end"};

// What a callback does at a moment: what its class says, or what the program put on the object.
struct MomentMethod {
  explicit MomentMethod(const char* of) : method(of), name(of) {}
  Object of(const Callback& callback) {
    if (Object own = on_object(callback)) return own;
    return method.of(callback);
  }
  bool overridden(const Callback& callback) {
    return on_object(callback) || method.overridden(static_cast<PyObject*>(callback.shared()));
  }

 private:
  Object on_object(const Callback& callback) const {
    auto* self = static_cast<PyObject*>(callback.shared());
    PyObject** dict = self ? _PyObject_GetDictPtr(self) : nullptr;
    PyObject* found = dict && *dict ? PyDict_GetItemString(*dict, name) : nullptr;
    return found ? Object::share(found) : Object();
  }
  Method method;
  const char* name;
};
MomentMethod& moment_method(Moment m) {
  static auto* all = [] {
    auto* list = new std::vector<MomentMethod>;
    for (const char* name : kMomentNames) list->emplace_back(name);
    return list;
  }();
  return (*all)[static_cast<size_t>(m)];
}
// What `on_train_batch_begin` and `on_train_batch_end` call, by an older name; null for others.
MomentMethod* older_method(Moment m) {
  static auto* begin = new MomentMethod("on_batch_begin");
  static auto* end = new MomentMethod("on_batch_end");
  return m == Moment::kTrainBatchBegin ? begin : m == Moment::kTrainBatchEnd ? end : nullptr;
}

bool is_numbered(Moment m) {
  return is_batch(m) || m == Moment::kEpochBegin || m == Moment::kEpochEnd;
}

// Callbacks may add numbers for those that come after them.
void read_back(PyObject* dict, Logs& logs) {
  PyObject *key, *value;
  for (Py_ssize_t i = 0; PyDict_Next(dict, &i, &key, &value);) {
    if (!PyUnicode_Check(key)) continue;
    double number = PyFloat_AsDouble(value);
    if (!PyErr_Occurred()) {
      logs.set(bytes_of(key), number);
      continue;
    }
    PyErr_Clear();
    bool numbers = is_array(value) && array_kind(value).leaf != Leaf::kText &&
                   array_kind(value).dtype != DType::kInvalid;
    if (numbers) logs.set(bytes_of(key), from_array(value));
  }
}

bool python_tell(Callback& callback, Moment moment, int64_t index, Logs& logs) {
  NeedGil gil("a callback of Python's");
  Object own = moment_method(moment).of(callback);
  if (MomentMethod* older = own ? nullptr : older_method(moment)) own = older->of(callback);
  if (!own) return false;
  Object dict = logs_object(logs), number = Object::steal(PyLong_FromLongLong(index));
  if (is_numbered(moment))
    called(own.get(), number.get(), dict.get());
  else
    called(own.get(), dict.get());
  read_back(dict.get(), logs);
  return true;
}

bool python_wants(const Callback& callback, Moment moment, bool& out) {
  NeedGil gil("a callback of Python's");
  MomentMethod* older = older_method(moment);
  out = callback.shared() &&
        (moment_method(moment).overridden(callback) || (older && older->overridden(callback)));
  return true;
}

void python_begin(Callback& callback, ModelLayer* model, const keras::TrainingPlan& plan) {
  NeedGil gil("a callback of Python's");
  Object self = python_of(callback), face = python_of(*model);
  nb::dict params;
  params["epochs"] = plan.epochs;
  params["steps"] = plan.steps < 0 ? nb::none() : nb::cast(plan.steps);
  params["verbose"] = plan.verbose;
  nb::handle(self.get()).attr("set_model")(nb::borrow(face.get()));
  nb::handle(self.get()).attr("set_params")(params);
}

// The model and the plan of a callback that a program calls itself, for the time of the call.
class Told {
 public:
  Told(Callback& callback, PyObject* self) : callback_(callback) {
    if (callback.has_model()) return;
    nb::handle face(self);
    nb::object model = face.attr("model"), params = face.attr("params");
    auto* behind = model.is_none() ? nullptr : object_behind<ModelLayer>(model.ptr());
    if (!behind) return;
    keras::TrainingPlan plan;
    auto number = [&](const char* name, int64_t& out) {
      if (params.is_none() || !nb::cast<bool>(params.attr("__contains__")(name))) return;
      nb::object value = params[name];
      if (PyLong_Check(value.ptr())) out = nb::cast<int64_t>(value);
    };
    number("epochs", plan.epochs);
    number("steps", plan.steps);
    number("verbose", plan.verbose);
    keep_ = Ref<ModelLayer>(behind);
    callback_.Callback::begin(behind, plan);
  }
  ~Told() {
    if (keep_) callback_.Callback::begin(nullptr, {});
  }
  Told(const Told&) = delete;

 private:
  Callback& callback_;
  Ref<ModelLayer> keep_;
};

PyObject* nothing(PyObject*, PyObject*, PyObject*) { Py_RETURN_NONE; }

// What a callback's class of C++'s does at a moment: `super().on_epoch_end(epoch, logs)`.
template <size_t at>
PyObject* own_moment(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr auto moment = static_cast<Moment>(at);
  return method([&]() -> PyObject* {
    bool numbered = is_numbered(moment);
    const char* first =
        moment == Moment::kEpochBegin || moment == Moment::kEpochEnd ? "epoch" : "batch";
    const char* names[] = {numbered ? first : "logs", numbered ? "logs" : nullptr, nullptr};
    PyObject *index = nullptr, *logs = Py_None;
    bool fits = numbered ? PyArg_ParseTupleAndKeywords(args, kwargs, "O|O",
                                                       const_cast<char**>(names), &index, &logs)
                         : PyArg_ParseTupleAndKeywords(args, kwargs, "|O",
                                                       const_cast<char**>(names), &logs);
    if (!fits) return nullptr;
    auto& callback = *object_behind<Callback>(self);
    Ref<Callback> keep(&callback);
    Told told(callback, self);
    int64_t number = index ? PyLong_AsLongLong(index) : 0;
    if (number == -1 && PyErr_Occurred()) return nullptr;
    Logs numbers;
    if (PyDict_Check(logs)) read_back(logs, numbers);
    auto* born = dynamic_cast<keras::ForeignCallbackBorn*>(&callback);
    if (born)
      born->own_tell(moment, number, numbers);
    else
      callback.tell(moment, number, numbers);
    if (PyDict_Check(logs)) {
      Object changed = logs_object(numbers);
      if (PyDict_Update(logs, changed.get()) < 0) return nullptr;
    }
    if (MomentMethod* older = older_method(moment))
      if (Object own = older->of(callback)) called(own.get(), index, logs);
    Py_RETURN_NONE;
  });
}

template <size_t... at>
std::vector<PyMethodDef> moment_methods(std::index_sequence<at...>) {
  return {
      {kMomentNames[at], with_keywords(&own_moment<at>), METH_VARARGS | METH_KEYWORDS, nullptr}...};
}

}  // namespace

PyMethodDef* callback_methods() {
  static auto* all = [] {
    auto* list =
        new std::vector<PyMethodDef>(moment_methods(std::make_index_sequence<keras::kMoments>{}));
    for (const char* name : {"on_batch_begin", "on_batch_end"})
      list->push_back({name, with_keywords(&nothing), METH_VARARGS | METH_KEYWORDS, nullptr});
    static auto* docs = new std::vector<std::string>;
    docs->reserve(list->size());
    for (PyMethodDef& m : *list) {
      std::string_view moment = m.ml_name;
      const char* of = moment.find("epoch") != moment.npos   ? "epoch, "
                       : moment.find("batch") != moment.npos ? "batch, "
                                                             : "";
      docs->push_back(
          cat(m.ml_name, "($self, ", of, "logs=None)\n--\n\nIs called at that moment."));
      m.ml_doc = docs->back().c_str();
    }
    list->push_back({nullptr, nullptr, 0, nullptr});
    return list;
  }();
  return all->data();
}

void bind_keras_callbacks(nb::module_& m) {
  keras::callback_hooks() = {&python_tell, &python_wants, &python_begin};
  m.def("callback_history", [](nb::handle self) {
    return run([&] {
      auto* recorder = object_behind<keras::HistoryCallback>(self.ptr());
      if (!recorder) type_error(cat("expected a History, got ", repr_of(self.ptr())));
      nb::dict out;
      for (const auto& [name, values] : recorder->history.history) out[name.c_str()] = values;
      for (const auto& [name, values] : recorder->history.arrays) {
        nb::list epochs;
        for (const Tensor& t : values) epochs.append(given(array_of(t)));
        out[name.c_str()] = epochs;
      }
      return out;
    });
  });
  m.def("set_callback_wait", [](nb::handle self, int64_t epochs) {
    run([&] {
      PyObject* callback = self.ptr();
      if (auto* stop = object_behind<keras::EarlyStoppingCallback>(callback))
        stop->set_wait(epochs);
      else if (auto* plateau = object_behind<keras::ReduceLROnPlateauCallback>(callback))
        plateau->set_wait(epochs);
      else
        type_error(cat("expected a callback that waits, got ", repr_of(self.ptr())));
      return 0;
    });
  });
  m.def(
      "set_callback_best",
      [](nb::handle self, std::optional<double> value) {
        run([&] {
          PyObject* callback = self.ptr();
          if (auto* stop = object_behind<keras::EarlyStoppingCallback>(callback))
            stop->set_best(value);
          else if (auto* plateau = object_behind<keras::ReduceLROnPlateauCallback>(callback))
            plateau->set_best(value);
          else if (auto* saved = object_behind<keras::ModelCheckpointCallback>(callback))
            saved->set_best(value);
          else
            type_error(cat("expected a callback that watches a number, got ", repr_of(self.ptr())));
          return 0;
        });
      },
      "self"_a, "value"_a.none());
}

}  // namespace holdfast::py
