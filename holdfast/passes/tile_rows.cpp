// Joins what works over the same rows - reductions of trailing axes and all around them - so that a
// row is read once: normalisations that are written out, and their gradients.
#include <algorithm>
#include <map>
#include <set>

#include "holdfast/expr/cpu_program.h"
#include "holdfast/graph/node_map.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/order.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/row_fold.h"

namespace holdfast {
namespace {

// Beyond these, resolving operands would show beside the work itself.
constexpr size_t kMostInstructions = 96;
constexpr size_t kMostInputs = 24;

// A shape that reductions cut into rows.
struct Rows {
  Shape domain;
  int64_t row;

  int64_t count() const { return domain.size() / row; }
  bool operator==(const Rows&) const = default;

  // Whether a value with one element a row broadcasts so that each row gets its own.
  bool spreads(const Shape& s) const {
    if (s.rank() > domain.rank()) return false;
    int64_t inside = 1;
    for (int i = 1; i <= domain.rank(); ++i) {
      int64_t own = i <= s.rank() ? s[-i] : 1;
      if (own != (inside < row ? 1 : domain[-i])) return false;
      inside *= domain[-i];
    }
    return true;
  }
};

enum class Role { kNone, kFold, kDomain, kPerRow, kReshape, kBroadcast };

bool is_full(const Node& n) {
  for (const Type& t : n.outputs)
    if (!t.shape.is_full() || !kPlain.has(t.dtype)) return false;
  for (const Edge& e : n.inputs)
    if (!e.node || !type_of(e).shape.is_full()) return false;
  return !n.outputs.empty() && n.after.empty();
}

// The rows that a node with reductions works over.
std::optional<Rows> rows_of(const Node& n) {
  if (!is_full(n)) return std::nullopt;
  if (n.op == &fused_op() && expr_of(n.attrs).row())
    return Rows{expr_of(n.attrs).domain(), expr_of(n.attrs).row()};
  auto fold = row_fold(n);
  if (!fold || type_of(n.inputs[0]).dtype != n.outputs[0].dtype) return std::nullopt;
  return Rows{type_of(n.inputs[0]).shape, fold->row};
}

// What a node can be in a loop over rows.
Role role_of(const Node& n, const Rows& rows) {
  if (!is_full(n)) return Role::kNone;
  const Shape& out = n.outputs[0].shape;
  bool told = n.inputs.size() < 2 || (n.inputs.size() == 2 && n.inputs[1].node->op == &const_op());
  if (n.op->traits.reshapes)
    return told && out.size() == rows.count() && type_of(n.inputs[0]).shape.size() == rows.count()
               ? Role::kReshape
               : Role::kNone;
  if (n.op->traits.broadcasts) return told && out == rows.domain ? Role::kBroadcast : Role::kNone;
  if (auto own = rows_of(n))
    return !(*own == rows) ? Role::kNone : n.op == &fused_op() ? Role::kDomain : Role::kFold;
  bool all = out == rows.domain;
  if (!all && out.size() != rows.count()) return Role::kNone;
  for (const Edge& e : n.inputs)
    if (const Shape& s = type_of(e).shape; !all && s.size() != 1 && s != out) return Role::kNone;
  if (n.op != &fused_op() && !elementwise_form(n)) return Role::kNone;
  return all ? Role::kDomain : Role::kPerRow;
}

// Nodes as one expression.
class Joined {
 public:
  Joined(const Graph& g, const Rows& rows) : g_(g), rows_(rows), expr_(make_ref<Expr>()) {
    expr_->set_rows(rows.domain, rows.row);
  }

  /// False where a value would be read crosswise.
  bool add(const std::vector<int>& members, const std::vector<Edge>& leaving) {
    for (int i : members) inside_.insert(g_.nodes[static_cast<size_t>(i)].get());
    for (int i : members)
      if (!add(*g_.nodes[static_cast<size_t>(i)])) return false;
    for (const Edge& e : leaving) expr_->store(values_.at(key_of(e)));
    return true;
  }

