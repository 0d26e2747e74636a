// The one callable type behind every registered function: arguments by name or position, converted
// as the record says.
#include <Python.h>
#include <structmember.h>

#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/graph/trace.h"
#include "holdfast/tensor/scope.h"
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

using Given = InlineVector<PyObject*, 8>;

Object text(const std::string& s) {
  return Object::steal(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}
Object texts(const std::vector<std::string>& list) {
  Object out = Object::steal(PyList_New(0));
  for (auto& s : list)
    if (PyList_Append(out.get(), text(s).get()) < 0) throw PythonError{};
  return out;
}

[[noreturn]] void bad_argument(const FunctionDef& def, const Param& p, PyObject* got,
                               const char* expected) {
  type_error(cat("`", def.name, "`: argument `", p.name, "` is ", repr_of(got), " of type ",
                 Py_TYPE(got)->tp_name, ", expected ", expected));
}

bool is_tensor_kind(Kind k) {
  return k == Kind::kTensor || k == Kind::kOptTensor || k == Kind::kTensors;
}

// The dtype that numbers and lists of a group take: that of its first tensor or variable, or, where
// a dtype parameter has the group's name, what that says.
DType group_hint(const FunctionDef& def, const Given& given, const std::string& group) {
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& p = def.params[i];
    if (p.name != group || (p.kind != Kind::kDType && p.kind != Kind::kOptDType)) continue;
    if (given[i] && given[i] != Py_None) return dtype_of_object(given[i]);
    if (!p.default_value.none()) return p.default_value.dtype();
  }
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& p = def.params[i];
    if (!given[i] || !is_tensor_kind(p.kind) || p.group != group) continue;
    if (p.kind == Kind::kTensors && PySequence_Check(given[i]) && !is_tensor(given[i])) {
      Object items = Object::steal(PySequence_Fast(given[i], "expected a sequence"));
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(items.get()); ++k)
        if (DType d = known_dtype(PySequence_Fast_GET_ITEM(items.get(), k)); d != DType::kInvalid)
          return d;
    } else if (DType d = known_dtype(given[i]); d != DType::kInvalid) {
      return d;
    }
  }
  return DType::kInvalid;
}

// Groups seen so far and their dtypes.
struct Groups {
  InlineVector<std::pair<const std::string*, DType>, 4> known;
  DType get(const FunctionDef& def, const Given& given, const std::string& group) {
    for (auto& [name, d] : known)
      if (*name == group) return d;
    known.push_back({&group, group_hint(def, given, group)});
    return known.back().second;
  }
  void settle(const std::string& group, DType d) {
    for (auto& [name, was] : known)
      if (*name == group && was == DType::kInvalid) was = d;
  }
};

// Whether a list is of Python's numbers and not all of them are ints.
bool has_float(PyObject* list) {
  bool found = false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list, i);
    if (!PyFloat_CheckExact(item) && !PyLong_CheckExact(item)) return false;
    found = found || PyFloat_CheckExact(item);
  }
  return found;
}

Tensors tensor_list(const FunctionDef& def, const Param& p, PyObject* o, DType hint) {
  Tensors out;
  if (is_tensor(o)) {  // a tensor stands for the list of its rows
    Object rows = Object::steal(PySequence_List(o));
    return tensor_list(def, p, rows.get(), hint);
  }
  bool plain = PySequence_Check(o) || PyDict_Check(o) || is_variable(o);
  if (!plain && Py_TYPE(o)->tp_iter) {  // a generator, the values of a dict
    Object items = Object::steal(PySequence_List(o));
    return tensor_list(def, p, items.get(), hint);
  }
  if (!PySequence_Check(o) || PyUnicode_Check(o)) {
    if (is_variable(o)) return Tensors{convert(o, hint)};
    bad_argument(def, p, o, "a list of tensors");
  }
  Object items = Object::steal(PySequence_Fast(o, "expected a sequence"));
  if (hint == DType::kInvalid && has_float(items.get())) hint = float32;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(items.get(), i);
    out.push_back(is_array(item) ? cast_array(from_array(item), hint, item, true)
                                 : convert(item, hint, false, p.name.c_str()));
    if (hint == DType::kInvalid) hint = out.back().dtype();
  }
  return out;
}

