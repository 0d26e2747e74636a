// Configs of functional models: layers, the calls that join them, inputs and outputs.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/keras/call_parameters.h"
#include "holdfast/keras/foreign.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/input_config.h"
#include "holdfast/keras/op_forms.h"
#include "holdfast/ops/constant.h"

namespace holdfast::keras {
namespace {

constexpr const char *kTensor = "__keras_tensor__", *kTuple = "__tuple__";

// Which call of which layer gave a symbol, and which of its results it is.
struct Origin {
  std::string layer;
  int64_t call = 0, result = 0;
  bool operator<(const Origin& o) const {
    return std::tie(layer, call, result) < std::tie(o.layer, o.call, o.result);
  }
};

Config to_config(const Origin& o) { return Config::List{o.layer, o.call, o.result}; }

// -- writing

class Writer {
 public:
  Writer(const FunctionalLayer& model, const std::vector<Ref<Node>>& nodes) : model_(model) {
    std::unordered_map<const Layer*, int64_t> calls;
    std::unordered_set<std::string> names;
    std::vector<Tensor> inputs = model.inputs().leaves();
    for (const Tensor& t : inputs) {
      first_[node_of(t)] = {node_of(t)->name, 0, 0};
      names.insert(node_of(t)->name);
    }
    for (const Ref<Node>& node : nodes)
      if (LayerCall* call = layer_call(*node)) {
        first_[node.get()] = {call->layer->name(), calls[call->layer.get()]++, 0};
        names.insert(call->layer->name());
      }
    // Ops are described before they are named: in the order of the calls, each after its operands.
    std::unordered_map<const Node*, OperationCall> ops;
    for (const Ref<Node>& node : nodes) {
      if (layer_call(*node)) continue;
      auto operand = [&](const Edge& e) { return symbol(e); };
      OperationCall call = describe_call(*node, operand, model.described());
      std::string base = snake_case(call.class_name), name = base;
      for (int i = 1; !names.insert(name).second; ++i) name = cat(base, "_", i);
      first_[node.get()] = {name, 0, 0};
      ops.emplace(node.get(), std::move(call));
    }
    for (const FunctionalLayer::Operation& o : model.operations()) {
      if (o.layer) {
        layers_.push_back(layer_config(*o.layer, nodes));
      } else if (auto op = ops.find(o.node); op != ops.end()) {
        layers_.push_back(op_config(op->second, first_.at(o.node).layer));
      } else {
        for (const Tensor& t : inputs)
          if (node_of(t) == o.node) layers_.push_back(input_config(t));
      }
    }
  }
  Config::List layers() const { return layers_; }
  // The form of a model's inputs or outputs.
  Config form(const Nested& n) const {
    return value(n, [&](const Tensor& t) { return to_config(origin(t)); });
  }

 private:
  static Config op_config(const OperationCall& call, const std::string& name) {
    ConfigObject out{call.class_name, {{"name", name}}, call.class_name};
    for (const auto& [key, value] : call.config) out.config.set(key, value);
    out.more.set("module", call.module);
    out.more.set("name", name);
    out.more.set("inbound_nodes",
                 Config::List{ConfigDict{{"args", call.args}, {"kwargs", ConfigDict()}}});
    return out;
  }
  // A symbol as arguments have it.
  Config symbol(const Edge& e) const {
    const Type& type = e.node->outputs[static_cast<size_t>(e.output)];
    Origin from = first_.at(e.node.get());
    from.result = e.output;
    return ConfigObject{kTensor,
                        {{"shape", OptionType<Shape>::get(type.shape)},
                         {"dtype", OptionType<DType>::get(type.dtype)},
                         {"keras_history", to_config(from)}},
                        {}};
  }
  Origin origin(const Tensor& t) const {
    const Edge e = model_.meant(edge_of(t));
    Origin out = first_.at(e.node.get());
    out.result = e.output;
    return out;
  }
  template <class F>
  static Config value(const Nested& n, F leaf) {
    if (n.is_none()) return nullptr;
    if (n.is_tensor()) return leaf(n.tensor());
    if (n.is_dict()) {
      ConfigDict out;
      for (const auto& [key, one] : n.entries()) out.set(key, value(one, leaf));
      return out;
    }
    Config::List out;
    for (const auto& [key, one] : n.entries()) out.push_back(value(one, leaf));
    return out;
  }
  Config argument(const Nested& n) const {
    return value(n, [&](const Tensor& t) -> Config {
      if (is_model_symbol(t)) return symbol(edge_of(t));
      if (t.shape().rank() == 0 && t.dtype() == boolean)
        return Config(bool(t.to_vector<bool>()[0]));
      return value_config(t, "an argument of a layer's call");
    });
  }
  Config layer_config(const Layer& layer, const std::vector<Ref<Node>>& nodes) const {
    ConfigObject out = serialize(layer);
    Config::List calls;
    for (const Ref<Node>& node : nodes) {
      LayerCall* call = layer_call(*node);
      if (!call || call->layer.get() != &layer) continue;
      Nested given = call->arguments();
      ConfigDict named;
      for (const auto& [key, one] : given[1].entries()) named.set(key, argument(one));
      calls.push_back(ConfigDict{{"args", argument(given[0])}, {"kwargs", named}});
    }
    out.more.set("name", layer.name());
    out.more.set("inbound_nodes", std::move(calls));
    return out;
  }

