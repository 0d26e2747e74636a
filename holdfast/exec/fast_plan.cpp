#include "holdfast/exec/fast_plan.h"

#include <algorithm>
#include <mutex>

#include "holdfast/base/interrupt.h"
#include "holdfast/device/device.h"
#include "holdfast/exec/aliases.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/op/refuse.h"
#include "holdfast/passes/elementwise_expr.h"
#include "holdfast/passes/place.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

constexpr int64_t kKeptArena =
    256 << 10;  // larger ones go back to the pool between calls, where all functions share
constexpr size_t kMostIdle = 4;  // frames that wait for the next call

using Clock = std::chrono::steady_clock;

// Whether the step may keep one of its inputs for later: a variable, a list, somebody else's code.
bool keeps_inputs(const Node& n) {
  Update update = n.op->traits.update;
  if (update == Update::kAdd || update == Update::kSubtract || n.op == &fused_update_op())
    return false;  // they take numbers, never the tensor
  if (n.op->traits.stateful || n.op->traits.reads) return true;
  for (const Edge& e : n.inputs)
    if (e.node && opaque(type_of(e).dtype)) return true;
  return std::any_of(n.outputs.begin(), n.outputs.end(),
                     [](const Type& t) { return opaque(t.dtype); });
}

}  // namespace

/// What one run at a time works on.
struct FastPlan::Frame {
  std::vector<Tensor> slots;       // as they are now; constants stay
  std::vector<Tensor> placed;      // the tensors of slots that have their place in the arena
  InlineVector<Tensor, 1> arenas;  // as the plan's
};

/// A frame for the time of a run; left as it was found, whatever happens.
class FastPlan::Lease {
 public:
  explicit Lease(const FastPlan& p) : p_(p) {
    {
      std::lock_guard lock(p_.mutex_);
      if (!p_.idle_.empty()) {
        frame_ = std::move(p_.idle_.back());
        p_.idle_.pop_back();
      }
    }
    if (!frame_) frame_ = p_.make_frame();
    if (!frame_->arenas.empty() || p_.arenas_.empty()) return;
    for (const Arena& a : p_.arenas_)
      frame_->arenas.push_back(empty(DType::kUInt8, Shape{a.bytes}, a.device));
    for (size_t i = 0; i < frame_->placed.size(); ++i)
      if (Tensor& t = frame_->placed[i]; t.defined()) {
        const Storage& s = p_.storages_[static_cast<size_t>(p_.storage_of_[i])];
        t.rep()->buffer = frame_->arenas[static_cast<size_t>(s.arena)].rep()->buffer;
      }
  }
  ~Lease() {
    const Plan& plan = p_.plan_;
    for (size_t i = 0; i < frame_->slots.size(); ++i)
      if (!plan.initial_[i].defined()) frame_->slots[i] = Tensor();
    // A tensor that somebody kept after all goes on living in this frame's memory, and nobody
    // writes there again.
    for (const Tensor& t : frame_->placed)
      if (t.defined() && !t.rep()->unique()) return;
    if (p_.arena_bytes_ > kKeptArena) {
      for (Tensor& t : frame_->placed)
        if (t.defined()) t.rep()->buffer = Ref<Buffer>();
      frame_->arenas.clear();
    }
    std::lock_guard lock(p_.mutex_);
    if (p_.idle_.size() < kMostIdle) p_.idle_.push_back(std::move(frame_));
  }
  Lease(const Lease&) = delete;
  Frame& operator*() const { return *frame_; }
  Frame* operator->() const { return frame_.get(); }

 private:
  const FastPlan& p_;
  std::unique_ptr<Frame> frame_;
};

FastPlan::FastPlan(const Plan& plan)
    : plan_(plan),
      bound_(new std::atomic<const Chosen*>[plan.steps().size()]),
      refusals_(plan.steps().size()),
      nanoseconds_(new std::atomic<int64_t>[plan.steps().size()]) {
  for (size_t k = 0; k < plan.steps().size(); ++k) {
    const Step& s = plan.steps()[k];
    nanoseconds_[k] = 0;
    bound_[k] = nullptr;
    if (s.binds && s.place && s.place->chosen) bind(k, s.place->chosen, s.place->refusals);
    reads_.push_back(read_by(s));
  }
  find_storage();
}
FastPlan::~FastPlan() {
  for (size_t k = 0; k < plan_.steps().size(); ++k) delete bound_[k].load();
}

