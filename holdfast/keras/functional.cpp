#include "holdfast/keras/functional.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"

namespace holdfast::keras {

ClassDef& FunctionalLayer::def() {
  static ClassDef& d = Declare<FunctionalLayer>("models.Functional", "A model of calls on symbols.",
                                                &ModelLayer::def())
                           .layer_options()
                           .keywords();
  return d;
}

namespace {

// Its config has more than options: the layers inside.
[[maybe_unused]] const bool registered =
    (static_cast<void>(FunctionalLayer::def()),
     registry::add_class(
         "Functional",
         [](const ConfigDict& c) { return Ref<Object>(FunctionalLayer::from_config(c)); }, true),
     true);

}  // namespace

namespace {

constexpr size_t kNowhere = SIZE_MAX;

std::string line_text(Where where) {
  Loc at = locate(where);
  return at.line > 0 ? cat(at.file, ":", at.line) : "an unknown line";
}

// What a program calls a symbol: what its line says, else its node.
std::string name_in_program(const Node& node) {
  std::string source = source_text(node.where);
  return source.empty() ? node.name : source;
}

// The nodes from an output to an Input that nobody gave, the output's first.
[[noreturn]] void missing_input(const FunctionalLayer& model, const Node& input,
                                const std::vector<const Node*>& path) {
  Diagnostic d;
  d.code = Code::E0301;
  d.headline = cat(model.described(), " needs the Input `", input.name, "`, and is not given it");
  d.labels.push_back(
      {Role::kBorn, locate(input.where), cat("the Input `", input.name, "`"), false});
  std::string way;
  for (const Node* n : path) {
    way += cat(way.empty() ? "`" : " <- `", n->name, "`");
    if (n != &input)
      d.labels.push_back({Role::kPlaced, locate(n->where), cat("`", n->name, "` uses it"), false});
  }
  d.labels.push_back(used_here("the model is made here"));
  d.why = cat("from the output back to it: ", way);
  d.fixes.push_back(
      manual_fix(cat("give it to the model too: add `", name_in_program(input), "` to `inputs`")));
  raise(std::move(d));
}

}  // namespace

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
  inputs_ = std::move(inputs);
  outputs_ = std::move(outputs);
  steps_.clear();
  constants_.clear();
  output_places_.clear();
  places_ = 0;

  std::map<std::pair<const Node*, int>, size_t> place;
  for (const Tensor& t : from) place[{node_of(t), symbol_of(t)->output}] = places_++;

  // Depth first from the outputs; an order in which the calls may be made comes out.
  std::unordered_set<const Node*> done;
  auto known = [&](const Edge& e) { return place.count({e.node.get(), e.output}) != 0; };
  auto finish = [&](const Ref<Node>& node) {
    if (is_constant(*node)) {
      constants_.emplace_back(places_, constant_of(*node));
      place[{node.get(), 0}] = places_++;
      return;
    }
    Step step{node, {}, places_, {}};
    for (const Edge& e : node->inputs)
      step.in.push_back(e.node ? place.at({e.node.get(), e.output}) : kNowhere);
    for (size_t i = 0; i < node->outputs.size(); ++i)
      place.try_emplace({node.get(), static_cast<int>(i)}, places_ + i);
    places_ += node->outputs.size();
    steps_.push_back(std::move(step));
  };
  for (const Tensor& t : to) {
    std::vector<std::pair<Ref<Node>, size_t>> stack;
    auto enter = [&](const Edge& e) {
      if (!e.node || known(e) || done.count(e.node.get())) return;
      if (is_input(*e.node)) {
        std::vector<const Node*> path;
        for (const auto& [n, next] : stack) path.push_back(n.get());
        path.push_back(e.node.get());
        missing_input(*this, *e.node, path);
      }
      stack.emplace_back(e.node, 0);
    };
    enter(edge_of(t));
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < node->inputs.size()) {
        Edge e = node->inputs[next++];
        enter(e);
        continue;
      }
      Ref<Node> complete = node;
      stack.pop_back();
      if (done.insert(complete.get()).second) finish(complete);
    }
    output_places_.push_back(place.at({node_of(t), symbol_of(t)->output}));
  }
  // A value is let go of after its last use.
  std::unordered_set<size_t> needed(output_places_.begin(), output_places_.end());
  for (const auto& [where, value] : constants_) needed.insert(where);
  for (size_t i = steps_.size(); i-- > 0;)
    for (size_t p : steps_[i].in)
      if (p != kNowhere && needed.insert(p).second) steps_[i].done.push_back(p);
  find_operations();
  set_built(true);
}

void FunctionalLayer::visit(Visitor& see) const {
  ModelLayer::visit(see);
  see.children(layers_);
  see.children(layers_and_inputs_);
  std::vector<const Node*> held;
  for (const Step& s : steps_) held.push_back(s.node.get());
  visit_calls(see, inputs_, outputs_, held);
}

