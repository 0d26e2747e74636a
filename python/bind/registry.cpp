// The raw ops: called by name, inputs and attributes as the op declares them.
#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
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

Arg attribute(const AttrDef& def, PyObject* o) {
  if (o == Py_None) return {};
  if (PyBool_Check(o)) return Arg(o == Py_True);
  if (std::holds_alternative<Shape>(def.default_value.value()))
    if (auto shape = shape_in(o)) return Arg(*shape);
  if (PyLong_Check(o)) return Arg(static_cast<int64_t>(PyLong_AsLongLong(o)));
  if (PyFloat_Check(o)) return Arg(PyFloat_AsDouble(o));
  if (PyUnicode_Check(o)) {
    // A dtype may be given by name where the default is one.
    if (std::holds_alternative<DType>(def.default_value.value())) return Arg(dtype_of_object(o));
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(o, &size);
    if (!text) throw PythonError{};
    return Arg(std::string(text, static_cast<size_t>(size)));
  }
  if (PyBytes_Check(o))
    return Arg(std::string(PyBytes_AS_STRING(o), static_cast<size_t>(PyBytes_GET_SIZE(o))));
  if (auto ints = ints_of(o)) {
    if (is_one_int(o)) return Arg((*ints)[0]);
    if (std::holds_alternative<Shape>(def.default_value.value())) return Arg(Shape(*ints));
    return Arg(std::move(*ints));
  }
  if (PyList_Check(o) || PyTuple_Check(o)) {
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

// Whether an attribute is of the kind that the op says by its default.
bool fits(const AttrDef& def, const Arg& given) {
  const auto &wanted = def.default_value.value(), &got = given.value();
  bool number = std::holds_alternative<double>(wanted);
  bool one = number || std::holds_alternative<bool>(wanted) ||
             std::holds_alternative<int64_t>(wanted) ||
             std::holds_alternative<std::string>(wanted) || std::holds_alternative<DType>(wanted);
  return !one || wanted.index() == got.index() || (number && std::holds_alternative<int64_t>(got));
}

// What the next node is called, for an op that has no result to carry the name.
class NodeName {
 public:
  explicit NodeName(const char* name) { context().op_name = name; }
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
    if (def.list) {
      Object items = Object::steal(PySequence_Fast(o, "expected a list of tensors"));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i)
        in.push_back(
            convert(PySequence_Fast_GET_ITEM(items.get(), i), hint, false, def.name.c_str()));
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
    try {
      attrs.push_back(o ? attribute(def, o) : def.default_value);
      if (o && !fits(def, attrs.back()))
        fail(Code::E1104, cat(op.name, ": attribute `", def.name, "` is ", attrs.back().text(),
                              ", expected one like ", def.default_value.text()));
    } catch (const PythonError&) {
      PyErr_Clear();
      type_error(cat("raw_ops.", op.name, ": attribute `", def.name, "` is ", repr_of(o),
                     ", expected one like ", def.default_value.text()));
    }
  }
  for (auto [key, value] : kwargs) {
    std::string name = nb::cast<std::string>(key);
    bool known = name == "name" || op.attr_index(name.c_str()) >= 0;
    for (auto& def : op.inputs) known = known || def.name == name;
    if (!known) type_error(cat("raw_ops.", op.name, " has no argument `", name, "`"));
  }
  Tensors out;
  PyObject* title = given("name");
  bool titled = title && PyUnicode_Check(title) && PyUnicode_GetLength(title) > 0;
  if (titled && op.outputs.empty()) {
    NodeName named(PyUnicode_AsUTF8(title));
    apply(op, in, attrs, out);
  } else if (titled) {
    NamedCall named(PyUnicode_AsUTF8(title), in);
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
