// What a functional model computes: which calls, in which order, from which Inputs.
#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/control_ops.h"
#include "holdfast/keras/depth_first.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/sequential.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"

namespace holdfast::keras {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

using Key = std::pair<const Node*, int>;
Key key(const Edge& e) { return {e.node.get(), e.output}; }

// Models by the Inputs that their calls begin with. Nothing here is owned.
struct Beginnings {
  std::recursive_mutex mutex;  // what a search lets go of may be a model
  std::unordered_map<const Node*, std::vector<ModelLayer*>> models;
};
Beginnings& beginnings() {
  static auto* all = new Beginnings;
  return *all;
}

const OpDef& any_call_op() {
  static const auto* def = [] {
    auto* made = new OpDef;
    made->name = "AnyCall";
    return made;
  }();
  return *def;
}
bool is_any_call(const Node& n) { return n.op == &any_call_op(); }

const Nested& inputs_of(const ModelLayer& m) {
  static const auto* none = new Nested;
  if (auto* f = dynamic_cast<const FunctionalLayer*>(&m)) return f->inputs();
  if (auto* s = dynamic_cast<const SequentialLayer*>(&m)) return s->inputs();
  return *none;
}
const Nested& outputs_of_model(const ModelLayer& m) {
  if (auto* f = dynamic_cast<const FunctionalLayer*>(&m)) return f->outputs();
  return dynamic_cast<const SequentialLayer&>(m).outputs();
}

// What a program calls a symbol: what its line says, else its node.
std::string name_in_program(const Node& node) {
  std::string source = source_text(node.where);
  return source.empty() ? node.name : source;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += cat(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", "`", names[i], "`");
  return out;
}

}  // namespace

CompleteMissing& complete_missing() {
  static CompleteMissing hook = nullptr;
  return hook;
}

void begins_with(const Nested& inputs, ModelLayer& model, bool there) {
  if (inputs.is_none()) return;
  Beginnings& all = beginnings();
  std::lock_guard lock(all.mutex);
  for (const Tensor& t : inputs.leaves()) {
    std::vector<ModelLayer*>& models = all.models[node_of(t)];
    if (there)
      models.push_back(&model);
    else
      std::erase(models, &model);
    if (models.empty()) all.models.erase(node_of(t));
  }
}

/// Finds the calls behind a model's outputs.
class Wiring {
 public:
  Wiring(FunctionalLayer& model, const std::vector<Tensor>& from, const std::vector<Tensor>& to)
      : model_(model), from_(from) {
    for (const Tensor& t : from) given_.insert(key(edge_of(t)));
    for (const Tensor& t : to) to_.push_back(edge_of(t));
  }

  /// Refuses outputs that need an Input which is not given. One of a model inside is what that
  /// model was called on.
  void find_inputs() {
    for (;;) {
      std::vector<Missing> missing = missing_of(to_);
      if (missing.empty()) return;
      bool went_on = false;
      for (const Missing& m : missing) went_on = take_apart(*m.input) || went_on;
      if (!went_on) refuse(missing);
    }
  }

  /// Writes the calls down, in an order in which they may be made.
  void write() {
    std::map<Key, size_t> place;
    for (const Tensor& t : from_) place[key(edge_of(t))] = model_.places_++;
    std::unordered_set<const Node*> done;
    auto finish = [&](const Ref<Node>& node) {
      if (is_constant(*node)) {
        model_.constants_.emplace_back(model_.places_, constant_of(*node));
        place[{node.get(), 0}] = model_.places_++;
        // A variable that stands beside symbols is read by each call, and is the model's.
        if (VariableState* v = variable_behind(constant_of(*node)))
          model_.hold(Variable(Ref<VariableState>(v)));
        return;
      }
      FunctionalLayer::Step step{node, {}, model_.places_, {}, {}};
      if (auto said = training_.find(node.get()); said != training_.end())
        step.training = said->second;
      for (const Edge& e : node->inputs)
        step.in.push_back(e.node ? place.at(key(model_.meant(e))) : kNowhere);
      for (size_t i = 0; i < node->outputs.size(); ++i)
        place.try_emplace({node.get(), static_cast<int>(i)}, model_.places_ + i);
      model_.places_ += node->outputs.size();
      model_.steps_.push_back(std::move(step));
    };
    // Depth first from the outputs.
    for (const Edge& output : to_) {
      auto enter = [&](const Edge& given, const WalkedPath&) {
        Edge e = model_.meant(given);
        return e.node && !place.count(key(e)) && !done.count(e.node.get()) ? e.node : Ref<Node>();
      };
      depth_first(output, enter, [&](const Ref<Node>& complete) {
        if (done.insert(complete.get()).second) finish(complete);
      });
      model_.output_places_.push_back(place.at(key(model_.meant(output))));
    }
  }

