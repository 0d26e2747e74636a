#include "holdfast/passes/place.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/expr/fused.h"
#include "holdfast/expr/op_by_op.h"
#include "holdfast/op/context.h"
#include "holdfast/op/crossing.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array/copy.h"
#include "holdfast/ops/list/list_value.h"
#include "holdfast/passes/effects.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/rewrite.h"
#include "holdfast/passes/where_values_lie.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

bool has_operand(const Node& n) {
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (n.inputs[i].node && !input_of(n, i).host && !input_of(n, i).value) return true;
  return false;
}

bool stays(const Node& n, Device* unasked) {
  if (n.op == &placeholder_op() || n.op == &handle_op()) return true;
  if (is_constant(n)) return place_of(constant_of(n)) == cpu();
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

bool runs(const Node& n) { return n.op != &placeholder_op() && !is_constant(n); }

// A value of that type on a device, without memory: kernels are chosen by types alone.
Tensor stand_in(const Type& t, Device* device) {
  return Tensor(make_ref<TensorRep>(t.dtype, t.shape, make_ref<Buffer>(device, nullptr, 0)));
}

// Whether a kernel can be chosen before the node runs: what a handle that comes with a call leads
// to is not known.
bool can_choose(const Node& n) {
  if (n.device->kind() == DeviceKind::kCpu || !sizes_are_known(n)) return false;
  return std::none_of(n.inputs.begin(), n.inputs.end(), [](const Edge& e) {
    return e.node && !is_constant(*e.node) && type_of(e).dtype == DType::kResource;
  });
}

bool has_variable(const Node& n) {
  return std::any_of(n.inputs.begin(), n.inputs.end(),
                     [](const Edge& e) { return e.node && type_of(e).dtype == DType::kResource; });
}

Chosen choose(const Graph& g, const Node& n, const Whereabouts& where, std::string& refusals) {
  std::vector<Tensor> in;
  for (const Edge& e : n.inputs) {
    bool list = e.node && type_of(e).dtype == DType::kVariant;
    in.push_back(!e.node                ? Tensor()
                 : is_constant(*e.node) ? constant_of(*e.node)
                 : list                 ? symbol_for(e, g.scope)
                                        : stand_in(type_of(e), where.of(e)));
  }
  Infer types(*n.op, in, n.attrs);
  for (const Type& t : n.outputs) types.output(t.dtype, t.shape);
  return choose_kernel(Types(*n.op, in, n.attrs, types, n.device), refusals);
}

// Writes the ops of fused nodes out again that a device would run one by one.
void take_apart(Graph& g, const std::unordered_set<const Node*>& which) {
  Rewriter r(g);
  r.walk([&](Ref<Node>& n) {
    if (!which.count(n.get())) return;
    const Expr& e = expr_of(n->attrs);
    std::vector<Edge> values(e.values().size());
    for (size_t i = 0; i < values.size(); ++i) {
      const Expr::Value& v = e.values()[i];
      if (v.input >= 0)
        values[i] = n->inputs[static_cast<size_t>(v.input)];
      else if (v.aside)
        values[i] = r.constant(v.number);
    }
    for (const Instruction& step : e.code()) {
      InlineVector<Edge, 3> in;
      for (int i = 0; i < step.inputs; ++i)
        in.push_back(values[static_cast<size_t>(step.operands[static_cast<size_t>(i)])]);
      Edge made = r.add(*step.op, std::move(in), step.attrs);
      made.node->where = step.where;
      values[static_cast<size_t>(step.result)] = made;
    }
    for (size_t k = 0; k < e.stores().size(); ++k)
      r.replace(values[static_cast<size_t>(e.stores()[k])], static_cast<int>(k));
  });
  drop_dead(g);
}

// Fused nodes for which a device has nothing better than their ops.
std::unordered_set<const Node*> unfit(const Graph& g, std::span<Device* const> inputs) {
  std::unordered_set<const Node*> out;
  Whereabouts where(g, inputs, true);
  for (const Ref<Node>& n : g.nodes) {
    if (!runs(*n)) continue;
    if (n->op == &fused_op() && n->after.empty() && can_choose(*n)) {
      std::string refusals;
      Chosen chosen = choose(g, *n, where, refusals);
      if (!chosen || is_op_by_op(chosen.kernel)) out.insert(n.get());
    }
    Reason why{};
    where.add(*n, where.device(*n, why));
  }
  return out;
}

// Puts nodes that copy between others.
class Copies {
 public:
  Copies(Graph& g, std::span<Device* const> inputs, Places& places)
      : g_(g), where_(g, inputs, true), places_(places) {}

  void run() {
    std::vector<Ref<Node>> nodes = std::move(g_.nodes);
    g_.nodes.clear();
    for (Ref<Node>& n : nodes) {
      if (runs(*n)) settle(*n);
      g_.nodes.push_back(std::move(n));
    }
    // Results are where the program expects them, not where they had to be computed.
    for (Edge& e : g_.outputs) {
      auto it = e.node ? places_.find(e.node.get()) : places_.end();
      if (it == places_.end() || it->second.reason != Reason::kNoKernel) continue;
      if (kPlain.has(type_of(e).dtype)) e = copied(e, it->second.from, *e.node);
    }
  }

 private:
  void settle(Node& n) {
    Place& p = places_[&n];
    if (!p.node) {
      p.node = Ref<Node>(&n);
      p.reason = n.placed ? Reason::kAsked : Reason::kOperands;
    }
    Reason why{};
    p.device = where_.device(n, why);
    if (n.device && can_choose(n) && p.reason != Reason::kHost) {
      p.chosen = choose(g_, n, where_, p.refusals);
      // What changes a variable stays with it: the variable is brought over when the step runs.
      if (!p.chosen && !has_variable(n)) fall_back(n, p);
    }
    if (sizes_are_known(n) && !takes_from_anywhere(n))
      for (size_t i = 0; i < n.inputs.size(); ++i) bring(n, i, p);
    p.lies = where_.outputs(n, p.device);
    where_.add(n, p.lies);
  }

  void fall_back(Node& n, Place& p) {
    p.reason = Reason::kNoKernel;
    p.from = p.device;
    n.device = p.device = cpu();
    if (device_policy() == DevicePolicy::kSilent) return;
    AtSite line(n.where);
    warn_fallback(*n.op, operands(n), p.from, p.refusals);
  }

  std::vector<Tensor> operands(const Node& n) const {
    std::vector<Tensor> in;
    for (const Edge& e : n.inputs) in.push_back(operand_of(e, g_.scope));
    return in;
  }

  void bring(Node& n, size_t i, const Place& p) {
    Edge& e = n.inputs[i];
    if (!e.node || !kPlain.has(type_of(e).dtype)) return;
    const InputDef& def = input_of(n, i);
    Device *lies = where_.of(e), *want = def.host ? cpu() : p.device;
    if (!lies || lies == want) return;
    bool on_cpu = lies->kind() == DeviceKind::kCpu, one = type_of(e).shape.size() == 1;
    if (on_cpu && (def.host || (one && (n.op->elementwise || def.value)))) return;
    bool asked = def.host || one || n.op->traits.host || n.op->traits.moves ||
                 p.reason == Reason::kNoKernel || fell_back(e) || e.node->op == &const_op();
    if (!asked) tell(n, i, lies, want);
    e = copied(e, want, n);
  }

  bool fell_back(const Edge& e) const {
    auto it = places_.find(e.node.get());
    return it != places_.end() && it->second.reason == Reason::kNoKernel;
  }

  void tell(const Node& n, size_t i, Device* from, Device* to) const {
    AtSite line(n.where);
    if (device_policy() == DevicePolicy::kExplicit) two_devices(*n.op, operands(n), i, from, to);
    if (device_policy() == DevicePolicy::kWarn) warn_copy(*n.op, operands(n), i, from, to);
  }

  // `e` on `device`; the same for all who need it there. A constant is copied now.
  Edge copied(const Edge& e, Device* device, const Node& reader) {
    Edge& made = made_[{e.node.get(), e.output, device}];
    if (made.node) return made;
    bool constant = e.node->op == &const_op();
    auto n = constant
                 ? make_ref<Node>(&const_op(), Attrs{Arg(copy_to(constant_of(*e.node), device))})
                 : make_ref<Node>(&copy_op(), Attrs{});
    n->where = constant ? e.node->where : reader.where;
    n->outputs.push_back(type_of(e));
    if (!constant) {
      n->inputs.push_back(e);
      n->device = device;
      Place& p = places_[n.get()];
      p.device = device;
      p.reason = Reason::kCopy;
      p.lies = {device};
      p.from = where_.of(e);
      p.node = n;
      where_.add(*n, {device});
    }
    g_.add(n, n->op->name);
    return made = Edge{n, 0};
  }

  Graph& g_;
  Whereabouts where_;
  Places& places_;
  std::map<std::tuple<const Node*, int, Device*>, Edge> made_;
};

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

Device* place_of(VariableState& v) {
  return v.update([](const Tensor& now) { return now.defined() ? place_of(now) : cpu(); });
}

Device* place_of(const Tensor& t) {
  if (!t.defined()) return cpu();
  if (t.dtype() == DType::kResource) {
    VariableState* v = variable_behind(t);
    return v ? place_of(*v) : cpu();
  }
  if (t.dtype() == DType::kVariant) {
    auto* list = dynamic_cast<const ListValue*>(t.rep()->beyond.get());
    for (size_t i = 0; list && i < list->items.size(); ++i)
      if (list->items[i].defined()) return place_of(list->items[i]);
    return cpu();
  }
  return t.device() ? t.device() : cpu();
}

std::string Place::text(const Node& n) const {
  switch (reason) {
    case Reason::kHost: return "its op runs on the host";
    case Reason::kText: return "strings live on the host";
    case Reason::kVariable: return "its variable lives there";
    case Reason::kAsked: {
      Loc at = n.placed ? locate(n.placed) : Loc{};
      return at.file.empty() ? "asked for"
                             : cat("asked for in ", short_path(at.file), ":", at.line);
    }
    case Reason::kOperands: return "its operands lie there";
    case Reason::kUnasked: return "the default, since nobody asked";
    case Reason::kNoKernel:
      return cat("no kernel on ", from->short_name(), refusals.empty() ? "" : cat(": ", refusals));
    case Reason::kCopy: return cat("copied from ", from->short_name());
    case Reason::kBodies: return "its graphs have places of their own";
  }
  return {};
}

bool sizes_are_known(const Node& n) {
  for (const Type& t : n.outputs)
    if (!t.shape.is_full() || t.dtype == DType::kResource) return false;
  return std::all_of(n.inputs.begin(), n.inputs.end(),
                     [](const Edge& e) { return !e.node || type_of(e).shape.is_full(); });
}

bool runs_on_cpus(const Graph& g, std::span<Device* const> inputs) {
  auto on_cpu = [](const Device* d) { return !d || d->kind() == DeviceKind::kCpu; };
  if (!std::all_of(inputs.begin(), inputs.end(), on_cpu)) return false;
  Whereabouts where(g, inputs, false);
  for (const Ref<Node>& n : g.nodes) {
    if (!runs(*n)) continue;
    Reason why{};
    Device* device = where.device(*n, why);
    where.add(*n, device);
    InlineVector<Device*, 1> out = where.outputs(*n, device);
    if (!on_cpu(device) || !std::all_of(out.begin(), out.end(), on_cpu)) return false;
  }
  return true;
}

void place(Graph& g, std::span<Device* const> inputs, Places& places) {
  Whereabouts where(g, inputs, false);
  for (const Ref<Node>& n : g.nodes) {
    if (!runs(*n)) continue;
    Place p;
    p.device = where.device(*n, p.reason);
    where.add(*n, p.device);
    if (p.reason != Reason::kBodies) n->device = p.device;
    p.node = n;
    places[n.get()] = std::move(p);
  }
}

void settle_places(Graph& g, std::span<Device* const> inputs, Places& places) {
  if (auto which = unfit(g, inputs); !which.empty()) take_apart(g, which);
  Copies(g, inputs, places).run();
}

}  // namespace holdfast
