// The raw ops: called by name, inputs and attributes as the op declares them.
#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "python/bind/arrays.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

// A shape that is given as numbers in a tensor, or as -1: of an unknown rank.
std::optional<Shape> shape_in(PyObject* o) {
  if (PyLong_Check(o) && PyLong_AsLongLong(o) == -1) return Shape::unknown();
  if (!is_tensor(o)) return std::nullopt;
  Tensor t = tensor_of(o);
  if (t.is_symbolic()) t = symbol_of(t)->unknown ? Tensor() : symbol_of(t)->known;
  if (!t.defined() || t.rank() > 1 || (t.dtype() != int32 && t.dtype() != int64))
    return std::nullopt;
  Dims dims;
  for (int64_t i = 0; i < t.size(); ++i)
    dims.push_back(t.dtype() == int32 ? t.raw<int32_t>()[i] : t.raw<int64_t>()[i]);
  return t.rank() == 0 ? Shape::unknown() : Shape(dims);
}

template <class T>
bool is(const AttrDef& def) {
  return std::holds_alternative<T>(def.default_value.value());
}

// An integer; one that has more than 64 bits is refused with Python's OverflowError.
int64_t int_in(PyObject* o) {
  long long v = PyLong_AsLongLong(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError{};
  return v;
}

// What is given for an attribute, by the type that its default has; where that says none, by what
// it looks like. Nothing where it can't be what is wanted.
Arg attribute(const AttrDef& def, PyObject* o) {
  if (is<Shape>(def)) {
    if (o == Py_None) return Arg(Shape::unknown());
    if (auto shape = shape_in(o)) return Arg(*shape);
    if (auto ints = is_one_int(o) ? std::nullopt : ints_of(o)) return Arg(Shape(*ints));
  }
  if (o == Py_None) return {};
  if (PyBool_Check(o)) return Arg(o == Py_True);
  if (PyLong_Check(o)) return Arg(int_in(o));
  if (PyFloat_Check(o)) return Arg(PyFloat_AsDouble(o));
  // A dtype may be given by its name.
  if (PyUnicode_Check(o)) return is<DType>(def) ? Arg(dtype_of_object(o)) : Arg(bytes_of(o));
  if (PyBytes_Check(o)) return Arg(bytes_of(o));
  bool list = PyList_Check(o) || PyTuple_Check(o);
  if (list && (is<std::vector<double>>(def) || is<std::vector<std::string>>(def))) {
    std::vector<double> numbers;
    std::vector<std::string> words;
    if (is<std::vector<double>>(def) && nb::try_cast(nb::handle(o), numbers)) return Arg(numbers);
    if (is<std::vector<std::string>>(def) && nb::try_cast(nb::handle(o), words)) return Arg(words);
    return {};
  }
  if (auto ints = ints_of(o)) {
    if (is_one_int(o)) return Arg((*ints)[0]);
    return Arg(std::move(*ints));
  }
  if (list) {
    bool text = PySequence_Fast_GET_SIZE(o) > 0 && PyUnicode_Check(PySequence_Fast_GET_ITEM(o, 0));
    std::vector<std::string> words;
    if (text && nb::try_cast(nb::handle(o), words)) return Arg(std::move(words));
    std::vector<double> values;
    if (!text && nb::try_cast(nb::handle(o), values)) return Arg(std::move(values));
    type_error(cat("the attribute `", def.name, "` is ", repr_of(o),
                   ", expected a list of numbers or of strings"));
  }
  return Arg(dtype_of_object(o));
}

// Whether an attribute is of the type that its default has.
bool fits(const AttrDef& def, const Arg& given) {
  const auto &wanted = def.default_value.value(), &got = given.value();
  bool open = std::holds_alternative<std::monostate>(wanted);
  bool number = std::holds_alternative<double>(wanted);
  return open || wanted.index() == got.index() || (number && std::holds_alternative<int64_t>(got));
}

// What an attribute takes, in words; nothing where it is not known.
const char* kind_of(const AttrDef& def) {
  if (is<bool>(def)) return "a bool";
  if (is<int64_t>(def)) return "an int of at most 64 bits";
  if (is<double>(def)) return "a float";
  if (is<std::string>(def)) return "a string";
  if (is<DType>(def)) return "a dtype";
  if (is<Shape>(def)) return "a shape";
  if (is<Ints>(def)) return "a list of ints";
  if (is<std::vector<double>>(def)) return "a list of floats";
  if (is<std::vector<std::string>>(def)) return "a list of strings";
  return "";
}

Arg given_for(const OpDef& op, const AttrDef& def, PyObject* o) {
  Arg found;
  bool read = true;
  try {
    found = attribute(def, o);
  } catch (const PythonError&) {
    PyErr_Clear();
    read = false;
  }
  if (read && fits(def, found)) return found;
  std::string said = cat("raw_ops.", op.name, ": attribute `", def.name, "` is ", repr_of(o));
  const char* wanted = kind_of(def);
  type_error(*wanted ? cat(said, ", expected ", wanted) : said);
}

// What the next node is called, for an op that has no result to carry the name.
class NodeName {
 public:
  explicit NodeName(std::string name) { context().op_name = std::move(name); }
  ~NodeName() { context().op_name.clear(); }
  NodeName(const NodeName&) = delete;
};

bool is_empty_list(PyObject* o) {
  return (PyList_Check(o) || PyTuple_Check(o)) && PySequence_Fast_GET_SIZE(o) == 0;
}

nb::object call(const OpDef& op, const nb::kwargs& kwargs) {
  Tensors in;
  auto given = [&](const std::string& name) -> PyObject* {
    return PyDict_GetItemString(kwargs.ptr(), name.c_str());
  };
  for (auto& def : op.inputs) {
    PyObject* o = given(def.name);
    if (!o && !def.optional)
      type_error(cat("raw_ops.", op.name, " needs the argument `", def.name, "`"));
    // Numbers take the dtype of their group, or the only one that the op takes.
    DType hint = only_dtype(def.dtypes);
    if (def.dtypes == kIndices && o && is_empty_list(o)) hint = int32;  // of floats by itself
    for (size_t k = 0; k < in.size(); ++k)
      if (in[k].defined() && op.inputs[k].group == def.group) hint = in[k].dtype();
    // A whole number where only floats are taken.
    if (hint == DType::kInvalid && o && PyLong_Check(o) && !def.dtypes.has(int32) &&
        def.dtypes.has(float32))
      hint = float32;
    if (def.list && o) {
      if (PyUnicode_Check(o) || (!Py_TYPE(o)->tp_iter && !PySequence_Check(o)))
        type_error(cat("raw_ops.", op.name, ": argument `", def.name, "` is ", repr_of(o),
                       ", expected a list of tensors"));
      Object items = Object::steal(PySequence_Tuple(o));  // conversion may run code that changes it
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i)
        in.push_back(convert(PyTuple_GET_ITEM(items.get(), i), hint, false, def.name.c_str()));
    } else if (!o || o == Py_None) {
      in.push_back(Tensor());
    } else if (def.dtypes.has(DType::kResource) && is_variable(o)) {
      in.push_back(variable_of(o).handle());
    } else {
      in.push_back(convert(o, hint, false, def.name.c_str()));
    }
  }
  Attrs attrs;
  for (auto& def : op.attrs) {
    PyObject* o = given(def.name);
    if (!o && def.required)
      type_error(cat("raw_ops.", op.name, " needs the attribute `", def.name, "`"));
    attrs.push_back(o ? given_for(op, def, o) : def.default_value);
  }
  for (auto [key, value] : kwargs) {
    std::string name = bytes_of(key.ptr());
    bool known = name == "name" || op.attr_index(name.c_str()) >= 0;
    for (auto& def : op.inputs) known = known || def.name == name;
    if (!known) type_error(cat("raw_ops.", op.name, " has no argument `", name, "`"));
  }
  Tensors out;
  PyObject* title = given("name");
  if (title && title != Py_None && !PyUnicode_Check(title))
    type_error(cat("raw_ops.", op.name, ": `name` is ", repr_of(title), ", expected a string"));
  std::string name = title && title != Py_None ? bytes_of(title) : std::string();
  if (!name.empty() && op.outputs.empty()) {
    NodeName named(name);
    apply(op, in, attrs, out);
  } else if (!name.empty()) {
    NamedCall named(name, in);
    apply(op, in, attrs, out);
    if (!out.empty()) named.finish(out[0]);
  } else {
    apply(op, in, attrs, out);
  }
  if (op.outputs.empty()) return nb::none();
  if (op.outputs.size() == 1 && out.size() == 1) return nb::cast(out[0]);
  nb::list list;
  for (const Tensor& t : out) list.append(t);
  return nb::tuple(list);
}

}  // namespace

