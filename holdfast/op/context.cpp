#include "holdfast/op/context.h"

#include <algorithm>
#include <atomic>

#include "holdfast/base/text.h"
#include "holdfast/device/named.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/op/stand_in.h"
#include "holdfast/op/variable_watcher.h"
#include "holdfast/tensor/scope.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

Interpreter* g_eager = nullptr;
std::atomic<DevicePolicy> g_policy{DevicePolicy::kWarn};
std::atomic<Interpreter*> g_first{nullptr};
std::atomic<VariableWatcher*> g_watcher{nullptr};

Device* default_device() {
  static Device* d = [] {
    Device* gpu = find_device(DeviceKind::kCuda, 0);
    return gpu ? gpu : cpu();
  }();
  return d;
}

// The graph that a tensor is part of: a symbol's, or that of a variable which lives in a graph;
// else null.
const Scope* scope_of(const Tensor& t) {
  if (!t.defined()) return nullptr;
  if (t.is_symbolic()) return symbol_of(t)->scope.get();
  if (t.dtype() != DType::kResource) return nullptr;
  auto* v = variable_behind(t);
  return v ? static_cast<const Scope*>(v->graph.get()) : nullptr;
}

bool is_path(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                              "UVWXYZ0123456789_.[]\"'") == text.npos;
}

// What the program may call the graph of an operand: a name it has there, else by the operand.
std::string graph_name(const Scope& s, const std::string& operand) {
  std::string seen = visible_name(s);
  if (!seen.empty()) return seen;
  return is_path(operand) && s.kind == ScopeKind::kGraph ? operand + ".graph" : s.name;
}

// The graph or function that a program wrote around a branch or a body.
const Scope* written_around(const Scope* s) {
  while (s->parent && s->kind != ScopeKind::kGraph && s->kind != ScopeKind::kFunction)
    s = s->parent.get();
  return s;
}

// Two scopes that are both being written, neither inside the other.
[[noreturn]] void two_graphs(const OpDef& op, std::span<const Tensor> in, const Tensor& first,
                             const Tensor& second) {
  std::vector<const Tensor*> both{&first, &second};
  std::string names[2];
  for (size_t i = 0; i < in.size(); ++i)
    for (size_t k = 0; k < 2; ++k)
      if (&in[i] == both[k]) names[k] = operand_source(op, in, static_cast<int>(i)).text;
  const Scope* scopes[2] = {scope_of(first), scope_of(second)};
  if (written_around(scopes[0]) != written_around(scopes[1]))
    for (const Scope*& s : scopes) s = written_around(s);
  const Scope &a = *scopes[0], &b = *scopes[1];
  std::string graphs[2] = {graph_name(a, names[0]), graph_name(b, names[1])};
  if (graphs[0] == graphs[1]) {  // nothing tells them apart but what is in them
    graphs[0] = cat(a.name, " of ", names[0]);
    graphs[1] = cat(b.name, " of ", names[1]);
  }
  auto d = about_call(
      Code::E0110, op, in,
      cat(op.name, " takes tensors of two graphs, `", graphs[0], "` and `", graphs[1], "`"));
  for (size_t k = 0; k < 2; ++k)
    d.labels.push_back({Role::kPlaced, locate(k ? b.opened : a.opened),
                        cat("graph `", graphs[k], "` was made here"), false});
  for (Label& l : d.labels)
    if (l.primary) l.place = "both in one op";
  d.why = cat("an op belongs to one graph, and can use only what that graph computes: `", names[0],
              "` is part of `", graphs[0], "`, `", names[1], "` of `", graphs[1], "`");
  // A traced function is no graph that can be entered: it is called where the other graph is.
  size_t by_hand = a.kind == ScopeKind::kGraph ? 0 : 1;
  std::string enter = written(Advice::kEnterGraph, {graphs[by_hand]});
  bool alike = a.kind == b.kind;
  d.fixes.push_back(
      manual_fix(alike ? cat("make both under the same graph: `", enter, "`")
                       : cat("make `", names[by_hand], "` inside `", graphs[1 - by_hand],
                             "`, or call `", graphs[1 - by_hand], "` under `", enter, "`")));
  raise(std::move(d));
}

void refuse_stand_ins(std::span<const Tensor> in) {
  if (auto refuse = stand_ins().refuse)
    for (const Tensor& t : in)
      if (t.defined() && t.is_symbolic()) refuse(t);
}

