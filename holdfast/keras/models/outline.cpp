#include "holdfast/keras/models/outline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/sequential.h"

namespace holdfast::keras {
namespace {

int64_t elements(const Shape& s) {
  int64_t out = 1;
  if (s.has_rank())
    for (int64_t d : s.dims()) out *= d < 0 ? 1 : d;
  return out;
}

std::vector<Variable> weights_of(const Layer& layer) {
  std::vector<Variable> out = layer.trainable_variables(), rest = layer.non_trainable_variables();
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

template <class F>
void each_once(const std::vector<Variable>& variables, F f) {
  std::unordered_set<const VariableState*> seen;
  for (const Variable& v : variables)
    if (seen.insert(v.state()).second) f(v);
}

struct Graph {
  Nested inputs, outputs;
  std::vector<Ref<Node>> nodes;
};

Graph graph_of(const ModelLayer& model) {
  if (auto* f = dynamic_cast<const FunctionalLayer*>(&model); f && f->has_graph())
    return {f->inputs(), f->outputs(), f->nodes()};
  if (auto* s = dynamic_cast<const SequentialLayer*>(&model); s && !s->inputs().is_none())
    return {s->inputs(), s->outputs(), s->nodes()};
  return {};
}

OutlineEntry entry_of(const Ref<Layer>& layer) {
  OutlineEntry e;
  e.name = layer->name();
  e.kind = layer->class_name();
  auto* model = dynamic_cast<const FunctionalLayer*>(layer.get());
  if (model && model->has_graph() && e.kind == "Model") e.kind = model->definition().name;
  e.layer = layer;
  e.built = layer->built();
  e.parameters = count_of(weights_of(*layer));
  return e;
}

void add_call(OutlineEntry& e, const Node& n) {
  e.outputs.clear();
  e.dtypes.clear();
  e.inputs.clear();
  for (const auto& type : n.outputs) {
    e.outputs.push_back(type.shape);
    e.dtypes.push_back(type.dtype);
    e.activation_bytes += elements(type.shape) * static_cast<int64_t>(size_of(type.dtype));
  }
  for (const Edge& edge : n.inputs)
    if (edge.node) e.inputs.push_back(edge.node->outputs[static_cast<size_t>(edge.output)].shape);
  if (LayerCall* call = layer_call(n)) e.several = !call->outputs.is_tensor();
}

// Layers of a model without a graph: their shapes are those that they were built for.
void add_built(OutlineEntry& e) {
  const auto& built = e.layer->built_for();
  if (!built || built->empty()) return;
  e.inputs = *built;
  if (built->size() != 1 || dynamic_cast<const ModelLayer*>(e.layer.get())) return;
  LossesKept kept(*e.layer);
  try {
    e.outputs = {e.layer->compute_output_shape(built->front())};
  } catch (const Error&) {
    return;  // its call takes more than a tensor of floats
  }
  e.dtypes = {e.layer->compute_dtype()};
  e.activation_bytes = elements(e.outputs[0]) * static_cast<int64_t>(size_of(e.dtypes[0]));
}

void expand(OutlineEntry& e, Outline inner) {
  e.inside = std::move(inner.entries);
  e.gives = std::move(inner.outputs);
}

}  // namespace

int64_t count_of(const std::vector<Variable>& variables) {
  int64_t out = 0;
  each_once(variables, [&](const Variable& v) { out += elements(v.shape()); });
  return out;
}

int64_t bytes_of(const std::vector<Variable>& variables) {
  int64_t out = 0;
  each_once(variables, [&](const Variable& v) {
    out += elements(v.shape()) * static_cast<int64_t>(size_of(v.dtype()));
  });
  return out;
}

std::string shape_text(const Shape& s) {
  if (!s.has_rank()) return "?";
  std::string out;
  for (int64_t d : s.dims()) out += cat(out.empty() ? "" : ", ", d < 0 ? "None" : cat(d));
  return cat("(", out, s.rank() == 1 ? ",)" : ")");
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  if (shapes.empty()) return "?";
  if (shapes.size() == 1) return shape_text(shapes[0]);
  std::string out;
  for (const Shape& s : shapes) out += cat(out.empty() ? "" : ", ", shape_text(s));
  return cat("[", out, "]");
}

Outline outline_of(const ModelLayer& model, const OutlineOptions& o) {
  Outline out;
  Graph graph = graph_of(model);
  bool sequential = dynamic_cast<const SequentialLayer*>(&model) != nullptr;
  std::unordered_map<const Node*, Source> made;  // by node: its entry, and which call of it
  if (!sequential || o.inputs_of_sequential)
    for (const Tensor& t : graph.inputs.leaves()) {
      OutlineEntry e;
      e.name = node_of(t)->name;
      e.kind = "InputLayer";
      e.is_input = true;
      e.outputs = {t.shape()};
      e.dtypes = {t.dtype()};
      made[node_of(t)] = {out.entries.size(), 0, 0};
      out.entries.push_back(std::move(e));
    }
  std::unordered_map<const Layer*, std::pair<size_t, int64_t>> layers;
  for (const Ref<Node>& n : graph.nodes) {
    LayerCall* call = layer_call(*n);
    size_t at = out.entries.size();
    int64_t number = 0;
    if (call) {
      auto [known, fresh] = layers.try_emplace(call->layer.get(), at, 0);
      at = known->second.first;
      number = known->second.second++;
      if (fresh) out.entries.push_back(entry_of(call->layer));
      if (!fresh) out.is_chain = false;
    } else {
      OutlineEntry e;
      e.name = n->name;
      e.kind = n->op->name;
      out.entries.push_back(std::move(e));
    }
    OutlineEntry& e = out.entries[at];
    add_call(e, *n);
    made[n.get()] = {at, number, 0};
    for (const Edge& edge : n->inputs) {
      auto from = edge.node ? made.find(edge.node.get()) : made.end();
      if (from == made.end()) continue;  // a constant
      Source source = from->second;
      source.result = edge.output;
      // Values go to the next entry only, and each once.
      out.is_chain = out.is_chain && source.entry + 1 == at && e.from.empty();
      e.from.push_back(source);
    }
  }
  if (graph.inputs.leaves().size() > 1) out.is_chain = false;
  for (const Tensor& t : graph.outputs.leaves())
    if (auto from = made.find(node_of(t)); from != made.end()) {
      Source source = from->second;
      source.result = symbol_of(t)->output;
      out.outputs.push_back(source);
    }
  // Layers that no call of the graph is of.
  for (const Ref<Layer>& l : model.layers()) {
    bool is_input = std::any_of(out.entries.begin(), out.entries.end(), [&](const OutlineEntry& e) {
      return e.is_input && e.name == l->name();
    });
    if (layers.count(l.get()) || is_input || l->class_name() == "InputLayer") continue;
    OutlineEntry e = entry_of(l);
    add_built(e);
    out.entries.push_back(std::move(e));
  }
  if (o.expand_nested)
    for (OutlineEntry& e : out.entries)
      if (auto* inner = dynamic_cast<const ModelLayer*>(e.layer.get()))
        expand(e, outline_of(*inner, o));
  return out;
}

Cost cost_of(const ModelLayer& model, const OutlineEntry& entry) {
  Cost out;
  bool called = false;
  for (const Ref<Node>& n : graph_of(model).nodes) {
    LayerCall* call = layer_call(*n);
    if (entry.layer ? call && call->layer == entry.layer : !call && n->name == entry.name) {
      out += cost_of(*n);
      called = true;
    }
  }
  if (called || !entry.layer) return out;
  const auto& built = entry.layer->built_for();
  bool runs = built && !built->empty() && !entry.outputs.empty() && !entry.layer->shared();
  return runs ? cost_of(*entry.layer, *built) : Cost{0, false};
}

}  // namespace holdfast::keras