  bool small_enough() const {
    return expr_->code().size() <= kMostInstructions && inputs_.size() <= kMostInputs &&
           cpu_program(*expr_).keeps_rows(rows_.row);
  }
  const Ref<Expr>& expr() const { return expr_; }
  const std::vector<Edge>& inputs() const { return inputs_; }

 private:
  bool add(const Node& n) {
    Role role = role_of(n, rows_);
    bool per_row = role == Role::kPerRow || role == Role::kReshape;
    for (const Edge& e : n.inputs)
      if (!per_row && inside_.count(e.node.get()) && type_of(e).shape != rows_.domain &&
          !rows_.spreads(type_of(e).shape))
        return false;
    std::vector<int> out;
    if (role == Role::kFold) {
      out.push_back(
          expr_->fold(read(n.inputs[0], false), *n.op, n.attrs, n.where, row_fold(n)->axes));
    } else if (role == Role::kReshape || role == Role::kBroadcast) {
      Tensor shape = n.inputs.size() > 1 ? constant_of(*n.inputs[1].node) : Tensor();
      out.push_back(
          expr_->reshaped(read(n.inputs[0], per_row), *n.op, n.attrs, n.where, shape, per_row));
    } else {
      Ref<Expr> own = n.op == &fused_op() ? nullptr : elementwise_expr(n);
      out = expr_->append(own ? *own : expr_of(n.attrs), per_row, [&](int i, bool one) {
        return read(n.inputs[static_cast<size_t>(i)], one);
      });
    }
    for (size_t i = 0; i < out.size(); ++i) values_[{&n, static_cast<int>(i)}] = out[i];
    return true;
  }

  int read(const Edge& e, bool per_row) {
    if (auto it = values_.find(key_of(e)); it != values_.end()) return it->second;
    per_row = per_row || rows_.spreads(type_of(e).shape);  // no need to write it out
    int &own = read_[{key_of(e), per_row}],
        &other = read_[{key_of(e), !per_row}];  // counted from 1
    if (own) return own - 1;
    if (other) return (own = expr_->input_again(other - 1, per_row) + 1) - 1;
    inputs_.push_back(e);
    return (own = expr_->input(type_of(e).dtype, per_row) + 1) - 1;
  }

  const Graph& g_;
  const Rows& rows_;
  Ref<Expr> expr_;
  std::set<const Node*> inside_;
  std::map<EdgeKey, int> values_;
  std::map<std::pair<EdgeKey, bool>, int> read_;
  std::vector<Edge> inputs_;
};

// Groups of nodes over the same rows, each node in at most one.
class Tiles {
 public:
  explicit Tiles(Graph& g) : g_(g), order_(g), of_(g.nodes.size(), -1), readers_(g.nodes.size()) {
    for (size_t i = 0; i < g.nodes.size(); ++i)
      for (const Edge& e : g.nodes[i]->inputs) note(e, static_cast<int>(i));
    for (const Edge& e : g.outputs) note(e, -1);
  }

  bool run() {
    for (const Ref<Node>& n : g_.nodes)
      if (auto rows = rows_of(*n); rows && rows->count() > 1 &&
                                   std::find(known_.begin(), known_.end(), *rows) == known_.end())
        known_.push_back(*rows);
    for (const Rows& rows : known_) grow(rows);
    if (std::all_of(of_.begin(), of_.end(), [](int group) { return group < 0; })) return false;
    rewrite();
    return true;
  }

 private:
  const Node& node(int i) const { return *g_.nodes[static_cast<size_t>(i)]; }
  void note(const Edge& e, int reader) {
    if (e.node)
      readers_[static_cast<size_t>(order_.position(e.node.get()))].emplace(e.output, reader);
  }

  void grow(const Rows& rows) {
    size_t first = members_.size();
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      const Node& n = *g_.nodes[i];
      if (of_[i] >= 0 || role_of(n, rows) == Role::kNone) continue;
      of_[i] = static_cast<int>(members_.size());
      members_.push_back({static_cast<int>(i)});
      rows_.push_back(&rows);
      for (const Edge& e : n.inputs)
        if (int other = of_[static_cast<size_t>(order_.position(e.node.get()))];
            other >= static_cast<int>(first) && other != of_[i])
          join(of_[i], other);
    }
    for (size_t k = first; k < members_.size(); ++k) {
      if (worthwhile(members_[k], rows)) continue;
      for (int i : members_[k]) of_[static_cast<size_t>(i)] = -1;
      members_[k].clear();
    }
  }

