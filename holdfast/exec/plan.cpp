#include "holdfast/exec/plan.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "holdfast/base/interrupt.h"
#include "holdfast/base/patient_lock.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/kernel.h"
#include "holdfast/exec/specialise.h"
#include "holdfast/expr/fused.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/random/streams.h"
#include "holdfast/passes/passes.h"
#include "holdfast/passes/place.h"

namespace holdfast {
namespace {

std::vector<Fix> sizes_to_check(const Diagnostic& d) {
  constexpr size_t kNamed = 2;
  std::string named;
  size_t count = 0;
  auto add = [&](const TensorInfo& t) {
    if (t.name.empty() || t.shape.empty() || count == kNamed) return;
    named += cat(count++ ? " and `" : "`", t.name, "` ", t.shape);
  };
  for (bool scalars : {false, true}) {  // an axis is seldom the trouble
    if (count) break;
    if (scalars || d.subject.shape != "[]") add(d.subject);
    for (const TensorInfo& t : d.others)
      if (scalars || t.shape != "[]") add(t);
  }
  if (!count) return {};
  return {manual_fix(cat("check the sizes of ", named, " where they are made"))};
}

// Shape rules that only failed at run time: the trace could not know the sizes.
[[noreturn]] void at_run_time(Error& e) {
  Diagnostic d = e.diagnostic();
  if (d.code != Code::E1102) throw;
  d.code = Code::E0904;
  for (Label& label : d.labels) {
    if (!label.primary) continue;
    const std::string& who = label.loc.qualname;
    label.text = who.empty() ? "used here" : cat("used here, in ", who.substr(who.rfind('.') + 1));
  }
  if (d.fixes.empty()) d.fixes = sizes_to_check(d);
  raise(std::move(d));
}

bool full(const Node& n) {
  for (const Type& t : n.outputs)
    if (!t.shape.is_full() || t.dtype == DType::kResource) return false;
  for (const Edge& e : n.inputs)
    if (e.node && !type_of(e).shape.is_full()) return false;
  return true;
}

// An input of numbers whose sizes are not all known.
bool is_open(const Node& input) {
  return kPlain.has(input.outputs[0].dtype) && !input.outputs[0].shape.is_full();
}

// A random node's own generator, while it runs; an op inside another node's code has none.
class DrawingFrom {
 public:
  explicit DrawingFrom(const Node& n) : scope_(random::seed_scope()), was_(scope_.node) {
    scope_.node = n.state ? dynamic_cast<random::NodeGenerator*>(n.state.get()) : nullptr;
  }
  ~DrawingFrom() { scope_.node = was_; }
  DrawingFrom(const DrawingFrom&) = delete;

 private:
  random::SeedScope& scope_;  // the thread's own
  random::NodeGenerator* was_;
};

// Whether the numbers that its shape rule reads, and by which kernels refuse, are part of the
// graph.
bool fixed(const Node& n, const Ref<Scope>& scope) {
  bool integers = false;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const InputDef& def = n.op->inputs[std::min(i, n.op->inputs.size() - 1)];
    const Edge& e = n.inputs[i];
    if (!e.node || is_constant(*e.node)) continue;
    if (def.host) return false;
    if (type_of(e).dtype == DType::kResource || type_of(e).dtype == DType::kVariant) return true;
    integers = integers || kIndices.has(type_of(e).dtype);
  }
  if (!integers) return true;
  // The rule reads what it is not said to read: tried without it, it tells.
  std::vector<Tensor> in;
  for (const Edge& e : n.inputs)
    in.push_back(!e.node                ? Tensor()
                 : is_constant(*e.node) ? constant_of(*e.node)
                                        : symbol_for(e, scope));
  Infer tried(*n.op, in, n.attrs);
  try {
    n.op->infer(tried);
  } catch (const Error&) {
    return false;  // without them it can't tell anything
  }
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].defined() && in[i].is_symbolic() && tried.asked_for(static_cast<int>(i)))
      return false;
  return true;
}

// Somebody else's code, a list or a pipeline may give what lies elsewhere; the steps that follow
// are bound to the CPU.
void bring_here(Tensors& out) {
  for (Tensor& t : out)
    if (!lies_on_cpu(t)) t = copy_to(t, cpu());
}

