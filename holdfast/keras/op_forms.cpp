#include "holdfast/keras/op_forms.h"

#include <map>
#include <numeric>

#include "holdfast/base/text.h"
#include "holdfast/keras/declare.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras {
namespace {

constexpr const char *kNumPy = "keras.src.ops.numpy", *kNn = "keras.src.ops.nn",
                     *kMath = "keras.src.ops.math", *kCore = "keras.src.ops.core";

// Operations that take tensors and nothing else.
struct Plain {
  const char *op, *module, *class_name;
  int operands;
};
constexpr Plain kOperations[] = {
    {"Abs", kNumPy, "Absolute", 1},
    {"Neg", kNumPy, "Negative", 1},
    {"Exp", kNumPy, "Exp", 1},
    {"Expm1", kNumPy, "Expm1", 1},
    {"Log", kNumPy, "Log", 1},
    {"Log1p", kNumPy, "Log1p", 1},
    {"Sqrt", kNumPy, "Sqrt", 1},
    {"Square", kNumPy, "Square", 1},
    {"Reciprocal", kNumPy, "Reciprocal", 1},
    {"Sin", kNumPy, "Sin", 1},
    {"Cos", kNumPy, "Cos", 1},
    {"Tan", kNumPy, "Tan", 1},
    {"Asin", kNumPy, "Arcsin", 1},
    {"Acos", kNumPy, "Arccos", 1},
    {"Atan", kNumPy, "Arctan", 1},
    {"Sinh", kNumPy, "Sinh", 1},
    {"Cosh", kNumPy, "Cosh", 1},
    {"Tanh", kNumPy, "Tanh", 1},
    {"Asinh", kNumPy, "Arcsinh", 1},
    {"Acosh", kNumPy, "Arccosh", 1},
    {"Atanh", kNumPy, "Arctanh", 1},
    {"Floor", kNumPy, "Floor", 1},
    {"Ceil", kNumPy, "Ceil", 1},
    {"Rint", kNumPy, "Round", 1},
    {"Sign", kNumPy, "Sign", 1},
    {"IsNan", kNumPy, "Isnan", 1},
    {"IsInf", kNumPy, "Isinf", 1},
    {"IsFinite", kNumPy, "Isfinite", 1},
    {"LogicalNot", kNumPy, "LogicalNot", 1},
    {"ZerosLike", kNumPy, "ZerosLike", 1},
    {"OnesLike", kNumPy, "OnesLike", 1},
    {"Rsqrt", kMath, "Rsqrt", 1},
    {"Erf", kMath, "Erf", 1},
    {"Erfc", kMath, "Erfc", 1},
    {"Erfinv", kMath, "Erfinv", 1},
    {"Relu", kNn, "Relu", 1},
    {"Relu6", kNn, "Relu6", 1},
    {"Sigmoid", kNn, "Sigmoid", 1},
    {"Softplus", kNn, "Softplus", 1},
    {"Softsign", kNn, "Softsign", 1},
    {"Selu", kNn, "Selu", 1},
    {"StopGradient", kCore, "StopGradient", 1},
    {"AddV2", kNumPy, "Add", 2},
    {"Add", kNumPy, "Add", 2},
    {"Sub", kNumPy, "Subtract", 2},
    {"Mul", kNumPy, "Multiply", 2},
    {"RealDiv", kNumPy, "TrueDivide", 2},
    {"RealDiv", kNumPy, "Divide", 2},
    {"DivNoNan", kNumPy, "DivideNoNan", 2},
    {"FloorDiv", kNumPy, "FloorDivide", 2},
    {"FloorMod", kNumPy, "Mod", 2},
    {"Pow", kNumPy, "Power", 2},
    {"Maximum", kNumPy, "Maximum", 2},
    {"Minimum", kNumPy, "Minimum", 2},
    {"Atan2", kNumPy, "Arctan2", 2},
    {"Greater", kNumPy, "Greater", 2},
    {"GreaterEqual", kNumPy, "GreaterEqual", 2},
    {"Less", kNumPy, "Less", 2},
    {"LessEqual", kNumPy, "LessEqual", 2},
    {"Equal", kNumPy, "Equal", 2},
    {"NotEqual", kNumPy, "NotEqual", 2},
    {"LogicalAnd", kNumPy, "LogicalAnd", 2},
    {"LogicalOr", kNumPy, "LogicalOr", 2},
};
constexpr const char* kReductions[] = {"Sum", "Mean", "Max", "Min", "Prod", "Any", "All"};

// -- writing

using Operand = holdfast::Callback<Config(const Edge&)>;

// A node in the making of its config: what its operands and attributes are.
class Described {
 public:
  Described(const Node& node, const Operand& operand) : node_(node), operand_(operand) {}
  bool is(const char* op) const { return node_.op->name == op; }
  size_t operands() const { return node_.inputs.size(); }
  // A symbol, a number, or a tensor with its values.
  Config operand(size_t i) const {
    const Edge& e = node_.inputs[i];
    if (!is_constant(*e.node)) return operand_(e);
    Config whole = value_config(constant_of(*e.node), cat("an operand of `", node_.name, "`"));
    const Config& value = *whole.as_object().config.find("value");
    return value.kind() == Config::Kind::kList ? whole : value;
  }
  // Whether all operands are there, and those from `from` on are symbols or numbers.
  bool complete() const {
    for (const Edge& e : node_.inputs)
      if (!e.node) return false;
    return true;
  }
  // The integers of an operand that is a constant.
  std::optional<Ints> ints(size_t i) const {
    if (i >= operands() || !node_.inputs[i].node || !is_constant(*node_.inputs[i].node)) return {};
    const Tensor& t = constant_of(*node_.inputs[i].node);
    if (!kInts.has(t.dtype())) return {};
    return cast(t, int64).to_vector<int64_t>();
  }
  const Arg& attr(const char* name) const { return node_.op->attr(node_.attrs, name); }
  bool has(const char* name) const { return node_.op->attr_index(name) >= 0; }
  OperationCall call(const char* module, const char* name, ConfigDict config = {}) const {
    return {module, name, std::move(config), {}};
  }
  OperationCall with_operands(OperationCall out) const {
    for (size_t i = 0; i < operands(); ++i) out.args.push_back(operand(i));
    return out;
  }
  OperationCall of_first(OperationCall out, size_t i = 0) const {
    out.args.push_back(operand(i));
    return out;
  }
  size_t outputs() const { return node_.outputs.size(); }
  std::optional<Shape> shape(size_t i) const {
    const Edge& e = node_.inputs[i];
    const Shape& s = e.node->outputs[static_cast<size_t>(e.output)].shape;
    return s.has_rank() ? std::optional(s) : std::nullopt;
  }