  const FunctionalLayer& model_;
  std::unordered_map<const Node*, Origin> first_;
  Config::List layers_;
};

// -- reading

class Reader {
 public:
  explicit Reader(const Config& layers) {
    for (const Config& one : layers.as_list("`layers` of a model")) {
      const ConfigObject& o = one.as_object("a layer of a model");
      if (o.class_name == "InputLayer") {
        Tensor symbol = input_from(o.config);
        symbols_[{node_of(symbol)->name, 0, 0}] = symbol;
        continue;
      }
      Ref<Layer> layer = is_operation(o) ? Ref<Layer>() : deserialize(one);
      const Config* calls = o.more.find("inbound_nodes");
      if (!calls)
        fail(Code::E1104, cat("`", o.class_name, "` of a model's config has no `inbound_nodes`"));
      // A config of a program's own may leave the name out: the layer then has another one.
      const Config* said = o.more.find("name");
      std::string name = said    ? said->as_text("`name` of a layer of a model")
                         : layer ? layer->name()
                                 : o.class_name;
      int64_t number = 0;
      for (const Config& call : calls->as_list("`inbound_nodes`"))
        calls_.push_back({layer, &o, name, number++, &call.as_dict("a call of a model's config")});
    }
    // A call is made once all that it takes is there. Each round makes one at least.
    while (!calls_.empty()) {
      std::vector<Call> later;
      for (Call& c : calls_)
        if (!make(c)) later.push_back(c);
      if (later.size() == calls_.size())
        fail(Code::E1104,
             cat("`", later[0].of->class_name, "` of a model's config takes what no layer gives"));
      calls_ = std::move(later);
    }
  }
  Nested form(const Config& c, const char* what) const {
    if (std::optional<Origin> o = origin(c)) {
      auto found = symbols_.find(*o);
      if (found == symbols_.end())
        fail(Code::E1104,
             cat("`", what, "` of a model's config names `", o->layer, "`, which gives nothing"));
      return found->second;
    }
    std::vector<Nested::Entry> entries;
    if (c.kind() == Config::Kind::kDict) {
      for (const auto& [key, one] : c.as_dict()) entries.emplace_back(key, form(one, what));
      return Nested::dict(std::move(entries));
    }
    std::vector<Nested> items;
    for (const Config& one : c.as_list(what)) items.push_back(form(one, what));
    return Nested::list(std::move(items));
  }

 private:
  struct Call {
    Ref<Layer> layer;  // null: an op
    const ConfigObject* of;
    std::string name;  // by which the config speaks of it
    int64_t number;
    const ConfigDict* said;
  };

