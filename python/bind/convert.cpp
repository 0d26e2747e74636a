// Python values into tensors, by TensorFlow's rules.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/words.h"
#include "holdfast/ops/array.h"
#include "holdfast/tensor/visit.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/depth.h"
#include "python/bind/py.h"
#include "python/bind/structure.h"

namespace holdfast::py {
namespace {

Leaf leaf_of(PyObject* o) {
  if (PyBool_Check(o)) return Leaf::kBool;
  if (PyLong_Check(o)) return Leaf::kInt;
  if (PyFloat_CheckExact(o)) return Leaf::kFloat;
  if (PyComplex_CheckExact(o)) return Leaf::kComplex;
  if (PyUnicode_Check(o) || PyBytes_Check(o)) return Leaf::kText;
  return Leaf::kOther;
}

const char* leaf_name(Leaf l) {
  constexpr const char* kNames[] = {"nothing", "bool", "int", "float", "complex", "str", "object"};
  return kNames[static_cast<int>(l)];
}

bool is_list(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

// The code of an element that is no number (a property, a conversion) may change the list it is in.
void need_size(PyObject* list, Py_ssize_t n) {
  if (PySequence_Fast_GET_SIZE(list) == n) return;
  type_error(cat("a list of ", n, " elements has ", PySequence_Fast_GET_SIZE(list),
                 " while it becomes a tensor"),
             "the conversion of an element changed it");
}

// A nested list seen once: its shape and what its leaves are.
struct Scan {
  Dims shape;
  Leaf leaf = Leaf::kNothing;
  bool wide = false;               // an int that needs 64 bits
  bool plain = true;               // numbers, bools and texts only
  bool opaque = false;             // something in it is neither that, nor an array, nor a tensor
  DType tensor = DType::kInvalid;  // of the first tensor in it
  DType floats = float32;  // what floats become: the first element decides, if it is one of NumPy's

  void visit(PyObject* o, size_t depth) {
    if (!is_list(o)) return visit_leaf(o);
    Object held = Object::share(o);
    if (depth >= kMaxRank) type_error("a list is nested too deeply to become a tensor");
    auto n = static_cast<int64_t>(PySequence_Fast_GET_SIZE(o));
    if (depth == shape.size())
      shape.push_back(n);
    else if (depth > shape.size() || shape[depth] != n)
      ragged(depth, n);
    for (int64_t i = 0; i < n; ++i) {
      need_size(o, n);
      PyObject* item = PySequence_Fast_GET_ITEM(o, i);
      // Leaves end the shape: a list beside them is ragged.
      if (!is_list(item) && shape.size() > depth + 1 && plain && leaf_of(item) != Leaf::kOther)
        ragged(depth + 1, -1);
      if (is_list(item) && leaf != Leaf::kNothing && shape.size() == depth + 1 && plain)
        ragged(depth + 1, PySequence_Fast_GET_SIZE(item));
      visit(item, depth + 1);
    }
  }

  void visit_leaf(PyObject* o) {
    Leaf l = leaf_of(o);
    if (l == Leaf::kOther) return visit_array(o);
    if (l == Leaf::kInt) {
      int overflow = 0;
      long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
      wide = wide || overflow || v != static_cast<int32_t>(v);
    }
    meet(l);
  }

  void visit_array(PyObject* o) {
    Object held = Object::share(o);
    plain = false;
    if (DType d = known_dtype(o); d != DType::kInvalid) {
      if (tensor == DType::kInvalid) tensor = d;
      return;
    }
    ArrayKind kind = array_kind(o);
    if (kind.dtype == DType::kInvalid) {
      opaque = true;
      return;
    }
    if (kind.leaf == Leaf::kInt && !wide && size_of(kind.dtype) >= 4)
      wide = !holds(int32, from_array(o));
    if (kind.leaf == Leaf::kFloat && leaf == Leaf::kNothing) floats = kind.dtype;
    meet(kind.leaf);
  }

  // Numbers go together, and bools among them count as 0 and 1; what else is mixed has no dtype.
  void meet(Leaf l) {
    auto number = [](Leaf x) {
      return x == Leaf::kInt || x == Leaf::kFloat || x == Leaf::kComplex;
    };
    if (leaf == Leaf::kNothing || leaf == l)
      leaf = l;
    else if (number(leaf) && (number(l) || l == Leaf::kBool))
      leaf = std::max(leaf, l);
    else
      type_error(cat("a list mixes ", leaf_name(leaf), " and ", leaf_name(l),
                     ", expected one type of element"),
                 "a tensor has one dtype", {manual_fix("make the elements one type")});
  }

  [[noreturn]] void ragged(size_t depth, int64_t n) {
    fail(Code::E1102,
         cat("a nested list is ragged: at depth ", depth, " one part has ",
             depth < shape.size() ? cat(shape[depth], " elements") : "numbers", " and another ",
             n < 0 ? "is a number" : cat("has ", n)),
         "a tensor is rectangular: all parts at one depth have the same length",
         {manual_fix("pad the shorter parts, or use a ragged tensor")});
  }
};

}  // namespace

void wrong_leaf(PyObject* o, DType d) {
  // A text among numbers is the wrong type of value; a number of the wrong kind is the wrong dtype.
  bool text = (leaf_of(o) == Leaf::kText) != (d == DType::kString);
  fail(text ? Code::E1104 : Code::E1101,
       cat("cannot convert ", repr_of(o), " to a tensor of dtype ", name(d)),
       cat("a Python ", leaf_name(leaf_of(o)), " does not become ", name(d), " on its own"),
       {manual_fix(is_integer(d) && leaf_of(o) == Leaf::kFloat
                       ? cat("write an integer, or cast the tensor: `", "tf.cast(..., tf.float32)`")
                       : cat("write a value that ", name(d), " holds"))});
}

void too_large(PyObject* o, DType d) {
  fail(Code::E1103, cat("the number ", repr_of(o), " does not fit into ", name(d)),
       cat(name(d), " cannot hold it"),
       {manual_fix(is_integer(d) ? "use a wider dtype, such as `tf.int64`"
                                 : "use a wider dtype, such as `tf.float64`")});
}

void cannot_convert(PyObject* value, const char* argument, const std::string& expected) {
  std::string what = argument ? cat("`", argument, "`: ") : "";
  bool many = PyIter_Check(value) || PyAnySet_Check(value) || PyDictViewSet_Check(value) ||
              PyDictValues_Check(value);
  type_error(
      cat(what, "got ", repr_of(value), " of type ", Py_TYPE(value)->tp_name, ", expected ",
          expected),
      many ? "it says neither how many elements it has nor in which order they stand"
           : "it has no form as a tensor",
      {manual_fix(many ? "make a list of it: `list(...)`"
                       : "give a number, a nested list of numbers, a NumPy array or a tensor")});
}

std::string bytes_of(PyObject* o) {
  if (PyBytes_Check(o)) return {PyBytes_AS_STRING(o), static_cast<size_t>(PyBytes_GET_SIZE(o))};
  Py_ssize_t n = 0;
  const char* s = PyUnicode_AsUTF8AndSize(o, &n);
  if (!s) throw PythonError{};
  return {s, static_cast<size_t>(n)};
}

namespace {

template <class T>
T number(PyObject* o, DType d) {
  Leaf l = leaf_of(o);
  if constexpr (std::is_same_v<T, bool>) {
    if (l != Leaf::kBool) wrong_leaf(o, d);
    return o == Py_True;
  } else if constexpr (std::is_integral_v<T>) {
    if (l != Leaf::kInt && l != Leaf::kBool) wrong_leaf(o, d);
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (std::is_same_v<T, uint64_t> && overflow > 0) {
      unsigned long long u = PyLong_AsUnsignedLongLong(o);
      if (!PyErr_Occurred()) return static_cast<T>(u);
      PyErr_Clear();
    }
    bool fits = !overflow &&
                (std::is_signed_v<T> ? v >= static_cast<long long>(std::numeric_limits<T>::min())
                                     : v >= 0) &&
                (sizeof(T) == 8 || v <= static_cast<long long>(std::numeric_limits<T>::max()));
    if (!fits) too_large(o, d);
    return static_cast<T>(v);
  } else if constexpr (is_complex_v<T>) {
    if (l != Leaf::kInt && l != Leaf::kFloat && l != Leaf::kComplex) wrong_leaf(o, d);
    Py_complex c = PyComplex_AsCComplex(o);
    if (c.real == -1.0 && PyErr_Occurred()) throw PythonError{};
    using V = typename T::value_type;
    return T(static_cast<V>(c.real), static_cast<V>(c.imag));
  } else {
    if (l != Leaf::kInt && l != Leaf::kFloat && l != Leaf::kBool) wrong_leaf(o, d);
    double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();  // an int beyond all floats
      too_large(o, d);
    }
    return T(static_cast<float_of<T>>(v));
  }
}

template <class F>
void each_leaf(PyObject* o, F&& f) {
  if (!is_list(o)) return f(o);
  PyObject** items = PySequence_Fast_ITEMS(o);
  for (Py_ssize_t i = 0, n = PySequence_Fast_GET_SIZE(o); i < n; ++i) each_leaf(items[i], f);
}

DType natural(const Scan& scan) {
  switch (scan.leaf) {
    case Leaf::kBool: return DType::kBool;
    case Leaf::kInt: return scan.wide ? int64 : int32;
    case Leaf::kComplex: return DType::kComplex128;
    case Leaf::kText: return DType::kString;
    default: return scan.floats;  // also of an empty list, as in TensorFlow
  }
}

// A float that nobody gave a dtype becomes float32, unless that would make it infinite.
float short_float(double v, PyObject* o) {
  auto f = static_cast<float>(v);
  if (std::isinf(f) && !std::isinf(v)) too_large(o, float32);
  return f;
}

Tensor from_numbers(PyObject* value, const Scan& scan, DType hint) {
  DType d = hint == DType::kInvalid ? natural(scan) : hint;
  Tensor t = empty(d, Shape(scan.shape), cpu());
  t.rep()->op = "Const";
  if (d == DType::kString) {
    auto* to = t.mutable_raw<std::string>();
    each_leaf(value, [&](PyObject* o) {
      if (leaf_of(o) != Leaf::kText) wrong_leaf(o, d);
      *to++ = bytes_of(o);
    });
    return t;
  }
  visit_plain(d, [&]<class T>(T) {
    T* to = t.mutable_raw<T>();
    each_leaf(value, [&](PyObject* o) {
      *to = number<T>(o, d);
      if constexpr (std::is_same_v<T, float>)
        if (hint == DType::kInvalid && std::isinf(*to)) *to = short_float(PyFloat_AsDouble(o), o);
      ++to;
    });
  });
  return t;
}

// Whether a tensor in a list may take the dtype of the call's other operands unasked: numbers stay
// what they are but for digits of floats. An integer never gets narrower, nor loses its sign.
bool may_become(DType have, DType want) {
  if (is_floating(have)) return is_differentiable(want);
  if (!is_integer(have)) return false;
  if (is_differentiable(want)) return want != float16;  // where 70000 is infinite
  return is_integer(want) && size_of(want) > size_of(have) &&
         (kUnsignedInts.has(have) || !kUnsignedInts.has(want));
}

// A list that holds arrays or tensors: its parts, all of dtype `d` where that loses nothing.
// `neighbours`: `d` is the dtype of the other operands.
Tensors parts_of(PyObject* list, DType d, bool cast_tensors, bool neighbours,
                 const char* argument) {
  Tensors parts;
  for (Py_ssize_t i = 0, n = PySequence_Fast_GET_SIZE(list); i < n; ++i) {
    need_size(list, n);
    Object held = Object::share(PySequence_Fast_GET_ITEM(list, i));
    PyObject* item = held.get();
    Tensor t = leaf_of(item) == Leaf::kOther && is_array(item)
                   ? cast_array(from_array(item), d, item, true)
                   : convert(item, d, cast_tensors && is_list(item), argument);
    if (cast_tensors && d != DType::kInvalid)
      t = cast_array(t, d, item, !is_tensor(item) && !is_variable(item) && !is_list(item));
    else if (neighbours && may_become(t.dtype(), d))
      t = cast_array(t, d, item, false);
    parts.push_back(std::move(t));
    if (d == DType::kInvalid && !PyLong_Check(item)) d = parts.back().dtype();
  }
  return parts;
}

// What shares memory and has no NumPy dtype is a sequence of Python numbers to TensorFlow: ints and
// float32.
DType dtype_as_sequence(const Tensor& t) {
  if (is_floating(t.dtype())) return float32;
  if (!is_integer(t.dtype())) return t.dtype();
  return holds(int32, t) ? int32 : holds(int64, t) ? int64 : uint64;
}

}  // namespace

std::string repr_of(PyObject* o) {
  PyObject* r = PyObject_Repr(o);
  if (!r) {
    PyErr_Clear();
    return "an object";
  }
  std::string s = bytes_of(Object::steal(r).get());
  // The same program says the same on every run: no addresses.
  for (size_t at; (at = s.find(" at 0x")) != std::string::npos;)
    s.erase(at, s.find_first_not_of("0123456789abcdef", at + 6) - at);
  if (s.size() <= 60) return s;
  size_t end = 57;
  while (end > 0 && (s[end] & 0xC0) == 0x80) --end;  // a letter is not cut in two
  return s.replace(end, std::string::npos, "...");
}

DType known_dtype(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o).dtype();
  return is_variable(o) ? variable_dtype(o) : DType::kInvalid;
}

