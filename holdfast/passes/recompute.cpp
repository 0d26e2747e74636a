// Values that are computed early and read late, as a gradient reads what the forward part gave, are
// computed a second time instead of kept, where much memory at the worst moment costs little work.
#include "holdfast/passes/recompute.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/graph/node_map.h"
#include "holdfast/op/op.h"
#include "holdfast/passes/effects.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

constexpr double kFlopsPerByte = 16;  // that a core does while a byte comes from memory
constexpr size_t kMostNodes = 8;      // to get one value again

int64_t bytes_of(const Type& t) {
  return kPlain.has(t.dtype) ? t.shape.size() * size_of(t.dtype) : 0;
}

// Whether all sizes are known, and large enough for values that are needed at once to reach `peak`.
bool may_reach(int64_t peak, const Graph& g) {
  int64_t bytes = 0;
  for (const Ref<Node>& n : g.nodes) {
    for (const Type& t : n->outputs) {
      if (kPlain.has(t.dtype) && !t.shape.is_full()) return false;
      bytes += bytes_of(t);
    }
  }
  return bytes >= peak;
}

bool is_elementwise(const Node& n) { return n.op == &fused_op() || elementwise_form(n); }

// How long a node takes, in bytes that come from memory meanwhile.
double work_of(const Node& n) {
  if (n.outputs.empty() || n.op->traits.view) return 0;
  double bytes = 0;
  for (const Edge& e : n.inputs)
    if (e.node) bytes += static_cast<double>(bytes_of(type_of(e)));
  for (const Type& t : n.outputs) bytes += static_cast<double>(bytes_of(t));
  if (!n.op->flops) return bytes;
  InlineVector<Shape, 4> in;
  for (const Edge& e : n.inputs) in.push_back(e.node ? type_of(e).shape : Shape{});
  return bytes + n.op->flops(in, n.outputs[0].shape) / kFlopsPerByte;
}

// The memory of one value, with all that looks into it.
struct Life {
  Edge value;
  int64_t bytes = 0;
  int first = 0, last = 0;  // positions; a result of the graph lasts beyond all of them
  std::vector<int> uses;    // in order
};

// When each value of a graph is needed.
class Lives {
 public:
  explicit Lives(const Graph& g) : g_(g), most_at_(0) {
    for (const Ref<Node>& n : g.nodes) see(n);
    for (const Edge& e : g.outputs)
      if (e.node) list_[of_.at(key_of(e))].last = kAfterAll;
    share();
    std::vector<int64_t> change(g.nodes.size() + 1, 0);
    for (const Life& l : list_) {
      if (l.first >= static_cast<int>(g.nodes.size())) continue;
      change[static_cast<size_t>(l.first)] += l.bytes;
      change[static_cast<size_t>(
                 std::min<int64_t>(l.last, static_cast<int64_t>(g.nodes.size()) - 1)) +
             1] -= l.bytes;
    }
    int64_t now = 0;
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      now += change[i];
      if (now > most_) {
        most_ = now;
        most_at_ = static_cast<int>(i);
      }
    }
  }

  int64_t most() const { return most_; }    // bytes that are needed at once
  int most_at() const { return most_at_; }  // the first position where they are
  const std::vector<Life>& list() const { return list_; }
  const Life& of(const Edge& e) const { return list_[of_.at(key_of(e))]; }
  /// Whether it is there at `position` whatever is done about others.
  bool there(const Edge& e, int position) const {
    const Life& l = of(e);
    return !l.value.node || l.last >= position;
  }

 private:
  static constexpr int kAfterAll = std::numeric_limits<int>::max();

  void see(const Ref<Node>& n) {
    int at = position_++;
    for (const Edge& e : n->inputs) {
      if (!e.node) continue;
      Life& l = list_[of_.at(key_of(e))];
      l.last = std::max(l.last, at);
      if (l.uses.empty() || l.uses.back() != at) l.uses.push_back(at);
    }
    // What is given, and what lies in a variable, takes no memory of the graph.
    bool given = n->op == &placeholder_op() || is_constant(*n);
    for (size_t k = 0; k < n->outputs.size(); ++k) {
      Edge e{n, static_cast<int>(k)};
      if (k == 0 && n->op->traits.view && n->inputs[0].node) {
        of_.emplace(key_of(e), of_.at(key_of(n->inputs[0])));
        continue;
      }
      of_.emplace(key_of(e), list_.size());
      list_.push_back({given ? Edge{} : e,
                       given || n->op->traits.reads ? 0 : bytes_of(n->outputs[k]),
                       at,
                       at,
                       {}});
    }
  }

  // An elementwise result takes the memory of an operand that is not needed any more.
  void share() {
    for (Life& l : list_) {
      if (!l.bytes || !is_elementwise(*l.value.node)) continue;
      for (const Edge& e : l.value.node->inputs) {
        if (const Life& in = of(e); in.bytes != l.bytes || in.last != l.first) continue;
        ++l.first;
        break;
      }
    }
  }

  const Graph& g_;
  std::vector<Life> list_;
  std::unordered_map<EdgeKey, size_t, EdgeHash> of_;
  int position_ = 0;
  int64_t most_ = 0;
  int most_at_;
};

