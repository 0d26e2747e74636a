#include "holdfast/passes/place.h"

#include <algorithm>

#include "holdfast/device/device.h"
#include "holdfast/op/context.h"
#include "holdfast/passes/effects.h"

namespace holdfast {
namespace {

bool has_operand(const Node& n) {
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const InputDef& def = n.op->inputs[std::min(i, n.op->inputs.size() - 1)];
    if (n.inputs[i].node && !def.host && !def.value) return true;
  }
  return false;
}

bool stays(const Node& n, Device* unasked) {
  if (n.op == &placeholder_op() || n.op == &handle_op()) return true;
  if (is_constant(n)) return lies_on_cpu(constant_of(n));
  for (const Graph* body : bodies_of(n))
    if (!stays_on_cpu(*body)) return false;
  if (n.op->traits.host) return true;
  if (n.device) return n.device == cpu();
  return unasked == cpu() || has_operand(n);
}

void add_variables(const Graph& g, std::vector<VariableState*>& out) {
  for (const Ref<Node>& n : g.nodes) {
    if (n->op == &handle_op())
      if (VariableState* v = variable_behind(constant_of(*n))) out.push_back(v);
    for (const Graph* body : bodies_of(*n)) add_variables(*body, out);
  }
}

}  // namespace

bool stays_on_cpu(const Graph& g) {
  DeviceScope nobody_asks(nullptr);
  Device* unasked = current_device();
  return std::all_of(g.nodes.begin(), g.nodes.end(),
                     [&](const Ref<Node>& n) { return stays(*n, unasked); });
}

std::vector<VariableState*> variables_in(const Graph& g) {
  std::vector<VariableState*> out;
  add_variables(g, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool lies_on_cpu(VariableState& v) {
  return v.update([](const Tensor& now) { return !now.defined() || lies_on_cpu(now); });
}

bool lies_on_cpu(const Tensor& t) {
  if (!t.defined()) return true;
  if (t.dtype() == DType::kResource) {
    VariableState* v = variable_behind(t);
    return !v || lies_on_cpu(*v);
  }
  return !t.device() || t.device() == cpu();
}

}  // namespace holdfast