// What a step gave, or is about to give, against what the graph counts on: later steps are bound to
// that.
void check_given(const Node& n, std::span<const Tensor> in, size_t output, DType dtype,
                 const Shape& shape) {
  const Type& t = n.outputs[output];
  if (t.dtype == dtype && t.shape.compatible(shape)) return;
  auto d = about_call(Code::E0904, *n.op, in,
                      cat(n.op->name, ": output ", output, " is ", name(dtype), shape.text(),
                          " here, and the graph was written for ", name(t.dtype), t.shape.text()));
  d.why = "what follows was written for the one shape, and can't compute with another";
  d.fixes.push_back(manual_fix("leave the sizes open where the graph is written"));
  raise(std::move(d));
}

void check_all(const Node& n, std::span<const Tensor> in, const Tensors& out) {
  for (size_t i = 0; i < out.size() && i < n.outputs.size(); ++i)
    if (out[i].defined()) check_given(n, in, i, out[i].dtype(), out[i].shape());
}

// The shape rule again, on the numbers themselves.
void look_at(const Node& n, std::span<const Tensor> in) {
  try {
    Infer now(*n.op, in, n.attrs);
    n.op->infer(now);
    for (size_t i = 0; i < now.dtypes.size(); ++i)
      check_given(n, in, i, now.dtypes[i], now.shapes[i]);
  } catch (Error& e) {
    e.name_op(n.op->name);
    at_run_time(e);
  }
}

Device* place_step(const Node& n, std::span<const Tensor> in) {
  DeviceScope there(n.device);
  return place(*n.op, in);
}

// The step's node on operands that are there; see `Plan::run_step`.
[[gnu::always_inline]] inline void run_on_inputs(const Step& s, std::span<const Tensor> in,
                                                 Tensors& out, const Chosen* bound, Chosen& fresh,
                                                 std::string* refusals, OpRun* told) {
  const Node& n = *s.node;
  const OpDef& op = *n.op;
  if (!s.device || !s.types) {
    DeviceScope there(n.device);
    try {
      run_eagerly(op, in, n.attrs, out, told);
    } catch (Error& e) {
      at_run_time(e);
    }
    check_all(n, in, out);
    if (s.device) bring_here(out);
    return;
  }
  if (!s.fixed) look_at(n, in);
  out.resize(s.types->dtypes.size());
  Call call(op, in, n.attrs, *s.types, cpu(), out);
  std::string reasons;
  try {
    if (!bound) {
      fresh = choose_kernel(call.types(), reasons);
      if (!fresh) no_kernel(op, in, cpu(), reasons);
      bound = &fresh;
    }
    if (refusals) *refusals = reasons;
    if (told) told->kernel = bound->kernel.name;
    if (Status st = bound->run(call); !st.ok()) raise_from(st, op, in);
  } catch (Error& e) {
    e.name_op(op.name);  // memory and attributes fail without knowing for whom
    throw;
  }
  stamp(op, in, out);
  bring_here(out);
}

// The same for observers; apart from it, so that steps that nobody observes pay for one look.
[[gnu::noinline]] void tell_step(const Step& s, std::span<const Tensor> in, Tensors& out,
                                 const Chosen* bound, Chosen& fresh, std::string* refusals) {
  const Node& n = *s.node;
  OpRun told{.op = *n.op,
             .inputs = in,
             .attrs = n.attrs,
             .where = n.where,
             .device = s.device ? s.device : place_step(n, in),
             .step = &s};
  detail::tell(told, out, [&] { run_on_inputs(s, in, out, bound, fresh, refusals, &told); });
}

}  // namespace

Plan::Plan() = default;
Plan::~Plan() = default;

Ref<Plan> Plan::build(Ref<Graph> graph) {
  bool local = stays_on_cpu(*graph);
  return build(std::move(graph), local);
}

Ref<Plan> Plan::compile(const Graph& g) {
  bool local = stays_on_cpu(g);
  Ref<Plan> plan = build(optimised(g, local), local);
  // With inputs that lie elsewhere it becomes another graph.
  if (local && devices().size() > 1) plan->source_ = clone(g);
  return plan;
}