// What it takes to have a value again.
struct Again {
  const Life* life = nullptr;
  int position = 0;  // of the first node that reads it late
  double work = 0;
  std::vector<Node*> nodes;  // each after what it needs
};

class Recompute {
 public:
  Recompute(Graph& g, const RecomputeLimits& limits) : g_(g), limits_(limits) {
    for (const Ref<Node>& n : g.nodes) all_work_ += work_of(*n);
  }

  bool run() {
    Lives before(g_);
    if (before.most() < limits_.least_peak) return false;
    std::vector<Ref<Node>> nodes = g_.nodes;
    int64_t reached = before.most();
    while (true) {
      Lives now(g_);
      reached = now.most();
      std::optional<Again> best = best_at(now);
      if (!best) break;
      work_ += best->work;
      apply(now, *best);
    }
    if (static_cast<double>(before.most() - reached) >=
        limits_.least_gain * static_cast<double>(before.most()))
      return true;
    for (auto it = changed_.rbegin(); it != changed_.rend(); ++it)
      it->node->inputs[it->input] = it->before;
    g_.nodes = std::move(nodes);
    return false;
  }

 private:
  struct Changed {
    Ref<Node> node;
    size_t input;
    Edge before;
  };

  // The value that is held over the worst moment, not read there, and comes back at the least work
  // for its bytes.
  std::optional<Again> best_at(const Lives& lives) const {
    std::optional<Again> best;
    double least = std::numeric_limits<double>::max();
    int worst = lives.most_at();
    for (const Life& l : lives.list()) {
      if (!l.bytes || l.first >= worst || l.last <= worst || l.uses.empty() ||
          l.uses.back() < l.last)
        continue;
      auto late = std::lower_bound(l.uses.begin(), l.uses.end(), worst);
      if (late == l.uses.end() || *late == worst) continue;
      Again again{&l, *late, 0, {}};
      if (!again_of(l.value, lives, again, true)) continue;
      double price = again.work / static_cast<double>(l.bytes);
      if (work_ + again.work > limits_.most_work * all_work_ || price >= least) continue;
      least = price;
      best = std::move(again);
    }
    return best;
  }

