#include "holdfast/keras/functional.h"

#include <algorithm>

#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/built_for.h"
#include "holdfast/keras/input_config.h"
#include "holdfast/keras/model_handle.h"
#include "holdfast/keras/step_scope.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

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

}  // namespace

FunctionalLayer::~FunctionalLayer() { begins_with(inputs_, *this, false); }

void FunctionalLayer::visit(Visitor& see) const {
  ModelLayer::visit(see);
  see.children(layers_);
  see.children(layers_and_inputs_);
  std::vector<const Node*> held;
  for (const Step& s : steps_) held.push_back(s.node.get());
  for (const auto& [from, to] : meant_) held.push_back(to.node.get());
  visit_calls(see, inputs_, outputs_, held);
}

void FunctionalLayer::clear() {
  ModelLayer::clear();
  begins_with(inputs_, *this, false);
  inputs_ = outputs_ = Nested();
  meant_.clear();
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

namespace {

// The tensors of what is given, with empty ones where it has None.
void with_gaps(const Nested& given, std::vector<Tensor>& out) {
  if (given.is_tensor() || given.is_none()) {
    out.push_back(given.is_none() ? Tensor() : given.tensor());
  } else if (given.is_dict()) {  // in the order of sorted keys, as leaves are
    std::vector<const Nested::Entry*> entries;
    for (const Nested::Entry& e : given.entries()) entries.push_back(&e);
    std::sort(entries.begin(), entries.end(),
              [](const Nested::Entry* a, const Nested::Entry* b) { return a->first < b->first; });
    for (const Nested::Entry* e : entries) with_gaps(e->second, out);
  } else {
    for (size_t i = 0; i < given.size(); ++i) with_gaps(given[i], out);
  }
}

Tensor one_input(const Nested& given, const std::string& what) {
  return given.is_none() ? Tensor() : given.tensor(what);
}

}  // namespace

std::vector<Tensor> FunctionalLayer::matched(const Nested& given) const {
  std::vector<Tensor> out = matched_or_none(given), wanted = inputs_.leaves();
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].defined() && !is_optional_input(*node_of(wanted[i])))
      fail(Code::E1104,
           cat(described(), " is given None for its input `", node_of(wanted[i])->name, "`"),
           "it is made with an `Input` that every call has to give",
           {manual_fix(cat("give it a tensor, or make the Input with ",
                           language() == Language::kPython ? "`optional` set to True"
                                                           : "`.optional = true`"))});
  return out;
}

std::vector<Tensor> FunctionalLayer::matched_or_none(const Nested& given) const {
  std::vector<Tensor> wanted = inputs_.leaves();
  auto input_name = [](const Tensor& input) { return node_of(input)->name; };
  if (given.is_dict() && !inputs_.is_dict()) {
    std::vector<Tensor> out;
    for (const Tensor& t : wanted) {
      const Nested* found = given.find(node_of(t)->name);
      if (!found) {
        std::string given_names =
            name_list(given.entries(), [](const Nested::Entry& e) { return e.first; });
        fail(Code::E1104, cat(described(), " is called without its input `", node_of(t)->name, "`"),
             cat("it is given ", given_names, ", and its inputs are ",
                 name_list(wanted, input_name)),
             {manual_fix(cat("give the dict the key `", node_of(t)->name, "`"))});
      }
      out.push_back(one_input(*found, cat("the input `", node_of(t)->name, "`")));
    }
    return out;
  }
  if (given.is_dict()) {
    std::vector<Tensor> out;
    for (const Tensor& t : wanted) {
      const Nested* found = nullptr;
      for (const auto& [key, value] : inputs_.entries())
        if (value.is_tensor() && value.tensor().id() == t.id()) found = given.find(key);
      if (found) out.push_back(one_input(*found, "an input"));
    }
    if (out.size() == wanted.size()) return out;
    auto key = [](const Nested::Entry& e) { return e.first; };
    bool flat = true;
    for (const auto& [name, value] : inputs_.entries()) flat = flat && value.is_tensor();
    if (flat)
      fail(Code::E1104, cat(described(), " is called without some of its inputs"),
           cat("it is given ", name_list(given.entries(), key), ", and its inputs are ",
               name_list(inputs_.entries(), key)),
           {manual_fix("give the dict these keys")});
  }
  auto earlier = [](const Nested::Entry& a, const Nested::Entry& b) { return a.first < b.first; };
  // Names are in order where both readings of a list, by places and by sorted names, are the same.
  if (inputs_.is_dict() && given.is_sequence() &&
      !std::is_sorted(inputs_.entries().begin(), inputs_.entries().end(), earlier)) {
    auto key = [](const Nested::Entry& e) { return e.first; };
    fail(Code::E1104, cat(described(), " is called with a list, and its inputs have names"),
         cat("a list does not say which of its tensors is which of ",
             name_list(inputs_.entries(), key)),
         {manual_fix("give a dict with these keys")});
  }
  std::vector<Tensor> out = given.leaves();
  if (out.size() < wanted.size()) {
    std::vector<Tensor> all;
    with_gaps(given, all);
    if (all.size() == wanted.size()) return all;
  }
  if (out.size() != wanted.size()) {
    fail(Code::E1104,
         cat(described(), " is called with ", out.size(), out.size() == 1 ? " tensor" : " tensors",
             ", and has ", wanted.size(), wanted.size() == 1 ? " input" : " inputs"),
         cat("its inputs are ", name_list(wanted, input_name)),
         {manual_fix(wanted.size() == 1
                         ? "give it one tensor"
                         : "give it a list of tensors in that order, or a dict by these names")});
  }
  return out;
}