Arg sizes_arg(PyObject* o, const Param& p) {
  if (is_tensor(o)) return Arg(tensor_of(o));
  if (is_variable(o)) return Arg(variable_of(o).read());
  if (is_one_int(o)) {
    if (auto one = ints_of(o)) return Arg((*one)[0]);
  }
  if (auto list = ints_of(o)) return Arg(*list);
  return Arg(convert(o, DType::kInvalid, false, p.name.c_str()));
}

double float_of_object(const FunctionDef& def, const Param& p, PyObject* o) {
  double v = PyFloat_AsDouble(o);
  if (v == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    bad_argument(def, p, o, "a float");
  }
  return v;
}

// A symbol whose number the trace knows, as those that come from shapes.
std::optional<int64_t> int_of_symbol(const FunctionDef& def, const Param& p, const Tensor& t) {
  if (!t.is_symbolic() || !symbol_of(t)->scope->open()) return std::nullopt;
  const Symbol& s = *symbol_of(t);
  if (s.known && s.known.size() == 1 && !s.unknown) {
    went_by_numbers(t);
    return s.known.to_int();
  }
  fail(Code::E1105, cat(def.name, ": `", p.name, "` must be known while tracing"),
       "what it is decides which ops the graph has", {manual_fix("give it as a plain number")});
}

int64_t int_of_object(const FunctionDef& def, const Param& p, PyObject* o) {
  if (is_tensor(o))
    if (auto known = int_of_symbol(def, p, tensor_of(o))) return *known;
  if (!PyIndex_Check(o) || PyBool_Check(o)) bad_argument(def, p, o, "an int");
  Object i = Object::steal(PyNumber_Index(o));
  long long v = PyLong_AsLongLong(i.get());
  if (v == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    bad_argument(def, p, o, "an int of at most 64 bits");
  }
  return v;
}