// A tensor whose dtype is not the one that is asked for.
[[noreturn]] static void other_dtype(const Tensor& t, DType asked) {
  const std::string said = words_for(t);
  fail(Code::E1101,
       cat(said.empty() ? "a tensor" : cat("`", said, "`"), " of dtype ", name(t.dtype()),
           " was given where ", name(asked), " is asked for"),
       "conversion of a tensor never changes its dtype",
       {manual_fix(cat("cast it: `",
                       written(Advice::kCast, {said.empty() ? "..." : said, written(asked)}),
                       "`"))});
}

Tensor convert(PyObject* value, DType hint, bool strict, const char* argument) {
  if (is_tensor(value) || is_variable(value)) {
    Tensor t = is_tensor(value) ? tensor_of(value) : read_variable(value);
    if (strict && hint != DType::kInvalid && t.dtype() != hint) other_dtype(t, hint);
    return t;
  }
  if (PyFloat_CheckExact(value) && (hint == float32 || hint == DType::kInvalid)) {
    double v = PyFloat_AS_DOUBLE(value);
    return Tensor::scalar(hint == DType::kInvalid ? short_float(v, value) : static_cast<float>(v));
  }
  if (value == Py_None) cannot_convert(value, argument, "a tensor");
  if (leaf_of(value) != Leaf::kOther || is_list(value)) {
    Scan scan;
    scan.visit(value, 0);
    if (scan.plain) return from_numbers(value, scan, hint);
    DType d = hint != DType::kInvalid ? hint : scan.tensor;
    if (d == DType::kInvalid && !scan.opaque) d = natural(scan);
    bool asked = hint != DType::kInvalid;
    Tensors parts = parts_of(value, d, strict && asked, asked, argument);
    static const FunctionDef* stack = find_function("stack");
    if (!stack) fail(Code::E1105, "a list that holds tensors");
    Arg args[1] = {parts};
    return call_with_defaults(*stack, args)[0];
  }
  if (has_own_conversion(value)) {
    PyObject* d = hint == DType::kInvalid ? Py_None : dtype_object(hint);
    Object made = Object::steal(
        PyObject_CallFunctionObjArgs(own_conversions().convert.get(), value, d, nullptr));
    if (made.get() != Py_NotImplemented) return tensor_of(made.get());
  }
  for (const char* protocol : {"__tf_tensor__", "_as_tensor"}) {
    PyObject* method = PyObject_GetAttrString(value, protocol);
    if (!method) {
      PyErr_Clear();
      continue;
    }
    Object m = Object::steal(method);
    PyObject* d = hint == DType::kInvalid ? Py_None : dtype_object(hint);
    Object t = Object::steal(PyObject_CallFunctionObjArgs(m.get(), d, nullptr));
    if (!is_tensor(t.get())) cannot_convert(t.get(), protocol, "a tensor");
    return tensor_of(t.get());
  }
  bool array = PyObject_CheckBuffer(value) || PyObject_HasAttrString(value, "__array__") ||
               PyObject_HasAttrString(value, "__array_interface__") || PyFloat_Check(value) ||
               PyComplex_Check(value);
  bool shares = PyObject_CheckBuffer(value) && !PyObject_HasAttrString(value, "dtype");
  if (array && !shares) return cast_array(from_array(value, hint), hint, value);
  if (shares) {
    try {
      Tensor t = from_buffer(value);
      return hint == DType::kInvalid ? cast_array(t, dtype_as_sequence(t), value)
                                     : cast_array(t, hint, value, true);
    } catch (const PythonError&) {
      PyErr_Clear();  // elements that are no numbers, such as letters
    }
  }
  // Several tensors that are one value. Python may know what a function does with them.
  if (nesting(Py_TYPE(value)) == Nesting::kComposite)
    type_error(cat(argument ? cat("`", argument, "`: ") : "", "got a ", Py_TYPE(value)->tp_name,
                   ", expected a tensor"),
               "it is made of several tensors, and this takes one",
               {manual_fix("make it dense: `tf.sparse.to_dense(...)` of a SparseTensor, "
                           "`.to_tensor()` of a RaggedTensor")});
  if (PyIndex_Check(value))
    return convert(Object::steal(PyNumber_Index(value)).get(), hint, strict, argument);
  if (PySequence_Check(value)) {
    Deeper deeper(" while a sequence became a tensor");
    Object list = Object::steal(PySequence_List(value));
    return convert(list.get(), hint, strict, argument);
  }
  cannot_convert(value, argument, "a tensor");
}

