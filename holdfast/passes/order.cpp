#include "holdfast/passes/order.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "holdfast/op/op.h"

namespace holdfast {

Order::Order(const Graph& g) : before_(g.nodes.size()) {
  int effect = -1;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = *g.nodes[i];
    int at = static_cast<int>(i);
    positions_.emplace(&n, at);
    for (const Edge& e : n.inputs)
      if (e.node) before_[i].push_back(positions_.at(e.node.get()));
    for (const Ref<Node>& b : n.after) before_[i].push_back(positions_.at(b.get()));
    if (!n.op->traits.stateful && !n.op->traits.reads) continue;
    if (effect >= 0) before_[i].push_back(effect);
    effect = at;
  }
}

bool Order::path_outside(const std::vector<int>& from, const std::vector<int>& to,
                         const std::vector<int>& of,
                         const std::vector<std::vector<int>>& groups) const {
  if (from.empty() || to.empty()) return false;
  enum Mark : char { kNew, kSeen, kFrom, kTo };
  std::vector<char> mark(before_.size(), kNew);
  for (int i : from) mark[static_cast<size_t>(i)] = kFrom;
  for (int i : to) mark[static_cast<size_t>(i)] = kTo;
  int first = *std::min_element(from.begin(), from.end());
  // What lies before that needs none of `from` by itself, but a group that it needs may, by a node
  // further on: groups that lie on both sides move the border to their first node.
  for (bool moved = true; std::exchange(moved, false);)
    for (const std::vector<int>& g : groups)
      if (!g.empty() && mark[static_cast<size_t>(g[0])] == kNew && g.front() < first &&
          g.back() >= first) {
        first = g.front();
        moved = true;
      }
  std::vector<int> pending;
  auto visit = [&](int i) {  // a step that is neither
    if (mark[static_cast<size_t>(i)] != kNew) return;
    int group = of[static_cast<size_t>(i)];
    if (group < 0) {
      if (i < first) return;  // before the border
      mark[static_cast<size_t>(i)] = kSeen;
      pending.push_back(i);
      return;
    }
    for (int m : groups[static_cast<size_t>(group)]) {
      mark[static_cast<size_t>(m)] = kSeen;
      if (m >= first) pending.push_back(m);
    }
  };
  for (int i : to)
    for (int b : before(i)) visit(b);
  while (!pending.empty()) {
    int i = pending.back();
    pending.pop_back();
    for (int b : before(i)) {
      if (mark[static_cast<size_t>(b)] == kFrom) return true;
      visit(b);
    }
  }
  return false;
}

std::vector<std::vector<int>> Order::units(const std::vector<int>& of) const {
  std::unordered_map<int, std::vector<int>> groups;
  for (size_t i = 0; i < of.size(); ++i)
    if (of[i] >= 0) groups[of[i]].push_back(static_cast<int>(i));
  auto members = [&](int i) {
    return of[static_cast<size_t>(i)] < 0 ? std::vector<int>{i}
                                          : groups.at(of[static_cast<size_t>(i)]);
  };
  std::vector<std::vector<int>> out;
  std::vector<bool> done(of.size(), false);
  std::vector<int> stack;
  for (size_t i = 0; i < of.size(); ++i) {
    // A group waits for its last node, unless somebody needs it earlier.
    if (of[i] >= 0 && groups.at(of[i]).back() != static_cast<int>(i)) continue;
    stack.push_back(static_cast<int>(i));
    while (!stack.empty()) {
      int now = stack.back();
      if (done[static_cast<size_t>(now)]) {
        stack.pop_back();
        continue;
      }
      std::vector<int> unit = members(now);
      size_t waiting = stack.size();
      for (int m : unit)
        for (int b : before(m))
          if (!done[static_cast<size_t>(b)] &&
              (of[static_cast<size_t>(b)] < 0 ||
               of[static_cast<size_t>(b)] != of[static_cast<size_t>(now)]))
            stack.push_back(b);
      if (stack.size() > waiting) continue;
      for (int m : unit) done[static_cast<size_t>(m)] = true;
      out.push_back(std::move(unit));
      stack.pop_back();
    }
  }
  return out;
}

std::unordered_map<const Node*, int> uses_of(const Graph& g) {
  std::unordered_map<const Node*, int> uses;
  for (const Ref<Node>& n : g.nodes) {
    for (const Edge& e : n->inputs)
      if (e.node) ++uses[e.node.get()];
    for (const Ref<Node>& b : n->after) ++uses[b.get()];
  }
  for (const Edge& e : g.outputs)
    if (e.node) ++uses[e.node.get()];
  return uses;
}

Ref<Node> in_place_of(const Node& n, const OpDef& op, Attrs attrs) {
  auto out = make_ref<Node>(&op, std::move(attrs));
  out->where = n.where;
  out->device = n.device;
  out->placed = n.placed;
  out->name = n.name;
  return out;
}

}  // namespace holdfast
