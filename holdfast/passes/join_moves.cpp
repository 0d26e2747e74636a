// Steps of an optimizer over many variables, as one node: threads share all elements, and wait for
// each other once.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/graph/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/training/together.h"
#include "holdfast/passes/effects.h"
#include "holdfast/passes/passes.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

class Moves {
 public:
  explicit Moves(Graph& g) : g_(g) {}

  bool run() {
    for (Ref<Node>& n : g_.nodes) {
      if (!add(n) && (has_effects(*n) || reads_state(*n) || !n->after.empty())) join();
      for (Ref<Node>& b : n->after)
        if (auto it = moved_.find(b.get()); it != moved_.end()) b = it->second;
    }
    join();
    if (moved_.empty()) return false;
    auto gone = [&](const Ref<Node>& n) { return moved_.count(n.get()) != 0; };
    g_.nodes.erase(std::remove_if(g_.nodes.begin(), g_.nodes.end(), gone), g_.nodes.end());
    return true;
  }

 private:
  // Takes `n` for the node that is being collected, or for the next one; false: it moves nothing.
  bool add(const Ref<Node>& n) {
    int variables = n->after.empty() ? train::variables_of_rule(*n->op) : 0;
    if (!variables) return false;
    std::vector<VariableState*> states;
    for (int i = 0; i < variables; ++i) {
      const Node& handle = *n->inputs[static_cast<size_t>(i)].node;
      auto* v = handle.op == &handle_op() ? variable_behind(constant_of(handle)) : nullptr;
      if (!v) return false;  // two of them may be one variable
      states.push_back(v);
    }
    bool fits = static_cast<int>(states_.size() + states.size()) <= train::kMostTogether;
    if (!group_.empty()) {
      const Node& other = *group_[0];
      fits = fits && other.op == n->op && other.device == n->device;
      for (size_t i = 0; fits && i < n->attrs.size(); ++i) fits = same(n->attrs[i], other.attrs[i]);
    }
    for (VariableState* v : states) fits = fits && !states_.count(v);
    if (!fits) join();
    group_.push_back(n);
    states_.insert(states.begin(), states.end());
    return true;
  }

  // The last of them becomes all; nothing that any of them could notice lies between.
  void join() {
    if (group_.size() > 1) {
      Node& last = *group_.back();
      InlineVector<Edge, 3> inputs;
      for (const Ref<Node>& n : group_) {
        inputs.append(n->inputs.begin(), n->inputs.end());
        if (n.get() != &last) moved_[n.get()] = group_.back();
      }
      last.attrs = train::together_attrs(*last.op, last.attrs);
      last.op = &train::together_op();
      last.inputs = std::move(inputs);
    }
    group_.clear();
    states_.clear();
  }

  Graph& g_;
  std::vector<Ref<Node>> group_;
  std::unordered_set<VariableState*> states_;
  std::unordered_map<const Node*, Ref<Node>> moved_;
};

}  // namespace

bool join_moves(Graph& g) { return Moves(g).run(); }

}  // namespace holdfast