OwnConversions& own_conversions() {
  static auto* own = new OwnConversions;  // outlives the interpreter
  return *own;
}

bool has_own_conversion(PyObject* o) {
  if (!own_conversions().types) return false;
  int is = PyObject_IsInstance(o, own_conversions().types.get());
  if (is < 0) throw PythonError{};
  return is == 1;
}

Tensor from_plain_list(PyObject* list) {
  Scan scan;
  scan.visit(list, 0);
  if (!scan.plain) cannot_convert(list, nullptr, "an array of numbers or strings");
  return from_numbers(list, scan, DType::kInvalid);
}

// Whether it has elements. Arrays of any rank can be asked for an index, so that says nothing; one
// without axes is a number.
static bool has_elements(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o).rank() != 0;
  if (PyTuple_Check(o) || PyList_Check(o)) return true;
  if (!PySequence_Check(o)) return false;
  if (PySequence_Size(o) >= 0) return true;
  PyErr_Clear();
  return false;
}

bool is_one_int(PyObject* o) { return PyIndex_Check(o) && !PyBool_Check(o) && !has_elements(o); }

std::optional<Ints> ints_of(PyObject* o) {
  auto one = [](PyObject* x, Ints& out) {
    if (x == Py_None) {
      out.push_back(-1);
      return true;
    }
    if (!is_one_int(x) || (is_tensor(x) && tensor_of(x).is_symbolic())) return false;
    Object i = Object::steal(PyNumber_Index(x));
    long long v = PyLong_AsLongLong(i.get());
    if (v == -1 && PyErr_Occurred()) throw PythonError{};
    out.push_back(v);
    return true;
  };
  Ints out;
  if (is_one_int(o)) {
    if (!one(o, out)) return std::nullopt;
    return out;
  }
  if (PyUnicode_Check(o) || PyBytes_Check(o) || !PySequence_Check(o)) return std::nullopt;
  // What is made of several tensors is no list of numbers, even where it has items.
  if (!PyList_Check(o) && !PyTuple_Check(o) && PyObject_HasAttrString(o, "_is_composite"))
    return std::nullopt;
  Object list = Object::steal(PySequence_Fast(o, "expected a sequence of ints"));
  // `__index__` may change it.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
    if (!one(Object::share(PySequence_Fast_GET_ITEM(list.get(), i)).get(), out))
      return std::nullopt;
  return out;
}

