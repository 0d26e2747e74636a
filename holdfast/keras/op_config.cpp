#include "holdfast/keras/op_config.h"

#include <map>

#include "holdfast/base/text.h"
#include "holdfast/keras/declare.h"
#include "holdfast/keras/op_forms.h"
#include "holdfast/op/arg_value.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {
namespace {

constexpr const char *kOurs = "holdfast.raw_ops", *kNumPy = "__numpy__", *kTensor = "__tensor__";

[[noreturn]] void refuse_op(const Node& node, const std::string& model, const std::string& why) {
  fail(Code::E1105,
       cat("the config of ", model, " can't be written: it calls the op `", node.name, "` (",
           node.op->name, ") on symbols"),
       why, {manual_fix("put the op into a layer's `call`")});
}

// Numbers of a tensor as nested lists.
Config nested_list(const Config*& next, std::span<const int64_t> sizes) {
  if (sizes.empty()) return *next++;
  Config::List out;
  for (int64_t i = 0; i < sizes[0]; ++i) out.push_back(nested_list(next, sizes.subspan(1)));
  return out;
}

// An attribute of an op, so that its type can be told again.
std::optional<Config> attr_config(const Arg& a) {
  auto tagged = [](const char* tag, Config v) { return Config(ConfigDict{{tag, std::move(v)}}); };
  auto list = [](const auto& all) {
    Config::List out;
    for (const auto& one : all) out.emplace_back(one);
    return out;
  };
  return std::visit(
      [&](const auto& v) -> std::optional<Config> {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return Config();
        else if constexpr (std::is_same_v<T, DType>)
          return tagged("dtype", name(v));
        else if constexpr (std::is_same_v<T, Shape>)
          return tagged("shape", OptionType<Shape>::get(v));
        else if constexpr (std::is_same_v<T, Ints>)
          return tagged("integers", list(v));
        else if constexpr (std::is_same_v<T, std::vector<double>>)
          return tagged("numbers", list(v));
        else if constexpr (std::is_same_v<T, std::vector<std::string>>)
          return tagged("texts", list(v));
        else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
                           std::is_same_v<T, double> || std::is_same_v<T, std::string>)
          return Config(v);
        else
          return std::nullopt;
      },
      a.value());
}

Arg attr_from(const Config& c, const std::string& what) {
  switch (c.kind()) {
    case Config::Kind::kNull: return {};
    case Config::Kind::kBool: return c.as_bool();
    case Config::Kind::kInteger: return c.as_integer();
    case Config::Kind::kNumber: return c.as_number();
    case Config::Kind::kText: return c.as_text();
    default: break;
  }
  const ConfigDict& d = c.as_dict(what);
  if (d.size() == 1) {
    const auto& [tag, value] = *d.begin();
    if (tag == "dtype") {
      DType out = float32;
      OptionType<DType>::set(out, value, what);
      return out;
    }
    if (tag == "shape") {
      Shape out;
      OptionType<Shape>::set(out, value, what);
      return out;
    }
    const Config::List& all = value.as_list(what);
    if (tag == "integers") {
      Ints out;
      for (const Config& one : all) out.push_back(one.as_integer(what));
      return out;
    }
    if (tag == "numbers") {
      std::vector<double> out;
      for (const Config& one : all) out.push_back(one.as_number(what));
      return out;
    }
    if (tag == "texts") {
      std::vector<std::string> out;
      for (const Config& one : all) out.push_back(one.as_text(what));
      return out;
    }
  }
  fail(Code::E1104, cat(what, " is ", c.text(), ", which is no attribute of an op"));
}

Tensors call_ours(const ConfigObject& said, const OperationArgs& args) {
  const OpDef* op = find_op(said.class_name);
  if (!op)
    fail(Code::E1104,
         cat("a model's config calls the op `", said.class_name, "`, and there is none"));
  Tensors inputs, out;
  for (size_t i = 0; i < args.count(); ++i)
    inputs.push_back(args.at(i).is_null() ? Tensor() : args.tensor(i));
  Attrs attrs;
  for (const AttrDef& a : op->attrs) {
    const Config* given = said.config.find(a.name);
    std::string what = cat("`", a.name, "` of the op `", said.class_name, "` of a model's config");
    if (!given && a.required) fail(Code::E1104, cat(what, " is missing"));
    attrs.push_back(given ? attr_from(*given, what) : a.default_value);
  }
  apply(*op, {inputs.data(), inputs.size()}, attrs, out);
  return out;
}

}  // namespace

