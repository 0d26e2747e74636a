// Runs one op now: check, place, infer, pick a kernel, run it.
#include "holdfast/base/text.h"
#include "holdfast/exec/kernel.h"
#include "holdfast/exec/known_calls.h"
#include "holdfast/expr/blocks.h"
#include "holdfast/expr/expr.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/context.h"
#include "holdfast/op/crossing.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

const InputDef& def_of(const OpDef& op, size_t i) {
  return op.inputs[std::min(i, op.inputs.size() - 1)];
}

// Where the variable behind a resource lives; null for other resources.
Device* home_of(const Tensor& resource) {
  auto* v = variable_behind(resource);
  if (!v) return nullptr;
  return v->update([](const Tensor& now) { return now.defined() ? now.device() : nullptr; });
}

// The first CPU. Plugins are loaded when it is first asked for, so no kernel is added while ops
// run.
Device* first_cpu() {
  static Device* const first = devices().front();
  return first;
}

}  // namespace

Device* place(const OpDef& op, std::span<const Tensor> in) {
  if (op.traits.host) return first_cpu();
  Device* asked = context().device;
  Device* first = nullptr;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined()) continue;
    if (in[i].dtype() == DType::kString) return first_cpu();
    if (in[i].dtype() == DType::kResource) {
      if (Device* home = home_of(in[i])) return home;
    }
    Device* d = in[i].device();
    if (!d || asked || def_of(op, i).host || def_of(op, i).value) continue;
    if (!first || (first->kind() == DeviceKind::kCpu && d->kind() != DeviceKind::kCpu)) first = d;
  }
  return asked ? asked : first ? first : current_device();
}

bool lies_askew(const Tensor& t) {
  if (t.device()->kind() == DeviceKind::kCpu || !kPlain.has(t.dtype())) return false;
  return reinterpret_cast<uintptr_t>(t.raw()) % static_cast<uintptr_t>(size_of(t.dtype()));
}

Tensor straightened(const Tensor& t) {
  Tensor out = empty(t.dtype(), t.shape(), t.device());
  t.device()
      ->copy_within(*out.rep()->buffer, static_cast<size_t>(out.rep()->offset), *t.rep()->buffer,
                    static_cast<size_t>(t.rep()->offset), static_cast<size_t>(t.bytes()))
      .check();
  return out;
}

namespace {

// The inputs on `device`; copies are made visible. Small host inputs stay where they are, and so do
// numbers that a kernel takes by value.
std::span<const Tensor> gather_on(const OpDef& op, std::span<const Tensor> in, Device* device,
                                  Tensors& moved) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined() || !in[i].device()) continue;
    bool on_cpu = in[i].device()->kind() == DeviceKind::kCpu, host = def_of(op, i).host;
    Device* want = host ? cpu() : device;
    if (in[i].device() == want && !lies_askew(in[i])) continue;
    if (on_cpu && (host || in[i].dtype() == DType::kString)) continue;
    if (on_cpu && (op.elementwise || def_of(op, i).value) && in[i].size() == 1) continue;
    if (in[i].device() != want && !host && in[i].size() > 1 && !op.traits.host &&
        !op.traits.moves) {
      if (device_policy() == DevicePolicy::kExplicit)
        two_devices(op, in, i, in[i].device(), device);
      if (device_policy() == DevicePolicy::kWarn) warn_copy(op, in, i, in[i].device(), device);
    }
    if (moved.empty()) moved = Tensors(in);
    moved[i] = in[i].device() == want ? straightened(in[i]) : copy_to(in[i], want);
  }
  return moved.empty() ? in : std::span<const Tensor>(moved);
}

// Brings variables to the host while a CPU kernel works on them, and home again afterwards.
class VariablesOnHost {
 public:
  VariablesOnHost(std::span<const Tensor> in) {
    for (const Tensor& t : in) {
      Device* home = t.defined() && t.dtype() == DType::kResource ? home_of(t) : nullptr;
      if (!home || home->kind() == DeviceKind::kCpu) continue;
      variable_state(t)->set(copy_to(variable_state(t)->get(), cpu()));
      away_.push_back({t, home});
    }
  }
  ~VariablesOnHost() {
    try {
      restore();
    } catch (const Error&) {
      // Another failure is on its way to the user; the variable keeps its value on the host.
    }
  }
  void restore() {
    while (!away_.empty()) {
      auto [t, home] = away_.back();
      away_.pop_back();
      if (Tensor now = variable_state(t)->get(); now.defined())
        variable_state(t)->set(copy_to(now, home));
    }
  }