  // ["dense", 0, 0]
  static std::optional<Origin> origin(const Config& c) {
    if (c.kind() != Config::Kind::kList || c.as_list().size() != 3) return std::nullopt;
    const Config::List& l = c.as_list();
    if (l[0].kind() != Config::Kind::kText || l[1].kind() != Config::Kind::kInteger ||
        l[2].kind() != Config::Kind::kInteger)
      return std::nullopt;
    return Origin{l[0].as_text(), l[1].as_integer(), l[2].as_integer()};
  }
  // What a symbol of a config stands for; null where it is not there yet.
  const Tensor* symbol(const ConfigObject& said, const std::string& what) const {
    const Config* from = said.config.find("keras_history");
    std::optional<Origin> o = from ? origin(*from) : std::nullopt;
    if (!o) fail(Code::E1104, cat(what, " is a symbol that does not say where it comes from"));
    auto found = symbols_.find(*o);
    return found == symbols_.end() ? nullptr : &found->second;
  }
  bool ready(const Config& c) const {
    switch (c.kind()) {
      case Config::Kind::kObject:
        return c.as_object().class_name != kTensor || symbol(c.as_object(), "an argument");
      case Config::Kind::kList:
        return std::all_of(c.as_list().begin(), c.as_list().end(),
                           [&](const Config& one) { return ready(one); });
      case Config::Kind::kDict:
        return std::all_of(c.as_dict().begin(), c.as_dict().end(),
                           [&](const auto& one) { return ready(one.second); });
      default: return true;
    }
  }
  bool make_op(const Call& c) {
    if (!ready(*c.said)) return false;
    const Config* name = c.of->config.find("name");
    std::string of = name ? name->as_text("`name` of an operation") : c.of->class_name;
    auto given = [&](const Config& said) { return *symbol(said.as_object(), "an argument"); };
    Tensors out = make_call(*c.of, *c.said, given);
    for (size_t i = 0; i < out.size(); ++i)
      symbols_[{of, c.number, static_cast<int64_t>(i)}] = out[i];
    return true;
  }
  // What an argument is; `ready` turns false where a symbol is not there yet.
  Nested argument(const Config& c, bool& ready, const std::string& what) const {
    if (c.is_null()) return {};
    if (c.kind() == Config::Kind::kBool) return Nested(Tensor::scalar(c.as_bool(what)));
    if (c.kind() == Config::Kind::kObject && c.as_object().class_name == kTensor) {
      const Tensor* found = symbol(c.as_object(), what);
      ready = ready && found;
      return found ? Nested(*found) : Nested();
    }
    if (OperationArgs::is_tensor(c)) return Nested(value_from(c.as_object(), what));
    if (c.kind() == Config::Kind::kInteger) return Nested(constant(c.as_integer(), int32));
    if (c.kind() == Config::Kind::kNumber) return Nested(constant(c.as_number(), float32));
    if (c.kind() == Config::Kind::kList || c.kind() == Config::Kind::kDict) {
      const Config* inside =
          c.kind() == Config::Kind::kDict ? c.as_dict().find("class_name") : nullptr;
      bool tuple = inside && inside->kind() == Config::Kind::kText && inside->as_text() == kTuple;
      if (c.kind() == Config::Kind::kDict && !tuple) {
        std::vector<Nested::Entry> entries;
        for (const auto& [key, one] : c.as_dict())
          entries.emplace_back(key, argument(one, ready, what));
        return Nested::dict(std::move(entries));
      }
      const Config* items_of = tuple ? c.as_dict().find("config") : &c;
      std::vector<Nested> items;
      for (const Config& one : items_of->as_list(what)) items.push_back(argument(one, ready, what));
      return tuple ? Nested::tuple(std::move(items)) : Nested::list(std::move(items));
    }
    fail(Code::E1105, cat(what, " is ", c.text(), " in a model's config; symbols are read there"));
  }
  // The names of what a call takes by position, the inputs first.
  static std::vector<std::string> parameters_of(const Layer& layer) {
    std::vector<std::string> out = call_parameters(layer.definition());
    Config own;
    if (layer_hooks().attribute && layer_hooks().attribute(layer, "_call_parameters", own) &&
        !own.is_null()) {
      out.clear();
      for (const Config& name : own.as_list()) out.push_back(name.as_text());
    }
    return out;
  }
  // What a call says, each argument under its name; the inputs' may have none.
  static std::vector<std::pair<std::string, const Config*>> said_by(const Call& c) {
    std::vector<std::pair<std::string, const Config*>> out;
    const std::vector<std::string> names = parameters_of(*c.layer);
    if (const Config* args = c.said->find("args"))
      for (const Config& one : args->as_list("`args`")) {
        size_t place = out.size();
        if (place >= std::max<size_t>(names.size(), 1) && !one.is_null())
          fail(Code::E1105, cat("argument ", place, " of a call of ", c.layer->described(),
                                " is not supported in a model's config"));
        out.emplace_back(place > 0 && place < names.size() ? names[place] : "", &one);
      }
    if (const Config* kwargs = c.said->find("kwargs"))
      for (const auto& [key, one] : kwargs->as_dict("`kwargs`"))
        out.emplace_back(!names.empty() && key == names[0] ? "" : key, &one);
    return out;
  }
  bool make(const Call& c) {
    if (!c.layer) return make_op(c);
    bool ready = true;
    CallOptions options;
    Nested inputs;
    for (const auto& [key, one] : said_by(c)) {
      if (key == "training") {
        if (!one->is_null()) options.training = one->as_bool("`training`");
        continue;
      }
      Nested value =
          argument(*one, ready,
                   cat("`", key.empty() ? "inputs" : key, "` of a call of ", c.layer->described()));
      if (value.is_none()) continue;
      if (key.empty())
        inputs = value;
      else if (key == "mask")
        options.mask = value;
      else
        options.named.emplace_back(key, value);
    }
    if (!ready) return false;
    std::vector<Tensor> out = c.layer->run(inputs, options).leaves();
    for (size_t i = 0; i < out.size(); ++i)
      symbols_[{c.name, c.number, static_cast<int64_t>(i)}] = out[i];
    return true;
  }

