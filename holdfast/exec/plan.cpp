#include "holdfast/exec/plan.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "holdfast/base/patient_lock.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/device/elsewhere.h"
#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/kernel.h"
#include "holdfast/exec/specialise.h"
#include "holdfast/expr/fused.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/context.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/random/fused_draw.h"
#include "holdfast/ops/random/streams.h"
#include "holdfast/passes/place.h"

namespace holdfast {
namespace {

// Shape rules that only failed at run time: the trace could not know the sizes.
[[noreturn]] void at_run_time(Error& e) {
  Diagnostic d = e.diagnostic();
  const bool sizes = d.code == Code::E1102;
  bool placed = false;
  for (Label& label : d.labels) {
    if (!label.primary || (!sizes && label.place != kEagerCode)) continue;
    const std::string& who = label.loc.qualname;
    label.text = "used here";
    label.place =
        who.empty() || who == "<module>" ? "" : cat("in ", who.substr(who.rfind('.') + 1));
    placed = true;
  }
  if (!sizes && !placed) throw;
  if (!sizes) raise(std::move(d));
  d.code = Code::E0904;
  if (d.fixes.empty()) {
    std::vector<TensorInfo> all{d.subject};
    all.insert(all.end(), d.others.begin(), d.others.end());
    d.fixes = sizes_to_check(all);
  }
  raise(std::move(d));
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

// Somebody else's code, a list or a pipeline may give what lies elsewhere; the steps that follow
// are bound to where it was said to lie.
void bring_home(const Step& s, Tensors& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    Tensor& t = out[i];
    if (!t.defined() || !t.device() || t.device() == s.device) continue;
    if (Device* home = s.lies(i); home && t.device() != home) t = copy_to(t, home);
  }
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

// Whatever the dispatcher does about a call, on the device of the step.
void dispatch(const Step& s, std::span<const Tensor> in, Tensors& out, OpRun* told) {
  const Node& n = *s.node;
  DeviceScope there(n.device);
  try {
    run_eagerly(*n.op, in, n.attrs, out, told);
  } catch (Error& e) {
    at_run_time(e);
  }
  check_all(n, in, out);
  bring_home(s, out);
}

// Branches and loops of sizes that are not known: what is in them has places of its own, so that
// operands stay where they are.
void run_bodies(const Step& s, std::span<const Tensor> in, Tensors& out, OpRun* told) {
  const Node& n = *s.node;
  Infer types(*n.op, in, n.attrs);
  n.op->infer(types);
  out.resize(types.dtypes.size());
  Call call(*n.op, in, n.attrs, types, s.device, out);
  std::string refusals;
  Chosen chosen = choose_kernel(call.types(), refusals);
  if (!chosen) no_kernel(*n.op, in, s.device, refusals);
  if (told) told->kernel = chosen.kernel.name;
  if (Status st = chosen.run(call); !st.ok()) raise_from(st, *n.op, in);
  stamp(*n.op, in, out);
  check_all(n, in, out);
  bring_home(s, out);
}

// Operands of an accelerator that begin inside of an element, copied.
std::span<const Tensor> straight(std::span<const Tensor> in, Tensors& moved) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined() || !in[i].device() || !lies_askew(in[i])) continue;
    if (moved.empty()) moved = Tensors(in);
    moved[i] = straightened(in[i]);
  }
  return moved.empty() ? in : std::span<const Tensor>(moved);
}

}  // namespace

struct Plan::Runs {
  // A step of a plan that is not on the first CPU alone.
  [[gnu::noinline]] static void placed(const Step& s, std::span<const Tensor> in, Tensors& out,
                                       const Chosen* bound, Fresh* fresh, OpRun* told) {
    if (!s.types && s.place->reason == Reason::kBodies) return run_bodies(s, in, out, told);
    if (!s.types) return dispatch(s, in, out, told);
    Tensors moved;
    in = straight(in, moved);
    if (!bound) {
      Call call(*s.node->op, in, s.node->attrs, *s.types, s.device, out);
      fresh->chosen = choose_kernel(call.types(), fresh->refusals);
      bound = &fresh->chosen;
    }
    // The CPU does what a device has no kernel for; which, only this call could tell.
    if (!*bound && s.device->kind() != DeviceKind::kCpu) {
      out.clear();  // its places are on the device
      return dispatch(s, in, out, told);
    }
    kernel(s, in, out, bound, fresh, told);
  }

  [[gnu::always_inline]] static void kernel(const Step& s, std::span<const Tensor> in, Tensors& out,
                                            const Chosen* bound, Fresh* fresh, OpRun* told) {
    const Node& n = *s.node;
    const OpDef& op = *n.op;
    if (!s.fixed) look_at(n, in);
    out.resize(s.types->dtypes.size());
    Call call(op, in, n.attrs, *s.types, s.device, out);
    try {
      if (!bound) {
        fresh->chosen = choose_kernel(call.types(), fresh->refusals);
        bound = &fresh->chosen;
      }
      if (!*bound) no_kernel(op, in, s.device, fresh->refusals);
      if (told) told->kernel = bound->kernel.name;
      if (Status st = bound->run(call); !st.ok()) raise_from(st, op, in);
    } catch (Error& e) {
      e.name_op(op.name);  // memory and attributes fail without knowing for whom
      throw;
    }
    stamp(op, in, out);
    bring_home(s, out);
  }

  // The step's node on operands that are there.
  [[gnu::always_inline]] static void on_inputs(const Step& s, std::span<const Tensor> in,
                                               Tensors& out, const Chosen* bound, Fresh* fresh,
                                               OpRun* told) {
    if (s.place) [[unlikely]]
      return placed(s, in, out, bound, fresh, told);
    if (!s.types) return dispatch(s, in, out, told);
    kernel(s, in, out, bound, fresh, told);
  }