DType only_dtype(DTypes set) {
  DType found = DType::kInvalid;
  for (int d = 1; d < kNumDTypes; ++d) {
    if (!set.has(static_cast<DType>(d))) continue;
    if (found != DType::kInvalid) return DType::kInvalid;
    found = static_cast<DType>(d);
  }
  return kAll.has(found) ? found : DType::kInvalid;
}

DType dtype_of_object(PyObject* o) {
  for (int i = 1; i < kNumDTypes; ++i)
    if (hooks().dtypes[i].get() == o) return static_cast<DType>(i);
  if (!hooks().as_dtype) type_error("dtypes are not set up");
  Object d = Object::steal(PyObject_CallFunctionObjArgs(hooks().as_dtype.get(), o, nullptr));
  for (int i = 1; i < kNumDTypes; ++i)
    if (hooks().dtypes[i].get() == d.get()) return static_cast<DType>(i);
  type_error(cat(repr_of(o), " is no dtype"));
}

PyObject* dtype_object(DType d) {
  PyObject* o = hooks().dtypes[static_cast<int>(d)].get();
  return o ? o : Py_None;
}

Hooks& hooks() {
  static Hooks* h = new Hooks;  // Python objects must not be freed after the interpreter
  return *h;
}

}  // namespace holdfast::py