Tensor in_rank_of(const Shape& wanted, const Tensor& given) {
  const Shape& is = given.shape();
  if (!is.has_rank() || !wanted.has_rank()) return given;
  Tensor out = given;
  if (is.rank() == wanted.rank() + 1 && is[-1] == 1)
    out = squeeze(out, {.axis = {-1}});
  else if (is.rank() == wanted.rank() - 1 && wanted[-1] == 1)
    out = expand_dims(out, -1);
  if (Tensor mask = mask_of(given); mask.defined() && out.id() != given.id()) set_mask(out, mask);
  return out;
}

namespace {

// Data in the form that an Input says: of its rank and in its dtype.
Tensor as_declared(const Tensor& given, const Tensor& input, const Policy& policy) {
  Tensor out = in_rank_of(input.shape(), given);
  // What a mixed policy has made small already is not made large again.
  bool mixed = policy.compute != policy.variable && is_floating(out.dtype());
  if (out.dtype() != input.dtype() && input.dtype() != string && out.dtype() != string &&
      !(mixed && is_floating(input.dtype())))
    out = cast(out, input.dtype());
  if (Tensor mask = mask_of(given); mask.defined() && out.id() != given.id()) set_mask(out, mask);
  return out;
}

}  // namespace

namespace {

// An op needs all of its operands, whatever a layer makes of None.
void refuse_gaps(const Layer& model, const std::string& op, const std::vector<size_t>& places,
                 const Tensors& in, const std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] < inputs.size() && !in[i].defined())
      fail(Code::E1104,
           cat(model.described(), " is given None for its input `",
               node_of(inputs[places[i]])->name, "`, which ", op, " needs"),
           "an op computes with values; only a layer can do without an input",
           {manual_fix("give the input to a layer whose `call` looks whether there is one")});
}

}  // namespace

Nested FunctionalLayer::call_all(const Nested& given, const CallOptions& o) {
  if (!has_graph())
    fail(Code::E1105, cat(described(), " has neither inputs and outputs nor a `call`"),
         "a model is made with `inputs` and `outputs`, or says in `call` what it computes");
  std::vector<Tensor> at(places_);
  std::vector<Tensor> from = matched(given);
  std::vector<Tensor> symbols = inputs_.leaves();
  for (size_t i = 0; i < from.size(); ++i) {
    if (!from[i].defined()) continue;
    at[i] = as_declared(from[i], symbols[i], policy());
    if (!at[i].shape().compatible(symbols[i].shape()))
      refuse_input(*this, node_of(symbols[i])->name, symbols[i].shape(), from[i].shape(),
                   node_of(symbols[i])->where);
  }
  for (const auto& [where, value] : constants_) at[where] = value;
  StepScope* step = StepScope::current();
  if (step)
    for (size_t i = 0; i < from.size(); ++i)
      if (at[i].defined()) step->keep(edge_of(symbols[i]), at[i]);
  Tensors in, out;
  for (const Step& s : steps_) {
    in.clear();
    for (size_t p : s.in) in.push_back(p == kNowhere ? Tensor() : at[p]);
    if (LayerCall* call = layer_call(*s.node)) {
      std::vector<Tensor> leaves =
          call->replay({in.data(), in.size()}, s.training ? s.training : o.training).leaves();
      if (leaves.size() != s.node->outputs.size())
        fail(Code::E1104,
             cat(call->layer->described(), " gave ", leaves.size(),
                 " tensors, and when the model was made it gave ", s.node->outputs.size()));
      for (size_t i = 0; i < leaves.size(); ++i) at[s.out + i] = std::move(leaves[i]);
    } else {
      out.clear();
      AtSite written(s.node->where);  // messages show the line of the op, not that of the call
      refuse_gaps(*this, s.node->op->name, s.in, in, symbols);
      apply(*s.node->op, {in.data(), in.size()}, s.node->attrs, out);
      for (size_t i = 0; i < out.size(); ++i) at[s.out + i] = std::move(out[i]);
    }
    if (step)
      for (size_t i = 0; i < s.node->outputs.size(); ++i)
        step->keep({s.node, static_cast<int>(i)}, at[s.out + i]);
    for (size_t p : s.done) at[p] = Tensor();
  }
  std::vector<Tensor> results;
  for (size_t p : output_places_) results.push_back(at[p]);
  return outputs_.with_leaves(results);
}

Nested FunctionalLayer::compute_mask(const Nested&, const Nested&) { return {}; }

Ref<ModelLayer> Model::of_graph(const Nested& inputs, const Nested& outputs,
                                const LayerOptions& options) {
  auto model = make_ref<FunctionalLayer>();
  model->set_options(options);
  model->set_graph(inputs, outputs);
  return model;
}

}  // namespace holdfast::keras
