#include "holdfast/keras/symbol.h"

#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/creations.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/last_reads.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast::keras {
namespace {

struct LayerCallAttrs {
  Attr<RefCounted> call;
};

const OpDef& layer_call_op() {
  static const auto* def = [] {
    auto* made = new OpDef;
    made->name = "LayerCall";
    made->attr_structs.push_back(&holdfast::detail::kAttrsOf<LayerCallAttrs>);
    return made;
  }();
  return *def;
}

Edge constant(const Tensor& value) {
  auto node = make_ref<Node>(value.dtype() == DType::kResource ? &handle_op() : &const_op(),
                             Attrs{Arg(value)});
  node->where = value.born();
  node->name = "constant";
  node->outputs.push_back({value.dtype(), value.shape()});
  return {node, 0};
}

// What a node uses: a symbol's edge, a variable that each call reads, or a constant.
Edge operand(const Tensor& t) {
  if (!t.defined()) return {};
  if (is_model_symbol(t)) return edge_of(t);
  const Tensor value = holdfast::value(t);
  Tensor variable = variable_behind_value(value);
  if (!variable.defined()) return constant(value);
  const OpDef& read = *find_op("ReadVariableOp");
  Attrs attrs;
  for (const AttrDef& a : read.attrs) attrs.push_back(a.default_value);
  auto node = make_ref<Node>(&read, std::move(attrs));
  node->where = here();
  node->name = variable_state(variable)->name;
  node->inputs.push_back(constant(variable));
  node->outputs.push_back({value.dtype(), variable_state(variable)->shape});
  return {node, 0};
}

// Writes ops on symbols of models down as nodes that nobody owns.
class Recorder final : public Interpreter {
 public:
  Scope* scope() const override { return model_scope().get(); }

  void run(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out) override {
    try {
      check_signature(op, in);
      Infer infer(op, in, attrs);
      op.infer(infer);
      auto node = make_ref<Node>(&op, attrs);
      const std::string& said = context().op_name;
      node->name = unique_layer_name(said.empty() ? snake_case(op.name) : said);
      for (const Tensor& t : in) node->inputs.push_back(operand(t));
      node->where = here();
      node->device = context().device;
      node->placed = context().placed;
      for (size_t i = 0; i < infer.dtypes.size(); ++i)
        node->outputs.push_back({infer.dtypes[i], infer.shapes[i]});
      out.resize(node->outputs.size());
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = symbol_for({node, static_cast<int>(i)}, model_scope());
      follow_known(op, in, attrs, out);
    } catch (Error& e) {
      e.name_op(op.name);
      throw;
    }
  }
};

bool any_symbol(const Nested& n) {
  if (n.is_tensor()) return is_model_symbol(n.tensor());
  for (const Nested::Entry& e : n.entries())
    if (any_symbol(e.second)) return true;
  return false;
}

// None where a tensor is empty: what a call of a model left out.
Nested without_gaps(const Nested& n) {
  if (n.is_none() || n.is_tensor()) return n.is_none() ? n : Nested(n.tensor());
  std::vector<Nested::Entry> entries = n.entries();
  for (Nested::Entry& e : entries) e.second = without_gaps(e.second);
  if (n.is_dict()) return Nested::dict(std::move(entries));
  std::vector<Nested> items;
  for (Nested::Entry& e : entries) items.push_back(std::move(e.second));
  return n.kind() == Nested::Kind::kTuple ? Nested::tuple(std::move(items))
                                          : Nested::list(std::move(items));
}

Nested filled(const Nested& form, std::span<const Tensor> tensors) {
  Nested out = form.with_leaves(tensors);
  bool gaps =
      std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return !t.defined(); });
  return gaps ? without_gaps(out) : out;
}

// A call that C++ made.
class PlainCall final : public LayerCall {
 public:
  PlainCall(Layer& of, const Nested& inputs, const CallOptions& o)
      : LayerCall(of), inputs_(inputs), options_(o) {
    training = o.training;
    tensors_ = inputs_.leaves();
    auto add = [&](Nested& n) {
      for (const Tensor& t : n.leaves()) tensors_.push_back(t);
      n = places(n);
    };
    inputs_ = places(inputs_);
    add(options_.mask);
    for (Nested::Entry& e : options_.named) add(e.second);
  }

