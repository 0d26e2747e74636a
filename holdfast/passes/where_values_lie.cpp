#include "holdfast/passes/where_values_lie.h"

#include <algorithm>

#include "holdfast/device/device.h"
#include "holdfast/graph/bodies.h"
#include "holdfast/op/context.h"

namespace holdfast {
namespace {

// Sizes are on the host, wherever the elements are.
bool tells_sizes(const OpDef& op) {
  OfShape tells = op.traits.of_shape;
  return tells == OfShape::kRank || tells == OfShape::kSize || tells == OfShape::kShape;
}

// The devices of a body's inputs, and of its outputs.
InlineVector<Device*, 1> through(const Graph& body, std::span<Device* const> inputs) {
  Whereabouts inside(body, inputs, false);
  for (const Ref<Node>& n : body.nodes) {
    Reason why{};
    if (n->op != &placeholder_op()) inside.add(*n, inside.device(*n, why));
  }
  InlineVector<Device*, 1> out;
  for (const Edge& e : body.outputs) out.push_back(e.node ? inside.of(e) : nullptr);
  return out;
}

}  // namespace

bool takes_from_anywhere(const Node& n) {
  if (n.op->traits.control != Control::kNone || tells_sizes(*n.op)) return true;
  auto list = [](DType d) { return d == DType::kVariant; };
  return std::any_of(n.outputs.begin(), n.outputs.end(),
                     [&](const Type& t) { return list(t.dtype); }) ||
         std::any_of(n.inputs.begin(), n.inputs.end(),
                     [&](const Edge& e) { return e.node && list(type_of(e).dtype); });
}

Whereabouts::Whereabouts(const Graph& g, std::span<Device* const> inputs, bool settled)
    : settled_(settled) {
  DeviceScope nobody_asks(nullptr);
  unasked_ = current_device();
  size_t next = 0;
  auto given = [&](const Node& n) {
    Device* lies = next < inputs.size() ? inputs[next] : cpu();
    ++next;
    lies_[&n] = {n.outputs[0].dtype == DType::kString ? cpu() : lies};
  };
  for (const Ref<Node>& n : g.inputs) given(*n);
  for (const Capture& c : g.captures) given(*c.inner);
}

Device* Whereabouts::of(const Edge& e) const {
  const Node& n = *e.node;
  if (is_constant(n)) {
    const Tensor& t = constant_of(n);
    return opaque(t.dtype()) ? place_of(t) : t.device();
  }
  auto it = lies_.find(&n);
  if (it == lies_.end()) return opaque(type_of(e).dtype) ? nullptr : cpu();
  return it->second[static_cast<size_t>(e.output)];
}

Device* Whereabouts::device(const Node& n, Reason& reason) const {
  reason = Reason::kHost;
  if (n.op->traits.host || tells_sizes(*n.op)) return cpu();
  if (settled_ && n.device) return n.device;
  reason = Reason::kBodies;
  if (n.op->traits.control != Control::kNone) return cpu();
  Device* first = nullptr;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const Edge& e = n.inputs[i];
    if (!e.node) continue;
    Device* lies = of(e);
    reason = Reason::kText;
    if (type_of(e).dtype == DType::kString) return cpu();
    reason = Reason::kVariable;
    if (type_of(e).dtype == DType::kResource) {
      if (lies) return lies;
      continue;
    }
    if (!lies || input_of(n, i).host || input_of(n, i).value) continue;
    if (!first || (first->kind() == DeviceKind::kCpu && lies->kind() != DeviceKind::kCpu))
      first = lies;
  }
  reason = n.device ? Reason::kAsked : first ? Reason::kOperands : Reason::kUnasked;
  return n.device ? n.device : first ? first : unasked_;
}

InlineVector<Device*, 1> Whereabouts::outputs(const Node& n, Device* device) const {
  if (n.op->traits.control != Control::kNone) return outputs_of_bodies(n);
  InlineVector<Device*, 1> out;
  for (const Type& t : n.outputs) {
    Device* lies = t.dtype == DType::kString ? cpu() : device;
    if (opaque(t.dtype)) {
      lies = nullptr;
      // A list is where its elements are: those it is given now, or had before.
      for (bool plain : {true, false})
        for (size_t i = 0; i < n.inputs.size() && !lies && t.dtype == DType::kVariant; ++i)
          if (n.inputs[i].node && opaque(type_of(n.inputs[i]).dtype) != plain &&
              !input_of(n, i).host)
            lies = of(n.inputs[i]);
    }
    out.push_back(lies);
  }
  return out;
}

// Of a branch as its first graph gives them, of a loop as its body does.
InlineVector<Device*, 1> Whereabouts::outputs_of_bodies(const Node& n) const {
  auto [first, second] = bodies_in(*n.op, n.attrs);
  bool loop = n.op->traits.control == Control::kLoop;
  std::vector<Device*> in, all;
  for (const Edge& e : n.inputs) all.push_back(e.node ? of(e) : nullptr);
  auto take = [&](size_t from, size_t count) {
    for (size_t i = 0; i < count && from + i < all.size(); ++i) in.push_back(all[from + i]);
  };
  InlineVector<Device*, 1> out;
  if (loop) {
    size_t variables = second.inputs.size();
    take(0, variables);
    take(variables + first.captures.size(), second.captures.size());
    out = through(second, in);
  } else {
    take(1, first.captures.size());
    out = through(first, in);
    in.clear();
    take(1 + first.captures.size(), second.captures.size());
    InlineVector<Device*, 1> other = through(second, in);
    for (size_t i = 0; i < out.size() && i < other.size(); ++i)
      if (!out[i]) out[i] = other[i];
  }
  out.resize(n.outputs.size());
  for (size_t i = 0; i < n.outputs.size(); ++i)
    if (!out[i] && !opaque(n.outputs[i].dtype)) out[i] = cpu();
  return out;
}

}  // namespace holdfast
