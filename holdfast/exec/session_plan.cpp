#include "holdfast/exec/session_plan.h"

#include <algorithm>
#include <cctype>

#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/refed.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/op/words.h"
#include "holdfast/op/written_call.h"
#include "holdfast/ops/array/raw.h"

namespace holdfast {
namespace {

constexpr size_t kShownPath = 4;  // nodes of a path that get a label

}  // namespace

std::string called(const Node& n) {
  if (n.name != n.op->name && n.name.compare(0, n.op->name.size() + 1, n.op->name + "_") != 0)
    return n.name;
  Loc at = locate(n.where);
  const std::string& line = at.source;
  auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  size_t begin = std::min(line.find_first_not_of(" \t"), line.size()), end = begin;
  while (end < line.size() && in_name(line[end])) ++end;
  size_t equals = line.find_first_not_of(' ', end);
  if (end == begin || equals == std::string::npos || line[equals] != '=') return n.name;
  return line.find_first_not_of(' ', equals + 1) == static_cast<size_t>(at.col_begin)
             ? line.substr(begin, end - begin)
             : n.name;
}

namespace {

// Whether the graph was written as if an edge could have no other value than its own. Shape rules
// read integers, and single numbers (the limits of a range); an array of floats of one shape is
// only computed with, unless code looked at its elements.
bool counted_on(const Graph& g, const Edge& e) {
  if (e.node->op == &placeholder_op() || e.node->op->traits.replaceable) return false;
  const Type& t = type_of(e);
  if (!kDifferentiable.has(t.dtype) || !t.shape.is_full() || t.shape.size() == 1) return true;
  return std::any_of(g.readings.begin(), g.readings.end(), [&](const Reading& r) {
    return r.numbers.defined() && key_of(r.of) == key_of(e);
  });
}

// What feeds that the graph did not count on may change.
class Changed {
 public:
  Changed(const Graph& g, const std::vector<Edge>& given) {
    for (const Edge& e : given)
      if (counted_on(g, e)) edges_.insert(key_of(e));
    if (edges_.empty()) return;
    rests_.emplace(g);
    for (const Ref<Node>& n : g.nodes) {
      bool changes = false;
      for (const Edge& e : n->inputs) changes = changes || has(e);
      for (size_t r : rests_->readings(*n)) changes = changes || has(g.readings[r].of);
      if (changes) nodes_.insert(n.get());
    }
  }
  bool any() const { return !edges_.empty(); }
  /// Whether it is fed itself, and was counted on.
  bool begins_at(const Edge& e) const { return edges_.count(key_of(e)) != 0; }
  bool has(const Edge& e) const { return e.node && (begins_at(e) || nodes_.count(e.node.get())); }
  std::span<const size_t> readings(const Node& n) const { return rests_->readings(n); }

 private:
  std::optional<Rests> rests_;
  std::unordered_set<EdgeKey, EdgeHash> edges_;
  std::unordered_set<const Node*> nodes_;
};

// What is needed, and for each node the one that asked for it first.
class Walk {
 public:
  Walk(const OpenGraph& graph, const Asked& asked, const Changed& changed)
      : graph_(graph), asked_(asked) {
    for (const Edge& e : asked.given) given_.insert(key_of(e));
    for (const Edge& e : asked.edges) visit(e, nullptr);
    for (const Ref<Node>& n : asked.ops) visit(n.get(), nullptr);
    while (!todo_.empty()) {
      const Node* n = todo_.back();
      todo_.pop_back();
      if (n->op == &placeholder_op()) not_fed(*n);
      for (const Edge& e : n->inputs)
        if (e.node) visit(e, n);
      for (const Ref<Node>& before : n->after)
        if (!is_fed(before)) visit(before.get(), n);
      if (!changed.any()) continue;
      for (size_t r : changed.readings(*n))  // to see that it is still what was read
        if (const Edge& e = graph.graph()->readings[r].of; changed.has(e)) visit(e, n);
    }
  }
  /// What is needed, in an order in which it may run.
  std::vector<const Node*> needed() const {
    std::vector<std::pair<size_t, const Node*>> found;
    for (const auto& [n, by] : asked_by_) found.emplace_back(graph_.graph()->position(*n), n);
    std::sort(found.begin(), found.end());
    std::vector<const Node*> out;
    for (const auto& [at, n] : found) out.push_back(n);
    return out;
  }
  bool given(const Edge& e) const { return given_.count(key_of(e)) != 0; }
  // Whether it is an input that has its value already: who waits for it need not.
  bool is_fed(const Ref<Node>& n) const { return n->op == &placeholder_op() && given({n, 0}); }

 private:
  void visit(const Edge& e, const Node* by) {
    if (!given(e)) visit(e.node.get(), by);
  }
  void visit(const Node* n, const Node* by) {
    if (asked_.done && asked_.done->count(n)) return;
    if (asked_by_.emplace(n, by).second) todo_.push_back(n);
  }

  std::string fetch_name(const Node* n) const {
    if (Where at = here(); at && at->origin == Origin::kCpp) {
      auto run = written_call(locate(at).source, "run");
      bool one = asked_.edges.size() == 1;
      for (size_t i = 0; run && !run->arguments.empty() && i < asked_.edges.size(); ++i) {
        const std::string& fetch = run->arguments[0];
        bool list = fetch.starts_with('{') || !one;
        std::string said = list ? written_element(fetch, i) : fetch;
        if (asked_.edges[i].node.get() == n && !said.empty()) return said;
      }
    }
    for (size_t i = 0; i < asked_.edges.size(); ++i)
      if (asked_.edges[i].node.get() == n && i < asked_.names.size() && !asked_.names[i].empty())
        return asked_.names[i];
    bool only = asked_.only.defined() && node_of(asked_.only) == n;
    std::string said;
    if (only || !n->outputs.empty())
      said = name_in_line(
          only ? asked_.only : symbol_for({Ref<Node>(const_cast<Node*>(n)), 0}, graph_.scope()),
          only);
    return said.empty() ? n->name : said;
  }