  Nested replay_on(Layer& other, std::span<const Tensor> given,
                   std::optional<bool> around) const override {
    auto take = [&](const Nested& form) {
      size_t n = form.leaves().size();
      Nested out = filled(form, given.subspan(0, n));
      given = given.subspan(n);
      return out;
    };
    if (inputs_.is_tensor() && given.size() == 1) {  // nearly every call
      CallOptions o;
      o.training = training ? training : around;
      return other.run(Nested(given[0]), std::move(o));
    }
    Nested inputs = take(inputs_);
    CallOptions o;
    o.training = training ? training : around;
    o.mask = take(options_.mask);
    for (const auto& [name, value] : options_.named) o.named.emplace_back(name, take(value));
    return other.run(inputs, std::move(o));
  }
  Nested arguments_with(std::span<const Tensor> left) const override {
    auto take = [&](const Nested& form) {
      size_t n = form.leaves().size();
      Nested out = form.with_leaves(left.subspan(0, n));
      left = left.subspan(n);
      return out;
    };
    Nested inputs = take(inputs_), mask = take(options_.mask);
    std::vector<Nested::Entry> named;
    for (const auto& [name, value] : options_.named) named.emplace_back(name, take(value));
    if (!mask.is_none()) named.emplace_back("mask", mask);
    return Nested::tuple({Nested::tuple({inputs}), Nested::dict(named)});
  }
  /// What it was called with; once: they are let go of.
  std::vector<Tensor> tensors() { return std::move(tensors_); }

 private:
  static Nested places(const Nested& n) {
    return n.map([](const Tensor&) { return kept_place(); });
  }
  std::vector<Tensor> tensors_;
  Nested inputs_;
  CallOptions options_;
};

}  // namespace

const Ref<Scope>& model_scope() {
  static const auto* scope = [] {
    auto* made = new Ref<Scope>(make_ref<Scope>(ScopeKind::kBuild, "model", nullptr));
    (*made)->interpreter = new Recorder;  // both live as long as the program
    return made;
  }();
  return *scope;
}

bool uses_symbols(const Nested& inputs, const CallOptions& o) {
  if (any_symbol(inputs) || any_symbol(o.mask)) return true;
  for (const Nested::Entry& e : o.named)
    if (any_symbol(e.second)) return true;
  return false;
}

LayerCall::LayerCall(Layer& of) : layer(&of) { layer->called_by(this, true); }
LayerCall::~LayerCall() { layer->called_by(this, false); }

std::vector<Tensor> operands_of(const Node& node) {
  std::vector<Tensor> out;
  for (const Edge& e : node.inputs)
    out.push_back(!e.node                ? Tensor()
                  : is_constant(*e.node) ? constant_of(*e.node)
                                         : symbol_for(e, model_scope()));
  return out;
}

const Tensor& kept_place() {
  static const auto* place = new Tensor(Tensor::scalar(0.0f));
  return *place;
}

LayerCall* layer_call(const Node& node) {
  if (node.op != &layer_call_op()) return nullptr;
  return static_cast<LayerCall*>(attrs_of<LayerCallAttrs>(*node.op, node.attrs).call());
}

Nested record(Ref<LayerCall> call, std::span<const Tensor> inputs, const Nested& types) {
  auto node = make_ref<Node>(&layer_call_op(), Attrs{Arg(Ref<RefCounted>(call))});
  node->name = call->layer->name();
  node->where = here();
  for (const Tensor& t : inputs) node->inputs.push_back(operand(t));
  std::vector<Tensor> leaves = types.leaves();
  for (const Tensor& t : leaves) node->outputs.push_back({t.dtype(), t.shape()});
  call->node = node.get();
  call->outputs = types;
  Nested out = outputs_of(*call);
  set_masks(out, masks_of(types));
  return out;
}

Nested outputs_of(const LayerCall& call) {
  std::vector<Tensor> symbols;
  Ref<Node> node(call.node);
  for (size_t i = 0; i < node->outputs.size(); ++i)
    symbols.push_back(symbol_for({node, static_cast<int>(i)}, model_scope()));
  return call.outputs.with_leaves(symbols);
}

Nested traced_types(const std::string& name, std::span<const Tensor> tensors,
                    const holdfast::Callback<Nested(std::span<const Tensor>)>& f) {
  auto graph = make_ref<Graph>(make_ref<Scope>(ScopeKind::kBuild, name, nullptr));
  Tracer tracer(graph);
  std::vector<Tensor> symbols;
  for (const Tensor& t : tensors) {
    symbols.push_back(t.defined() && t.is_symbolic() ? tracer.input(t.dtype(), t.shape(), "input")
                                                     : t);
    if (Tensor mask = t.defined() ? mask_of(t) : Tensor(); mask.defined())
      set_mask(symbols.back(), tracer.input(mask.dtype(), mask.shape(), "mask"));
  }
  Nested out;
  {
    // A variable that the code makes and keeps has its value now: the trace goes, it stays.
    Creations creations(tracer, {});
    Tracing in(tracer, true);
    out = f(symbols);
  }
  // Types alone are left: symbols of the trace would lead into it.
  return out.map([](const Tensor& t) {
    Tensor type = symbol_of_type(t.dtype(), t.shape());
    if (Tensor mask = mask_of(t); mask.defined())
      set_mask(type, symbol_of_type(mask.dtype(), mask.shape()));
    return type;
  });
}