 private:
  struct Missing {
    const Node* input;
    std::vector<const Node*> path;  // from an output to it
  };

  // The Inputs that edges need and that are not given, each once.
  std::vector<Missing> missing_of(const std::vector<Edge>& edges,
                                  std::unordered_set<Node*>* reached = nullptr) {
    std::vector<Missing> out;
    std::unordered_set<const Node*> seen;
    for (const Edge& first : edges) {
      auto enter = [&](const Edge& given, const WalkedPath& path) {
        Edge e = model_.meant(given);
        if (e.node && is_any_call(*e.node)) e = chosen(e);
        if (!e.node || given_.count(key(e)) || !seen.insert(e.node.get()).second)
          return Ref<Node>();
        if (reached) reached->insert(e.node.get());
        if (!is_input(*e.node)) return e.node;
        Missing m{e.node.get(), {}};
        for (const auto& [n, next] : path) m.path.push_back(n.get());
        m.path.push_back(e.node.get());
        out.push_back(std::move(m));
        return Ref<Node>();
      };
      depth_first(first, enter, [](const Ref<Node>&) {});
    }
    return out;
  }

  // Of several calls of a layer, the one that the given Inputs lead to.
  Edge chosen(const Edge& any) {
    std::vector<Edge> reachable;
    for (const Edge& e : any.node->inputs)
      if (leads_here(e)) reachable.push_back(e);
    if (reachable.size() != 1) refuse_calls(*any.node, reachable.size());
    model_.meant_.emplace_back(key(any), reachable[0]);
    return model_.meant(reachable[0]);
  }

  bool leads_here(const Edge& e) {
    for (const Missing& m : missing_of({e}))
      if (!take_apart(*m.input)) return false;
    return true;
  }

  // An Input of a model inside stands for what that model was called on: its calls are made one by
  // one, in place of the model's.
  bool take_apart(const Node& input) {
    Beginnings& all = beginnings();
    std::lock_guard lock(all.mutex);
    auto found = all.models.find(&input);
    if (found == all.models.end() || looking_.count(&input)) return false;
    looking_.insert(&input);
    struct Call {
      ModelLayer* model;
      LayerCall* call;
    };
    std::vector<Call> reachable;
    for (ModelLayer* inner : std::vector<ModelLayer*>(found->second))
      for (LayerCall* call : inner->calls()) {
        if (!call->node) continue;
        std::vector<Edge> operands(call->node->inputs.begin(), call->node->inputs.end());
        bool here = std::all_of(operands.begin(), operands.end(),
                                [&](const Edge& e) { return !e.node || leads_here(e); });
        if (here) reachable.push_back({inner, call});
      }
    looking_.erase(&input);
    if (reachable.size() != 1) return false;
    auto [inner, call] = reachable[0];
    Nested given = call->arguments()[0];
    std::vector<Tensor> starts = inputs_of(*inner).leaves(), operands;
    if (auto* f = dynamic_cast<FunctionalLayer*>(inner))
      operands = f->matched(given.size() == 1 ? given[0] : given);
    else
      operands = given.leaves();
    std::vector<Tensor> ends = outputs_of_model(*inner).leaves();
    if (starts.size() != operands.size() || ends.size() != call->node->outputs.size()) return false;
    for (size_t i = 0; i < starts.size(); ++i)
      if (!is_model_symbol(operands[i])) return false;
    for (size_t i = 0; i < starts.size(); ++i)
      model_.meant_.emplace_back(key(edge_of(starts[i])), edge_of(operands[i]));
    if (call->training) {
      std::unordered_set<Node*> inside;
      std::vector<Edge> from;
      for (const Tensor& t : ends) from.push_back(edge_of(t));
      collect(from, starts, inside);
      for (Node* n : inside) training_[n] = call->training;
    }
    for (size_t i = 0; i < ends.size(); ++i)
      model_.meant_.emplace_back(Key(call->node, static_cast<int>(i)), edge_of(ends[i]));
    return true;
  }

