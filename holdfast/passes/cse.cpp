// Common subexpressions: what is computed twice from the same is computed once.
#include <algorithm>
#include <unordered_map>

#include "holdfast/graph/text.h"
#include "holdfast/op/op.h"
#include "holdfast/passes/effects.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/rewrite.h"

namespace holdfast {
namespace {

// Constants above this are not looked into: comparing them would cost more than it saves.
constexpr int64_t kMostBytes = 1 << 16;

// Which of two zeros they give depends on the order of the operands.
bool order_shows(const Node& n) {
  return n.op->traits.order_shows && is_floating(n.outputs[0].dtype);
}

bool may_swap(const Node& n) {  // strings are joined by an op that commutes for numbers
  return n.op->traits.commutative && n.inputs.size() == 2 &&
         kPlain.has(type_of(n.inputs[0]).dtype) && !order_shows(n);
}

bool before(const Edge& a, const Edge& b) {
  return a.node.get() != b.node.get() ? a.node.get() < b.node.get() : a.output < b.output;
}

struct Key {
  const Node* node;
  InlineVector<Edge, 3> inputs;  // in one order where order does not matter
  int64_t epoch;                 // of the state it reads

  bool operator==(const Key& o) const {
    if (node->op != o.node->op || node->device != o.node->device || epoch != o.epoch ||
        !(inputs == o.inputs))
      return false;
    if (node->attrs.size() != o.node->attrs.size() || !(node->outputs == o.node->outputs))
      return false;
    for (size_t i = 0; i < node->attrs.size(); ++i)
      if (!same(node->attrs[i], o.node->attrs[i])) return false;
    return true;
  }
};

struct KeyHash {
  size_t operator()(const Key& k) const {
    uint64_t h = reinterpret_cast<uintptr_t>(k.node->op) ^ static_cast<uint64_t>(k.epoch);
    auto mix = [&](uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15; };
    for (const Edge& e : k.inputs)
      mix(reinterpret_cast<uintptr_t>(e.node.get()) + static_cast<uint64_t>(e.output));
    for (const Arg& a : k.node->attrs) mix(hash_of(a));
    return h;
  }
};

// How often state may have changed so far. Effects on handles change those; others may change
// anything.
class Epochs {
 public:
  void saw(const Node& n) {
    if (!has_effects(n)) return;
    bool known = bodies_of(n).empty();
    bool any = false;
    for (const Edge& e : n.inputs) {
      if (!e.node || type_of(e).dtype != DType::kResource) continue;
      any = true;
      known = known && e.node->op == &handle_op();  // two other handles may be one variable
    }
    if (!any || !known)
      ++all_;
    else
      for (const Edge& e : n.inputs)
        if (e.node && e.node->op == &handle_op()) ++of_[state(e)];
  }
  // Of a read: what it may see.
  int64_t now(const Node& n) const {
    int64_t sum = all_;
    for (const Edge& e : n.inputs)
      if (e.node && e.node->op == &handle_op())
        if (auto it = of_.find(state(e)); it != of_.end()) sum += it->second;
    // A handle that came as an argument may be any of the variables.
    for (const Edge& e : n.inputs)
      if (e.node && e.node->op != &handle_op())
        for (const auto& [variable, count] : of_) sum += count;
    return sum;
  }

 private:
  static const void* state(const Edge& e) { return constant_of(*e.node).rep()->beyond.get(); }
  int64_t all_ = 0;
  std::unordered_map<const void*, int64_t> of_;
};

bool may_merge(const Node& n) {
  if (n.outputs.empty() || n.op->traits.keeps_apart) return false;
  if (n.op == &const_op())
    return constant_of(n).rep()->buffer && constant_of(n).bytes() <= kMostBytes;
  if (is_pure(n)) return true;
  return n.op->traits.reads && n.after.empty() && !has_effects(n) && bodies_of(n).empty();
}

}  // namespace

bool cse(Graph& g) {
  Rewriter r(g);
  Epochs epochs;
  std::unordered_map<Key, Ref<Node>, KeyHash> seen;
  return r.walk([&](const Ref<Node>& n) {
    epochs.saw(*n);
    if (!may_merge(*n)) return;
    Key key{n.get(), n->inputs, n->op->traits.reads ? epochs.now(*n) : 0};
    if (may_swap(*n) && before(key.inputs[1], key.inputs[0]))
      std::swap(key.inputs[0], key.inputs[1]);
    auto [it, fresh] = seen.emplace(std::move(key), n);
    if (fresh) return;
    for (size_t i = 0; i < n->outputs.size(); ++i)
      r.replace({it->second, static_cast<int>(i)}, static_cast<int>(i));
  });
}

}  // namespace holdfast