// Losses of a trace that is thrown away are none: they are kept as they were.
Nested output_types(Layer& layer, const Nested& inputs, const CallOptions& o) {
  LossesKept kept(layer);
  auto call = make_ref<PlainCall>(layer, inputs, o);
  return traced_types(layer.name(), call->tensors(), [&](std::span<const Tensor> symbols) {
    return call->replay(symbols, o.training);
  });
}

Nested call_on_symbols(Layer& layer, const Nested& inputs, const CallOptions& o) {
  auto call = make_ref<PlainCall>(layer, inputs, o);
  std::vector<Tensor> tensors = call->tensors();
  if (!layer.built()) {
    // Inside of a model its weights have the model's name before the layer's.
    std::optional<NameScope> below;
    if (!context().name_scope.empty()) below.emplace(layer.name());
    layer.build_once(layer.shapes_to_build(inputs, o));
  }
  LossesKept kept(layer);
  Nested types = traced_types(layer.name(), tensors, [&](std::span<const Tensor> symbols) {
    return call->replay(symbols, o.training);
  });
  return record(std::move(call), tensors, types);
}

Tensor symbol_of_type(DType dtype, const Shape& shape) {
  Ref<Node> node = placeholder_for({dtype, shape}, here());
  node->name = "type";
  return symbol_for({std::move(node), 0}, model_scope());
}

// A reference may be shown by one owner only: calls that a tensor of the program, or another model,
// holds too are left out, and so is what leads to them.
void visit_calls(Visitor& see, const Nested& inputs, const Nested& outputs,
                 const std::vector<const Node*>& held) {
  std::unordered_map<const Node*, int64_t> known;  // references from inside
  std::unordered_set<const Symbol*> symbols;
  std::vector<const Node*> all;
  auto count = [&](const Node* n) {
    if (known[n]++ == 0) all.push_back(n);
  };
  for (const Nested* side : {&inputs, &outputs})
    for (const Tensor& t : side->leaves()) {
      // `leaves` has made one more reference to the tensor.
      if (!is_model_symbol(t)) return;
      if (symbols.insert(symbol_of(t)).second) count(node_of(t));
    }
  for (const Node* n : held) count(n);
  for (size_t i = 0; i < all.size(); ++i)
    for (const Edge& e : all[i]->inputs)
      if (e.node) count(e.node.get());
  for (const Node* n : all)
    if (n->use_count() != known[n]) return;
  for (const Node* n : all)
    if (LayerCall* call = layer_call(*n); call && call->use_count() == 1) see.child(call->layer);
}

Nested masks_of(const Nested& tensors) {
  if (tensors.is_tensor()) return mask_of(tensors.tensor());
  std::vector<Tensor> leaves = tensors.leaves();
  bool any = false;
  for (const Tensor& t : leaves) any = any || mask_of(t).defined();
  if (!any) return {};
  // A list keeps the place of those that have none.
  std::vector<Nested> out;
  for (const Tensor& t : leaves) out.push_back(mask_of(t));
  return Nested::list(std::move(out));
}

void set_masks(const Nested& tensors, const Nested& masks) {
  if (masks.is_none()) return;
  if (masks.is_tensor()) {
    for (const Tensor& t : tensors.leaves()) set_mask(t, masks.tensor());
    return;
  }
  std::vector<Tensor> leaves = tensors.leaves();
  for (size_t i = 0; i < leaves.size() && i < masks.size(); ++i)
    if (masks[i].is_tensor()) set_mask(leaves[i], masks[i].tensor());
}

Tensor mask_of(const Tensor& t) { return t.mask(); }
void set_mask(const Tensor& t, const Tensor& mask) { t.set_mask(mask); }

namespace {
// Marks the Input that has it.
struct OptionalInput final : RefCounted {
  std::string text() const override { return "optional"; }
};
}  // namespace

bool is_optional_input(const Node& node) {
  return is_input(node) && dynamic_cast<const OptionalInput*>(node.state.get());
}

Tensor make_input(const InputOptions& o) {
  Shape whole;
  if (o.batch_shape) {
    whole = *o.batch_shape;
  } else if (o.shape.has_rank()) {
    std::vector<int64_t> sizes{o.batch_size ? *o.batch_size : int64_t{kUnknown}};
    for (int i = 0; i < o.shape.rank(); ++i) sizes.push_back(o.shape[i]);
    whole = Shape(sizes);
  } else {
    whole = Shape::unknown();
  }
  Ref<Node> node = placeholder_for({o.dtype, whole}, here());
  node->name = o.name.empty() ? unique_layer_name("input_layer") : o.name;
  if (o.optional) node->state = make_ref<OptionalInput>();
  return symbol_for({std::move(node), 0}, model_scope());
}

bool is_input(const Node& node) { return node.op == &placeholder_op(); }

}  // namespace holdfast::keras