  // The nodes between a model's outputs and its Inputs.
  static void collect(const std::vector<Edge>& from, const std::vector<Tensor>& until,
                      std::unordered_set<Node*>& out) {
    std::unordered_set<const Node*> ends;
    for (const Tensor& t : until) ends.insert(node_of(t));
    std::vector<Ref<Node>> left;
    for (const Edge& e : from) left.push_back(e.node);
    while (!left.empty()) {
      Ref<Node> n = left.back();
      left.pop_back();
      if (!n || ends.count(n.get()) || !out.insert(n.get()).second) continue;
      for (const Edge& e : n->inputs) left.push_back(e.node);
    }
  }

  [[noreturn]] void refuse(const std::vector<Missing>& missing) {
    Diagnostic d;
    d.code = Code::E0301;
    std::vector<std::string> names;
    for (const Missing& m : missing) names.push_back(m.input->name);
    bool several = names.size() > 1;
    d.headline = several ? cat(model_.described(), " is not given the Inputs ", listed(names))
                         : cat(model_.described(), " needs the Input ", listed(names),
                               ", and is not given it");
    MissingInputs about;
    for (const Missing& m : missing) {
      Tensor symbol = symbol_for({Ref<Node>(const_cast<Node*>(m.input)), 0}, model_scope());
      if (about.missing.empty()) d.subject = describe(symbol, m.input->name);
      about.missing.push_back(symbol);
      d.labels.push_back(
          {Role::kBorn, locate(m.input->where), cat("the Input `", m.input->name, "`"), false});
    }
    std::string way;
    for (const Node* n : missing[0].path) {
      way += cat(way.empty() ? "`" : " <- `", n->name, "`");
      if (n != missing[0].input)
        d.labels.push_back(
            {Role::kPlaced, locate(n->where), cat("`", n->name, "` uses it"), false});
    }
    d.labels.push_back(used_here("the model is made here"));
    d.why = cat("from the output back to it: ", way);
    std::string also =
        name_list(missing, [](const Missing& m) { return name_in_program(*m.input); });
    d.fixes.push_back(manual_fix(
        cat("give ", several ? "them" : "it", " to the model too: add ", also, " to `inputs`")));
    tell_inner(d, *missing[0].input);
    about.given = from_;
    std::unordered_set<Node*> reached;
    std::vector<Edge> edges = to_;
    std::unordered_set<Key, HashKey> given;
    given.swap(given_);  // to see which of them are reached
    missing_of(edges, &reached);
    given_.swap(given);
    for (const Tensor& t : from_)
      if (!reached.count(node_of(t))) about.unused.push_back(t);
    if (CompleteMissing complete = complete_missing()) complete(d, about);
    raise(std::move(d));
  }

  // An Input may be one of a model that could be called on what is given.
  static void tell_inner(Diagnostic& d, const Node& input) {
    Beginnings& all = beginnings();
    std::lock_guard lock(all.mutex);
    auto found = all.models.find(&input);
    if (found == all.models.end()) return;
    const ModelLayer& inner = *found->second.front();
    size_t calls = inner.calls().size();
    d.why += cat("; it is an Input of ", inner.described(),
                 calls == 0 ? ", which was never called on what this model is given"
                            : cat(", which was called ", calls, " times on symbols"));
  }

  [[noreturn]] static void refuse_calls(const Node& any, size_t reachable) {
    Diagnostic d;
    d.code = Code::E0303;
    d.headline = cat("layer `", any.name, "` was called ", any.inputs.size(),
                     " times: `output` is not one tensor");
    for (size_t i = 0; i < any.inputs.size() && i < 6; ++i)
      d.labels.push_back({Role::kPlaced, locate(any.inputs[i].node->where),
                          cat("call ", i, " of `", any.name, "`"), false});
    d.labels.push_back(used_here("the model is made here"));
    d.why = reachable == 0
                ? cat("the model's inputs lead to none of the calls of `", any.name, "`")
                : cat("the model's inputs lead to ", reachable, " of the calls of `", any.name,
                      "`, so ", reachable == 2 ? "either" : "any of them", " may be meant");
    d.fixes.push_back(manual_fix(cat("say which call: `", layer_words(any.name),
                                     ".get_output_at(0)`, or use what the call itself gave")));
    raise(std::move(d));
  }

  struct HashKey {
    size_t operator()(const Key& k) const {
      return std::hash<const Node*>()(k.first) ^ static_cast<size_t>(k.second);
    }
  };