 private:
  const Node& node_;
  const Operand& operand_;
};

Config integers(const Ints& all) {
  Config::List out;
  for (int64_t v : all) out.emplace_back(v);
  return out;
}

Config slice_config(const Config& start, const Config& stop, const Config& step) {
  return ConfigObject{"__slice__", {{"start", start}, {"stop", stop}, {"step", step}}, {}};
}

std::optional<OperationCall> describe_slice(const Described& d) {
  auto begin = d.ints(1), end = d.ints(2), strides = d.ints(3);
  if (!begin || !end || !strides || end->size() != begin->size()) return {};
  auto bit = [&](const char* mask, size_t i) { return (d.attr(mask).i() >> i & 1) != 0; };
  Config::List items;
  for (size_t i = 0; i < begin->size(); ++i) {
    if (bit("ellipsis_mask", i)) {
      items.emplace_back(ConfigObject{"__ellipsis__", {}, {}});
    } else if (bit("new_axis_mask", i)) {
      items.emplace_back();
    } else if (bit("shrink_axis_mask", i)) {
      items.emplace_back((*begin)[i]);
    } else {
      items.push_back(slice_config(bit("begin_mask", i) ? Config() : Config((*begin)[i]),
                                   bit("end_mask", i) ? Config() : Config((*end)[i]),
                                   (*strides)[i] == 1 ? Config() : Config((*strides)[i])));
    }
  }
  OperationCall out = d.of_first(d.call(kNumPy, "GetItem"));
  out.args.push_back(items.size() == 1 ? items[0] : Config(items));
  return out;
}

std::optional<OperationCall> describe_join(const Described& d, const char* name, size_t from,
                                           int64_t axis) {
  OperationCall out = d.call(kNumPy, name, {{"axis", axis}});
  Config::List all;
  for (size_t i = from; i < d.operands(); ++i) all.push_back(d.operand(i));
  out.args.emplace_back(std::move(all));
  return out;
}

}  // namespace

