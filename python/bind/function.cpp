// The one callable type behind every registered function: arguments by name or position, converted
// as the record says.
#include <Python.h>
#include <structmember.h>

#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/graph/trace.h"
#include "holdfast/tensor/scope.h"
#include "python/bind/arguments.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/py.h"

namespace holdfast::py {

PyTypeObject* function_type = nullptr;

namespace {

constexpr int64_t kWorthUnlocking =
    1 << 18;  // bytes of operands from which a kernel outlasts a switch of threads

struct PyFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  const FunctionDef* def;
  PyObject* name;
  PyObject* names;   // tuple of interned parameter names
  PyObject* result;  // namedtuple class, or null
  PyObject* dict;
};

Object texts(const std::vector<std::string>& list) {
  Object out = Object::steal(PyList_New(0));
  for (auto& s : list)
    if (PyList_Append(out.get(), text_object(s).get()) < 0) throw PythonError{};
  return out;
}

// What the user calls the function, as typed; "" if that is not known.
std::string called_as() {
  std::string out;
  if (!hooks().called) return out;
  Object name = Object::steal(PyObject_CallNoArgs(hooks().called.get()));
  if (PyUnicode_Check(name.get())) out = bytes_of(name.get());
  return out;
}

// What a call that does not fit is told.
[[noreturn]] void refuse(const FunctionDef& def, const std::string& what) {
  std::string names;
  for (auto& p : def.params) names += cat("`", p.name, "`, ");
  std::string typed = called_as();
  type_error(cat("`", typed.empty() ? def.name : typed, "` ", what),
             cat("its parameters are ", names, "and `name`"));
}

// Puts positional and keyword arguments in their places. Gives back `name`, which every function
// takes: it names the op in a graph; an eager call has none to name.
PyObject* place(const PyFunction& f, PyObject* const* args, size_t n, PyObject* kwnames,
                Given& given) {
  const FunctionDef& def = *f.def;
  size_t count = def.params.size();
  given.resize(count, nullptr);
  if (n > count + 1 || (n == count + 1 && args[count] != Py_None && !PyUnicode_Check(args[count])))
    refuse(def, cat("got ", n, " arguments, expected at most ", count));
  for (size_t i = 0; i < n && i < count; ++i) given[i] = args[i];
  PyObject* name = n == count + 1 ? args[count] : nullptr;
  Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    PyObject* value = args[n + static_cast<size_t>(k)];
    size_t i = 0;
    while (i < count && PyTuple_GET_ITEM(f.names, static_cast<Py_ssize_t>(i)) != key) ++i;
    if (i == count) {
      i = 0;
      while (i < count &&
             PyUnicode_Compare(PyTuple_GET_ITEM(f.names, static_cast<Py_ssize_t>(i)), key) != 0)
        ++i;
    }
    if (i == count) {
      if (PyUnicode_CompareWithASCIIString(key, "name") == 0) {
        name = value;
        continue;
      }
      refuse(def, cat("has no parameter `", bytes_of(key), "`"));
    }
    if (given[i]) refuse(def, cat("got `", def.params[i].name, "` twice, by position and by name"));
    given[i] = value;
  }
  for (size_t i = 0; i < count; ++i)
    if (!given[i] && def.params[i].required)
      refuse(def, cat("needs the argument `", def.params[i].name, "`"));
  return name;
}

// The call of `f`, whose result has a name if it is written down.
Tensors call_named(const FunctionDef& def, std::span<const Arg> args, const Tensors& operands,
                   PyObject* name) {
  if (!PyUnicode_Check(name))
    type_error(cat("`", def.name, "`: `name` is ", repr_of(name), ", expected a string"));
  std::string text = bytes_of(name);
  if (text.empty()) return def.call(args);
  NamedCall named(text, operands);
  Tensors out = def.call(args);
  if (!out.empty()) named.finish(out[0]);
  return out;
}

// The namedtuple of a function with named results, made when it is first needed.
PyObject* result_class(PyFunction& f) {
  if (f.result || f.def->result_names.empty()) return f.result;
  Object collections = Object::steal(PyImport_ImportModule("collections"));
  std::string title = f.def->op ? f.def->op->name : f.def->name.substr(f.def->name.rfind('.') + 1);
  f.result = Object::steal(PyObject_CallMethod(collections.get(), "namedtuple", "sO", title.c_str(),
                                               texts(f.def->result_names).get()))
                 .release();
  return f.result;
}

