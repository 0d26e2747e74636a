#include "holdfast/exec/plan.h"

#include <atomic>
#include <chrono>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/exec/kernel.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::milliseconds(50);

std::atomic<void (*)()> g_interrupt{nullptr};

// Shape rules that only failed at run time: the trace could not know the sizes.
[[noreturn]] void at_run_time(Error& e) {
  Diagnostic d = e.diagnostic();
  if (d.code != Code::E1102) throw;
  d.code = Code::E0904;
  raise(std::move(d));
}

bool full(const Node& n) {
  for (const Type& t : n.outputs) if (!t.shape.is_full() || t.dtype == DType::kResource) return false;
  for (const Edge& e : n.inputs) if (e.node && !type_of(e).shape.is_full()) return false;
  return true;
}

}  // namespace

void set_interrupt(void (*check)()) { g_interrupt = check; }

void check_interrupt() {
  static thread_local Clock::time_point last;
  auto* check = g_interrupt.load(std::memory_order_relaxed);
  if (!check) return;
  auto now = Clock::now();
  if (now - last < kPatience) return;
  last = now;
  check();
}

Ref<Plan> Plan::build(Ref<Graph> graph) {
  auto plan = make_ref<Plan>();
  Plan& p = *plan;
  p.graph_ = graph;
  std::unordered_map<const Node*, int> first;  // the slot of output 0
  std::vector<int> last_use;                   // the step that reads a slot last; -1: none
  auto new_slots = [&](const Node* n) {
    first[n] = static_cast<int>(p.initial_.size());
    p.initial_.resize(p.initial_.size() + n->outputs.size());
    last_use.resize(p.initial_.size(), -1);
    return first[n];
  };
  auto slot = [&](const Edge& e) { return e.node ? first.at(e.node.get()) + e.output : -1; };
  for (const Ref<Node>& n : graph->inputs) p.inputs_.push_back(new_slots(n.get()));
  for (const Capture& c : graph->captures) p.inputs_.push_back(new_slots(c.inner.get()));
  for (const Ref<Node>& n : graph->nodes) {
    if (n->op == &placeholder_op()) {
      if (!first.count(n.get())) new_slots(n.get());  // fed to nobody: its readers will say so
      continue;
    }
    int out = new_slots(n.get());
    if (is_constant(*n)) {
      p.initial_[static_cast<size_t>(out)] = constant_of(*n);
      continue;
    }
    Step s;
    s.node = n;
    s.out = out;
    for (const Edge& e : n->inputs) {
      s.in.push_back(slot(e));
      if (s.in.back() >= 0) last_use[static_cast<size_t>(s.in.back())] = static_cast<int>(p.steps_.size());
    }
    for (const Edge& e : n->inputs) s.owns = s.owns || (e.node && type_of(e).dtype == DType::kVariant);
    if (full(*n)) {
      s.types = std::make_unique<Infer>(*n->op, std::span<const Tensor>(), n->attrs);
      for (const Type& t : n->outputs) {
        s.types->output(t.dtype, t.shape);
        p.bytes_ += t.shape.size() * size_of(t.dtype);
      }
    }
    p.steps_.push_back(std::move(s));
  }
  for (const Edge& e : graph->outputs) {
    p.outputs_.push_back(slot(e));
    if (p.outputs_.back() >= 0) last_use[static_cast<size_t>(p.outputs_.back())] = INT32_MAX;
  }
  for (size_t i = 0; i < last_use.size(); ++i)
    if (!p.initial_[i] && last_use[i] >= 0 && last_use[i] != INT32_MAX) p.steps_[static_cast<size_t>(last_use[i])].done.push_back(static_cast<int>(i));
  for (size_t k = 0; k < p.steps_.size(); ++k) {  // what nobody reads goes at once
    Step& s = p.steps_[k];
    for (size_t i = 0; i < s.node->outputs.size(); ++i)
      if (int o = s.out + static_cast<int>(i); last_use[static_cast<size_t>(o)] < 0) s.done.push_back(o);
  }
  return plan;
}

