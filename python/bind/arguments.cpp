#include "python/bind/arguments.h"

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/graph/trace.h"
#include "holdfast/tensor/scope.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/py.h"

namespace holdfast::py {
namespace {

// As the call names what it can't convert.
std::string words_for(const FunctionDef& def, const Param& p) {
  return cat("`", def.name, "`, argument `", p.name, "`");
}

[[noreturn]] void bad_argument(const FunctionDef& def, const Param& p, PyObject* got,
                               const char* expected) {
  type_error(cat(words_for(def, p), ": got ", repr_of(got), " of type ", Py_TYPE(got)->tp_name,
                 ", expected ", expected));
}

// The group of tensors that may differ in their dtypes.
constexpr const char* kAnyDType = "any";

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

// Whether something is a tensor, and no list of them.
bool stands_alone(PyObject* o) {
  if (PyList_Check(o) || PyTuple_Check(o)) return false;
  return is_tensor(o) || is_variable(o) || is_array(o) ||
         PyObject_HasAttrString(o, "_is_composite");
}

Tensors tensor_list(const FunctionDef& def, const Param& p, PyObject* o, DType hint) {
  Tensors out;
  if (p.whole && stands_alone(o)) return {convert(o, hint, false, p.name.c_str())};
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
  if (hint == DType::kInvalid && p.group != kAnyDType && has_float(items.get())) hint = float32;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    Object held = Object::share(PySequence_Fast_GET_ITEM(items.get(), i));  // the list may change
    PyObject* item = held.get();
    out.push_back(is_array(item) ? cast_array(from_array(item), hint, item, true)
                                 : convert(item, hint, false, p.name.c_str()));
    if (hint == DType::kInvalid && p.group != kAnyDType) hint = out.back().dtype();
  }
  return out;
}

Arg sizes_arg(PyObject* o, const Param& p) {
  if (is_tensor(o)) return Arg(tensor_of(o));
  if (is_variable(o)) return Arg(read_variable(o));
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
  if (s.known.defined() && s.known.size() == 1 && !s.unknown) {
    went_by_numbers(t);
    return s.known.to_int();
  }
  fail(Code::E1105, cat(words_for(def, p), " must be known while tracing"),
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
    out.push_back(one(Object::share(PySequence_Fast_GET_ITEM(items.get(), i)).get()));
  return out;
}

// An array for a parameter whose op takes one dtype only: floats of another width become that one.
// Where there are no elements, their dtype says nothing: an op that takes integers and no floats
// gets integers. Empty where the usual rules hold.
Tensor array_as_needed(const FunctionDef& def, const Param& p, PyObject* o) {
  bool none = (PyList_Check(o) || PyTuple_Check(o)) && PySequence_Fast_GET_SIZE(o) == 0;
  if (!def.op || (!none && !is_array(o))) return {};
  DType one = DType::kInvalid, nothing = DType::kInvalid;
  for (auto& input : def.op->inputs) {
    if (input.group != p.group && input.name != p.name) continue;
    one = only_dtype(input.dtypes);
    bool ints = input.dtypes.has(int32) && !input.dtypes.has(float32);
    nothing = ints ? int32 : one;
  }
  if (nothing == DType::kInvalid) return {};
  if (none) return empty(nothing, Shape{0}, cpu());
  Tensor t = from_array(o);
  if (t.dtype() == one) return t;
  if (t.size() == 0 && is_floating(t.dtype())) return empty(nothing, t.shape(), cpu());
  if (one == DType::kInvalid) return {};
  if (t.size() == 0) return empty(one, t.shape(), cpu());
  return is_floating(t.dtype()) && is_floating(one) ? cast_array(std::move(t), one, o) : Tensor();
}

}  // namespace

DType Groups::get(const FunctionDef& def, const Given& given, const std::string& group) {
  for (auto& [name, d] : known)
    if (*name == group) return d;
  known.push_back({&group, group_hint(def, given, group)});
  return known.back().second;
}

void Groups::settle(const std::string& group, DType d) {
  for (auto& [name, was] : known)
    if (*name == group && was == DType::kInvalid) was = d;
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
      if (!t.defined()) t = convert(o, groups.get(def, given, p.group), false, p.name.c_str());
      groups.settle(p.group, t.dtype());
      return Arg(std::move(t));
    }
    case Kind::kTensors: {
      bool alike = p.group != kAnyDType;
      DType hint = alike ? groups.get(def, given, p.group) : DType::kInvalid;
      Tensors list = tensor_list(def, p, o, hint);
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
    case Kind::kOptIntList:
    case Kind::kIntList: {
      if (o == Py_None && p.kind == Kind::kOptIntList) return {};
      auto ints = ints_of(o);
      if (!ints) bad_argument(def, p, o, "an int or a list of ints");
      return Arg(std::move(*ints));
    }
    case Kind::kFloatList:
      return Arg(list_of_object<double>(def, p, o, "a list of floats",
                                        [&](PyObject* x) { return float_of_object(def, p, x); }));
    case Kind::kStringList:
      if (PyUnicode_Check(o)) return Arg(std::vector<std::string>{string_of_object(def, p, o)});
      return Arg(list_of_object<std::string>(def, p, o, "a list of strings", [&](PyObject* x) {
        return string_of_object(def, p, x);
      }));
  }
  return {};
}

}  // namespace holdfast::py