Object to_python(PyFunction& f, Tensors out) {
  if (f.def->result == ResultKind::kTensor) return Object::steal(wrap(std::move(out[0])));
  if (f.def->result == ResultKind::kNothing) return Object::share(Py_None);
  auto n = static_cast<Py_ssize_t>(out.size());
  if (f.def->result == ResultKind::kList) {
    // With named results the list is the first of them, and the others stand beside it.
    auto named = static_cast<Py_ssize_t>(f.def->result_names.size()), rest = named ? named - 1 : 0;
    Object list = Object::steal(PyList_New(n - rest));
    for (Py_ssize_t i = 0; i < n - rest; ++i)
      PyList_SET_ITEM(list.get(), i, wrap(out[static_cast<size_t>(i)]));
    if (!rest) return list;
    Object both = Object::steal(PyTuple_New(named));
    PyTuple_SET_ITEM(both.get(), 0, list.release());
    for (Py_ssize_t i = 0; i < rest; ++i)
      PyTuple_SET_ITEM(both.get(), i + 1, wrap(out[static_cast<size_t>(n - rest + i)]));
    return both;
  }
  Object tuple = Object::steal(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(tuple.get(), i, wrap(out[static_cast<size_t>(i)]));
  PyObject* named = result_class(f);
  return named ? Object::steal(PyObject_CallObject(named, tuple.get())) : tuple;
}

// Asked where an argument is made of several tensors: hook(function, args, kwargs).
Object& composites_hook() {
  static auto* hook = new Object;  // Python objects must not be freed after the interpreter
  return *hook;
}

// What Python's classes of several tensors, such as ragged ones, say a function of them gives;
// empty where there is none among the arguments, or they say nothing.
Object by_composites(PyObject* self, PyObject* const* args, size_t n, PyObject* kwnames) {
  if (!composites_hook()) return {};
  Object positional = Object::steal(PyTuple_New(static_cast<Py_ssize_t>(n)));
  for (size_t i = 0; i < n; ++i)
    PyTuple_SET_ITEM(positional.get(), static_cast<Py_ssize_t>(i),
                     Object::share(args[i]).release());
  Object named = Object::steal(PyDict_New());
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(kwnames, i), args[n + static_cast<size_t>(i)]))
      throw PythonError{};
  Object found = Object::steal(PyObject_CallFunctionObjArgs(
      composites_hook().get(), self, positional.get(), named.get(), nullptr));
  return found.get() == Py_NotImplemented ? Object() : found;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto& f = *reinterpret_cast<PyFunction*>(self);
  return guarded([&] {
    mark();
    Given given;
    PyObject* name =
        place(f, args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), kwnames, given);
    Groups groups;
    InlineVector<Arg, 6> parsed;
    Tensors tensors;
    for (size_t i = 0; i < given.size(); ++i) {
      const Param& p = f.def->params[i];
      try {
        parsed.push_back(given[i] ? to_arg(*f.def, p, given[i], given, groups) : p.default_value);
      } catch (Error& e) {
        auto n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
        if (Object found = by_composites(self, args, n, kwnames)) return found.release();
        e.name_op(cat("`", f.def->name, "`, argument `", p.name, "`"));
        throw;
      }
      if (auto* t = std::get_if<Tensor>(&parsed.back().value()))
        tensors.push_back(*t);
      else if (auto* list = std::get_if<Tensors>(&parsed.back().value()); list && name)
        for (const Tensor& x : *list) tensors.push_back(x);
    }
    if (name && name != Py_None)
      return to_python(f, call_named(*f.def, {parsed.data(), parsed.size()}, tensors, name))
          .release();
    Unlocked unlocked(tensors);
    Tensors out = f.def->call({parsed.data(), parsed.size()});
    unlocked.relock();
    return to_python(f, std::move(out)).release();
  });
}

void dealloc(PyObject* o) {
  auto* f = reinterpret_cast<PyFunction*>(o);
  PyTypeObject* type = Py_TYPE(o);
  Py_XDECREF(f->name);
  Py_XDECREF(f->names);
  Py_XDECREF(f->result);
  Py_XDECREF(f->dict);
  PyObject_Free(o);
  Py_DECREF(type);
}

