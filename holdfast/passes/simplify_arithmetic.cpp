// Identities of arithmetic. Each keeps every bit of the result, signed zeros and NaNs included.
#include <algorithm>
#include <cmath>

#include "holdfast/graph/text.h"
#include "holdfast/passes/constants.h"
#include "holdfast/passes/simplify.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Replaces a node by operand `kept` if the other is a constant whose elements all fulfil `f`.
template <class F>
bool drop_neutral(Rewriter& r, const Ref<Node>& n, size_t kept, F&& f) {
  const Edge &x = n->inputs[kept], &other = n->inputs[1 - kept];
  return every(value_of(other), f) && keeps_shape(x, other) && r.replace(x);
}

// -0 is neutral, and for floats 0 is not: -0 + 0 is 0.
void rule_add(Rewriter& r, const Ref<Node>& n) {
  bool whole = is_integer(n->outputs[0].dtype);
  auto zero = [&](double v) { return v == 0 && (whole || std::signbit(v)); };
  if (!drop_neutral(r, n, 0, zero)) drop_neutral(r, n, 1, zero);
}

void rule_subtract(Rewriter& r, const Ref<Node>& n) {
  drop_neutral(r, n, 0, [](double v) { return v == 0 && !std::signbit(v); });
}

bool one(double v) { return v == 1; }

void rule_multiply(Rewriter& r, const Ref<Node>& n) {
  if (!drop_neutral(r, n, 0, one)) drop_neutral(r, n, 1, one);
}

// Dividing by a power of two and multiplying by its inverse round the same number.
void rule_divide(Rewriter& r, const Ref<Node>& n) {
  if (drop_neutral(r, n, 0, one)) return;
  const Tensor* by = value_of(n->inputs[1]);
  DType d = n->outputs[0].dtype;
  if (d != float32 && d != float64) return;
  double least = d == float32 ? 0x1p-126 : 0x1p-1022;
  bool exact = every(by, [&](double v) {
    int exponent;
    double inverse = 1 / v;
    return std::fabs(std::frexp(v, &exponent)) == 0.5 && std::fabs(v) >= least &&
           std::fabs(inverse) >= least;
  });
  if (!exact) return;
  Tensor inverse = empty(d, by->shape(), cpu());
  visit_floats(d, [&]<class T>(T) {
    for (int64_t i = 0; i < by->size(); ++i)
      inverse.mutable_raw<T>()[i] = static_cast<T>(1 / static_cast<float_of<T>>(by->raw<T>()[i]));
  });
  r.replace(r.add("Mul", {n->inputs[0], r.constant(inverse)}));
}

void rule_divide_whole(Rewriter& r, const Ref<Node>& n) {
  if (is_integer(n->outputs[0].dtype)) drop_neutral(r, n, 0, one);
}

// f(f(x)) = x
void rule_undoes_itself(Rewriter& r, const Ref<Node>& n) {
  const Edge& x = n->inputs[0];
  if (x.node->op == n->op && x.node->device == n->device) r.replace(x.node->inputs[0]);
}

// f(f(x)) = f(x)
void rule_settles(Rewriter& r, const Ref<Node>& n) {
  const Edge& x = n->inputs[0];
  if (x.node->op == n->op && x.node->device == n->device) r.replace(x);
}

// f(x, x) = x
void rule_same_operands(Rewriter& r, const Ref<Node>& n) {
  if (n->inputs[0] == n->inputs[1]) r.replace(n->inputs[0]);
}

// Relu after a pool sees the pool's largest elements: what arrives may be cut off before it is
// spread over the windows, where there is less of it. The element that gets it is the one that was
// found to be the largest.
void rule_relu_before_pool(Rewriter& r, const Ref<Node>& n) {
  static const OpDef *pool = find_op("MaxPool"), *pool_gradient = find_op("MaxPoolGrad");
  const Edge &spread = n->inputs[0], &features = n->inputs[1];
  if (spread.node->op != pool_gradient || spread.node->device != n->device ||
      r.uses(*spread.node) != 1 || !spread.node->after.empty())
    return;
  const Node& g = *spread.node;
  const Edge &from = g.inputs[0], &largest = g.inputs[1];
  if (!(from == features) || largest.node->op != pool || !(largest.node->inputs[0] == from)) return;
  if (!std::equal(g.attrs.begin(), g.attrs.end(), largest.node->attrs.begin(),
                  largest.node->attrs.end(), same))
    return;
  Edge cut = r.add(*n->op, {g.inputs[2], largest});
  r.replace(r.add(*pool_gradient, {from, largest, cut}, g.attrs));
}

void rule_sum_of_few(Rewriter& r, const Ref<Node>& n) {
  if (n->inputs.size() == 1)
    r.replace(n->inputs[0]);
  else if (n->inputs.size() == 2 && same_known_type(n->inputs[0], n->inputs[1]))  // no broadcasting
    r.replace(r.add("AddV2", {n->inputs[0], n->inputs[1]}));
}

void rule_cast(Rewriter& r, const Ref<Node>& n) {
  if (type_of(n->inputs[0]).dtype == n->outputs[0].dtype) r.replace(n->inputs[0]);
}

void rule_select(Rewriter& r, const Ref<Node>& n) {
  const Tensor* condition = value_of(n->inputs[0]);
  if (!condition || condition->dtype() != DType::kBool || condition->size() == 0) return;
  const bool* p = condition->raw<bool>();
  if (!std::all_of(p, p + condition->size(), [&](bool v) { return v == p[0]; })) return;
  const Edge& taken = n->inputs[p[0] ? 1 : 2];
  if (same_known_type(taken, {n, 0})) r.replace(taken);
}

// The gradient was taken when the program was traced: what steered it has done its work. A copy to
// another device has not.
void rule_passes_through(Rewriter& r, const Ref<Node>& n) {
  const Edge& x = n->inputs[0];
  if (!n->device || n->device == x.node->device) r.replace(x);
}

constexpr NamedRule kRules[] = {
    {"AddV2", rule_add},
    {"Sub", rule_subtract},
    {"Mul", rule_multiply},
    {"RealDiv", rule_divide},
    {"FloorDiv", rule_divide_whole},
    {"TruncateDiv", rule_divide_whole},
    {"Div", rule_divide_whole},
    {"Neg", rule_undoes_itself},
    {"LogicalNot", rule_undoes_itself},
    {"Invert", rule_undoes_itself},
    {"Conj", rule_undoes_itself},
    {"Abs", rule_settles},
    {"Relu", rule_settles},
    {"Relu6", rule_settles},
    {"Sign", rule_settles},
    {"Floor", rule_settles},
    {"Ceil", rule_settles},
    {"Round", rule_settles},
    {"Rint", rule_settles},
    {"Maximum", rule_same_operands},
    {"Minimum", rule_same_operands},
    {"LogicalAnd", rule_same_operands},
    {"LogicalOr", rule_same_operands},
    {"BitwiseAnd", rule_same_operands},
    {"BitwiseOr", rule_same_operands},
    {"AddN", rule_sum_of_few},
    {"ReluGrad", rule_relu_before_pool},
    {"Cast", rule_cast},
    {"SelectV2", rule_select},
    {"Identity", rule_passes_through},
    {"StopGradient", rule_passes_through},
    {"GuaranteeConst", rule_passes_through},
};

}  // namespace

std::span<const NamedRule> arithmetic_rules() { return kRules; }

}  // namespace holdfast