Config value_config(const Tensor& value, const std::string& what) {
  DType d = value.dtype();
  std::vector<Config> flat;
  if (kFloats.has(d)) {
    for (double v : cast(value, float64).to_vector<double>()) flat.emplace_back(v);
  } else if (d == DType::kBool) {
    for (bool v : value.to_vector<bool>()) flat.emplace_back(v);
  } else if (kInts.has(d)) {
    for (int64_t v : cast(value, int64).to_vector<int64_t>()) flat.emplace_back(v);
  } else {
    fail(Code::E1105, cat(what, " is a tensor of ", name(d), ", which configs can't hold"));
  }
  const Config* next = flat.data();
  std::vector<int64_t> sizes(value.shape().begin(), value.shape().end());
  return ConfigObject{
      kNumPy, {{"value", nested_list(next, sizes)}, {"dtype", std::string(name(d))}}, {}};
}

Tensor value_from(const ConfigObject& said, const std::string& what) {
  const Config *value = said.config.find("value"), *dtype = said.config.find("dtype");
  if (!value || !dtype) fail(Code::E1104, cat(what, " has no `value` or no `dtype`"));
  DType d = float32;
  OptionType<DType>::set(d, *dtype, what);
  Dims sizes;
  for (const Config* c = value; c->kind() == Config::Kind::kList; c = &c->as_list()[0]) {
    sizes.push_back(static_cast<int64_t>(c->as_list().size()));
    if (c->as_list().empty()) break;
    if (sizes.size() > static_cast<size_t>(kMaxRank))
      fail(Code::E1104, cat(what, " is nested too deeply"));
  }
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  bool whole = !kFloats.has(d);
  auto walk = [&](auto& self, const Config& c, size_t depth) -> void {
    if (depth < sizes.size()) {
      const Config::List& list = c.as_list(what);
      if (static_cast<int64_t>(list.size()) != sizes[depth])
        fail(Code::E1104, cat(what, " has rows of different lengths"));
      for (const Config& one : list) self(self, one, depth + 1);
    } else if (c.kind() == Config::Kind::kBool) {
      integers.push_back(c.as_bool());
    } else if (whole) {
      integers.push_back(c.as_integer(what));
    } else {
      numbers.push_back(c.as_number(what));
    }
  };
  walk(walk, *value, 0);
  Shape shape(std::move(sizes));
  Tensor out = whole ? Tensor::of<int64_t>(integers, shape) : Tensor::of<double>(numbers, shape);
  return cast(out, d);
}

OperationCall describe_call(const Node& node,
                            const holdfast::Callback<Config(const Edge&)>& operand,
                            const std::string& model) {
  for (const Edge& e : node.inputs)
    if (e.node && is_constant(*e.node) && constant_of(*e.node).dtype() == DType::kResource)
      refuse_op(node, model, "it reads a variable, which a config does not hold");
  if (node.op->traits.stateful && !node.op->traits.reads)
    refuse_op(node, model, "it does more than compute its outputs");
  if (std::optional<OperationCall> known = describe_known(node, operand)) return *std::move(known);
  OperationCall out{kOurs, node.op->name, {}, {}};
  for (const Edge& e : node.inputs) {
    if (!e.node)
      out.args.emplace_back();
    else if (is_constant(*e.node))
      out.args.push_back(
          value_config(constant_of(*e.node), cat("an operand of `", node.name, "`")));
    else
      out.args.push_back(operand(e));
  }
  for (size_t i = 0; i < node.op->attrs.size(); ++i) {
    std::optional<Config> written = attr_config(node.attrs[i]);
    if (!written)
      refuse_op(node, model,
                cat("configs can't hold its attribute `", node.op->attrs[i].name, "`"));
    out.config.set(node.op->attrs[i].name, *std::move(written));
  }
  return out;
}

bool is_operation(const ConfigObject& said) {
  const Config* module = said.more.find("module");
  if (!module || module->kind() != Config::Kind::kText) return false;
  const std::string& m = module->as_text();
  return m == kOurs || m.starts_with("keras.src.ops.") || m.starts_with("keras.ops.");
}