PyObject* get_doc(PyObject* o, void*) {
  return PyUnicode_FromString(reinterpret_cast<PyFunction*>(o)->def->doc.c_str());
}
PyObject* get_qualname(PyObject* o, void*) {
  return Py_NewRef(reinterpret_cast<PyFunction*>(o)->name);
}

// Without the path: files of models know functions by it.
PyObject* get_name(PyObject* o, void*) {
  PyObject* path = reinterpret_cast<PyFunction*>(o)->name;
  Py_ssize_t size = PyUnicode_GET_LENGTH(path),
             dot = PyUnicode_FindChar(path, '.', 0, size, -1);  // -1: there is none
  return dot == -2 ? nullptr : PyUnicode_Substring(path, dot + 1, size);
}

void put(PyObject* d, const char* key, const Object& v) {
  if (PyDict_SetItemString(d, key, v.get()) < 0) throw PythonError{};
}

constexpr const char* kKinds[] = {"tensor",  "tensor?", "tensors", "sizes",  "axes",   "bool",
                                  "int",     "int?",    "float",   "float?", "string", "dtype",
                                  "dtype?",  "shape",   "ints",    "ints?",  "floats", "strings",
                                  "string?", "any",     "padding"};
static_assert(std::size(kKinds) == static_cast<size_t>(Kind::kPadding) + 1, "a kind has no name");
constexpr const char* kResults[] = {"tensor", "list", "tuple", "nothing"};

PyObject* get_record(PyObject* o, void*) {
  return guarded([&] {
    const FunctionDef& def = *reinterpret_cast<PyFunction*>(o)->def;
    Object d = Object::steal(PyDict_New());
    put(d.get(), "name", text_object(def.name));
    put(d.get(), "doc", text_object(def.doc));
    put(d.get(), "python", texts(def.python));
    put(d.get(), "samples", texts(def.samples));
    put(d.get(), "reference", text_object(def.reference));
    put(d.get(), "result", text_object(kResults[static_cast<int>(def.result)]));
    put(d.get(), "result_names", texts(def.result_names));
    put(d.get(), "op", def.op ? text_object(def.op->name) : Object::share(Py_None));
    Object params = Object::steal(PyList_New(0));
    for (auto& p : def.params) {
      Object x = Object::steal(PyDict_New());
      put(x.get(), "name", text_object(p.name));
      put(x.get(), "kind", text_object(kKinds[static_cast<int>(p.kind)]));
      put(x.get(), "group", text_object(p.group));
      put(x.get(), "required", Object::share(p.required ? Py_True : Py_False));
      put(x.get(), "default", text_object(p.default_value.text()));
      if (PyList_Append(params.get(), x.get()) < 0) throw PythonError{};
    }
    put(d.get(), "params", params);
    Object checks = Object::steal(
        Py_BuildValue("{s:d,s:d,s:O,s:O}", "rtol", def.checks.rtol, "atol", def.checks.atol,
                      "gradient", def.checks.gradient ? Py_True : Py_False, "second_gradient",
                      def.checks.second_gradient ? Py_True : Py_False));
    put(d.get(), "checks", checks);
    return d.release();
  });
}

// For `inspect.signature` and what shows it: help, notebooks, editors.
PyObject* get_signature(PyObject* o, void*) {
  return guarded([&] {
    Object module = Object::steal(PyImport_ImportModule("holdfast._names.describe"));
    Object record = Object::steal(get_record(o, nullptr));
    return Object::steal(PyObject_CallMethod(module.get(), "python_signature", "O", record.get()))
        .release();
  });
}

// As an attribute of a class it is what it is, and takes no `self`.
PyObject* get_bound(PyObject* o, PyObject*, PyObject*) {
  Py_INCREF(o);
  return o;
}

PyObject* repr(PyObject* o) {
  return PyUnicode_FromFormat("<function %U>", reinterpret_cast<PyFunction*>(o)->name);
}

