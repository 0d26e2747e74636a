#include "holdfast/autodiff/graph_gradient.h"

#include <algorithm>

#include "holdfast/autodiff/backward.h"
#include "holdfast/autodiff/residuals.h"
#include "holdfast/base/patient_lock.h"
#include "holdfast/base/text.h"
#include "holdfast/graph/bodies.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

// Symbols of a graph's edges, the same one each time it is asked for.
class Symbols {
 public:
  // `copies`: what nodes that customs speak of are called in `g`; null: themselves. `around`: of
  // the graphs around `g`, innermost first; what `g` captures of theirs is known by their symbol.
  Symbols(const Graph& g, const std::vector<CustomGradient>& customs, const NodeMap* copies,
          std::vector<Symbols*> around = {})
      : graph_(g), scope_(g.scope), around_(std::move(around)) {
    for (const Capture& c : g.captures)
      if (c.outer.dtype() == DType::kResource) made_.emplace(key_of({c.inner, 0}), c.outer);
    for (const CustomGradient& c : customs)
      for (auto* list : {&c.inputs, &c.outputs})
        for (const Tensor& t : *list)
          if (t.defined() && t.is_symbolic() && symbol_of(t)->scope == scope_)
            made_.emplace(
                EdgeKey(copies ? copies->at(node_of(t)).get() : node_of(t), symbol_of(t)->output),
                t);
  }
  Tensor operator()(const Edge& e) {
    if (!e.node) return {};
    if (is_constant(*e.node)) return constant_of(*e.node);
    Tensor& t = made_[key_of(e)];
    if (!t.defined() && e.node->op == &placeholder_op()) t = outside(*e.node);
    if (!t.defined()) t = symbol_for(e, scope_);
    return t;
  }

 private:
  // What a capture is in the graphs around; empty where it is none, or they are not looked at.
  Tensor outside(const Node& placeholder) {
    if (around_.empty()) return {};
    for (const Capture& c : graph_.captures) {
      if (c.inner.get() != &placeholder) continue;
      if (!c.outer.is_symbolic()) return c.outer;
      for (Symbols* each : around_)
        if (each->scope_ == symbol_of(c.outer)->scope) return (*each)(edge_of(c.outer));
    }
    return {};
  }

  const Graph& graph_;
  const Ref<Scope>& scope_;
  std::vector<Symbols*> around_;
  std::unordered_map<EdgeKey, Tensor, EdgeHash> made_;
};

Record record_of(const Node& n, Symbols& symbols) {
  Record r;
  r.op = n.op;
  r.name = n.op->name.c_str();
  r.attrs = n.attrs;
  r.where = n.where;
  for (const Edge& e : n.inputs) {
    r.inputs.push_back(symbols(e));
    r.in_ids.push_back(r.inputs.back().defined() ? r.inputs.back().id() : 0);
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    r.outputs.push_back(symbols({Ref<Node>(const_cast<Node*>(&n)), static_cast<int>(i)}));
    r.out_ids.push_back(r.outputs.back().id());
  }
  return r;
}

// A constant that is a node of its own stands for its value, as it does in the records of ops.
Tensor known_as(const Tensor& t, Symbols& symbols) {
  return t.defined() && t.is_symbolic() && is_constant(*node_of(t)) ? symbols(edge_of(t)) : t;
}

Record record_of(const CustomGradient& c, Symbols& symbols) {
  Record r;
  r.name = c.name.c_str();
  r.custom = std::make_shared<Backward>(c.backward);
  for (const Tensor& given : c.inputs) {
    Tensor t = known_as(given, symbols);
    r.inputs.push_back(t);
    r.in_ids.push_back(t.defined() ? t.id() : 0);
  }
  for (const Tensor& t : c.outputs) {
    r.outputs.push_back(t);
    r.out_ids.push_back(t.defined() ? t.id() : 0);
  }
  return r;
}

std::vector<Record> records_of(const Graph& g, const std::vector<CustomGradient>& customs,
                               Symbols& symbols) {
  std::vector<Record> out;
  size_t custom = 0;
  for (size_t i = 0; i <= g.nodes.size(); ++i) {
    for (; custom < customs.size() && customs[custom].position <= i; ++custom)
      out.push_back(record_of(customs[custom], symbols));
    if (i < g.nodes.size() && g.nodes[i]->op->gradient)
      out.push_back(record_of(*g.nodes[i], symbols));
  }
  return out;
}