Tensors make_call(const ConfigObject& said, const ConfigDict& call,
                  const holdfast::Callback<Tensor(const Config&)>& symbol) {
  OperationArgs args(said, call, symbol);
  if (said.more.find("module")->as_text() == kOurs) return call_ours(said, args);
  if (std::optional<Tensors> out = call_known(said.class_name, args)) return *std::move(out);
  fail(Code::E1105,
       cat("a model's config calls `", said.class_name, "` of `",
           said.more.find("module")->as_text(), "`, which there is nothing for here"),
       "the operations of Keras that are read are listed in holdfast/keras/op_forms.cpp");
}

// -- arguments

OperationArgs::OperationArgs(const ConfigObject& said, const ConfigDict& call,
                             const holdfast::Callback<Tensor(const Config&)>& symbol)
    : said_(said), symbol_(symbol) {
  if (const Config* given = call.find("args"))
    args_ = &given->as_list(cat("`args` of `", said.class_name, "`"));
  if (const Config* given = call.find("kwargs"))
    kwargs_ = &given->as_dict(cat("`kwargs` of `", said.class_name, "`"));
}

const Config& OperationArgs::at(size_t place) const {
  static const Config nothing;
  return args_ && place < args_->size() ? (*args_)[place] : nothing;
}
const Config& OperationArgs::find(const char* name, size_t place) const {
  if (kwargs_)
    if (const Config* c = kwargs_->find(name)) return *c;
  return at(place);
}
const Config& OperationArgs::option(const char* name) const {
  static const Config nothing;
  for (const ConfigDict* d : {kwargs_, &said_.config})
    if (const Config* c = d ? d->find(name) : nullptr) return *c;
  return nothing;
}
std::string OperationArgs::what(const std::string& argument) const {
  return cat("`", argument, "` of the operation `", said_.class_name, "` of a model's config");
}

bool OperationArgs::is_tensor(const Config& c) {
  if (c.kind() != Config::Kind::kObject) return false;
  const std::string& kind = c.as_object().class_name;
  return kind == "__keras_tensor__" || kind == kNumPy || kind == kTensor;
}

Tensor OperationArgs::tensor(const Config& c, const std::string& argument) const {
  if (c.kind() == Config::Kind::kObject) {
    const std::string& kind = c.as_object().class_name;
    if (kind == kNumPy || kind == kTensor) return value_from(c.as_object(), what(argument));
    if (kind == "__keras_tensor__") return symbol_(c);
  }
  if (c.kind() == Config::Kind::kBool) return Tensor::scalar(c.as_bool());
  if (c.kind() == Config::Kind::kInteger)
    return Tensor::scalar(static_cast<int32_t>(c.as_integer()));
  if (c.kind() == Config::Kind::kNumber) return Tensor::scalar(c.as_number(), float32);
  if (c.kind() == Config::Kind::kList)
    return value_from({kNumPy, {{"value", c}, {"dtype", "float32"}}, {}}, what(argument));
  fail(Code::E1104, cat(what(argument), " is ", c.text(), ", expected a tensor or a number"));
}

// Operands of one dtype: a plain number takes that of the tensor beside it.
std::vector<Tensor> OperationArgs::operands(std::initializer_list<const char*> names) const {
  std::vector<Tensor> out;
  std::vector<bool> plain;
  DType common = DType::kInvalid;
  auto wider = [](DType a, DType b) {
    if (a == DType::kInvalid || a == b) return b;
    auto rank = [](DType d) {
      return (kFloats.has(d) ? 100 : d == DType::kBool ? 0 : 50) + size_of(d);
    };
    return rank(a) >= rank(b) ? a : b;
  };
  size_t place = 0;
  for (const char* n : names) {
    const Config& c = find(n, place++);
    out.push_back(tensor(c, n));
    plain.push_back(!is_tensor(c));
    if (!plain.back()) common = wider(common, out.back().dtype());
  }
  bool fraction = false;
  for (size_t i = 0; i < out.size(); ++i) fraction |= plain[i] && kFloats.has(out[i].dtype());
  if (common == DType::kInvalid || (fraction && !kFloats.has(common))) common = float32;
  for (Tensor& t : out)
    if (t.dtype() != common) t = cast(t, common);
  return out;
}

}  // namespace holdfast::keras
