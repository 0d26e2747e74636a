// Transposes that cancel, that move nothing, or that a product can read through.
#include "holdfast/passes/simplify.h"

namespace holdfast {
namespace {

const OpDef* transpose() {
  static const OpDef* op = find_op("Transpose");
  return op;
}

// The permutation of a Transpose with axes counted from the front; nothing where it is not known.
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

bool in_order(const Dims& perm) {
  for (size_t i = 0; i < perm.size(); ++i) if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

void rule_transpose(Rewriter& r, const Ref<Node>& n) {
  auto perm = permutation(*n);
  if (!perm) return;
  Edge from = n->inputs[0];
  if (from.node->op == transpose() && from.node->device == n->device) {
    auto first = permutation(*from.node);
    if (first && first->size() == perm->size()) {
      for (int64_t& p : *perm) p = (*first)[static_cast<size_t>(p)];
      from = from.node->inputs[0];
    }
  }
  if (in_order(*perm)) { r.replace(from); return; }
  // Axes of size 1 hold nothing that could move.
  const Shape& shape = type_of(from).shape;
  if (shape.is_full() && n->outputs[0].shape.is_full() && shape.rank() == static_cast<int>(perm->size())) {
    int64_t last = -1;
    bool moves = false;
    for (int64_t p : *perm) {
      if (shape[static_cast<int>(p)] == 1) continue;
      moves = moves || p < last;
      last = p;
    }
    if (!moves) { r.replace(r.add("Reshape", {from, r.ints(n->outputs[0].shape.dims(), int64)})); return; }
  }
  if (!(from == n->inputs[0])) r.replace(r.add(*transpose(), {from, r.ints(*perm)}));
}

// Whether only the last two axes change places.
bool swaps_last(const Dims& perm) {
  auto rank = static_cast<int64_t>(perm.size());
  if (rank < 2 || perm[perm.size() - 1] != rank - 2 || perm[perm.size() - 2] != rank - 1) return false;
  for (int64_t i = 0; i < rank - 2; ++i) if (perm[static_cast<size_t>(i)] != i) return false;
  return true;
}

// A product reads an operand that is stored the other way round. The products summed are the same; the library
// may add them in another order, which stays within what a product promises.
void rule_product(Rewriter& r, const Ref<Node>& n, const char* a, const char* b) {
  InlineVector<Edge, 3> inputs = n->inputs;
  Attrs attrs = n->attrs;
  bool found = false;
  const char* names[] = {a, b};
  for (size_t i = 0; i < 2; ++i) {
    const Edge from = inputs[i];
    if (from.node->op != transpose() || from.node->device != n->device || !from.node->after.empty()) continue;
    auto perm = permutation(*from.node);
    if (!perm || !swaps_last(*perm)) continue;
    Arg& flag = attrs[static_cast<size_t>(n->op->attr_index(names[i]))];
    flag = !flag.b();
    inputs[i] = from.node->inputs[0];
    found = true;
  }
  if (found) r.replace(r.add(*n->op, std::move(inputs), std::move(attrs)));
}

void rule_matmul(Rewriter& r, const Ref<Node>& n) { rule_product(r, n, "transpose_a", "transpose_b"); }

// Batched products know adjoints only, which are transposes of real matrices.
void rule_batch_matmul(Rewriter& r, const Ref<Node>& n) {
  if (!is_complex(n->outputs[0].dtype)) rule_product(r, n, "adj_x", "adj_y");
}

constexpr NamedRule kRules[] = {
    {"Transpose", rule_transpose}, {"MatMul", rule_matmul}, {"BatchMatMul", rule_batch_matmul},
    {"BatchMatMulV2", rule_batch_matmul}, {"BatchMatMulV3", rule_batch_matmul},
};

}  // namespace

std::span<const NamedRule> transpose_rules() { return kRules; }

}  // namespace holdfast