// Copies nodes into a graph of their own; what they use of others becomes its first inputs, and
// further outputs of `forward`.
class Split {
 public:
  // `again`: nodes of `forward` that are copied too.
  Split(const Ref<Graph>& forward, const Ref<Graph>& backward,
        std::unordered_set<const Node*> again, bool share)
      : forward_(forward), backward_(backward), again_(std::move(again)), share_(share) {}

  // Its name for an edge of the whole graph.
  Edge at(const Edge& e) {
    if (!e.node) return {};
    if (auto it = copies_.find(e.node.get()); it != copies_.end()) return {it->second, e.output};
    if (is_constant(*e.node) || again_.count(e.node.get())) {
      copy(e.node);
      return {copies_.at(e.node.get()), 0};
    }
    Ref<Node>& given = given_[key_of(e)];
    if (!given) {
      given = placeholder_for(type_of(e), e.node->where);
      backward_->add(given, "residual");
      residuals_.push_back(given);
      auto& out = forward_->outputs;
      auto there = share_ ? std::find(out.begin(), out.end(), e) : out.end();
      positions_.push_back(static_cast<size_t>(there - out.begin()));
      if (there == out.end()) out.push_back(e);
    }
    return {given, 0};
  }

  void copy(const Ref<Node>& n) {
    Ref<Node> made = copy_of(*n);
    for (const Edge& e : n->inputs) made->inputs.push_back(at(e));
    for (const Ref<Node>& before : n->after)
      if (auto it = copies_.find(before.get()); it != copies_.end())
        made->after.push_back(it->second);
    backward_->add(made, n->name);
    copies_.emplace(n.get(), made);
  }

  // The inputs that stand for results of `forward`, and which of its outputs they are.
  const std::vector<Ref<Node>>& residuals() const { return residuals_; }
  const std::vector<size_t>& positions() const { return positions_; }
  Ref<Node> copied(const Node* n) const { return copies_.at(n); }

 private:
  Ref<Graph> forward_, backward_;
  std::unordered_set<const Node*> again_;
  NodeMap copies_;
  std::unordered_map<EdgeKey, Ref<Node>, EdgeHash> given_;
  std::vector<Ref<Node>> residuals_;
  std::vector<size_t> positions_;
  bool share_;
};

// The gradients of their own that parts of `g` have, for a graph that begins with copies of its
// nodes.
void keep_customs(const Graph& g, const NodeMap& copies, Graph& forward) {
  if (g.customs.empty()) return;
  forward.customs = g.customs;
  forward.originals = make_ref<Originals>(copies);
  size_t at = 0;  // gradients of loops put nodes before the loops
  for (CustomGradient& c : forward.customs) {
    const Node* last = c.position ? copies.at(g.nodes[c.position - 1].get()).get() : nullptr;
    while (last && (at == 0 || forward.nodes[at - 1].get() != last)) ++at;
    c.position = at;
  }
}

// Custom gradients that were used while a gradient was written: their code speaks of the graph that
// was open then, so the gradient of that gradient can't call it, and must not go through what is
// inside instead.
void refuse_customs(const Graph& whole, const NodeMap& copies, Split& split, Graph& backward) {
  for (const CustomGradient& c : whole.customs) {
    auto there = [&](const Tensor& t) {
      if (!t.defined() || !t.is_symbolic() || symbol_of(t)->scope != whole.scope) return t;
      Edge e = edge_of(t);
      if (auto it = copies.find(e.node.get()); it != copies.end())
        e.node = it->second;  // a symbol of the graph that was copied
      return symbol_for(split.at(e), backward.scope);
    };
    CustomGradient refused{c.name, 0, {}, {}, {}};
    for (const Tensor& t : c.inputs) refused.inputs.push_back(there(t));
    for (const Tensor& t : c.outputs) refused.outputs.push_back(there(t));
    for (size_t i = 0; i < backward.nodes.size(); ++i)  // it comes after all that it gives
      for (const Tensor& t : refused.outputs)
        if (t.defined() && t.is_symbolic() && node_of(t) == backward.nodes[i].get())
          refused.position = i + 1;
    refused.backward = [name = c.name](const std::vector<Tensor>&) -> std::vector<Tensor> {
      fail(Code::E1105,
           cat("`", name,
               "` has a custom gradient and is used by another custom gradient; their second order "
               "can't be traced"),
           "the code of a gradient belongs to the graph that it was written in",
           {manual_fix(cat("take this gradient without `", written(Advice::kTraced),
                           "`, or leave `", name, "` out of the other one"))});
    };
    backward.customs.push_back(std::move(refused));
  }
  std::stable_sort(backward.customs.begin(), backward.customs.end(),
                   [](const auto& a, const auto& b) { return a.position < b.position; });
}