 private:
  InlineVector<std::pair<Tensor, Device*>, 2> away_;
};

// Whether every input is there, of a dtype that is taken and that its group shares. A list of
// inputs is left to check_signature, as are all refusals.
bool plainly_fits(const OpDef& op, std::span<const Tensor> in) {
  if (in.size() != op.inputs.size()) return false;
  for (size_t i = 0; i < in.size(); ++i) {
    const InputDef& def = op.inputs[i];
    if (!in[i].defined() || def.list) return false;
    DType d = in[i].dtype();
    if (!def.dtypes.has(d) || in[def.first].dtype() != d) return false;
    if (def.resource && !leads_to(in[i], *def.resource)) return false;
  }
  return true;
}

// The short way for what most small ops are: one loop over operands of one dtype and one shape,
// beside numbers, on the CPU. False, and nothing is done, where any of that is not so.
bool run_plain(const OpDef& op, std::span<const Tensor> in, Tensors& out) try {
  Device* const here = first_cpu();
  if (in.size() != op.inputs.size() || !in[0].defined()) return false;
  if (Device* asked = context().device; asked && asked != here) return false;
  DType dtype = in[0].dtype();
  const Shape* shape = &in[0].shape();
  const void* from[kMostOperands];
  bool one_shape = true;
  for (size_t i = 0; i < in.size(); ++i) {
    const Tensor& t = in[i];
    if (!t.defined() || t.dtype() != dtype) return false;
    if (const Buffer* b = t.rep()->buffer.get(); !b || b->device() != here) return false;
    from[i] = t.raw();
    if (t.shape() == *shape) continue;
    one_shape = false;
    if (t.rank() == 0) continue;
    if (shape->rank() > 0) return false;
    shape = &t.shape();
  }
  Loop loop = op.plain[static_cast<int>(dtype)];
  if (!loop || !op.inputs[0].dtypes.has(dtype)) return false;
  Tensor made = empty(op.plain_gives_bool ? DType::kBool : dtype, *shape, here);
  int64_t n = shape->size();
  if (one_shape && n <= kGrain)
    loop(from, made.mutable_raw(), n);
  else
    run_broadcast(loop, in, made);
  made.rep()->op = op.name.c_str();
  made.rep()->from_variable = in[0].rep()->variable_born;
  out.clear();
  out.push_back(std::move(made));
  return true;
} catch (Error& e) {
  e.name_op(op.name);
  throw;
}

// The way of calls whose types came before: nothing is checked, inferred or chosen again. False,
// and nothing is done, where these did not.
bool run_known(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out,
               OpRun* told) try {
  KnownCalls* calls = KnownCalls::of_thread();
  Device* device = place(op, in);
  Ref<const KnownCall> known = calls ? calls->find(op, in, attrs, device) : nullptr;
  if (!known) return false;
  out.resize(known->gives().dtypes.size());
  Call call(op, in, attrs, known->gives(), device, out);
  if (told) told->kernel = known->chosen().kernel.name;
  if (Status s = known->chosen().run(call); !s.ok()) raise_from(s, op, in);
  stamp(op, in, out);
  return true;
} catch (Error& e) {
  e.name_op(op.name);
  throw;
}

// Symbols of finished traces, read.
std::span<const Tensor> values_of(const OpDef& op, std::span<const Tensor> in, Tensors& read) {
  for (size_t i = 0; i < in.size(); ++i)
    read.push_back(!in[i].defined() || has_value(in[i])
                       ? (in[i].defined() ? value(in[i]) : in[i])
                       : value(in[i], operand_source(op, in, static_cast<int>(i)).text));
  return read;
}