std::optional<OperationCall> describe_known(const Node& node, const Operand& operand) {
  Described d(node, operand);
  if (!d.complete()) return {};
  for (const Plain& p : kOperations)
    if (d.is(p.op)) return d.with_operands(d.call(p.module, p.class_name));
  for (const char* name : kReductions) {
    if (!d.is(name)) continue;
    auto axes = d.ints(1);
    if (d.operands() > 1 && !axes) return {};
    return d.of_first(d.call(
        kNumPy, name,
        {{"axis", axes ? integers(*axes) : Config()}, {"keepdims", d.attr("keep_dims").b()}}));
  }
  if (d.is("SelectV2")) return d.with_operands(d.call(kNumPy, "Where"));
  if (d.is("StridedSlice")) return describe_slice(d);
  if (d.is("ConcatV2"))
    if (auto axis = d.ints(0); axis && axis->size() == 1)
      return describe_join(d, "Concatenate", 1, (*axis)[0]);
  if (d.is("Pack")) return describe_join(d, "Stack", 0, d.attr("axis").i());
  if (d.is("Reshape"))
    if (auto sizes = d.ints(1))
      return d.of_first(d.call(kNumPy, "Reshape", {{"newshape", integers(*sizes)}}));
  if (d.is("BroadcastTo"))
    if (auto sizes = d.ints(1))
      return d.of_first(d.call(kNumPy, "BroadcastTo", {{"shape", integers(*sizes)}}));
  if (d.is("Transpose") && d.operands() > 1)
    if (auto axes = d.ints(1))
      return d.of_first(d.call(kNumPy, "Transpose", {{"axes", integers(*axes)}}));
  if (d.is("ExpandDims"))
    if (auto axis = d.ints(1); axis && axis->size() == 1)
      return d.of_first(d.call(kNumPy, "ExpandDims", {{"axis", (*axis)[0]}}));
  if (d.is("Squeeze"))
    if (const Ints& axes = d.attr("squeeze_dims").ints(); !axes.empty())
      return d.of_first(d.call(kNumPy, "Squeeze",
                               {{"axis", axes.size() == 1 ? Config(axes[0]) : integers(axes)}}));
  if (d.is("Tile"))
    if (auto times = d.ints(1))
      return d.of_first(d.call(kNumPy, "Tile", {{"repeats", integers(*times)}}));
  if (d.is("Cast"))
    return d.of_first(d.call(kCore, "Cast", {{"dtype", std::string(name(node.outputs[0].dtype))}}));
  if (d.is("MatMul") && !d.attr("transpose_a").b() && !d.attr("transpose_b").b())
    return d.with_operands(d.call(kNumPy, "Matmul"));
  if ((d.is("BatchMatMul") || d.is("BatchMatMulV2")) && !d.attr("adj_x").b() &&
      !d.attr("adj_y").b())
    return d.with_operands(d.call(kNumPy, "Matmul"));
  if (d.is("Softmax") || d.is("LogSoftmax"))
    return d.of_first(d.call(kNn, d.is("Softmax") ? "Softmax" : "LogSoftmax", {{"axis", -1}}));
  if (d.is("Silu")) return d.of_first(d.call(kNn, "Silu"));
  if (d.is("Elu")) return d.of_first(d.call(kNn, "Elu", {{"alpha", 1.0}}));
  if (d.is("Gelu") || d.is("GeluTanh"))
    return d.of_first(d.call(kNn, "Gelu", {{"approximate", d.is("GeluTanh")}}));
  if (d.is("LeakyRelu"))
    return d.of_first(d.call(kNn, "LeakyRelu", {{"negative_slope", d.attr("alpha").f()}}));
  if (d.is("Split"))
    if (auto axis = d.ints(0); axis && axis->size() == 1)
      return d.of_first(d.call(kNumPy, "Split",
                               {{"indices_or_sections", static_cast<int64_t>(d.outputs())},
                                {"axis", (*axis)[0]}}),
                        1);
  return {};
}

