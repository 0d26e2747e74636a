// Transposes that cancel, or that move nothing.
#include "holdfast/ops/array/raw.h"
#include "holdfast/passes/simplify.h"

namespace holdfast {
namespace {

bool in_order(const Dims& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

void rule_transpose(Rewriter& r, const Ref<Node>& n) {
  auto perm = permutation(*n);
  if (!perm) return;
  Edge from = n->inputs[0];
  if (from.node->op == &raw::transpose() && from.node->device == n->device) {
    auto first = permutation(*from.node);
    if (first && first->size() == perm->size()) {
      for (int64_t& p : *perm) p = (*first)[static_cast<size_t>(p)];
      from = from.node->inputs[0];
    }
  }
  if (in_order(*perm)) {
    r.replace(from);
    return;
  }
  // Axes of size 1 hold nothing that could move.
  const Shape& shape = type_of(from).shape;
  if (shape.is_full() && n->outputs[0].shape.is_full() &&
      shape.rank() == static_cast<int>(perm->size())) {
    int64_t last = -1;
    bool moves = false;
    for (int64_t p : *perm) {
      if (shape[static_cast<int>(p)] == 1) continue;
      moves = moves || p < last;
      last = p;
    }
    if (!moves) {
      r.replace(r.add(raw::reshape(), {from, r.ints(n->outputs[0].shape.dims(), int64)}));
      return;
    }
  }
  if (!(from == n->inputs[0])) r.replace(r.add(raw::transpose(), {from, r.ints(*perm)}));
}

constexpr NamedRule kRules[] = {{"Transpose", rule_transpose}};

}  // namespace

std::optional<Dims> permutation(const Node& n) {
  auto perm = ints_of(n.inputs[1]);
  if (!perm) return std::nullopt;
  auto rank = static_cast<int64_t>(perm->size());
  for (int64_t& p : *perm) {
    if (p < 0) p += rank;
    if (p < 0 || p >= rank) return std::nullopt;
  }
  return perm;
}

std::span<const NamedRule> transpose_rules() { return kRules; }

}  // namespace holdfast