PyGetSetDef getset[] = {
    {"__doc__", get_doc, nullptr, nullptr, nullptr},
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_qualname, nullptr, nullptr, nullptr},
    {"__signature__", get_signature, nullptr, nullptr, nullptr},
    {"record", get_record, nullptr, "What the registry says of the function.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyFunction, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
#define SLOT(id, fn) {id, reinterpret_cast<void*>(fn)}
PyType_Slot slots[] = {SLOT(Py_tp_dealloc, dealloc),
                       SLOT(Py_tp_call, PyVectorcall_Call),
                       SLOT(Py_tp_getset, getset),
                       SLOT(Py_tp_members, members),
                       SLOT(Py_tp_repr, repr),
                       SLOT(Py_tp_descr_get, get_bound),
                       {0, nullptr}};
PyType_Spec spec = {"holdfast.Function", sizeof(PyFunction), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};

Object make(const FunctionDef& def) {
  auto* f = PyObject_New(PyFunction, function_type);
  if (!f) throw PythonError{};
  f->vectorcall = vectorcall;
  f->def = &def;
  f->dict = f->result = f->names = f->name = nullptr;
  Object self = Object::steal(reinterpret_cast<PyObject*>(f));
  f->name = PyUnicode_InternFromString(def.name.c_str());
  f->names = PyTuple_New(static_cast<Py_ssize_t>(def.params.size()));
  for (size_t i = 0; i < def.params.size(); ++i)
    PyTuple_SET_ITEM(f->names, static_cast<Py_ssize_t>(i),
                     PyUnicode_InternFromString(def.params[i].name.c_str()));
  return self;
}

PyObject* functions(PyObject*, PyObject*) {
  return guarded([&] {
    Object list = Object::steal(PyList_New(0));
    for (const FunctionDef* def : all_functions())
      if (PyList_Append(list.get(), make(*def).get()) < 0) throw PythonError{};
    return list.release();
  });
}

PyObject* set_composites_hook(PyObject*, PyObject* hook) {
  composites_hook() = Object::share(hook);
  Py_RETURN_NONE;
}

PyMethodDef module_methods[] = {{"functions", functions, METH_NOARGS, "Every registered function."},
                                {"set_composites_hook", set_composites_hook, METH_O,
                                 "What is asked where an argument is made of several tensors."},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace

Unlocked::Unlocked(std::span<const Tensor> inputs, bool worth) {
  int64_t bytes = worth ? kWorthUnlocking : 0;
  for (const Tensor& t : inputs)
    if (t.defined() && t.rep()->buffer) bytes += t.bytes();
  if (bytes < kWorthUnlocking) return;
  state_ = PyEval_SaveThread();
  enter_fork_gate();
}

const FunctionDef* find_function(std::string_view path) {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string, const FunctionDef*>;
    for (const FunctionDef* def : all_functions())
      for (auto& p : def->python) map->emplace(p, def);
    return map;
  }();
  auto it = index->find(std::string(path));
  return it == index->end() ? nullptr : it->second;
}

Tensors call_with_defaults(const FunctionDef& def, std::span<Arg> first) {
  InlineVector<Arg, 6> args;
  for (Arg& a : first) args.push_back(std::move(a));
  for (size_t i = args.size(); i < def.params.size(); ++i)
    args.push_back(def.params[i].default_value);
  return def.call({args.data(), args.size()});
}

Object text_object(std::string_view s) {
  return Object::steal(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}

Shape shape_of(PyObject* sizes, const char* what) {
  if (sizes == Py_None) return Shape::unknown();
  auto dims = ints_of(sizes);
  if (!dims) type_error(cat(what, " is ", repr_of(sizes), ", expected a shape"));
  return Shape(*dims);
}

Object sizes_object(const Shape& s) {
  if (!s.has_rank()) return Object::share(Py_None);
  Object sizes = Object::steal(PyTuple_New(s.rank()));
  for (int i = 0; i < s.rank(); ++i)
    PyTuple_SET_ITEM(sizes.get(), i, s[i] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(s[i]));
  return sizes;
}

Object shape_object(const Shape& s) {
  if (!hooks().shape_factory) type_error("shapes are not set up");
  return Object::steal(PyObject_CallOneArg(hooks().shape_factory.get(), sizes_object(s).get()));
}

void init_function(PyObject* module) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!function_type ||
      PyModule_AddObjectRef(module, "Function", reinterpret_cast<PyObject*>(function_type)) < 0 ||
      PyModule_AddFunctions(module, module_methods) < 0)
    throw PythonError{};
}

}  // namespace holdfast::py
