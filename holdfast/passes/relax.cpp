// The rewrites that may change last bits, each within what its op promises. They are worth it, and
// apart, so that they can be left out.
#include "holdfast/ops/array/raw.h"
#include "holdfast/passes/constants.h"
#include "holdfast/passes/simplify.h"

namespace holdfast {
namespace {

// Whether only the last two axes change places.
bool swaps_last(const Dims& perm) {
  auto rank = static_cast<int64_t>(perm.size());
  if (rank < 2 || perm[perm.size() - 1] != rank - 2 || perm[perm.size() - 2] != rank - 1)
    return false;
  for (int64_t i = 0; i < rank - 2; ++i)
    if (perm[static_cast<size_t>(i)] != i) return false;
  return true;
}

// A product reads an operand that is stored the other way round, which saves a copy. The terms are
// the same; the library may sum them in another order, which stays within what a product promises.
void rule_product(Rewriter& r, const Ref<Node>& n, const char* a, const char* b) {
  InlineVector<Edge, 3> inputs = n->inputs;
  Attrs attrs = n->attrs;
  bool found = false;
  const char* names[] = {a, b};
  for (size_t i = 0; i < 2; ++i) {
    const Edge from = inputs[i];
    if (from.node->op != &raw::transpose() || from.node->device != n->device ||
        !from.node->after.empty())
      continue;
    auto perm = permutation(*from.node);
    if (!perm || !swaps_last(*perm)) continue;
    Arg& flag = n->op->attr(attrs, names[i]);
    flag = !flag.b();
    inputs[i] = from.node->inputs[0];
    found = true;
  }
  if (found) r.replace(r.add(*n->op, std::move(inputs), std::move(attrs)));
}

void rule_matmul(Rewriter& r, const Ref<Node>& n) {
  rule_product(r, n, "transpose_a", "transpose_b");
}

// Batched products know adjoints only, which are transposes of real matrices.
void rule_batch_matmul(Rewriter& r, const Ref<Node>& n) {
  if (!is_complex(n->outputs[0].dtype)) rule_product(r, n, "adj_x", "adj_y");
}

// A square is the nearest number to the true one; Pow is within one unit in the last place of that,
// and slower.
void rule_power(Rewriter& r, const Ref<Node>& n) {
  const Edge &x = n->inputs[0], &power = n->inputs[1];
  if (!keeps_shape(x, power)) return;
  if (every(value_of(power), [](double v) { return v == 1; }))
    r.replace(x);
  else if (every(value_of(power), [](double v) { return v == 2; }))
    r.replace(r.add("Square", {x}));
}

constexpr NamedRule kRules[] = {
    {"MatMul", rule_matmul},
    {"BatchMatMul", rule_batch_matmul},
    {"BatchMatMulV2", rule_batch_matmul},
    {"BatchMatMulV3", rule_batch_matmul},
    {"Pow", rule_power},
};

}  // namespace

std::span<const NamedRule> relaxed_rules() { return kRules; }

}  // namespace holdfast
