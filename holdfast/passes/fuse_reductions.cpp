// Lets reductions over trailing axes read what they reduce while it is in the first cache.
#include <algorithm>
#include <unordered_map>

#include "holdfast/expr/cpu_program.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/row_fold.h"

namespace holdfast {
namespace {

class Reductions {
 public:
  explicit Reductions(Graph& g) : g_(g) {}

  bool run() {
    bool any = false;
    for (size_t i = 0; i < g_.nodes.size(); ++i) any = join(*g_.nodes[i]) || any;
    if (!any) return false;
    for (const Ref<Node>& n : g_.nodes)
      for (Edge& e : n->inputs) redirect(e);
    for (Edge& e : g_.outputs) redirect(e);
    auto gone = [&](const Ref<Node>& n) { return moved_.count(n.get()) != 0; };
    g_.nodes.erase(std::remove_if(g_.nodes.begin(), g_.nodes.end(), gone), g_.nodes.end());
    drop_unread();
    return true;
  }

 private:
  void redirect(Edge& e) const {
    if (auto it = moved_.find(e.node.get()); it != moved_.end()) e = it->second;
  }

  // Makes a reduction one more output of what computes its operand.
  bool join(Node& n) {
    auto fold = row_fold(n);
    if (!fold) return false;
    int64_t row = fold->row;
    Ref<Node> from = n.inputs[0].node;
    if (from->device != n.device) return false;
    Ref<Expr> expr;
    int value = 0;
    if (from->op == &fused_op()) {
      const Expr& old = expr_of(from->attrs);
      if (old.per_row(static_cast<size_t>(n.inputs[0].output)) || (old.row() && old.row() != row))
        return false;
      std::vector<size_t> all;
      for (size_t i = 0; i < old.stores().size(); ++i) all.push_back(i);
      expr = old.keeping(all);
      value = old.stores()[static_cast<size_t>(n.inputs[0].output)];
    } else if (!(expr = elementwise_expr(*from))) {
      return false;
    } else {
      value = expr->stores()[0];
    }
    if (!holds_rows(*expr, row)) return false;
    expr->set_rows(type_of(n.inputs[0]).shape, row);
    expr->store(expr->fold(value, *n.op, n.attrs, n.where, fold->axes));
    from->op = &fused_op();
    from->attrs = Attrs{Arg(Ref<RefCounted>(expr))};
    from->outputs.push_back(n.outputs[0]);
    moved_[&n] = Edge{from, static_cast<int>(from->outputs.size()) - 1};
    touched_.push_back(from);
    return true;
  }

  // Values that only reductions read need no memory.
  void drop_unread() {
    std::unordered_map<const Node*, std::vector<bool>> read;
    for (const Ref<Node>& n : touched_) read[n.get()].assign(n->outputs.size(), false);
    auto see = [&](const Edge& e) {
      if (auto it = read.find(e.node.get()); it != read.end())
        it->second[static_cast<size_t>(e.output)] = true;
    };
    for (const Ref<Node>& n : g_.nodes)
      for (const Edge& e : n->inputs) see(e);
    for (const Edge& e : g_.outputs) see(e);
    std::unordered_map<const Node*, std::vector<int>> now;
    for (auto& [n, list] : read) {
      std::vector<size_t> kept;
      std::vector<int>& index = now[n];
      InlineVector<Type, 1> types;
      for (size_t i = 0; i < list.size(); ++i) {
        index.push_back(static_cast<int>(kept.size()));
        if (!list[i]) continue;
        kept.push_back(i);
        types.push_back(n->outputs[i]);
      }
      if (kept.empty() || kept.size() == list.size()) {
        now.erase(n);
        continue;
      }
      Ref<Expr> less = expr_of(n->attrs).keeping(kept);
      auto* node = const_cast<Node*>(n);
      node->attrs = Attrs{Arg(Ref<RefCounted>(less))};
      node->outputs = std::move(types);
    }
    auto shift = [&](Edge& e) {
      if (auto it = now.find(e.node.get()); it != now.end())
        e.output = it->second[static_cast<size_t>(e.output)];
    };
    for (const Ref<Node>& n : g_.nodes)
      for (Edge& e : n->inputs) shift(e);
    for (Edge& e : g_.outputs) shift(e);
  }

  Graph& g_;
  std::unordered_map<const Node*, Edge> moved_;
  std::vector<Ref<Node>> touched_;
};

}  // namespace

bool fuse_reductions(Graph& g) { return Reductions(g).run(); }

}  // namespace holdfast
