// The extension module holdfast._holdfast.
#include "holdfast/base/diagnostic_log.h"
#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array/asked_device.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/config.h"
#include "python/bind/dlpack.h"
#include "python/bind/in_python.h"
#include "python/bind/keras.h"
#include "python/bind/nb.h"
#include "python/bind/traced.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

// Runs `f` with the GIL and without disturbing an exception that is being handled; not once Python
// has ended.
template <class F>
void quietly(F&& f) noexcept {
  WithGil gil;
  if (!gil) return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  try {
    f();
  } catch (const PythonError&) {
    PyErr_Clear();
  } catch (nb::python_error& e) {
    e.restore();
    PyErr_Clear();
  }
  PyErr_Restore(type, value, trace);
}

OperandSource operand(const Tensor& t, int position) noexcept {
  OperandSource out;
  quietly([&] {
    if (!hooks().operand) return;
    Object tensor = Object::steal(wrap(t));
    Where at = here();  // in a plan, the line that was traced, not the one that calls
    bool python = at && at->origin == Origin::kPython;
    Object code =
        Object::share(python ? static_cast<PyObject*>(const_cast<void*>(at->pointer)) : Py_None);
    Object result =
        Object::steal(PyObject_CallFunction(hooks().operand.get(), "OiOi", tensor.get(), position,
                                            code.get(), python ? static_cast<int>(at->offset) : 0));
    if (!PyTuple_Check(result.get()) || PyTuple_GET_SIZE(result.get()) != 2) return;
    PyObject* text = PyTuple_GET_ITEM(result.get(), 0);
    if (PyUnicode_Check(text)) out.text = bytes_of(text);
    PyObject* loc = PyTuple_GET_ITEM(result.get(), 1);
    if (!PyDict_Check(loc)) return;
    auto number = [&](const char* key, int otherwise) {
      PyObject* o = PyDict_GetItemString(loc, key);
      return o && PyLong_Check(o) ? static_cast<int>(PyLong_AsLong(o)) : otherwise;
    };
    PyObject* file = PyDict_GetItemString(loc, "file");
    if (file && PyUnicode_Check(file)) out.loc.file = bytes_of(file);
    out.loc.line = number("line", 0);
    out.loc.col_begin = number("col_begin", -1);
    out.loc.col_end = number("col_end", -1);
  });
  return out;
}

// The text that a hook gives; "" where there is none.
template <class... Args>
std::string words_of(const Object& hook, const char* format, Args... args) noexcept {
  std::string out;
  quietly([&] {
    if (!hook) return;
    Object words = Object::steal(PyObject_CallFunction(hook.get(), format, args...));
    if (PyUnicode_Check(words.get())) out = bytes_of(words.get());
  });
  return out;
}

std::string alias() noexcept { return words_of(hooks().alias, nullptr); }
std::string receiver() noexcept { return words_of(hooks().receiver, nullptr); }
std::string layer(const std::string& name) noexcept {
  return words_of(hooks().layer, "s", name.c_str());
}

std::string placeholder(const Tensor& t, const std::string& name) noexcept {
  std::string out;
  quietly([&] {
    Object tensor = Object::steal(wrap(t));
    out = words_of(hooks().placeholder, "Os", tensor.get(), name.c_str());
  });
  return out;
}

Holder holder(const Tensor& t, const std::string& name, const Loc& used) noexcept {
  Holder out;
  quietly([&] {
    if (!hooks().holder) return;
    Object tensor = Object::steal(wrap(t)), place = to_dict(used);
    Object found = Object::steal(PyObject_CallFunction(hooks().holder.get(), "OsO", tensor.get(),
                                                       name.c_str(), place.get()));
    PyObject* path = nullptr;
    int is_meant = 0;
    if (!PyArg_ParseTuple(found.get(), "Up", &path, &is_meant)) throw PythonError{};
    out = {bytes_of(path), is_meant != 0};
  });
  return out;
}

// What the user's line can call the graph or function that a scope stands for.
std::string scope_named(const Scope& s) noexcept {
  return words_of(hooks().scope, "Ks",
                  static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(&s)), s.name.c_str());
}

void warning_sink(const Diagnostic& d, const std::string& text) {
  quietly([&] {
    Object details = to_dict(d);
    Object::steal(
        PyObject_CallFunction(hooks().warning_sink.get(), "sO", text.c_str(), details.get()));
  });
}

Object shared(nb::object o) { return Object::share(o.ptr()); }

DType dtype_or_none(nb::handle dtype) {
  return dtype.is_none() ? DType::kInvalid : dtype_of_object(dtype.ptr());
}

}  // namespace
}  // namespace holdfast::py

