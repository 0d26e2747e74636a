#include "holdfast/passes/rewrite.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array/raw.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

Rewriter::Rewriter(Graph& graph) : graph_(graph) {
  for (const Ref<Node>& n : graph.nodes)
    for (const Edge& e : n->inputs)
      if (e.node) ++uses_[e.node.get()];
  for (const Edge& e : graph.outputs)
    if (e.node) ++uses_[e.node.get()];
}

bool Rewriter::replace(Edge by, int output) {
  if (!now_->after.empty()) return false;
  replaced_[{now_.get(), output}] = std::move(by);
  return true;
}

Edge Rewriter::redirected(const Edge& e) const {
  auto it = replaced_.find({e.node.get(), e.output});
  return it == replaced_.end() ? e : it->second;
}

void Rewriter::redirect(Node& n) {
  if (replaced_.empty() && moved_.empty()) return;
  for (Ref<Node>& before : n.after)
    if (auto it = moved_.find(before.get()); it != moved_.end()) before = it->second.second;
  for (Edge& e : n.inputs) {
    Edge by = redirected(e);
    if (by == e) continue;
    e = std::move(by);
    changed_ = true;
  }
}

// Two results of a call are two tensors, and none is an argument or a constant, unless the program
// said so: an identity keeps apart what a pass found to be the same.
void Rewriter::finish() {
  std::vector<Edge> before = graph_.outputs;
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    Edge& out = graph_.outputs[i];
    if (!out.node) continue;
    Edge by = redirected(out);
    if (by == out) continue;
    bool given = by.node->op == &placeholder_op() || is_constant(*by.node);
    bool taken = std::count(before.begin(), before.end(), by) > 0;
    for (size_t k = 0; k < i; ++k)
      taken = taken || (graph_.outputs[k] == by && !(before[k] == before[i]));
    if (given || taken) {
      bool apart = out.node->op->traits.keeps_apart && out.node->inputs[0] == by;
      if (apart || !kAll.has(type_of(by).dtype)) continue;
      now_ = out.node;
      by = add(raw::identity(), {by});
      by.node->device = nullptr;
    }
    changed_ = true;
    for (size_t k = i; k < graph_.outputs.size(); ++k)
      if (before[k] == before[i]) graph_.outputs[k] = by;
  }
}

Edge Rewriter::add(const OpDef& op, InlineVector<Edge, 3> inputs, Attrs attrs) {
  for (size_t i = attrs.size(); i < op.attrs.size(); ++i)
    attrs.push_back(op.attrs[i].default_value);
  auto n = make_ref<Node>(&op, std::move(attrs));
  n->inputs = std::move(inputs);
  n->where = now_->where;
  n->device = now_->device;
  n->placed = now_->placed;
  std::vector<Tensor> in;
  for (const Edge& e : n->inputs) in.push_back(operand_of(e, graph_.scope));
  Infer infer(op, in, n->attrs);
  op.infer(infer);
  for (size_t i = 0; i < infer.dtypes.size(); ++i)
    n->outputs.push_back({infer.dtypes[i], infer.shapes[i]});
  graph_.add(n, op.name);
  changed_ = true;
  return {n, 0};
}

Edge Rewriter::add(const char* op, InlineVector<Edge, 3> inputs, Attrs attrs) {
  const OpDef* def = find_op(op);
  if (!def) bug(cat("a pass adds ", op, ", which is no op"));
  return add(*def, std::move(inputs), std::move(attrs));
}

Edge Rewriter::constant(Tensor value) {
  auto n = make_ref<Node>(&const_op(), Attrs{Arg(value)});
  n->where = now_->where;
  n->outputs.push_back({value.dtype(), value.shape()});
  graph_.add(n, const_op().name);
  changed_ = true;
  return {n, 0};
}

Edge Rewriter::ints(const Dims& values, DType dtype) {
  Tensor t = empty(dtype, Shape{static_cast<int64_t>(values.size())}, cpu());
  visit_indices(dtype, [&]<class T>(T) {
    for (size_t i = 0; i < values.size(); ++i) t.mutable_raw<T>()[i] = static_cast<T>(values[i]);
  });
  return constant(std::move(t));
}

Edge Rewriter::number(int64_t value, DType dtype) { return constant(Tensor::scalar(value, dtype)); }

Tensor operand_of(const Edge& e, const Ref<Scope>& scope) {
  if (!e.node) return {};
  return is_constant(*e.node) ? constant_of(*e.node) : symbol_for(e, scope);
}

const Tensor* value_of(const Edge& e) {
  if (!e.node || e.node->op != &const_op()) return nullptr;
  const Tensor& t = constant_of(*e.node);
  return t.device() && t.device()->kind() == DeviceKind::kCpu ? &t : nullptr;
}

std::optional<Dims> ints_of(const Edge& e) {
  const Tensor* t = value_of(e);
  if (!t || !kIndices.has(t->dtype()) || t->size() > kMaxRank) return std::nullopt;
  Dims out;
  visit_indices(t->dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < t->size(); ++i) out.push_back(t->raw<T>()[i]);
  });
  return out;
}

bool numbers_known(const Node& n) {
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const InputDef& def = n.op->inputs[std::min(i, n.op->inputs.size() - 1)];
    if (def.host && n.inputs[i].node && !is_constant(*n.inputs[i].node)) return false;
  }
  return true;
}

bool same_known_type(const Edge& a, const Edge& b) {
  const Type &x = type_of(a), &y = type_of(b);
  return x.dtype == y.dtype && x.shape.is_full() && x.shape == y.shape;
}

}  // namespace holdfast