void bind_registry(nb::module_& m) {
  m.def("raw_ops", [] {
    std::vector<std::string> names;
    for (const OpDef* op : all_ops()) names.push_back(op->name);
    return names;
  });
  m.def("raw_op_record", [](const std::string& name) -> nb::object {
    const OpDef* op = find_op(name);
    if (!op) return nb::none();
    nb::dict d;
    nb::list inputs, attrs, kernels;
    for (auto& i : op->inputs) {
      nb::dict x;
      x["name"] = i.name;
      x["group"] = i.group;
      x["dtypes"] = to_text(i.dtypes);
      x["list"] = i.list;
      x["optional"] = i.optional;
      x["host"] = i.host;
      inputs.append(x);
    }
    for (auto& a : op->attrs) {
      nb::dict x;
      x["name"] = a.name;
      x["required"] = a.required;
      x["default"] = a.default_value.text();
      attrs.append(x);
    }
    for (auto& k : op->kernels)
      kernels.append(nb::make_tuple(k.name, k.device == DeviceKind::kCpu ? "CPU" : "GPU"));
    d["name"] = op->name;
    d["doc"] = op->doc;
    d["inputs"] = inputs;
    d["attrs"] = attrs;
    d["outputs"] = op->outputs;
    d["kernels"] = kernels;
    d["gradient"] = op->gradient != nullptr;
    d["no_gradient"] = op->traits.no_gradient;
    d["stateful"] = op->traits.stateful;
    return d;
  });
  m.def("raw_op", [](const std::string& name, const nb::kwargs& kwargs) {
    return run([&] {
      mark();
      const OpDef* op = find_op(name);
      if (!op) fail(Code::E1105, cat("raw_ops.", name, " is not supported"));
      try {
        return call(*op, kwargs);
      } catch (Error& e) {
        e.name_op(op->name);
        throw;
      }
    });
  });
}

}  // namespace holdfast::py