void FastPlan::bind(size_t step, Chosen fresh, std::string refusals) const {
  auto made = std::make_unique<const Chosen>(std::move(fresh));
  const Chosen* none = nullptr;
  if (!bound_[step].compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) return;
  made.release();
  if (refusals.empty()) return;
  std::lock_guard lock(mutex_);
  refusals_[step] = std::move(refusals);
}

// The variable that a step reads, where the plan holds it and its value lies where the plan runs;
// else null.
VariableState* FastPlan::read_by(const Step& s) const {
  const Node& n = *s.node;
  bool here = s.place || !n.device || n.device == cpu();
  if (!n.op->traits.reads_variable || !here || !s.types || !s.fixed || s.in.size() != 1 ||
      s.in[0] < 0)
    return nullptr;
  const Tensor& handle = plan_.initial_[static_cast<size_t>(s.in[0])];
  VariableState* v = handle.defined() ? variable_behind(handle) : nullptr;
  bool fits = v && !v->graph && v->dtype == n.outputs[0].dtype && v->shape == n.outputs[0].shape;
  return fits ? v : nullptr;
}

// Reads a variable without a kernel. False, and nothing is done, where it has no value: the kernel
// says why.
bool FastPlan::read(size_t step, std::span<Tensor> slots) const {
  const Step& s = plan_.steps_[step];
  Tensor now = reads_[step]->update([&](const Tensor& value) {
    const TensorRep* v = value.rep();
    return v && value.device() == s.device
               ? Tensor(make_ref<TensorRep>(v->dtype, v->shape, v->buffer, v->offset))
               : Tensor();
  });
  if (!now.defined()) return false;
  now.rep()->op = s.node->op->name.c_str();
  now.rep()->born = s.node->where;
  now.rep()->variable_born = reads_[step]->born;
  slots[static_cast<size_t>(s.out)] = std::move(now);
  for (int i : s.done) slots[static_cast<size_t>(i)] = Tensor();
  return true;
}

// An input whose memory the output may take: it has that shape, this step reads it last, and reads
// each of its elements before it writes there. -1 where there is none.
int FastPlan::overwritten(const Step& s, size_t output) const {
  const Node& n = *s.node;
  if (s.device->kind() != DeviceKind::kCpu)
    return -1;  // kernels there are promised that what they write lies apart from what they read
  bool fused = n.op == &fused_op();
  int only = -1;  // the input it must be
  if (!fused && !elementwise_form(n)) {
    only = n.op->overwrites && output == 0 ? n.op->overwrites(*n.op, n.attrs) : -1;
    if (only < 0) return -1;
  }
  const Type& out = n.outputs[output];
  auto now = static_cast<int>(&s - plan_.steps().data());
  for (size_t i = 0; i < s.in.size(); ++i) {
    if (only >= 0 && i != static_cast<size_t>(only)) continue;
    const Type& in = type_of(n.inputs[i]);
    int storage = s.in[i] < 0 ? -1 : storage_of_[static_cast<size_t>(s.in[i])];
    if (storage < 0) continue;
    const Device* there =
        arenas_[static_cast<size_t>(storages_[static_cast<size_t>(storage)].arena)].device;
    if (there != s.lies(output) || in.shape != out.shape || size_of(in.dtype) != size_of(out.dtype))
      continue;
    const Span& span = storages_[static_cast<size_t>(storage)].span;
    if (span.last != now || span.bytes != in.shape.size() * size_of(in.dtype))
      continue;          // a view of a part would lie crosswise
    bool taken = false;  // by another output of this step
    for (size_t k = 0; k < output; ++k)
      taken = taken || storage_of_[static_cast<size_t>(s.out) + k] == storage;
    if (taken) continue;
    auto looks_there = [&](int slot) {
      return slot >= 0 && slot != s.in[i] && storage_of_[static_cast<size_t>(slot)] == storage;
    };
    if (std::any_of(s.in.begin(), s.in.end(), looks_there))
      continue;  // two views of one memory may lie crosswise
    if (fused && !cpu_program(expr_of(n.attrs)).may_overwrite(output, i)) continue;
    return storage;
  }
  return -1;
}