// The name of an enum's member, which stands for it where a text is wanted: `Algorithm.PHILOX`.
Object enum_name(PyObject* o) {
  if (!PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__members__")) return {};
  Object name = Object::steal(PyObject_GetAttrString(o, "name"));
  return PyUnicode_Check(name.get()) ? name : Object();
}

std::string string_of_object(const FunctionDef& def, const Param& p, PyObject* o) {
  if (PyBytes_Check(o)) return {PyBytes_AS_STRING(o), static_cast<size_t>(PyBytes_GET_SIZE(o))};
  const char* s = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : nullptr;
  if (!s) {
    if (Object name = enum_name(o)) return string_of_object(def, p, name.get());
    PyErr_Clear();
    bad_argument(def, p, o, "a string");
  }
  return s;
}

template <class T, class F>
std::vector<T> list_of_object(const FunctionDef& def, const Param& p, PyObject* o,
                              const char* expected, F&& one) {
  if (PyUnicode_Check(o) || !PySequence_Check(o)) bad_argument(def, p, o, expected);
  Object items = Object::steal(PySequence_Fast(o, expected));
  std::vector<T> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
    out.push_back(one(PySequence_Fast_GET_ITEM(items.get(), i)));
  return out;
}

// An array for a parameter whose op takes one dtype only: floats of another width, or no elements
// at all, become that one. Empty where the usual rules hold.
Tensor array_as_needed(const FunctionDef& def, const Param& p, PyObject* o) {
  bool none = (PyList_Check(o) || PyTuple_Check(o)) && PySequence_Fast_GET_SIZE(o) == 0;
  if (!def.op || (!none && !is_array(o))) return {};
  DType one = DType::kInvalid;
  for (auto& input : def.op->inputs)
    if (input.group == p.group) one = only_dtype(input.dtypes);
  if (one == DType::kInvalid) return {};
  if (none) return empty(one, Shape{0}, cpu());
  Tensor t = from_array(o);
  if (t.dtype() == one) return t;
  if (t.size() == 0) return empty(one, t.shape(), cpu());
  return is_floating(t.dtype()) && is_floating(one) ? cast_array(std::move(t), one, o) : Tensor();
}

Arg to_arg(const FunctionDef& def, const Param& p, PyObject* o, const Given& given,
           Groups& groups) {
  switch (p.kind) {
    case Kind::kTensor:
    case Kind::kOptTensor: {
      if (o == Py_None && p.kind == Kind::kOptTensor) return {};
      // Numbers of an array say what is true; those of a tensor or a list are more likely a
      // mistake.
      Tensor t = p.group == "bool" && is_array(o) ? cast_array(from_array(o), DType::kBool, o)
                                                  : array_as_needed(def, p, o);
      if (!t) t = convert(o, groups.get(def, given, p.group), false, p.name.c_str());
      groups.settle(p.group, t.dtype());
      return Arg(std::move(t));
    }
    case Kind::kTensors: {
      Tensors list = tensor_list(def, p, o, groups.get(def, given, p.group));
      if (!list.empty()) groups.settle(p.group, list[0].dtype());
      return Arg(std::move(list));
    }
    case Kind::kAxes:
      if (o == Py_None) return {};
      return sizes_arg(o, p);
    case Kind::kSizes: return sizes_arg(o, p);
    case Kind::kBool: {
      if (!PyBool_Check(o) && !is_tensor(o) && !PyIndex_Check(o) && o != Py_None)
        bad_argument(def, p, o, "a bool");
      int truth = PyObject_IsTrue(o);
      if (truth < 0) throw PythonError{};
      return Arg(truth == 1);
    }
    case Kind::kOptInt:
      if (o == Py_None) return {};
      return Arg(int_of_object(def, p, o));
    case Kind::kInt: return Arg(int_of_object(def, p, o));
    case Kind::kOptFloat:
      if (o == Py_None) return {};
      return Arg(float_of_object(def, p, o));
    case Kind::kFloat: return Arg(float_of_object(def, p, o));
    case Kind::kString: return Arg(string_of_object(def, p, o));
    case Kind::kAny:
      if (o == Py_None) return {};
      if (PyUnicode_Check(o)) return Arg(string_of_object(def, p, o));
      if (PyLong_Check(o) && !PyBool_Check(o)) return Arg(int_of_object(def, p, o));
      return Arg(float_of_object(def, p, o));
    case Kind::kOptString:
      if (o == Py_None) return {};
      return Arg(string_of_object(def, p, o));
    case Kind::kPadding: {
      if (PyUnicode_Check(o)) return Arg(string_of_object(def, p, o));
      Ints amounts;
      for (auto& pair :
           list_of_object<Ints>(def, p, o, "'SAME', 'VALID' or a list of pairs", [&](PyObject* x) {
             auto two = ints_of(x);
             if (!two || two->size() != 2)
               bad_argument(def, p, o, "'SAME', 'VALID' or a list of pairs of ints");
             return *two;
           }))
        amounts.insert(amounts.end(), pair.begin(), pair.end());
      return Arg(std::move(amounts));
    }
    case Kind::kOptDType:
      if (o == Py_None) return {};
      return Arg(dtype_of_object(o));
    case Kind::kDType: return Arg(dtype_of_object(o));
    case Kind::kShape: {
      if (o == Py_None) return Arg(Shape::unknown());
      auto dims = ints_of(o);
      if (!dims) bad_argument(def, p, o, "a shape");
      return Arg(Shape(*dims));
    }
    case Kind::kOptInts:
    case Kind::kInts: {
      if (o == Py_None && p.kind == Kind::kOptInts) return {};
      auto ints = ints_of(o);
      if (!ints) bad_argument(def, p, o, "an int or a list of ints");
      return Arg(std::move(*ints));
    }
    case Kind::kFloats:
      return Arg(list_of_object<double>(def, p, o, "a list of floats",
                                        [&](PyObject* x) { return float_of_object(def, p, x); }));
    case Kind::kStrings:
      if (PyUnicode_Check(o)) return Arg(std::vector<std::string>{string_of_object(def, p, o)});
      return Arg(list_of_object<std::string>(def, p, o, "a list of strings", [&](PyObject* x) {
        return string_of_object(def, p, x);
      }));
  }
  return {};
}

// Puts positional and keyword arguments in their places. Gives back `name`, which every function
// takes: it names the op in a graph; an eager call has none to name.
PyObject* place(const PyFunction& f, PyObject* const* args, size_t n, PyObject* kwnames,
                Given& given) {
  const FunctionDef& def = *f.def;
  size_t count = def.params.size();
  given.resize(count, nullptr);
  if (n > count + 1 || (n == count + 1 && args[count] != Py_None && !PyUnicode_Check(args[count])))
    type_error(cat("`", def.name, "` got ", n, " arguments, expected at most ", count));
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
      std::string names;
      for (auto& p : def.params) names += (names.empty() ? "`" : ", `") + p.name + "`";
      type_error(cat("`", def.name, "` has no argument `", PyUnicode_AsUTF8(key), "`"),
                 cat("its arguments are ", names, " and `name`"));
    }
    if (given[i]) type_error(cat("`", def.name, "` got argument `", def.params[i].name, "` twice"));
    given[i] = value;
  }
  for (size_t i = 0; i < count; ++i)
    if (!given[i] && def.params[i].required)
      type_error(cat("`", def.name, "` needs the argument `", def.params[i].name, "`"));
  return name;
}

