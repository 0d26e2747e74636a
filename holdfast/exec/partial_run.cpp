#include "holdfast/exec/partial_run.h"

#include "holdfast/base/text.h"
#include "holdfast/exec/plan.h"
#include "holdfast/exec/session_plan.h"
#include "holdfast/op/refuse.h"

namespace holdfast {

PartialRun::PartialRun(Session& session, const std::vector<Fetch>& fetches,
                       const std::vector<Tensor>& feeds)
    : session_(session) {
  if (fetches.empty())
    fail(Code::E1103, "`partial_run_setup` got no `fetches`, expected at least one",
         "a run in parts is for what it computes");
  for (const Fetch& f : fetches) {
    if (f.node) ops_.insert(f.node.get());
    if (f.tensor.defined() && f.tensor.is_symbolic())
      fetches_.insert(key_of(session_.edge_of_fetch(f.tensor, fetches.size() == 1)));
  }
  for (const Tensor& t : feeds) {
    if (!t.is_symbolic() || symbol_of(t)->scope != session_.graph()->scope())
      fail(Code::E1104, cat("`feeds` has ", type_text(t), ", expected tensors of the graph"));
    feeds_.insert(key_of(edge_of(t)));
  }
}

void PartialRun::feed(const Tensor& key, const Tensor& value) {
  Edge e = session_.edge_of_feed(key, value);
  if (values_.count(key_of(e)))
    fail(Code::E1103,
         cat("`", e.node->name, "` is fed to `partial_run`, and has its value already"),
         "a run computes with one value of each tensor");
  if (!feeds_.erase(key_of(e)))
    fail(Code::E1103,
         cat("`", e.node->name, "` is fed to `partial_run`, and `partial_run_setup` had it not"),
         "what a run in parts is fed is said when it is set up");
  known_.push_back(e);
  values_.emplace(key_of(e), value);
}

void PartialRun::need_planned(const Fetch& f) {
  bool known = true;
  std::string name;
  if (f.node) {
    known = ops_.erase(f.node.get()) != 0;
    name = f.node->name;
  } else if (f.tensor.defined() && f.tensor.is_symbolic()) {
    known = fetches_.erase(key_of(edge_of(f.tensor))) != 0;
    name = node_of(f.tensor)->name;
  }
  if (!known)
    fail(Code::E1103,
         cat("`", name, "` is fetched, and was fetched before or not named at the start"),
         "what `partial_run` gives is named to `partial_run_setup`, and given once");
}

// Computes what is missing of all this, and keeps every value on the way.
void PartialRun::compute(const std::vector<Edge>& edges, const std::vector<Ref<Node>>& ops) {
  Asked asked{edges, ops, known_, {}, {}, &done_};
  Ref<Plan> plan;
  std::vector<Edge> made;
  std::vector<const Node*> ran;
  std::vector<const OpenGraph::Held*> reads;
  {
    PatientLock lock(session_.kept_->mutex);
    Pruned pruned =
        prune(*session_.graph_, asked,
              {[this](const OpenGraph::Held& held) { return session_.handle_here(held); },
               [this](const Node& n) { return session_.state_here(n); }});
    reads = pruned.reads;
    pruned.graph->outputs.clear();
    for (const Ref<Node>& n : session_.graph_->graph()->nodes) {
      auto copy = pruned.copies.find(n.get());
      if (copy == pruned.copies.end() || is_constant(*n)) continue;
      ran.push_back(n.get());
      for (int i = 0; i < static_cast<int>(n->outputs.size()); ++i) {
        if (n->outputs[static_cast<size_t>(i)].dtype == DType::kResource) continue;
        made.push_back({n, i});
        pruned.graph->outputs.push_back({copy->second, i});
      }
    }
    // A constant is no result of a run, and may be asked for all the same.
    for (const Edge& e : edges)
      if (is_constant(*e.node) && !values_.count(key_of(e))) {
        known_.push_back(e);
        values_.emplace(key_of(e), constant_of(*e.node));
      }
    plan = Plan::compile(pruned.graph);
  }
  std::vector<Fetch> initial;
  std::vector<Variable> empty;
  for (const OpenGraph::Held* held : reads) {
    if (session_.value(held->variable).defined()) continue;
    empty.push_back(held->variable);
    initial.emplace_back(session_.graph_->tensor(held->initial));
  }
  if (!empty.empty()) {
    Tensors first = session_.run(initial);
    for (size_t i = 0; i < empty.size(); ++i) session_.set_value(empty[i], first[i]);
  }
  Tensors given, out;
  for (const Edge& e : asked.given) given.push_back(values_.at(key_of(e)));
  plan->run(given, out);
  done_.insert(ran.begin(), ran.end());
  for (size_t i = 0; i < made.size(); ++i) {
    if (!values_.emplace(key_of(made[i]), out[i]).second) continue;  // it was fed
    known_.push_back(made[i]);
  }
}

Tensors PartialRun::run(const std::vector<Fetch>& fetches, const Session::Feeds& feeds) {
  session_.need_open();
  for (const auto& [key, value] : feeds) feed(key, value);
  std::vector<Edge> edges;
  std::vector<Ref<Node>> ops;
  for (const Fetch& f : fetches) {
    need_planned(f);
    if (f.node)
      ops.push_back(f.node);
    else if (f.tensor.defined() && f.tensor.is_symbolic())
      edges.push_back(edge_of(f.tensor));
  }
  if (!edges.empty() || !ops.empty()) compute(edges, ops);
  Tensors out;
  for (const Fetch& f : fetches) {
    bool symbol = f.tensor.defined() && f.tensor.is_symbolic();
    out.push_back(symbol ? values_.at(key_of(edge_of(f.tensor))) : f.tensor);
  }
  return out;
}

}  // namespace holdfast