Ref<Plan> Plan::build(Ref<Graph> graph, bool local) {
  auto plan = make_ref<Plan>();
  Plan& p = *plan;
  p.graph_ = graph;
  p.local_ = local;
  if (local) p.variables_ = variables_in(*graph);
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
      if (s.in.back() >= 0)
        last_use[static_cast<size_t>(s.in.back())] = static_cast<int>(p.steps_.size());
    }
    for (const Edge& e : n->inputs)
      s.owns = s.owns || (e.node && type_of(e).dtype == DType::kVariant);
    s.fixed = fixed(*n, graph->scope);
    if (local) s.device = cpu();
    s.binds = s.fixed || n->op->prepares;
    if (full(*n)) {
      s.types = std::make_unique<Infer>(*n->op, std::span<const Tensor>(), n->attrs);
      for (const Type& t : n->outputs) {
        s.types->output(t.dtype, t.shape);
        p.bytes_ += t.shape.size() * size_of(t.dtype);
      }
    }
    p.steps_.push_back(std::move(s));
  }
  bool plain = true;  // lists and handles carry more than a shape
  auto look = [&](const Node& n) {
    p.open_ = p.open_ || is_open(n);
    plain =
        plain && n.outputs[0].dtype != DType::kResource && n.outputs[0].dtype != DType::kVariant;
  };
  for (const Ref<Node>& n : graph->inputs) look(*n);
  for (const Capture& c : graph->captures) look(*c.inner);
  p.open_ = p.open_ && plain;
  if (p.open_) p.sized_ = std::make_unique<SizePlans>();
  for (const Edge& e : graph->outputs) {
    p.outputs_.push_back(slot(e));
    if (p.outputs_.back() >= 0) last_use[static_cast<size_t>(p.outputs_.back())] = INT32_MAX;
  }
  for (size_t i = 0; i < last_use.size(); ++i)
    if (!p.initial_[i].defined() && last_use[i] >= 0 && last_use[i] != INT32_MAX)
      p.steps_[static_cast<size_t>(last_use[i])].done.push_back(static_cast<int>(i));
  for (size_t k = 0; k < p.steps_.size(); ++k) {  // what nobody reads goes at once
    Step& s = p.steps_[k];
    for (size_t i = 0; i < s.node->outputs.size(); ++i)
      if (int o = s.out + static_cast<int>(i); last_use[static_cast<size_t>(o)] < 0)
        s.done.push_back(o);
  }
  return plan;
}

void Plan::run_step(const Step& s, std::span<Tensor> slots, Tensors& out, const Chosen* bound,
                    Chosen& fresh, std::string* refusals) {
  const Node& n = *s.node;
  const OpDef& op = *n.op;
  // Tensors side by side that their slots hold for the time of the step.
  constexpr size_t kFew = 32;
  alignas(Tensor) unsigned char few[kFew * sizeof(Tensor)];
  std::vector<Tensor> many;
  std::span<const Tensor> in;
  if (s.owns) {
    for (int i : s.in) many.push_back(i < 0 ? Tensor() : slots[static_cast<size_t>(i)]);
    for (int i : s.done) slots[static_cast<size_t>(i)] = Tensor();
    in = many;
  } else if (s.in.size() <= kFew) {
    std::memset(few, 0, s.in.size() * sizeof(Tensor));
    for (size_t i = 0; i < s.in.size(); ++i)
      if (s.in[i] >= 0)
        std::memcpy(few + i * sizeof(Tensor), &slots[static_cast<size_t>(s.in[i])], sizeof(Tensor));
    in = {std::launder(reinterpret_cast<const Tensor*>(few)), s.in.size()};
  } else {
    many.reserve(s.in.size());
    for (int i : s.in) many.push_back(i < 0 ? Tensor() : slots[static_cast<size_t>(i)]);
    in = many;
  }
  set_site(n.where);
  DrawingFrom node(n);
  if (detail::observed()) [[unlikely]]
    tell_step(s, in, out, bound, fresh, refusals);
  else
    run_on_inputs(s, in, out, bound, fresh, refusals, nullptr);
  if (&op != &fused_op()) return;
  const Expr& e = expr_of(n.attrs);
  for (size_t i = 0; i < out.size(); ++i) out[i].rep()->op = e.op_of(i).name.c_str();
}

void Plan::run(std::span<const Tensor> inputs, Tensors& outputs) const {
  if (inputs.size() != inputs_.size())
    bug(cat("a plan of ", inputs_.size(), " inputs was given ", inputs.size()));
  if (!stays(inputs)) return anywhere().run_in_slots(inputs, nullptr, outputs);
  if (open_)
    if (Ref<Plan> sized = for_sizes_of(inputs)) return sized->run(inputs, outputs);
  fast()->run(inputs, nullptr, outputs);
}