// Whether code of the program's computes gradients in there; it need not look at what arrives.
bool has_customs(const Graph& g) {
  if (!g.customs.empty()) return true;
  for (const Ref<Node>& n : g.nodes)
    for (const Arg& a : n->attrs)
      if (const Graph* body = body_in(a); body && has_customs(*body)) return true;
  return false;
}

// Which gradients depend on what arrives for which target, in the order (target, source).
std::vector<std::vector<bool>> paths(const Graph& backward, size_t targets, size_t sources) {
  using Bits = std::vector<bool>;  // one for each target
  std::unordered_map<const Node*, Bits> known;
  size_t first = backward.inputs.size() - targets;
  for (size_t t = 0; t < targets; ++t) {
    Bits& self = known[backward.inputs[first + t].get()];
    self.resize(targets);
    self[t] = true;
  }
  for (const Ref<Node>& n : backward.nodes)
    for (const Edge& e : n->inputs) {
      auto it = known.find(e.node.get());
      if (it == known.end()) continue;
      Bits from = it->second, &to = known[n.get()];
      to.resize(targets);
      for (size_t t = 0; t < targets; ++t) to[t] = to[t] || from[t];
    }
  std::vector<Bits> out(targets, Bits(sources));
  for (size_t s = 0; s < sources; ++s)
    if (auto it = known.find(backward.outputs[s].node.get()); it != known.end())
      for (size_t t = 0; t < targets; ++t) out[t][s] = it->second[t];
  return out;
}

}  // namespace

GraphGradient differentiate(const Ref<Graph>& g, const std::vector<Ref<Node>>& sources,
                            const DifferentiateOptions& o) {
  PatientLock one_at_a_time(
      g->scope->reopening());  // custom gradients are the user's code, which may take its time
  if (g->scope->open())
    fail(Code::E1105,
         cat("the gradient of `", g->scope->name, "` is asked for while it is being written"),
         "the code of a custom gradient inside it asks for it",
         {manual_fix("use only what the custom gradient is given")});
  GraphGradient out;
  // A copy: gradients of loops add to the ops they are asked of, and `g` itself stays as it is.
  NodeMap copies;
  Ref<Graph> whole = clone(*g, &copies);
  if (g->originals)
    for (const auto& [original, here] : g->originals->nodes)
      copies.emplace(original, copies.at(here.get()));
  std::vector<Edge> results = whole->outputs;
  const Node* last = whole->nodes.empty() ? nullptr : whole->nodes.back().get();
  std::vector<Tensor> dy;
  std::vector<Gradient> gradients;
  {
    Tracer tracer(whole, &copies);
    Tracing tracing(tracer, true);
    BackwardSite backward;
    Symbols symbols(*whole, g->customs, &copies);
    std::vector<Record> records = records_of(*whole, g->customs, symbols);
    IdMap watched;
    std::vector<Source> wanted;
    std::vector<Tensor> targets;
    for (const Ref<Node>& s : sources) {
      Tensor t = symbols({copies.at(s.get()), 0});
      wanted.push_back(t.dtype() == DType::kResource ? Source(Variable::from_handle(t))
                                                     : Source(t));
      watched.set(t.id(), 0);
    }
    for (size_t i = 0; i < std::min(o.outputs, results.size()); ++i) {
      const Edge& e = results[i];
      if (!e.node || !flows(type_of(e).dtype)) continue;
      out.targets.push_back(i);
      targets.push_back(symbols(e));
      dy.push_back(tracer.input(type_of(e).dtype, type_of(e).shape, "arriving"));
    }
    gradients = run_backward(records, watched, targets, wanted, dy, Unconnected::kNone, true);
    whole->outputs.clear();
    auto give = [&](const Tensor& t) {
      whole->outputs.push_back(t.defined() ? tracer.resolve(t) : Edge{});
    };
    for (size_t i = 0; i < gradients.size(); ++i) {
      const Gradient& found = gradients[i];
      bool rows = o.sparse && found.slices && wanted[i].variable().defined();
      if (rows) out.sparse.push_back(i);
      give(found.none() ? Tensor() : rows ? found.slices->values : found.tensor());
    }
    for (size_t i : out.sparse) {
      give(gradients[i].slices->indices);
      give(gradients[i].slices->dense_shape);
    }
  }
  // Gradients of loops add to the nodes of the forward part too: it ends where it ended before.
  size_t border = 0;
  for (size_t i = 0; i < whole->nodes.size(); ++i)
    if (whole->nodes[i].get() == last) border = i + 1;
  out.forward =
      whole
          ->continued();  // which knows the names that are taken: loops are given further variables
  out.forward->nodes.resize(border);
  out.forward->inputs.resize(g->inputs.size());
  out.forward->captures.resize(g->captures.size());
  auto again = computed_again(*whole, border, results);
  out.forward->outputs = std::move(results);
  out.backward = make_ref<Graph>(
      make_ref<Scope>(ScopeKind::kFunction, "gradient of " + g->scope->name, nullptr));
  keep_customs(*g, copies, *out.forward);
  Split split(out.forward, out.backward, std::move(again), o.share);
  for (size_t i = border; i < whole->nodes.size(); ++i) split.copy(whole->nodes[i]);
  for (const Edge& e : whole->outputs) out.backward->outputs.push_back(split.at(e));
  refuse_customs(*whole, copies, split, *out.backward);
  out.backward->inputs = split.residuals();
  out.residuals = split.positions();
  for (const Tensor& t : dy) out.backward->inputs.push_back(split.copied(node_of(t)));
  for (size_t i = g->captures.size(); i < whole->captures.size(); ++i)
    out.backward->captures.push_back(
        {whole->captures[i].outer, split.copied(whole->captures[i].inner.get())});
  if (dy.size() > 1 && !has_customs(*g))
    out.leads = paths(*out.backward, dy.size(), sources.size());
  return out;
}