// A variable of a graph has values in sessions only; ops on it are written into the graph while
// that is there.
void refuse_variable_of_graph(const OpDef& op, const Tensor& t) {
  auto* v = variable_behind(t);
  if (!v || !v->graph) return;
  const auto& scope = static_cast<const Scope&>(*v->graph);
  Diagnostic d;
  d.code = Code::E0101;
  d.op = op.name;
  d.headline =
      cat("variable `", v->name, "` belongs to the graph `", scope.name, "`, which is gone");
  d.labels.push_back(
      {Role::kBorn, locate(v->born), cat("variable `", v->name, "` was made here"), false});
  d.labels.push_back(
      {Role::kPlaced, locate(scope.opened), cat("graph `", scope.name, "` was made here"), false});
  d.labels.push_back(used_here("used here"));
  d.why = "a variable of a graph has a value in each session that runs the graph, and none outside";
  d.fixes.push_back(
      manual_fix(cat("keep `", scope.name, "` for as long as its variables are used")));
  raise(std::move(d));
}

// Runs `op` on `device`, or on the CPU where the device can't.
void run_on(Device* device, const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
            Tensors& out, OpRun* told);

// What a device cannot do, the CPU does; the results go where the program expects them.
void run_instead(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out,
                 Device* device, const std::string& refusals, OpRun* told) {
  if (device_policy() != DevicePolicy::kSilent) warn_fallback(op, in, device, refusals);
  Tensors host;
  for (const Tensor& t : in) host.push_back(t.defined() && t.device() ? copy_to(t, cpu()) : t);
  VariablesOnHost variables(in);
  DeviceScope scope(cpu());
  run_on(cpu(), op, host, attrs, out, told);
  variables.restore();
  for (Tensor& t : out)
    if (t.defined() && t.device()) t = copy_to(t, device);
}

void run_on(Device* device, const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
            Tensors& out, OpRun* told) {
  Tensors moved;
  in = gather_on(op, in, device, moved);
  Infer infer(op, in, attrs);
  op.infer(infer);
  out.resize(infer.dtypes.size());
  Call call(op, in, attrs, infer, device, out);
  std::string refusals;
  Chosen chosen = choose_kernel(call.types(), refusals);
  if (!chosen && device->kind() != DeviceKind::kCpu)
    return run_instead(op, in, attrs, out, device, refusals, told);
  if (!chosen) no_kernel(op, in, device, refusals);
  if (told) {
    told->device = device;
    told->kernel = chosen.kernel.name;
  }
  if (KnownCalls* calls = op.prepares ? KnownCalls::of_thread() : nullptr)
    calls->keep(KnownCall::of(op, in, attrs, infer, device, chosen));
  if (Status s = chosen.run(call); !s.ok()) raise_from(s, op, in);
  stamp(op, in, out);
}

// What is no plain loop.
void run_in_full(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out,
                 OpRun* told) {
  if (op.prepares && run_known(op, in, attrs, out, told)) return;
  Tensors read;
  for (const Tensor& t : in) {
    if (t.defined() && t.is_symbolic()) {
      in = values_of(op, in, read);
      break;
    }
    if (t.defined() && t.dtype() == DType::kResource) refuse_variable_of_graph(op, t);
  }
  try {
    if (!plainly_fits(op, in)) check_signature(op, in);
    run_on(place(op, in), op, in, attrs, out, told);
  } catch (Error& e) {
    e.name_op(op.name);  // memory and attributes fail without knowing for whom
    throw;
  }
}

// Apart from the way that calls go which nobody observes, so that these pay for one look.
[[gnu::noinline]] void run_told(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                                Tensors& out) {
  OpRun told{.op = op, .inputs = in, .attrs = attrs, .where = here(), .device = place(op, in)};
  detail::tell(told, out, [&] { run_eagerly(op, in, attrs, out, &told); });
}

class Eager final : public Interpreter {
 public:
  void run(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out) override {
    if (detail::observed()) [[unlikely]]
      return run_told(op, in, attrs, out);
    if (op.plain && run_plain(op, in, out)) return;
    run_in_full(op, in, attrs, out, nullptr);
  }
};

const bool registered = [] {
  static Eager eager;
  set_eager(&eager);
  return true;
}();

}  // namespace

void run_eagerly(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out,
                 OpRun* told) {
  if (!op.plain || !run_plain(op, in, out)) return run_in_full(op, in, attrs, out, told);
  if (told) told->kernel = "loop";
}

}  // namespace holdfast