void Plan::run(Tensors&& inputs, Tensors& outputs) const {
  if (inputs.size() != inputs_.size())
    bug(cat("a plan of ", inputs_.size(), " inputs was given ", inputs.size()));
  if (!stays(inputs)) return anywhere().run_in_slots(inputs, &inputs, outputs);
  if (open_)
    if (Ref<Plan> sized = for_sizes_of(inputs)) return sized->run(std::move(inputs), outputs);
  fast()->run(inputs, &inputs, outputs);
}

bool Plan::stays(std::span<const Tensor> inputs) const {
  if (!local_) return false;
  static const std::vector<Device*>& all = devices();
  if (all.size() == 1) return true;
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const Tensor& t) { return lies_on_cpu(t); }) &&
         std::all_of(variables_.begin(), variables_.end(),
                     [](VariableState* v) { return lies_on_cpu(*v); });
}

const Plan& Plan::anywhere() const {
  if (!local_) return *this;
  PatientLock lock(anywhere_mutex_);
  if (!anywhere_) anywhere_ = build(source_ ? optimised(*source_, false) : graph_, false);
  return *anywhere_;
}

Ref<Plan> Plan::for_sizes_of(std::span<const Tensor> inputs) const {
  return sized_->find(*graph_, inputs);
}

const FastPlan* Plan::fast() const {
  if (const FastPlan* f = ready_.load(std::memory_order_acquire)) return f;
  if (!local_) return nullptr;
  std::lock_guard lock(mutex_);
  if (fast_.empty()) fast_.push_back(std::make_unique<FastPlan>(*this, expected(), true));
  ready_.store(fast_.back().get(), std::memory_order_release);
  return fast_.back().get();
}

// What ops say of a step that has not run yet.
std::vector<StepSeen> Plan::expected() const {
  std::vector<StepSeen> out(steps_.size());
  for (size_t k = 0; k < steps_.size(); ++k) {
    const Node& n = *steps_[k].node;
    std::vector<Tensor> in;
    if (n.op->alias && steps_[k].types)
      for (const Edge& e : n.inputs) in.push_back(e.node ? symbol_for(e, graph_->scope) : Tensor());
    for (size_t i = 0; i < n.outputs.size(); ++i)
      out[k].alias.push_back(n.op->traits.reads            ? holdfast::kElsewhere
                             : n.op->traits.view && i == 0 ? 0
                             : in.empty()
                                 ? kFresh
                                 : n.op->alias(Types(*n.op, in, n.attrs, *steps_[k].types, cpu()),
                                               static_cast<int>(i)));
  }
  return out;
}

void Plan::learn(std::vector<StepSeen> seen) const {
  std::lock_guard lock(mutex_);
  if (fast_.size() > 1) return;
  fast_.push_back(std::make_unique<FastPlan>(*this, std::move(seen),
                                             false));  // the old one may be running still
  ready_.store(fast_.back().get(), std::memory_order_release);
}

void Plan::run_in_slots(std::span<const Tensor> inputs, Tensors* given, Tensors& outputs) const {
  InlineVector<Tensor, 32> slots(std::span<const Tensor>(initial_.data(), initial_.size()));
  for (size_t i = 0; i < inputs.size(); ++i) slots[static_cast<size_t>(inputs_[i])] = inputs[i];
  if (given) *given = Tensors();
  InterpreterScope values(nullptr);
  Where asked = here();
  size_t at_a_time = steps_at_a_time();
  for (size_t k = 0; k < steps_.size(); ++k) {
    const Step& s = steps_[k];
    Tensors out;
    Chosen fresh;
    run_step(s, slots, out, nullptr, fresh, nullptr);
    for (size_t i = 0; i < out.size() && i < s.node->outputs.size(); ++i)
      slots[static_cast<size_t>(s.out) + i] = std::move(out[i]);
    for (int i : s.done) slots[static_cast<size_t>(i)] = Tensor();
    if ((k + 1) % at_a_time == 0) check_interrupt();
  }
  set_site(asked);
  outputs.resize(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i)
    outputs[i] = outputs_[i] < 0 ? Tensor() : slots[static_cast<size_t>(outputs_[i])];
}

}  // namespace holdfast