std::vector<Gradient> gradients_in(Tracer& tracer, const std::vector<Tensor>& targets,
                                   const std::vector<Tensor>& sources,
                                   const GradientsOptions& options) {
  Tracing tracing(tracer, true);
  BackwardSite backward;
  const Graph& g = *tracer.graph();
  // A branch or a body computes from what is outside it, and a path may lead on from there.
  std::vector<std::unique_ptr<Symbols>> outer;
  std::vector<const Graph*> graphs;
  for (const Scope* s = g.scope->parent.get(); s; s = s->parent.get())
    if (auto* around = dynamic_cast<Tracer*>(s->interpreter))
      graphs.insert(graphs.begin(), around->graph().get());
  std::vector<Symbols*> around;
  std::vector<Record> records;
  for (const Graph* each : graphs) {
    outer.push_back(std::make_unique<Symbols>(*each, each->customs, nullptr, around));
    around.insert(around.begin(), outer.back().get());
    for (Record& r : records_of(*each, each->customs, *around.front()))
      records.push_back(std::move(r));
  }
  Symbols symbols(g, g.customs, nullptr, around);
  auto inside = [&](const Tensor& t) { return symbols(tracer.resolve(t)); };
  std::vector<Tensor> ys;
  std::vector<Source> xs;
  IdMap watched, stop;
  for (const Tensor& t : targets) ys.push_back(inside(t));
  for (const Tensor& t : sources) {
    xs.emplace_back(inside(t));
    watched.set(xs.back().id(), 0);
  }
  for (const Tensor& t : options.stop) stop.set(inside(t).id(), 0);
  for (Record& r : records_of(g, g.customs, symbols)) records.push_back(std::move(r));
  for (Record& r :
       records)  // nothing goes on from what counts as a constant to what it was computed from
    for (uint64_t& id : r.out_ids)
      if (id && stop.has(id)) id = 0;
  std::vector<Gradient> out =
      run_backward(records, watched, ys, xs, options.upstream, Unconnected::kNone, true);
  auto lasting = [&](Tensor& t) {
    if (t.defined()) t = tracer.symbol(tracer.resolve(t));
  };
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].none() && options.unconnected == Unconnected::kZero) {
      const Tensor& x = sources[i];
      out[i].dense = zeros_like(x.dtype() == DType::kResource ? Variable::from_handle(x).read()
                                                              : symbols(tracer.resolve(x)));
    }
    lasting(out[i].dense);
    if (!out[i].slices) continue;
    lasting(out[i].slices->values);
    lasting(out[i].slices->indices);
    lasting(out[i].slices->dense_shape);
  }
  return out;
}

}  // namespace holdfast