  // The same for observers; apart from it, so that steps that nobody observes pay for one look.
  [[gnu::noinline]] static void tell(const Step& s, std::span<const Tensor> in, Tensors& out,
                                     const Chosen* bound, Fresh* fresh) {
    const Node& n = *s.node;
    OpRun told{.op = *n.op,
               .inputs = in,
               .attrs = n.attrs,
               .where = n.where,
               .device = s.device,
               .step = &s};
    detail::tell(told, out, [&] { on_inputs(s, in, out, bound, fresh, &told); });
  }
};

void Plan::run_step(const Step& s, std::span<Tensor> slots, Tensors& out, const Chosen* bound,
                    Fresh* fresh) {
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
    Runs::tell(s, in, out, bound, fresh);
  else
    Runs::on_inputs(s, in, out, bound, fresh, nullptr);
  if (&op != &fused_op() && &op != &random::fused_draw_op()) return;
  const Expr& e = expr_of(n.attrs);
  for (size_t i = 0; i < out.size(); ++i) out[i].rep()->op = e.op_of(i).name.c_str();
}

void Plan::run(std::span<const Tensor> inputs, Tensors& outputs) const {
  if (inputs.size() != inputs_.size())
    bug(cat("a plan of ", inputs_.size(), " inputs was given ", inputs.size()));
  if (!fits(inputs)) return for_places_of(inputs)->run_here(inputs, nullptr, outputs);
  run_here(inputs, nullptr, outputs);
}

void Plan::run(Tensors&& inputs, Tensors& outputs) const {
  if (inputs.size() != inputs_.size())
    bug(cat("a plan of ", inputs_.size(), " inputs was given ", inputs.size()));
  if (!fits(inputs)) return for_places_of(inputs)->run_here(inputs, &inputs, outputs);
  run_here(inputs, &inputs, outputs);
}

void Plan::run_here(std::span<const Tensor> inputs, Tensors* given, Tensors& outputs) const {
  if (open_)
    if (Ref<Plan> sized = for_sizes_of(inputs))
      return given ? sized->run(std::move(*given), outputs) : sized->run(inputs, outputs);
  fast()->run(inputs, given, outputs);
}

bool Plan::fits(std::span<const Tensor> inputs) const {
  if (!placed_) {
    if (!memory_elsewhere()) return true;
    return std::all_of(inputs.begin(), inputs.end(),
                       [](const Tensor& t) { return place_of(t) == cpu(); }) &&
           std::all_of(variables_.begin(), variables_.end(),
                       [](VariableState* v) { return place_of(*v) == cpu(); });
  }
  if (explicit_ != (device_policy() == DevicePolicy::kExplicit)) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (place_of(inputs[i]) != places_[i]) return false;
  for (size_t i = 0; i < variables_.size(); ++i)
    if (place_of(*variables_[i]) != places_[inputs.size() + i]) return false;
  return true;
}

Ref<Plan> Plan::for_places_of(std::span<const Tensor> inputs) const {
  constexpr size_t kMost = 64;  // kept at a time: more than devices of one machine
  PatientLock lock(others_mutex_);
  auto it = std::find_if(others_.begin(), others_.end(),
                         [&](const Ref<Plan>& p) { return p->fits(inputs); });
  if (it == others_.end()) {
    std::vector<Device*> lie;
    for (const Tensor& t : inputs) lie.push_back(place_of(t));
    Ref<Plan> made = build_for(source_ ? source_ : graph_, lie, source_ && with_passes_);
    made->timed_ = timed_.load();
    if (others_.size() >= kMost) others_.pop_back();
    it = others_.insert(others_.end(), std::move(made));
  }
  std::rotate(others_.begin(), it, it + 1);
  return others_.front();
}

// Sizes of a placed plan are put into the graph that it was made of, since nodes that copy are only
// there once everything has its place.
Ref<Plan> Plan::for_sizes_of(std::span<const Tensor> inputs) const {
  return sized_->find(!placed_ || !source_ ? *graph_ : *source_, inputs, [&](Ref<Graph> g) {
    Ref<Plan> made = placed_ ? build_for(std::move(g), std::span(places_).first(inputs.size()),
                                         source_ && with_passes_)
                             : compile(std::move(g));
    made->timed_ = timed_.load();
    return made;
  });
}

const FastPlan* Plan::fast() const {
  if (const FastPlan* f = ready_.load(std::memory_order_acquire)) return f;
  std::lock_guard lock(mutex_);
  if (!fast_) {
    fast_ = std::make_unique<FastPlan>(*this);
    fast_->set_timed(timed_);
  }
  ready_.store(fast_.get(), std::memory_order_release);
  return fast_.get();
}

std::vector<Ref<Plan>> Plan::others() const {
  std::vector<Ref<Plan>> out;
  if (sized_) out = sized_->all();
  PatientLock lock(others_mutex_);
  out.insert(out.end(), others_.begin(), others_.end());
  return out;
}

void Plan::for_each(const std::function<void(const FastPlan&)>& each) const {
  std::vector<Ref<Plan>> made = others();
  if (ready_.load(std::memory_order_acquire) || made.empty()) each(*fast());
  for (const Ref<Plan>& p : made) p->for_each(each);
}

void Plan::set_timed(bool on) const {
  {
    std::lock_guard lock(mutex_);  // `fast` looks at it while it makes one
    timed_ = on;
    if (fast_) fast_->set_timed(on);
  }
  for (const Ref<Plan>& p : others()) p->set_timed(on);
}

}  // namespace holdfast
