// Joins elementwise nodes into Fused ones.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/order.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

// Beyond these a group would leave the first cache, or the stack of a thread.
constexpr size_t kMostInstructions = 48;
constexpr size_t kMostInputs = 24;

// Nodes that are computed together, each in at most one group. A group grows by a node that reads
// one of its values and has the same shape.
class Groups {
 public:
  explicit Groups(const Graph& g) : g_(g), order_(g), of_(g.nodes.size(), -1) {}

  void grow() {
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      const Node& n = *g_.nodes[i];
      if (!elementwise_form(n) || !n.outputs[0].shape.has_rank()) continue;
      int group = static_cast<int>(members_.size());
      members_.push_back({static_cast<int>(i)});
      of_[i] = group;
      for (const Edge& e : n.inputs)
        if (int other = of_[static_cast<size_t>(order_.position(e.node.get()))];
            other >= 0 && other != of_[i])
          join(of_[i], other);
    }
  }

  const std::vector<std::vector<int>>& members() const { return members_; }
  const std::vector<int>& of() const { return of_; }

 private:
  const Node& node(int i) const { return *g_.nodes[static_cast<size_t>(i)]; }

  void join(int a, int b) {
    auto &from = members_[static_cast<size_t>(b)], &to = members_[static_cast<size_t>(a)];
    const Node &x = node(from[0]), &y = node(to[0]);
    if (x.outputs[0].shape != y.outputs[0].shape || x.device != y.device) return;
    if (from.size() + to.size() > kMostInstructions || inputs(from, to) > kMostInputs) return;
    if (order_.path_outside(from, to, of_, members_) ||
        order_.path_outside(to, from, of_, members_))
      return;
    for (int i : from) of_[static_cast<size_t>(i)] = a;
    to.insert(to.end(), from.begin(), from.end());
    std::sort(to.begin(), to.end());
    from.clear();
  }

  // Values from outside that both together would read.
  size_t inputs(const std::vector<int>& a, const std::vector<int>& b) const {
    std::vector<Edge> seen;
    for (auto* list : {&a, &b}) {
      for (int i : *list) {
        for (const Edge& e : node(i).inputs) {
          int group = of_[static_cast<size_t>(order_.position(e.node.get()))];
          bool inside = group >= 0 && (&members_[static_cast<size_t>(group)] == &a ||
                                       &members_[static_cast<size_t>(group)] == &b);
          if (!inside && std::find(seen.begin(), seen.end(), e) == seen.end()) seen.push_back(e);
        }
      }
    }
    return seen.size();
  }

  const Graph& g_;
  Order order_;
  std::vector<int> of_;  // the group of each node
  std::vector<std::vector<int>> members_;
};

// The node that computes `members` together, and where each of their values that others read is
// found.
Ref<Node> fused_node(Graph& g, const std::vector<int>& members,
                     const std::unordered_set<const Node*>& read_outside,
                     std::unordered_map<const Node*, Edge>& moved) {
  auto expr = make_ref<Expr>();
  Ref<Node> out = in_place_of(*g.nodes[static_cast<size_t>(members.back())], fused_op(),
                              Attrs{Arg(Ref<RefCounted>(expr))});
  std::unordered_map<const Node*, int> values;
  std::vector<std::pair<Edge, int>> inputs;
  std::vector<const Node*> stored;
  for (int i : members) {
    const Node& n = *g.nodes[static_cast<size_t>(i)];
    InlineVector<int, 4> operands;
    for (const Edge& e : n.inputs) {
      if (auto it = values.find(e.node.get()); it != values.end()) {
        operands.push_back(it->second);
        continue;
      }
      auto known =
          std::find_if(inputs.begin(), inputs.end(), [&](auto& p) { return p.first == e; });
      if (known == inputs.end()) {
        inputs.push_back({e, expr->input(type_of(e).dtype)});
        out->inputs.push_back(e);
        known = inputs.end() - 1;
      }
      operands.push_back(known->second);
    }
    int value =
        expr->add(*n.op, n.attrs, n.where, *elementwise_form(n), operands, n.outputs[0].dtype);
    values.emplace(&n, value);
    for (const Ref<Node>& before : n.after)
      if (std::find(out->after.begin(), out->after.end(), before) == out->after.end())
        out->after.push_back(before);
    if (!read_outside.count(&n)) continue;
    expr->store(value);
    stored.push_back(&n);
  }
  for (size_t k = 0; k < stored.size(); ++k) {
    out->outputs.push_back(stored[k]->outputs[0]);
    moved.emplace(stored[k], Edge{out, static_cast<int>(k)});
  }
  return out;
}

}  // namespace

bool fuse(Graph& g) {
  Groups groups(g);
  groups.grow();
  std::vector<int> of(groups.of());
  const auto& members = groups.members();
  bool any = false;
  for (int& group : of) {
    if (group >= 0 && members[static_cast<size_t>(group)].size() < 2) group = -1;
    any = any || group >= 0;
  }
  if (!any) return false;

  std::unordered_map<const Node*, int> group_of;
  for (size_t i = 0; i < of.size(); ++i)
    if (of[i] >= 0) group_of[g.nodes[i].get()] = of[i];
  auto group = [&](const Node* n) {
    auto it = group_of.find(n);
    return it == group_of.end() ? -1 : it->second;
  };
  std::unordered_set<const Node*> read_outside;
  for (const Ref<Node>& n : g.nodes) {
    for (const Edge& e : n->inputs)
      if (e.node && group(e.node.get()) >= 0 && group(e.node.get()) != group(n.get()))
        read_outside.insert(e.node.get());
    for (const Ref<Node>& before : n->after)
      if (group(before.get()) >= 0 && group(before.get()) != group(n.get()))
        read_outside.insert(before.get());
  }
  for (const Edge& e : g.outputs)
    if (e.node) read_outside.insert(e.node.get());

  std::unordered_map<const Node*, Edge> moved;
  std::vector<Ref<Node>> nodes;
  for (const std::vector<int>& unit : Order(g).units(of)) {
    Ref<Node> n = unit.size() == 1 ? g.nodes[static_cast<size_t>(unit[0])]
                                   : fused_node(g, unit, read_outside, moved);
    for (Edge& e : n->inputs)
      if (auto it = moved.find(e.node.get()); it != moved.end()) e = it->second;
    for (Ref<Node>& before : n->after)
      if (auto it = moved.find(before.get()); it != moved.end()) before = it->second.node;
    nodes.push_back(std::move(n));
  }
  for (Edge& e : g.outputs)
    if (auto it = moved.find(e.node.get()); it != moved.end()) e = it->second;
  g.nodes = std::move(nodes);
  return true;
}

}  // namespace holdfast