void FastPlan::find_storage() {
  const auto& steps = plan_.steps_;
  size_t slots = plan_.initial_.size();
  storage_of_.assign(slots, -1);
  placed_.assign(slots, false);
  retained_.assign(slots, false);
  first_.assign(slots, -1);
  last_.assign(slots, -1);
  std::vector<int> root(slots);  // the slot whose memory a slot looks into
  for (size_t i = 0; i < slots; ++i) root[i] = static_cast<int>(i);
  std::vector<bool> elsewhere(slots, false);  // it looks into what is nobody's here
  for (size_t k = 0; k < steps.size(); ++k) {
    InlineVector<int, 2> alias = aliases_of(steps[k], plan_.graph().scope);
    for (size_t i = 0; i < steps[k].node->outputs.size(); ++i) {
      auto slot = static_cast<size_t>(steps[k].out) + i;
      first_[slot] = last_[slot] = static_cast<int>(k);
      int from = alias[i];
      elsewhere[slot] = from == kElsewhere;
      if (from < 0) continue;
      // Of a step that copies what it finds elsewhere, the output is its own.
      int of = steps[k].in[static_cast<size_t>(from)];
      if (of >= 0) root[slot] = root[static_cast<size_t>(of)];
    }
    for (int i : steps[k].in)
      if (i >= 0) last_[static_cast<size_t>(i)] = static_cast<int>(k);
  }
  auto at = [](int i) { return static_cast<size_t>(i); };
  for (int o : plan_.outputs_)
    if (o >= 0) retained_[at(root[at(o)])] = true;
  for (const Step& s : steps)
    if (keeps_inputs(*s.node))
      for (int i : s.in)
        if (i >= 0) retained_[at(root[at(i)])] = true;
  for (size_t i = 0; i < slots; ++i) last_[at(root[i])] = std::max(last_[at(root[i])], last_[i]);
  for (size_t k = 0; k < steps.size(); ++k) {
    const Step& s = steps[k];
    for (size_t i = 0; i < s.node->outputs.size(); ++i) {
      size_t slot = at(s.out) + i;
      if (root[slot] != static_cast<int>(slot)) {
        storage_of_[slot] = storage_of_[at(root[slot])];
        continue;
      }
      const Type& t = s.node->outputs[i];
      bool looks = (i == 0 && s.node->op->traits.view) || elsewhere[slot];
      if (!s.types || looks || !kPlain.has(t.dtype) || retained_[slot] || !t.shape.size()) continue;
      int taken = overwritten(s, i);
      if (taken >= 0) {
        storages_[at(taken)].span.last = last_[slot];
        ++storages_[at(taken)].shared;
      } else {
        taken = static_cast<int>(storages_.size());
        storages_.push_back({{t.shape.size() * size_of(t.dtype), static_cast<int>(k), last_[slot]},
                             static_cast<int>(slot),
                             arena_on(s.lies(i))});
      }
      storage_of_[slot] = taken;
      placed_[slot] = true;
    }
  }
  place_storage();
}

int FastPlan::arena_on(Device* device) {
  for (size_t i = 0; i < arenas_.size(); ++i)
    if (arenas_[i].device == device) return static_cast<int>(i);
  arenas_.push_back({device});
  return static_cast<int>(arenas_.size()) - 1;
}

void FastPlan::place_storage() {
  for (size_t a = 0; a < arenas_.size(); ++a) {
    std::vector<Span> spans;
    std::vector<Storage*> there;
    for (Storage& s : storages_) {
      if (s.arena != static_cast<int>(a)) continue;
      there.push_back(&s);
      spans.push_back(s.span);
    }
    Placement placement = holdfast::place(spans);
    for (size_t i = 0; i < there.size(); ++i) there[i]->offset = placement.offsets[i];
    arenas_[a].bytes = placement.bytes;
    arena_bytes_ += placement.bytes;
  }
}