  // A row is read once instead of twice.
  bool worthwhile(const std::vector<int>& group, const Rows& rows) const {
    int folds = 0, others = 0;
    for (int i : group) {
      Role role = role_of(node(i), rows);
      if (rows_of(node(i)))
        ++folds;
      else if (role == Role::kDomain || role == Role::kPerRow)
        ++others;
    }
    return folds > 0 && folds + others > 1;
  }

  void join(int a, int b) {
    auto &from = members_[static_cast<size_t>(b)], &to = members_[static_cast<size_t>(a)];
    if (node(from[0]).device != node(to[0]).device) return;
    std::vector<int> both(from);
    both.insert(both.end(), to.begin(), to.end());
    std::sort(both.begin(), both.end());
    const Rows& rows = *rows_[static_cast<size_t>(a)];
    Joined trial(g_, rows);
    if (!trial.add(both, leaving(both)) || !trial.small_enough()) return;
    if (order_.path_outside(from, to, of_, members_) ||
        order_.path_outside(to, from, of_, members_))
      return;
    for (int i : from) of_[static_cast<size_t>(i)] = a;
    to = std::move(both);
    from.clear();
  }

  // What others read of these nodes, in order.
  std::vector<Edge> leaving(const std::vector<int>& members) const {
    std::vector<Edge> out;
    for (int i : members) {
      int last = -1;  // several may read one output
      for (auto [output, reader] : readers_[static_cast<size_t>(i)]) {
        if (output == last || std::binary_search(members.begin(), members.end(), reader)) continue;
        out.push_back({g_.nodes[static_cast<size_t>(i)], last = output});
      }
    }
    return out;
  }

  void rewrite() {
    std::unordered_map<EdgeKey, Edge, EdgeHash> moved;
    std::unordered_map<const Node*, Ref<Node>> within;  // the node that runs instead
    std::vector<Ref<Node>> nodes;
    for (const std::vector<int>& unit : order_.units(of_)) {
      int own = of_[static_cast<size_t>(unit[0])];
      std::vector<Edge> out = own < 0 ? std::vector<Edge>() : leaving(unit);
      Ref<Node> n = own < 0 ? g_.nodes[static_cast<size_t>(unit[0])]
                            : made(unit, *rows_[static_cast<size_t>(own)], out);
      for (Edge& e : n->inputs)
        if (auto it = moved.find(key_of(e)); it != moved.end()) e = it->second;
      for (Ref<Node>& b : n->after)
        if (auto it = within.find(b.get()); it != within.end()) b = it->second;
      nodes.push_back(n);
      if (own < 0) continue;
      for (int i : unit) within[&node(i)] = n;
      for (size_t k = 0; k < out.size(); ++k) moved[key_of(out[k])] = {n, static_cast<int>(k)};
    }
    for (Edge& e : g_.outputs)
      if (auto it = moved.find(key_of(e)); it != moved.end()) e = it->second;
    g_.nodes = std::move(nodes);
  }

  Ref<Node> made(const std::vector<int>& unit, const Rows& rows,
                 const std::vector<Edge>& leaving) const {
    Joined joined(g_, rows);
    joined.add(unit, leaving);
    Ref<Node> out =
        in_place_of(node(unit.back()), fused_op(), Attrs{Arg(Ref<RefCounted>(joined.expr()))});
    for (const Edge& e : joined.inputs()) out->inputs.push_back(e);
    for (const Edge& e : leaving) out->outputs.push_back(type_of(e));
    return out;
  }

  Graph& g_;
  Order order_;
  std::vector<Rows> known_;
  std::vector<int> of_;  // the group of each node
  std::vector<std::set<std::pair<int, int>>>
      readers_;  // of each node: which output, and who; -1: the caller
  std::vector<std::vector<int>> members_;
  std::vector<const Rows*> rows_;  // of each group
};

}  // namespace

bool tile_rows(Graph& g) { return Tiles(g).run(); }

}  // namespace holdfast