  bool again_of(const Edge& e, const Lives& lives, Again& again, bool dropped = false) const {
    Node* n = e.node.get();
    if (std::find(again.nodes.begin(), again.nodes.end(), n) != again.nodes.end()) return true;
    if (!dropped && &lives.of(e) != again.life && lives.there(e, again.position)) return true;
    bool known = n->op->traits.view || n->op->flops || is_elementwise(*n);
    if (!known || !n->after.empty() || !(n->op == &fused_op() || is_pure(*n)) ||
        again.nodes.size() == kMostNodes)
      return false;
    for (const Edge& in : n->inputs)
      if (in.node && !again_of(in, lives, again)) return false;
    again.nodes.push_back(n);
    again.work += work_of(*n);
    if (n->op == &fused_op())  // its other outputs are left out
      for (const Type& t : n->outputs)
        again.work -= &t == &type_of(e) ? 0 : static_cast<double>(bytes_of(t));
    return again.nodes.size() <= kMostNodes;
  }

  void apply(const Lives& lives, const Again& again) {
    made_.clear();
    std::vector<Ref<Node>> fresh;
    for (const Node* n : again.nodes) fresh.push_back(copy(*n, outputs_needed(*n, again)));
    std::unordered_set<const Node*> late;
    for (size_t i = static_cast<size_t>(again.position); i < g_.nodes.size(); ++i) {
      const Ref<Node>& n = g_.nodes[i];
      late.insert(n.get());
      for (size_t k = 0; k < n->inputs.size(); ++k) {
        Edge& e = n->inputs[k];
        if (!e.node || late.count(e.node.get()) || &lives.of(e) != again.life) continue;
        for (const Node* view : views_from(e, *again.life))
          if (!made_.count({view, 0})) fresh.push_back(copy(*view, {0}));
        changed_.push_back({n, k, e});
        e = made_.at(key_of(e));
      }
    }
    g_.nodes.insert(g_.nodes.begin() + again.position, fresh.begin(), fresh.end());
  }

  // Which outputs of `n` are wanted again; all of them, unless some can be left out.
  static std::vector<size_t> outputs_needed(const Node& n, const Again& again) {
    std::vector<size_t> out;
    for (size_t k = 0; k < n.outputs.size(); ++k) {
      auto is = [&](const Edge& e) {
        return e.node.get() == &n && e.output == static_cast<int>(k);
      };
      bool read = n.op != &fused_op() || is(again.life->value);
      for (const Node* reader : again.nodes)
        read = read || std::any_of(reader->inputs.begin(), reader->inputs.end(), is);
      if (read) out.push_back(k);
    }
    return out;
  }

  Ref<Node> copy(const Node& n, const std::vector<size_t>& outputs) {
    Ref<Node> made = copy_of(n);
    for (const Edge& e : n.inputs) {
      auto it = made_.find(key_of(e));
      made->inputs.push_back(it == made_.end() ? e : it->second);
    }
    made->name = g_.unique_name(n.name + "_again");
    made->again = true;
    if (outputs.size() < n.outputs.size()) {
      Ref<Expr> less = expr_of(n.attrs).keeping(outputs);
      made->attrs = Attrs{Arg(Ref<RefCounted>(less))};
      made->outputs.clear();
      for (size_t k : outputs) made->outputs.push_back(n.outputs[k]);
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      made_[{&n, static_cast<int>(outputs[i])}] = Edge{made, static_cast<int>(i)};
    return made;
  }

  // The views between a value and `e`, which looks into its memory; the first first.
  static std::vector<const Node*> views_from(const Edge& e, const Life& life) {
    std::vector<const Node*> out;
    for (const Node* n = e.node.get(); n != life.value.node.get(); n = n->inputs[0].node.get())
      out.push_back(n);
    std::reverse(out.begin(), out.end());
    return out;
  }

  Graph& g_;
  const RecomputeLimits& limits_;
  double all_work_ = 0, work_ = 0;
  std::vector<Changed> changed_;
  std::unordered_map<EdgeKey, Edge, EdgeHash>
      made_;  // by the value that an edge of the last copies is again
};

}  // namespace

bool recompute(Graph& g, const RecomputeLimits& limits) {
  return may_reach(limits.least_peak, g) && Recompute(g, limits).run();
}
bool recompute(Graph& g) { return recompute(g, RecomputeLimits()); }

}  // namespace holdfast