std::unique_ptr<FastPlan::Frame> FastPlan::make_frame() const {
  auto f = std::make_unique<Frame>();
  f->slots = plan_.initial_;
  f->placed.resize(f->slots.size());
  for (const Step& s : plan_.steps_) {
    for (size_t i = 0; i < s.node->outputs.size(); ++i) {
      size_t slot = static_cast<size_t>(s.out) + i;
      if (!placed_[slot]) continue;
      const Type& t = s.node->outputs[i];
      auto rep = make_ref<TensorRep>(t.dtype, t.shape, Ref<Buffer>(),
                                     storages_[static_cast<size_t>(storage_of_[slot])].offset);
      rep->born = s.node->where;
      f->placed[slot] = Tensor(std::move(rep));
    }
  }
  return f;
}

// Puts a step's results into their slots. Memory of an arena that nobody planned to look into is
// left behind.
void FastPlan::settle(const Step& s, Tensors& out, Frame& f) const {
  for (size_t i = 0; i < out.size() && i < s.node->outputs.size(); ++i) {
    size_t slot = static_cast<size_t>(s.out) + i;
    Tensor& t = out[i];
    const Tensor& own = f.placed[slot];
    bool foreign = t.defined() && t.rep() != own.rep() &&
                   std::any_of(f.arenas.begin(), f.arenas.end(), [&](const Tensor& a) {
                     return t.rep()->buffer.get() == a.rep()->buffer.get();
                   });
    if (foreign) {
      const Storage* planned =
          storage_of_[slot] < 0 ? nullptr : &storages_[static_cast<size_t>(storage_of_[slot])];
      int64_t begin = planned ? planned->offset : 0;
      int64_t end = planned ? begin + planned->span.bytes : 0;
      if (own.defined() || t.rep()->offset < begin || t.rep()->offset + t.bytes() > end)
        t = straightened(t);
    }
    f.slots[slot] = std::move(t);
  }
}

void FastPlan::run_unbound(size_t step, std::span<Tensor> slots, Tensors& out) const {
  const Step& s = plan_.steps_[step];
  Plan::Fresh fresh;
  Plan::run_step(s, slots, out, nullptr, &fresh);
  if (fresh.chosen && s.binds) bind(step, std::move(fresh.chosen), std::move(fresh.refusals));
}

void FastPlan::run(std::span<const Tensor> inputs, Tensors* given, Tensors& outputs) const {
  InterpreterScope values(nullptr);
  Where asked = here();
  Lease frame(*this);
  std::span<Tensor> slots(frame->slots);
  for (size_t i = 0; i < inputs.size(); ++i)
    slots[static_cast<size_t>(plan_.inputs_[i])] = inputs[i];
  if (given) *given = Tensors();
  bool timed = timed_.load(std::memory_order_relaxed);
  size_t at_a_time = plan_.steps_at_a_time();
  for (size_t k = 0; k < plan_.steps_.size(); ++k) {
    if (reads_[k] && !timed && !detail::observed() && read(k, slots)) {
      if ((k + 1) % at_a_time == 0) check_interrupt();
      continue;
    }
    const Step& s = plan_.steps_[k];
    const auto begin = timed ? Clock::now() : Clock::time_point();
    Tensors out;
    for (size_t i = 0; i < s.node->outputs.size(); ++i) {
      const Tensor& own = frame->placed[static_cast<size_t>(s.out) + i];
      if (!own.defined()) continue;
      out.resize(s.node->outputs.size());
      out[i] = own;
    }
    const Chosen* bound = bound_[k].load(std::memory_order_acquire);
    if (bound)
      Plan::run_step(s, slots, out, bound, nullptr);
    else
      run_unbound(k, slots, out);
    settle(s, out, *frame);
    for (int i : s.done) slots[static_cast<size_t>(i)] = Tensor();
    if (timed)
      nanoseconds_[k] +=
          std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    if ((k + 1) % at_a_time == 0) check_interrupt();
  }
  if (timed) ++timed_runs_;
  set_site(asked);
  outputs.resize(plan_.outputs_.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i] = plan_.outputs_[i] < 0 ? Tensor() : slots[static_cast<size_t>(plan_.outputs_[i])];
}

}  // namespace holdfast