// -- reading

namespace {

std::optional<Ints> ints_of(const Config& c, const std::string& what) {
  if (c.is_null()) return {};
  if (c.kind() == Config::Kind::kInteger) return Ints{c.as_integer()};
  const Config* list = &c;
  if (c.kind() == Config::Kind::kDict)  // a tuple
    if (const Config* items = c.as_dict().find("items")) list = items;
  Ints out;
  for (const Config& one : list->as_list(what)) out.push_back(one.as_integer(what));
  return out;
}
Ints needed_ints(const OperationArgs& a, const char* name) {
  if (auto out = ints_of(a.option(name), a.what(name))) return *out;
  fail(Code::E1104, cat(a.what(name), " is missing"));
}
int64_t axis_of(const OperationArgs& a, int64_t otherwise) {
  const Config& c = a.option("axis");
  return c.is_null() ? otherwise : c.as_integer(a.what("axis"));
}
bool flag(const OperationArgs& a, const char* name, bool otherwise = false) {
  const Config& c = a.option(name);
  return c.is_null() ? otherwise : c.as_bool(a.what(name));
}
Tensor numbers(const Ints& all) {
  std::vector<int32_t> out(all.begin(), all.end());
  return Tensor::of<int32_t>(out, {static_cast<int64_t>(out.size())});
}
Tensors all_of(const OperationArgs& a, const char* name) {
  Tensors out;
  for (const Config& one : a.find(name, 0).as_list(a.what(name)))
    out.push_back(a.tensor(one, name));
  return out;
}

Tensors by_op(const char* op_name, std::vector<Tensor> inputs) {
  const OpDef* op = find_op(op_name);
  Attrs attrs;
  for (const AttrDef& attr : op->attrs) attrs.push_back(attr.default_value);
  Tensors out;
  apply(*op, {inputs.data(), inputs.size()}, attrs, out);
  return out;
}

IndexItem item_from(const OperationArgs& a, const Config& c) {
  if (c.is_null()) return {.kind = IndexItem::kNewAxis};
  if (c.kind() == Config::Kind::kInteger) return {.kind = IndexItem::kInt, .start = c.as_integer()};
  if (c.kind() == Config::Kind::kObject) {
    const ConfigObject& o = c.as_object();
    if (o.class_name == "__ellipsis__") return {.kind = IndexItem::kEllipsis};
    if (o.class_name == "__slice__") {
      IndexItem out{.kind = IndexItem::kSlice};
      auto bound = [&](const char* name) -> std::optional<int64_t> {
        const Config* v = o.config.find(name);
        if (!v || v->is_null()) return {};
        return v->as_integer(a.what("key"));
      };
      out.start = bound("start"), out.stop = bound("stop"), out.step = bound("step");
      return out;
    }
    if (OperationArgs::is_tensor(c))
      return {.kind = IndexItem::kTensor, .tensor = a.tensor(c, "key")};
  }
  fail(Code::E1105, cat(a.what("key"), " has ", c.text(), " in it, which no index here is"));
}

Tensors item_of(const OperationArgs& a) {
  const Config& key = a.find("key", 1);
  std::vector<IndexItem> items;
  const Config* list = &key;
  if (key.kind() == Config::Kind::kDict)
    if (const Config* inside = key.as_dict().find("items")) list = inside;
  if (list->kind() == Config::Kind::kList)
    for (const Config& one : list->as_list()) items.push_back(item_from(a, one));
  else
    items.push_back(item_from(a, key));
  return {index(a.first(), items)};
}

Tensor permuted(const OperationArgs& a) {
  if (auto axes = ints_of(a.option("axes"), a.what("axes")))
    return by_op("Transpose", {a.first(), numbers(*axes)})[0];
  return transpose(a.first());
}

// Operations with options of their own.
using Form = Tensors (*)(const OperationArgs&);
const std::map<std::string, Form>& forms() {
  static const auto* const known = new std::map<std::string, Form>{
      {"GetItem", &item_of},
      {"Where",
       [](const OperationArgs& a) -> Tensors {
         Tensor condition = a.tensor(a.find("condition", 0), "condition");
         if (a.find("x1", 1).is_null() || a.find("x2", 2).is_null())
           fail(Code::E1105, cat(a.what("x1"), " is not given: positions are not read"));
         // The first is no operand of the same dtype.
         Tensor x = a.tensor(a.find("x1", 1), "x1"), y = a.tensor(a.find("x2", 2), "x2");
         bool first = OperationArgs::is_tensor(a.find("x1", 1));
         if (x.dtype() != y.dtype()) (first ? y : x) = cast(first ? y : x, (first ? x : y).dtype());
         return {where(condition, x, y)};
       }},
      {"Concatenate",
       [](const OperationArgs& a) -> Tensors { return {concat(all_of(a, "xs"), axis_of(a, 0))}; }},
      {"Stack",
       [](const OperationArgs& a) -> Tensors {
         return {stack(all_of(a, "x"), {.axis = axis_of(a, 0)})};
       }},
      {"Reshape",
       [](const OperationArgs& a) -> Tensors {
         Config::List sizes;
         const Config& said = a.option("newshape");
         Ints out;
         for (const Config& one : said.as_list(a.what("newshape")))
           out.push_back(one.is_null() ? -1 : one.as_integer(a.what("newshape")));
         return by_op("Reshape", {a.first(), numbers(out)});
       }},
      {"BroadcastTo",
       [](const OperationArgs& a) -> Tensors {
         return by_op("BroadcastTo", {a.first(), numbers(needed_ints(a, "shape"))});
       }},
      {"Tile",
       [](const OperationArgs& a) -> Tensors {
         return by_op("Tile", {a.first(), numbers(needed_ints(a, "repeats"))});
       }},
      {"Transpose", [](const OperationArgs& a) -> Tensors { return {permuted(a)}; }},
      {"ExpandDims",
       [](const OperationArgs& a) -> Tensors {
         Tensor out = a.first();
         for (int64_t axis : needed_ints(a, "axis")) out = expand_dims(out, axis);
         return {out};
       }},
      {"Squeeze",
       [](const OperationArgs& a) -> Tensors {
         auto axes = ints_of(a.option("axis"), a.what("axis"));
         if (!axes) return {squeeze(a.first())};
         return {squeeze(a.first(), {.axis = *axes})};
       }},
      {"Ravel", [](const OperationArgs& a) -> Tensors { return {reshape(a.first(), {-1})}; }},
      {"Copy", [](const OperationArgs& a) -> Tensors { return by_op("Identity", {a.first()}); }},
      {"Cast",
       [](const OperationArgs& a) -> Tensors {
         DType d = float32;
         OptionType<DType>::set(d, a.option("dtype"), a.what("dtype"));
         return {cast(a.first(), d)};
       }},
      {"Matmul",
       [](const OperationArgs& a) -> Tensors {
         auto both = a.operands({"x1", "x2"});
         return {matmul(both[0], both[1])};
       }},
      {"Softmax",
       [](const OperationArgs& a) -> Tensors {
         return {nn::softmax(a.first(), {.axis = axis_of(a, -1)})};
       }},
      {"LogSoftmax",
       [](const OperationArgs& a) -> Tensors {
         return {nn::log_softmax(a.first(), {.axis = axis_of(a, -1)})};
       }},
      {"Silu", [](const OperationArgs& a) -> Tensors { return by_op("Silu", {a.first()}); }},
      {"Gelu",
       [](const OperationArgs& a) -> Tensors {
         return by_op(flag(a, "approximate", true) ? "GeluTanh" : "Gelu", {a.first()});
       }},
      {"Elu",
       [](const OperationArgs& a) -> Tensors {
         const Config& alpha = a.option("alpha");
         if (!alpha.is_null() && alpha.as_number(a.what("alpha")) != 1)
           fail(Code::E1105, cat(a.what("alpha"), " is ", alpha.text(), ", expected 1"));
         return by_op("Elu", {a.first()});
       }},
      {"LeakyRelu",
       [](const OperationArgs& a) -> Tensors {
         const Config& slope = a.option("negative_slope");
         return {nn::leaky_relu(
             a.first(),
             {.alpha = slope.is_null() ? 0.2 : slope.as_number(a.what("negative_slope"))})};
       }},
      {"Clip",
       [](const OperationArgs& a) -> Tensors {
         Tensor x = a.first();
         auto bound = [&](const char* name) {
           return cast(a.tensor(a.option(name), name), x.dtype());
         };
         return {minimum(maximum(x, bound("x_min")), bound("x_max"))};
       }},
      {"Split",
       [](const OperationArgs& a) -> Tensors {
         const Config& parts = a.option("indices_or_sections");
         if (parts.kind() != Config::Kind::kInteger)
           fail(Code::E1105, cat(a.what("indices_or_sections"), " is ", parts.text(),
                                 ": parts of equal sizes are read"));
         Tensors out = split(a.first(), parts.as_integer(), {.axis = axis_of(a, 0)});
         return out;
       }},
      {"Einsum",
       [](const OperationArgs& a) -> Tensors {
         Tensors given;
         for (size_t i = 0; i < a.count(); ++i) given.push_back(a.tensor(i));
         return {einsum(a.option("subscripts").as_text(a.what("subscripts")), given)};
       }},
  };
  return *known;
}

Tensor reduced(const std::string& name, const OperationArgs& a) {
  for (const char* unread : {"initial", "dtype"})
    if (!a.option(unread).is_null()) fail(Code::E1105, cat(a.what(unread), " is given"));
  Axes axes;
  if (auto said = ints_of(a.option("axis"), a.what("axis"))) axes = *said;
  bool keep = flag(a, "keepdims");
  Tensor x = a.first();
  if (name == "Sum") return reduce_sum(x, {.axis = axes, .keepdims = keep});
  if (name == "Mean") return reduce_mean(x, {.axis = axes, .keepdims = keep});
  if (name == "Max" || name == "Amax") return reduce_max(x, {.axis = axes, .keepdims = keep});
  if (name == "Min" || name == "Amin") return reduce_min(x, {.axis = axes, .keepdims = keep});
  if (name == "Prod") return reduce_prod(x, {.axis = axes, .keepdims = keep});
  if (name == "Any") return reduce_any(x, {.axis = axes, .keepdims = keep});
  return reduce_all(x, {.axis = axes, .keepdims = keep});
}

}  // namespace

std::optional<Tensors> call_known(const std::string& class_name, const OperationArgs& args) {
  for (const Plain& p : kOperations) {
    if (class_name != p.class_name) continue;
    if (p.operands == 2) return by_op(p.op, args.operands({"x1", "x2"}));
    const Config& places = args.option("decimals");
    if (!places.is_null() && places.as_integer(args.what("decimals")) != 0)
      fail(Code::E1105, cat(args.what("decimals"), " is ", places.text(), ", expected 0"));
    return by_op(p.op, {args.first(class_name == "StopGradient" ? "variable" : "x")});
  }
  if (class_name == "Amax" || class_name == "Amin") return Tensors{reduced(class_name, args)};
  for (const char* name : kReductions)
    if (class_name == name) return Tensors{reduced(class_name, args)};
  auto found = forms().find(class_name);
  if (found == forms().end()) return {};
  return found->second(args);
}

}  // namespace holdfast::keras