// The call of `f`, whose result has a name if it is written down.
Tensors call_named(const FunctionDef& def, std::span<const Arg> args, const Tensors& operands,
                   PyObject* name) {
  if (!PyUnicode_Check(name))
    type_error(cat("`", def.name, "`: `name` is ", repr_of(name), ", expected a string"));
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) throw PythonError{};
  if (!*text) return def.call(args);
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
PyObject* get_name(PyObject* o, void*) {
  PyObject* n = reinterpret_cast<PyFunction*>(o)->name;
  Py_INCREF(n);
  return n;
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
    put(d.get(), "name", text(def.name));
    put(d.get(), "doc", text(def.doc));
    put(d.get(), "python", texts(def.python));
    put(d.get(), "samples", texts(def.samples));
    put(d.get(), "reference", text(def.reference));
    put(d.get(), "result", text(kResults[static_cast<int>(def.result)]));
    put(d.get(), "result_names", texts(def.result_names));
    put(d.get(), "op", def.op ? text(def.op->name) : Object::share(Py_None));
    Object params = Object::steal(PyList_New(0));
    for (auto& p : def.params) {
      Object x = Object::steal(PyDict_New());
      put(x.get(), "name", text(p.name));
      put(x.get(), "kind", text(kKinds[static_cast<int>(p.kind)]));
      put(x.get(), "group", text(p.group));
      put(x.get(), "required", Object::share(p.required ? Py_True : Py_False));
      put(x.get(), "default", text(p.default_value.text()));
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
    Object module = Object::steal(PyImport_ImportModule("holdfast._describe"));
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
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
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

PyMethodDef module_methods[] = {{"functions", functions, METH_NOARGS, "Every registered function."},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace

Unlocked::Unlocked(std::span<const Tensor> inputs, bool worth) {
  int64_t bytes = worth ? kWorthUnlocking : 0;
  for (const Tensor& t : inputs)
    if (t && t.rep()->buffer) bytes += t.bytes();
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

Object shape_object(const Shape& s) {
  if (!hooks().shape_factory) type_error("shapes are not set up");
  if (!s.has_rank())
    return Object::steal(
        PyObject_CallFunctionObjArgs(hooks().shape_factory.get(), Py_None, nullptr));
  Object dims = Object::steal(PyTuple_New(s.rank()));
  for (int i = 0; i < s.rank(); ++i)
    PyTuple_SET_ITEM(dims.get(), i,
                     s[i] < 0 ? (Py_INCREF(Py_None), Py_None) : PyLong_FromLongLong(s[i]));
  return Object::steal(
      PyObject_CallFunctionObjArgs(hooks().shape_factory.get(), dims.get(), nullptr));
}

void init_function(PyObject* module) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!function_type ||
      PyModule_AddObjectRef(module, "Function", reinterpret_cast<PyObject*>(function_type)) < 0 ||
      PyModule_AddFunctions(module, module_methods) < 0)
    throw PythonError{};
}

}  // namespace holdfast::py