void FunctionalLayer::clear() {
  ModelLayer::clear();
  inputs_ = outputs_ = Nested();
  steps_.clear();
  constants_.clear();
  output_places_.clear();
  operations_.clear();
  layers_.clear();
  layers_and_inputs_.clear();
}

std::vector<Ref<Node>> FunctionalLayer::nodes() const {
  std::vector<Ref<Node>> out;
  for (const Step& s : steps_) out.push_back(s.node);
  return out;
}

std::vector<Ref<Layer>> FunctionalLayer::layers() const {
  return has_graph() ? layers_ : ModelLayer::layers();
}

std::vector<Ref<Layer>> FunctionalLayer::layers_and_inputs() const {
  return has_graph() ? layers_and_inputs_ : ModelLayer::layers();
}

// The tensors of a call, in the order of the model's inputs: by the same form, or a dict by the
// inputs' names.
std::vector<Tensor> FunctionalLayer::matched(const Nested& given) const {
  std::vector<Tensor> wanted = inputs_.leaves();
  if (given.is_dict() && !inputs_.is_dict()) {
    std::vector<Tensor> out;
    for (const Tensor& t : wanted) {
      const Nested* found = given.find(node_of(t)->name);
      if (!found)
        fail(Code::E1104,
             cat(described(), " is called without its input `", node_of(t)->name, "`"));
      out.push_back(found->tensor(cat("the input `", node_of(t)->name, "`")));
    }
    return out;
  }
  if (given.is_dict()) {
    std::vector<Tensor> out;
    for (const Tensor& t : wanted) {
      const Nested* found = nullptr;
      for (const auto& [key, value] : inputs_.entries())
        if (value.is_tensor() && value.tensor().id() == t.id()) found = given.find(key);
      if (found) out.push_back(found->tensor("an input"));
    }
    if (out.size() == wanted.size()) return out;
  }
  std::vector<Tensor> out = given.leaves();
  if (out.size() != wanted.size())
    fail(Code::E1104, cat(described(), " is called with ", out.size(), " tensors, ", given.form(),
                          ", expected ", wanted.size(), ", ", inputs_.form()));
  return out;
}

Nested FunctionalLayer::call_all(const Nested& given, const CallOptions& o) {
  if (!has_graph())
    fail(Code::E1105, cat(described(), " has neither inputs and outputs nor a `call`"),
         "a model is made with `inputs` and `outputs`, or says in `call` what it computes");
  std::vector<Tensor> at(places_);
  std::vector<Tensor> from = matched(given);
  std::vector<Tensor> symbols = inputs_.leaves();
  for (size_t i = 0; i < from.size(); ++i) {
    const Shape& wanted = symbols[i].shape();
    // Data often has one axis more or less than a model says: [n] for [n, 1].
    at[i] = from[i];
    if (!wanted.has_rank() || !from[i].shape().has_rank()) continue;
    bool fits = wanted.rank() == from[i].rank();
    for (int k = 0; fits && k < wanted.rank(); ++k)
      fits = wanted[k] < 0 || from[i].dim(k) < 0 || wanted[k] == from[i].dim(k);
    if (!fits)
      fail(Code::E1102,
           cat(described(), ": the input `", node_of(symbols[i])->name, "` has the shape ",
               from[i].shape().text(), ", expected ", wanted.text()),
           cat("the model was made with an Input of that shape, at ",
               line_text(node_of(symbols[i])->where)));
  }
  for (const auto& [where, value] : constants_) at[where] = value;
  Tensors in, out;
  for (const Step& s : steps_) {
    in.clear();
    for (size_t p : s.in) in.push_back(p == kNowhere ? Tensor() : at[p]);
    if (LayerCall* call = layer_call(*s.node)) {
      std::vector<Tensor> leaves = call->replay({in.data(), in.size()}, o.training).leaves();
      if (leaves.size() != s.node->outputs.size())
        fail(Code::E1104,
             cat(call->layer->described(), " gave ", leaves.size(),
                 " tensors, and when the model was made it gave ", s.node->outputs.size()));
      for (size_t i = 0; i < leaves.size(); ++i) at[s.out + i] = std::move(leaves[i]);
    } else {
      out.clear();
      apply(*s.node->op, {in.data(), in.size()}, s.node->attrs, out);
      for (size_t i = 0; i < out.size(); ++i) at[s.out + i] = std::move(out[i]);
    }
    for (size_t p : s.done) at[p] = Tensor();
  }
  std::vector<Tensor> results;
  for (size_t p : output_places_) results.push_back(at[p]);
  return outputs_.with_leaves(results);
}

Nested FunctionalLayer::compute_mask(const Nested&, const Nested&) { return {}; }

}  // namespace holdfast::keras