void Plan::run_step(const Step& s, std::span<Tensor> slots) const {
  const Node& n = *s.node;
  const OpDef& op = *n.op;
  // Tensors side by side that their slots hold for the time of the step.
  constexpr size_t kFew = 8;
  alignas(Tensor) unsigned char few[kFew * sizeof(Tensor)];
  std::vector<Tensor> many;
  std::span<const Tensor> in;
  if (s.owns) {
    for (int i : s.in) many.push_back(i < 0 ? Tensor() : slots[static_cast<size_t>(i)]);
    for (int i : s.done) slots[static_cast<size_t>(i)] = Tensor();
    in = many;
  } else if (s.in.size() <= kFew) {
    std::memset(few, 0, sizeof few);
    for (size_t i = 0; i < s.in.size(); ++i)
      if (s.in[i] >= 0) std::memcpy(few + i * sizeof(Tensor), &slots[static_cast<size_t>(s.in[i])], sizeof(Tensor));
    in = {std::launder(reinterpret_cast<const Tensor*>(few)), s.in.size()};
  } else {
    for (int i : s.in) many.push_back(i < 0 ? Tensor() : slots[static_cast<size_t>(i)]);
    in = many;
  }
  set_site(n.where);
  Tensors out;
  if (n.device || devices().size() > 1) {
    DeviceScope there(n.device);
    eager()->run(op, in, n.attrs, out);
  } else if (s.types) {
    out.resize(s.types->dtypes.size());
    Call call(op, in, n.attrs, *s.types, cpu(), out);
    std::string refusals;
    const Kernel* kernel = s.kernel ? s.kernel : pick_kernel(op, DeviceKind::kCpu, call, refusals);
    if (!kernel) no_kernel(op, in, cpu(), refusals);
    if (Status st = kernel->run(call); !st.ok()) raise_from(st, op, in);
    stamp(op, in, out);
  } else {
    try {
      eager()->run(op, in, n.attrs, out);
    } catch (Error& e) {
      at_run_time(e);
    }
  }
  for (size_t i = 0; i < out.size() && i < n.outputs.size(); ++i) slots[static_cast<size_t>(s.out) + i] = std::move(out[i]);
  for (int i : s.done) slots[static_cast<size_t>(i)] = Tensor();
}

void Plan::run(std::span<const Tensor> inputs, Tensors& outputs) const {
  if (inputs.size() != inputs_.size()) bug(cat("a plan of ", inputs_.size(), " inputs was given ", inputs.size()));
  InlineVector<Tensor, 32> slots(std::span<const Tensor>(initial_.data(), initial_.size()));
  for (size_t i = 0; i < inputs.size(); ++i) slots[static_cast<size_t>(inputs_[i])] = inputs[i];
  run_slots(slots, outputs);
}

void Plan::run(Tensors&& inputs, Tensors& outputs) const {
  if (inputs.size() != inputs_.size()) bug(cat("a plan of ", inputs_.size(), " inputs was given ", inputs.size()));
  InlineVector<Tensor, 32> slots(std::span<const Tensor>(initial_.data(), initial_.size()));
  for (size_t i = 0; i < inputs.size(); ++i) slots[static_cast<size_t>(inputs_[i])] = std::move(inputs[i]);
  inputs = Tensors();
  run_slots(slots, outputs);
}

void Plan::run_slots(std::span<Tensor> slots, Tensors& outputs) const {
  InterpreterScope values(nullptr);
  Where asked = here();
  for (size_t k = 0; k < steps_.size(); ++k) {
    run_step(steps_[k], slots);
    if ((k & 15) == 15) check_interrupt();
  }
  set_site(asked);
  outputs.resize(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) outputs[i] = outputs_[i] < 0 ? Tensor() : slots[static_cast<size_t>(outputs_[i])];
}

}  // namespace holdfast