// The innermost open scope that owns a symbol among the inputs; else whoever was asked.
Interpreter* owner_of(const OpDef& op, std::span<const Tensor> in, Interpreter* asked) {
  const Scope* best = nullptr;
  const Tensor* whose = nullptr;
  for (const Tensor& t : in) {
    const Scope* s = scope_of(t);
    if (!s || !s->open() || s == best) continue;
    if (best && !s->inside(best) && !best->inside(s)) {
      refuse_stand_ins(in);
      two_graphs(op, in, *whose, t);
    }
    if (!best || s->depth > best->depth) best = s, whose = &t;
  }
  if (context().lifted) return asked;  // it says why not
  // No call of a model would make the change.
  if (op.traits.update != Update::kNone) refuse_stand_ins(in);
  // Inside a branch or a loop's body, what is captured from around it is used there.
  if (best && asked && asked->scope() && asked->scope()->inside(best)) return asked;
  return best ? best->interpreter : asked;
}

void went_by(const Tensor& t, bool numbers) {
  Interpreter* who = context().interpreter;
  if (!who && t.defined() && t.is_symbolic()) who = symbol_of(t)->scope->interpreter;
  if (who && t.defined()) who->went_by(t, numbers);
}

// Tells who wants to know of variables that `op` changes.
void tell_of_changes(const OpDef& op, std::span<const Tensor> in, VariableWatcher& watcher) {
  if (op.traits.reads || op.inputs.empty()) return;
  for (size_t i = 0; i < in.size(); ++i) {
    if (op.inputs[std::min(i, op.inputs.size() - 1)].resource != &VariableState::kKind) continue;
    if (VariableState* v = in[i].defined() ? variable_behind(in[i]) : nullptr) watcher.changes(*v);
  }
}

// The attributes with the defaults of those that are left out.
Attrs completed(const OpDef& op, Attrs attrs) {
  for (size_t i = attrs.size(); i < op.attrs.size(); ++i) {
    if (op.attrs[i].required)
      fail(Code::E1104, cat(op.name, ": attribute `", op.attrs[i].name, "` is missing"));
    attrs.push_back(op.attrs[i].default_value);
  }
  return attrs;
}

}  // namespace

InterpreterScope::InterpreterScope(Interpreter* interpreter) : was_(context().interpreter) {
  context().interpreter = interpreter;
}
InterpreterScope::~InterpreterScope() { context().interpreter = was_; }

NoTapes::NoTapes() { std::swap(were_, context().tapes); }
NoTapes::~NoTapes() { std::swap(were_, context().tapes); }

Context& context() {
  static thread_local Context c = [] {
    Context fresh;
    fresh.interpreter = g_first;
    return fresh;
  }();
  return c;
}

Device* current_device() {
  Device* d = context().device;
  return d ? d : default_device();
}

void set_device_policy(DevicePolicy p) { g_policy = p; }
DevicePolicy device_policy() { return g_policy; }
void set_eager(Interpreter* i) { g_eager = i; }
Interpreter* eager() { return g_eager; }
void set_first_interpreter(Interpreter* i) { g_first = i; }

Device* DeviceScope::named(std::string_view name) { return detail::device_named(name); }
void DeviceScope::enter(Device* device) {
  Context& c = context();
  was_ = c.device;
  placed_ = c.placed;
  c.device = device;
  c.placed = here();
}
DeviceScope::~DeviceScope() {
  context().device = was_;
  context().placed = placed_;
}

StandIns& stand_ins() {
  static StandIns all;
  return all;
}

void set_variable_watcher(VariableWatcher* w) { g_watcher = w; }
VariableWatcher* variable_watcher() { return g_watcher.load(std::memory_order_acquire); }

void went_by_numbers(const Tensor& t) { went_by(t, true); }
void went_by_sizes(const Tensor& t) { went_by(t, false); }

void apply(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out) {
  if (attrs.size() < op.attrs.size()) return apply(op, in, completed(op, attrs), out);
  Context& c = context();
  Interpreter* who = c.interpreter ? c.interpreter : g_eager;
  for (const Tensor& t : in)  // most have nothing but a value, and belong to no graph
    if (t.defined() && t.rep()->beyond && scope_of(t)) {
      Tensors values;
      if (auto replace = stand_ins().replace; replace && replace(in, values))
        return apply(op, values, attrs, out);
      who = owner_of(op, in, who);
      break;
    }
  if (op.traits.stateful)
    if (VariableWatcher* watcher = variable_watcher()) tell_of_changes(op, in, *watcher);
  who->run(op, in, attrs, out);
  for (Tape* tape : c.tapes) tape->ran(op, in, attrs, out);
}

}  // namespace holdfast