NB_MODULE(_holdfast_of_main, m) {
  using namespace holdfast;
  using namespace holdfast::py;
  nb::set_leak_warnings(
      false);  // tensors in module globals outlive the module, as everywhere in Python
  try {
    init_tensor(m.ptr());
    init_function(m.ptr());
    init_traced(m.ptr());
    init_frames(m.ptr());
  } catch (const PythonError&) {
    throw nb::python_error();
  }
  m.attr("VERSION") = "0.1.0";
  m.attr("EAGER_CODE") = kEagerCode;
  m.def("instruction_set", &instruction_set);
  m.def(
      "init",
      [] {
        set_log_at_raise(false);  // errors are logged when they are complete, as Python exceptions
        run([] {
          init_provenance();
          return 0;
        });
      },
      "Called once by the package when its modules exist.");
  m.def("set_dtypes", [](std::vector<nb::object> list) {
    for (size_t i = 0; i < list.size() && i < kNumDTypes; ++i) hooks().dtypes[i] = shared(list[i]);
  });
  m.def("set_as_dtype", [](nb::object f) { hooks().as_dtype = shared(f); });
  m.def("set_shape_factory", [](nb::object f) { hooks().shape_factory = shared(f); });
  m.def("set_error_factory", [](nb::object f) { hooks().error_factory = shared(f); });
  m.def("set_warning_sink", [](nb::object f) {
    hooks().warning_sink = shared(f);
    set_warning_sink(&warning_sink);
  });
  m.def(
      "set_naming",
      [](nb::object operand_words, nb::object alias_words, nb::object called, nb::object scope,
         nb::object held_by, nb::object placeholder_words, nb::object layer_words,
         nb::object receiver_words) {
        hooks().operand = shared(operand_words);
        hooks().alias = shared(alias_words);
        hooks().called = shared(called);
        hooks().scope = shared(scope);
        hooks().holder = shared(held_by);
        hooks().placeholder = shared(placeholder_words);
        hooks().layer = shared(layer_words);
        hooks().receiver = shared(receiver_words);
        set_language(Language::kPython, &scope_named);
        set_naming({&operand, &alias, &holder, &placeholder, &layer, &receiver});
      },
      "operand"_a, "alias"_a, "called"_a, "scope"_a, "holder"_a, "placeholder"_a, "layer"_a,
      "receiver"_a);
  m.def(
      "set_symbol", [](nb::object f) { hooks().symbol = shared(f); },
      "What is called when a symbol is asked for a value it does not have.");
  m.def(
      "set_conversion",
      [](nb::object f, nb::object types) { own_conversions() = {shared(f), shared(types)}; },
      "What converts objects of the program's own classes.");
  m.def(
      "convert",
      [](nb::handle value, nb::handle dtype, bool strict) {
        return run([&] {
          mark();
          return convert(value.ptr(), dtype_or_none(dtype), strict);
        });
      },
      "value"_a.none(), "dtype"_a.none() = nb::none(), "strict"_a = true);
  m.def(
      "constant",
      [](nb::handle value, nb::handle dtype) {
        return run([&] {
          mark();
          return on_asked_device(convert(value.ptr(), dtype_or_none(dtype), true));
        });
      },
      "value"_a.none(), "dtype"_a.none());
  m.def(
      "convert_value",
      [](nb::handle value, nb::handle dtype, bool strict) {
        return run([&] {
          mark();
          InterpreterScope values(nullptr);
          return convert(value.ptr(), dtype_or_none(dtype), strict);
        });
      },
      "value"_a.none(), "dtype"_a.none() = nb::none(), "strict"_a = true,
      "The same, and eagerly: a graph that is being written sees nothing of it.");
  m.def("raise_diagnostic", [](nb::handle d) { run([&]() -> int { raise(from_dict(d.ptr())); }); });
  m.def("warn_diagnostic", [](nb::handle d) {
    run([&] {
      warn(from_dict(d.ptr()));
      return 0;
    });
  });
  m.def(
      "speak_as",
      [](nb::dict said, const std::string& who) {
        run([&] {
          Diagnostic d = from_dict(said.ptr());
          speak_as(d, who);
          said["headline"] = d.headline;
          said["speaker"] = d.speaker;
          return 0;
        });
      },
      "said"_a, "who"_a, "Lets `who` say a headline, in place of whoever says it.");
  m.def("render", [](nb::handle d) { return run([&] { return render(from_dict(d.ptr())); }); });
  m.def(
      "short_path", [](const std::string& path) { return short_path(path); },
      "A path as messages show it.");
  m.def("here", [] {
    return run([&] {
      mark();
      return given(to_dict(locate(here())));
    });
  });
  m.def("codes", [] {
    nb::list out;
    for (auto& c : all_codes()) {
      nb::dict d;
      d["name"] = c.name;
      d["severity"] = c.severity == Severity::kError     ? "error"
                      : c.severity == Severity::kWarning ? "warning"
                                                         : "bug";
      d["status"] = c.status;
      d["bases"] = c.bases;
      d["headline"] = c.headline;
      out.append(d);
    }
    return out;
  });
  try {
    init_object(m);
    bind_variable(m);
    bind_modules(m);
    bind_config(m);
    bind_keras(m);
    bind_data(m);
    bind_files(m);
  } catch (const PythonError&) {
    throw nb::python_error();
  }
  bind_tape(m);
  bind_retracing(m);
  bind_device(m);
  bind_random(m);
  bind_graph(m);
  bind_trace_host(m);
  bind_session(m);
  bind_control(m);
  bind_pycall(m);
  bind_graph_text(m);
  bind_registry(m);
  bind_live(m);
  bind_dlpack(m);
  init_interrupt();
  init_patience();
}

// What Python calls. Objects are shared by all of a process, and one interpreter's objects are no
// other's. Refused before nanobind begins: it would go by the tables of the interpreter that
// imports, and the first one could do nothing any more.
extern "C" NB_EXPORT PyObject* PyInit__holdfast() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return PyInit__holdfast_of_main();
  PyErr_SetString(PyExc_ImportError,
                  "holdfast can be imported by the main interpreter only: its variables and "
                  "modules are shared by the whole process, and a subinterpreter must not see "
                  "another one's objects. Use threads or processes instead");
  return nullptr;
}