  FunctionalLayer& model_;
  const std::vector<Tensor>& from_;
  std::vector<Edge> to_;
  std::unordered_set<Key, HashKey> given_;
  std::unordered_set<const Node*> looking_;  // Inputs whose models are being looked at
  std::unordered_map<const Node*, std::optional<bool>> training_;
};

namespace {

// A layer is found by its name, in `get_layer` and in files.
void need_names_apart(const FunctionalLayer& model) {
  std::map<std::string, const Layer*> known;
  for (const Ref<Layer>& l : model.layers()) {
    auto [first, fresh] = known.try_emplace(l->name(), l.get());
    if (fresh) continue;
    Diagnostic d;
    d.code = Code::E1104;
    d.headline = cat(model.described(), " has two layers of the name `", l->name(), "`");
    for (const Layer* each : {first->second, static_cast<const Layer*>(l.get())})
      if (std::vector<LayerCall*> calls = each->calls(); !calls.empty() && calls[0]->node)
        d.labels.push_back({Role::kPlaced, locate(calls[0]->node->where),
                            cat("`", each->name(), "` (", each->class_name(), ") is called here"),
                            false});
    d.labels.push_back(used_here("the model is made here"));
    d.why = "layers of a model are found by their names, in `get_layer` and in files";
    d.fixes.push_back(
        manual_fix(cat("give one of them another name: `name=\"", l->name(), "_2\"`")));
    raise(std::move(d));
  }
}

}  // namespace

Edge FunctionalLayer::meant(Edge e) const {
  for (;;) {
    // What was found last is what holds.
    auto it = std::find_if(meant_.rbegin(), meant_.rend(),
                           [&](const auto& pair) { return pair.first == key(e); });
    if (it == meant_.rend()) return e;
    e = it->second;
  }
}

void FunctionalLayer::set_graph(Nested inputs, Nested outputs) {
  name_it();
  auto need_symbols = [&](const Nested& n, const char* what) {
    std::vector<Tensor> leaves = n.leaves();
    if (leaves.empty()) fail(Code::E1104, cat(described(), ": `", what, "` is empty"));
    for (const Tensor& t : leaves)
      if (!is_model_symbol(t))
        fail(Code::E1104,
             cat(described(), ": `", what, "` has a tensor with a value in it, expected symbols"),
             "a model is made of calls on `Input`s, and this tensor was computed already",
             {manual_fix("call the layers on what `Input` gives")});
    return leaves;
  };
  std::vector<Tensor> from = need_symbols(inputs, "inputs"), to = need_symbols(outputs, "outputs");
  begins_with(inputs_, *this, false);
  meant_.clear();
  Wiring wiring(*this, from, to);
  wiring.find_inputs();
  inputs_ = std::move(inputs);
  outputs_ = std::move(outputs);
  steps_.clear();
  constants_.clear();
  output_places_.clear();
  places_ = 0;
  wiring.write();
  // A value is let go of after its last use.
  std::unordered_set<size_t> needed(output_places_.begin(), output_places_.end());
  for (const auto& [where, value] : constants_) needed.insert(where);
  for (size_t i = steps_.size(); i-- > 0;)
    for (size_t p : steps_[i].in)
      if (p != kNowhere && needed.insert(p).second) steps_[i].done.push_back(p);
  find_operations();
  if (meant_.empty()) need_names_apart(*this);
  begins_with(inputs_, *this, true);
  set_built(true);
}

Nested any_output(const Layer& layer) {
  std::vector<LayerCall*> calls;
  for (LayerCall* c : layer.calls())
    if (c->node) calls.push_back(c);
  std::vector<Nested> outputs;
  for (LayerCall* c : calls) outputs.push_back(outputs_of(*c));
  if (outputs.empty())
    fail(Code::E0304, cat(layer.described(), " was never called on a symbol: it has no `output`"));
  size_t results = outputs[0].leaves().size();
  std::vector<Tensor> symbols;
  for (size_t i = 0; i < results; ++i) {
    auto node = make_ref<Node>(&any_call_op(), Attrs{});
    node->name = layer.name();
    node->where = here();
    Type type{};
    for (size_t k = 0; k < calls.size(); ++k) {
      std::vector<Tensor> leaves = outputs[k].leaves();
      if (leaves.size() != results)
        fail(Code::E0303,
             cat(layer.described(), " gave ", results, " tensors in one call and ", leaves.size(),
                 " in another: `output` is not one of them"),
             {}, {manual_fix("use `get_output_at`, or what the call itself gave")});
      const Edge e = edge_of(leaves[i]);
      node->inputs.push_back(e);
      const Type& one = type_of(e);
      type = k == 0 ? one : Type{one.dtype, widened(type.shape, one.shape)};
    }
    node->outputs.push_back(type);
    symbols.push_back(symbol_for({node, 0}, model_scope()));
  }
  return outputs[0].with_leaves(symbols);
}

}  // namespace holdfast::keras
