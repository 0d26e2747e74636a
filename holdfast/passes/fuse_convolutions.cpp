// Runs elementwise ops over the result of a convolution a few images at a time, while these lie in
// a cache.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/expr/cpu_program.h"
#include "holdfast/ops/nn/conv/then.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/order.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

constexpr int64_t kLeastBytes = 256 << 10;  // smaller results are in a cache anyway

class Convolutions {
 public:
  explicit Convolutions(Graph& g) : g_(g), uses_(uses_of(g)) {}

  bool run() {
    for (Ref<Node>& n : g_.nodes) {
      for (Edge& e : n->inputs) redirect(e);
      if (Ref<Node> made = joined(*n)) {
        moved_[n.get()] = made;
        n = made;
      }
    }
    if (moved_.empty()) return false;
    for (Edge& e : g_.outputs) redirect(e);
    auto gone = [&](const Ref<Node>& n) { return taken_.count(n.get()) != 0; };
    g_.nodes.erase(std::remove_if(g_.nodes.begin(), g_.nodes.end(), gone), g_.nodes.end());
    return true;
  }

 private:
  void redirect(Edge& e) const {
    if (auto it = moved_.find(e.node.get()); it != moved_.end()) e.node = it->second;
  }

  // The node that convolves and then does what `n` does; null where it can't.
  Ref<Node> joined(const Node& n) {
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Node* conv = n.inputs[i].node.get();
      const OpDef* both = conv ? nn::followed_op(*conv->op) : nullptr;
      if (!both || !fits(*conv, n, i)) continue;
      Ref<Expr> e = expression_of(n);
      if (!e || !cpu_program(*e).may_overwrite(0, i)) continue;
      Ref<Node> made = in_place_of(n, *both, nn::followed_attrs(conv->attrs, e, i));
      made->inputs = conv->inputs;
      for (size_t k = 0; k < n.inputs.size(); ++k)
        if (k != i) made->inputs.push_back(n.inputs[k]);
      made->outputs = n.outputs;
      taken_.insert(conv);
      return made;
    }
    return nullptr;
  }

  bool fits(const Node& conv, const Node& n, size_t input) const {
    const Type& t = conv.outputs[0];
    if (uses_.at(&conv) != 1 || !conv.after.empty() || !n.after.empty() ||
        conv.device != n.device || n.outputs.size() != 1)
      return false;
    if (!(n.outputs[0] == t) || !t.shape.is_full() ||
        t.shape.size() * size_of(t.dtype) < kLeastBytes || t.shape[0] < 2)
      return false;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      if (k == input) continue;
      const Shape& s = type_of(n.inputs[k]).shape;
      if (!n.inputs[k].node || !s.is_full() || s.rank() > t.shape.rank()) return false;
    }
    return true;
  }

  Graph& g_;
  std::unordered_map<const Node*, int> uses_;
  std::unordered_map<const Node*, Ref<Node>> moved_;
  std::unordered_set<const Node*> taken_;
};

}  // namespace

bool fuse_convolutions(Graph& g) { return Convolutions(g).run(); }

}  // namespace holdfast