  std::map<Origin, Tensor> symbols_;
  std::vector<Call> calls_;
};

}  // namespace

Config input_config(const Tensor& symbol) {
  const std::string& name = node_of(symbol)->name;
  ConfigObject out{"InputLayer",
                   {{"batch_shape", OptionType<Shape>::get(symbol.shape())},
                    {"dtype", OptionType<DType>::get(symbol.dtype())},
                    {"sparse", false},
                    {"ragged", false},
                    {"name", name},
                    {"optional", is_optional_input(*node_of(symbol))}},
                   {}};
  out.more.set("name", name);
  out.more.set("inbound_nodes", Config::List{});
  return out;
}

Tensor input_from(const ConfigDict& config) {
  ConfigReader read(config, "InputLayer");
  InputOptions o;
  if (auto* v = read.take("optional"); v && !v->is_null())
    o.optional = v->as_bool(read.argument("optional"));
  for (const char* flag : {"sparse", "ragged"})
    if (auto* v = read.take(flag); v && !v->is_null() && v->as_bool(read.argument(flag)))
      fail(Code::E1105, cat(read.argument(flag), " is true: an Input is a dense tensor"));
  for (const char* key : {"batch_shape", "batch_input_shape"})
    if (auto* v = read.take(key); v && !v->is_null())
      OptionType<Shape>::set(o.batch_shape.emplace(), *v, read.argument(key));
  if (auto* v = read.take("dtype"); v && !v->is_null())
    OptionType<DType>::set(o.dtype, *v, read.argument("dtype"));
  if (auto* v = read.take("name"); v && !v->is_null()) o.name = v->as_text(read.argument("name"));
  read.finish();
  if (!o.batch_shape) fail(Code::E1104, "an InputLayer of a config has no `batch_shape`");
  return make_input(o);
}

ConfigDict FunctionalLayer::get_config() const {
  if (!has_graph()) return ModelLayer::get_config();  // a program's own, with a `call`
  std::vector<Ref<Node>> nodes;
  for (const Step& s : steps_) nodes.push_back(s.node);
  Writer writer(*this, nodes);
  return {{"name", name()},
          {"trainable", trainable()},
          {"layers", writer.layers()},
          {"input_layers", writer.form(inputs_)},
          {"output_layers", writer.form(outputs_)}};
}

Ref<FunctionalLayer> FunctionalLayer::from_config(const ConfigDict& config) {
  ConfigReader read(config, "Functional");
  LayerOptions o;
  if (auto* v = read.take("name"); v && !v->is_null()) o.name = v->as_text(read.argument("name"));
  if (auto* v = read.take("trainable")) o.trainable = v->as_bool(read.argument("trainable"));
  if (auto* v = read.take("dtype")) OptionType<Policy>::set(o.dtype, *v, read.argument("dtype"));
  const Config *layers = read.take("layers"), *inputs = read.take("input_layers"),
               *outputs = read.take("output_layers");
  read.finish();
  auto out = make_ref<FunctionalLayer>();
  out->set_options(o);
  if (!layers) return out;
  if (!inputs || !outputs)
    fail(Code::E1104,
         "the config of a Functional model has no `input_layers` or no `output_layers`");
  Reader graph(*layers);
  out->set_graph(graph.form(*inputs, "input_layers"), graph.form(*outputs, "output_layers"));
  return out;
}

}  // namespace holdfast::keras