  std::string fed_as(const Node& n) const {
    return placeholder_words(symbol_for({Ref<Node>(const_cast<Node*>(&n)), 0}, graph_.scope()),
                             called(n));
  }

  [[noreturn]] void not_fed(const Node& placeholder) const {
    std::vector<const Node*> path{&placeholder};
    while (const Node* by = asked_by_.at(path.back())) path.push_back(by);
    std::reverse(path.begin(), path.end());
    std::string top = fetch_name(path.front());
    Diagnostic d;
    d.code = Code::E0801;
    d.op = placeholder.name;
    d.headline =
        path.size() == 1
            ? cat("placeholder `", called(placeholder), "` is fetched and not fed")
            : cat("placeholder `", called(placeholder), "` is not fed, and `", top, "` needs it");
    for (const Node* n : path) {
      Tensor t = n->outputs.empty()
                     ? Tensor()
                     : symbol_for({Ref<Node>(const_cast<Node*>(n)), 0}, graph_.scope());
      TensorInfo info =
          t.defined() ? describe(t, n == path.front() ? top : called(*n)) : TensorInfo{};
      if (!t.defined()) info.name = n->name, info.op = n->op->name, info.born = locate(n->where);
      info.owner = {
          "session_graph", graph_.scope()->name, locate(graph_.scope()->opened), 0, "open", {}};
      d.path.push_back(info);
    }
    d.subject = d.path.back();
    d.labels.push_back(
        {Role::kBorn, locate(placeholder.where),
         cat("placeholder `", called(placeholder), "`: ", name(placeholder.outputs[0].dtype),
             placeholder.outputs[0].shape.text()),
         false});
    for (size_t i = 0; i + 1 < path.size() && i < kShownPath; ++i)
      if (path[i]->where)
        d.labels.push_back(
            {Role::kPlaced, locate(path[i]->where),
             cat(i ? "which needs this " : "the way to it begins here: ", path[i]->op->name),
             false});
    d.labels.push_back(used_here("run here, without a value for it"));
    std::vector<std::string> fed, unfed;
    for (const Edge& e : asked_.given) fed.push_back(called(*e.node));
    for (const Ref<Node>& n : graph_.graph()->inputs) {
      if (given({n, 0})) continue;
      if (n.get() == &placeholder || unfed.size() < 3) unfed.push_back(called(*n));
    }
    d.why = cat(fed.empty() ? "nothing is fed" : cat("fed: ", name_list(fed)),
                "; not fed: ", name_list(unfed), "; ", "a placeholder has no value of its own");
    std::string entries;
    bool python = language() == Language::kPython;
    for (const Edge& e : asked_.given)
      entries += python ? cat(fed_as(*e.node), ": ..., ") : cat("{", fed_as(*e.node), ", ...}, ");
    d.fixes.push_back(
        manual_fix(cat("feed it: `", written(Advice::kFeed, {entries, fed_as(placeholder)}), "`")));
    raise(std::move(d));
  }

  const OpenGraph& graph_;
  const Asked& asked_;
  std::unordered_set<EdgeKey, EdgeHash> given_;
  std::unordered_map<const Node*, const Node*> asked_by_;
  std::vector<const Node*> todo_;
};

}  // namespace

std::string name_in_line(const Tensor& t, bool only) {
  const OpDef& any = raw::identity();
  std::string said = only ? operand_source(any, {&t, 1}, 0).text : words_for(t);
  bool plain = !said.empty() && said != any.inputs[0].name &&
               said.find_first_of(" ,(){}") == std::string::npos && said[0] != '[';
  return plain ? said : "";
}

Pruned prune(const OpenGraph& from, const Asked& asked, const Own& own) {
  Changed changed(*from.graph(), asked.given);
  Walk walk(from, asked, changed);
  Pruned out;
  out.graph = make_ref<Graph>(from.scope());
  std::vector<std::string> names;
  for (const Edge& e : asked.given)
    if (changed.begins_at(e)) names.push_back(called(*e.node));
  Refed again(*from.graph(), *out.graph, name_list(names));
  for (const Edge& e : asked.given) {
    Ref<Node> input = placeholder_for(type_of(e), e.node->where);
    out.graph->add(input, e.node->name);
    out.graph->inputs.push_back(input);
    again.given(e, input, changed.begins_at(e));
  }
  std::unordered_set<const OpenGraph::Held*> reads;
  for (const Node* n : walk.needed()) {
    Ref<Node> copy = copy_of(*n);
    if (n->op == &handle_op())
      if (const OpenGraph::Held* held = from.find_variable(constant_of(*n)))
        copy->attrs = Attrs{Arg(own.handle(*held))};
    if (n->state) copy->state = own.state(*n);
    for (const Edge& e : n->inputs) {
      // Who asks whether a variable has a value does not want to give it one by asking.
      if (!e.node || e.node->op != &handle_op() || n->op->traits.update == Update::kSet ||
          n->op->traits.asks_only)
        continue;
      if (const OpenGraph::Held* held = from.find_variable(constant_of(*e.node));
          held && reads.insert(held).second)
        out.reads.push_back(held);
    }
    again.add(*n, std::move(copy));
  }
  for (const Edge& e : asked.edges) out.graph->outputs.push_back(again.at(e));
  out.copies = again.copies();
  return out;
}

}  // namespace holdfast
