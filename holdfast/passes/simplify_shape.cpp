// Ops that move or repeat elements, where they leave everything in its place.
#include <algorithm>

#include "holdfast/ops/array/raw.h"
#include "holdfast/passes/simplify.h"

namespace holdfast {
namespace {

// For ops that can only keep the shape by keeping every element where it is.
void rule_same_shape(Rewriter& r, const Ref<Node>& n) {
  if (numbers_known(*n) && same_known_type(n->inputs[0], {n, 0})) r.replace(n->inputs[0]);
}

// With steps of 1, as many elements as before in the same order are the same elements.
void rule_whole_slice(Rewriter& r, const Ref<Node>& n) {
  auto steps = ints_of(n->inputs[3]);
  if (steps && std::all_of(steps->begin(), steps->end(), [](int64_t s) { return s == 1; }))
    rule_same_shape(r, n);
}

bool only_reshapes(const Node& n) {
  return n.op->traits.reshapes && n.after.empty() && numbers_known(n);
}

// Of several reshapes in a row only the last one counts.
void rule_reshape(Rewriter& r, const Ref<Node>& n) {
  rule_same_shape(r, n);
  Edge from = n->inputs[0];
  while (only_reshapes(*from.node) && from.node->device == n->device) from = from.node->inputs[0];
  if (r.replaced(*n) || from == n->inputs[0]) return;
  if (numbers_known(*n) && same_known_type(from, {n, 0})) {
    r.replace(from);
    return;
  }
  Edge shape;
  if (n->outputs[0].shape.is_full() && numbers_known(*n))
    shape = r.ints(n->outputs[0].shape.dims(), int64);
  else if (n->op == &raw::reshape())
    shape = n->inputs[1];
  else
    return;
  r.replace(r.add(raw::reshape(), {from, shape}));
}

void rule_ensure_shape(Rewriter& r, const Ref<Node>& n) {
  auto merged =
      type_of(n->inputs[0]).shape.merged(n->op->attr(std::as_const(n->attrs), "shape").shape());
  if (type_of(n->inputs[0]).shape.is_full() && merged) r.replace(n->inputs[0]);
}

// The shape rule has compared them.
void rule_same_sizes(Rewriter& r, const Ref<Node>& n) {
  if (type_of(n->inputs[0]).shape.is_full() && type_of(n->inputs[1]).shape.is_full())
    r.replace(n->inputs[0]);
}

void rule_concat_one(Rewriter& r, const Ref<Node>& n) {
  if (n->inputs.size() == 2 && numbers_known(*n))
    r.replace(n->inputs[1]);  // the axis and one value
}

void rule_pack_one(Rewriter& r, const Ref<Node>& n) {
  if (n->inputs.size() == 1 && n->outputs[0].shape.is_full())
    r.replace(r.add(raw::reshape(), {n->inputs[0], r.ints(n->outputs[0].shape.dims(), int64)}));
}

// Over axes of size 1, or over none, a reduction only reshapes.
void rule_reduce_nothing(Rewriter& r, const Ref<Node>& n) {
  const Shape &from = type_of(n->inputs[0]).shape, &to = n->outputs[0].shape;
  auto axes = ints_of(n->inputs[1]);
  if (!axes || !from.is_full() || !to.is_full() ||
      type_of(n->inputs[0]).dtype != n->outputs[0].dtype)
    return;
  for (int64_t a : *axes)
    if (a < -from.rank() || a >= from.rank() || from[static_cast<int>(a)] != 1) return;
  if (from == to)
    r.replace(n->inputs[0]);
  else
    r.replace(r.add(raw::reshape(), {n->inputs[0], r.ints(to.dims(), int64)}));
}

// A sum begins with 0, which turns -0 into 0.
void rule_sum_nothing(Rewriter& r, const Ref<Node>& n) {
  if (is_integer(n->outputs[0].dtype)) rule_reduce_nothing(r, n);
}

constexpr NamedRule kRules[] = {
    {"BroadcastTo", rule_same_shape},   {"Tile", rule_same_shape},
    {"Slice", rule_same_shape},         {"Pad", rule_same_shape},
    {"PadV2", rule_same_shape},         {"MirrorPad", rule_same_shape},
    {"StridedSlice", rule_whole_slice}, {"Reshape", rule_reshape},
    {"Squeeze", rule_reshape},          {"ExpandDims", rule_reshape},
    {"EnsureShape", rule_ensure_shape}, {"SameSizes", rule_same_sizes},
    {"ConcatV2", rule_concat_one},      {"Pack", rule_pack_one},
    {"Max", rule_reduce_nothing},       {"Min", rule_reduce_nothing},
    {"Prod", rule_reduce_nothing},      {"All", rule_reduce_nothing},
    {"Any", rule_reduce_nothing},       {"Sum", rule_sum_nothing},
    {"Mean", rule_sum_nothing},
};

}  // namespace

std::span<const NamedRule> shape_rules() { return kRules; }

}  // namespace holdfast
