#include "holdfast/exec/function.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "holdfast/base/text.h"
#include "holdfast/exec/attribute_state.h"
#include "holdfast/exec/keep_record.h"
#include "holdfast/exec/retracing.h"
#include "holdfast/exec/trace_life.h"
#include "holdfast/exec/traces.h"
#include "holdfast/graph/bodies.h"
#include "holdfast/graph/call_effects.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

bool same_dtypes(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Type& x, const Type& y) { return x.dtype == y.dtype; });
}

constexpr int kWorthAWarning = 3;  // new traces at one line, in a row

// The parts of a call have no names of the program's: C++ can't be asked for those.
detail::PartNames names_of(const TracedCode::Call& call) {
  detail::PartNames names;
  if (call.typed) call.typed->name_parts(call.arguments, names);
  if (call.watched)
    names.facts.insert(names.facts.end(), call.watched->facts.begin(), call.watched->facts.end());
  return names;
}

std::string rounded(double milliseconds) {
  return milliseconds < 1e3   ? "less than a second"
         : milliseconds < 1e4 ? "some seconds"
         : milliseconds < 6e4 ? "most of a minute"
                              : "more than a minute";
}

void check_defined(const TracedCode::Call& call, const std::string& function) {
  for (size_t i = 0; i < call.tensors.size(); ++i)
    if (!call.tensors[i].defined())
      fail(Code::E1104, cat(names_of(call).tensors[i], " of `", function, "` is an empty Tensor"),
           "a default-constructed Tensor stands for none at all, and has no dtype or shape",
           {manual_fix("give a tensor; one that may be left out is a `std::optional<Tensor>`")});
}

// The tensors of the program's that a graph holds as they were: those made before `first`.
void add_frozen(const Graph& graph, uint64_t first, std::vector<std::string>& out) {
  constexpr size_t kMostShown = 8;
  for (const Ref<Node>& n : graph.nodes) {
    for (const Arg& a : n->attrs)
      if (const Graph* body = body_in(a)) add_frozen(*body, first, out);
    if (n->op != &const_op() || constant_of(*n).id() >= first || out.size() > kMostShown) continue;
    const Tensor& t = constant_of(*n);
    Loc born = locate(t.born());
    std::string text = cat(type_text(t), " of ", short_path(born.file), ":", born.line);
    if (out.size() == kMostShown) text = "...";
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
  }
}

// What a trace's attributes do, then what it keeps.
class BothStates final : public TraceState {
 public:
  BothStates(Ref<TraceState> first, Ref<TraceState> then)
      : attributes(std::move(first)), kept_(std::move(then)) {}
  bool read(std::span<Tensor> captured) const override { return attributes->read(captured); }
  void perform(Tensors& outputs) const override {
    attributes->perform(outputs);
    kept_->perform(outputs);
  }
  const Ref<TraceState> attributes;

 private:
  Ref<TraceState> kept_;
};

const AttributeState* attributes_of(const TraceState* state) {
  if (auto* both = dynamic_cast<const BothStates*>(state)) state = both->attributes.get();
  return dynamic_cast<const AttributeState*>(state);
}

}  // namespace

struct TracedCode::Trace final : RefCounted {
  Trace(const Call& call, std::vector<Type> types, Form result, Traced traced)
      : typed(call.typed),
        facts(call.facts.begin(), call.facts.end()),
        signature(std::move(types)),
        form(std::move(result)),
        function(std::move(traced.function)),
        went_by(std::move(traced.facts)),
        leaked_(std::move(traced.leaked)),
        leaks_(!leaked_.empty()) {}
  const Typed* const typed;
  const std::vector<std::string> facts;
  const std::vector<Type> signature;
  const Form form;
  const Ref<ConcreteFunction> function;
  const Ref<TraceFacts> went_by;

  // Symbols that left the trace, which the first call gives its values: whoever takes them.
  bool leaks() const { return leaks_.load(std::memory_order_relaxed); }
  std::vector<Tensor> take_leaked() {
    return leaks_.exchange(false) ? std::move(leaked_) : std::vector<Tensor>();
  }

  // Whether it is for such plain values.
  bool is_for(const Call& call) const {
    return typed == call.typed &&
           std::equal(facts.begin(), facts.end(), call.facts.begin(), call.facts.end());
  }

  // What of its state is not as it was; none where the signature alone decides.
  std::optional<Retrace> changed(const std::vector<Type>& given) const {
    const AttributeState* attributes = attributes_of(function->state());
    bool takes = std::equal(signature.begin(), signature.end(), given.begin(), given.end(),
                            [](const Type& a, const Type& b) {
                              return a.dtype == b.dtype && a.shape.compatible(b.shape);
                            });
    if (!takes) return std::nullopt;
    std::optional<Retrace> out = attributes ? attributes->difference() : std::nullopt;
    return out || !went_by ? out : went_by->retrace();
  }

 private:
  std::vector<Tensor> leaked_;
  std::atomic<bool> leaks_;
};

struct TracedCode::Kept {
  explicit Kept(const FunctionOptions& o) : traces(o.most_traces), history(o.name, 1) {}
  /// What of a call is not as in the trace it comes nearest to, and that trace's types where only
  /// sizes differ.
  Retrace difference(const Call& call, const std::vector<Type>& signature,
                     const std::vector<Type>*& nearest) const;
  /// Notes a trace that was made at a line, and warns of one that keeps making them.
  void note(const Retrace& why, Where line, const FunctionOptions& options);
  void warn_of(const Retrace& why, Where line, const FunctionOptions& options) const;

  std::recursive_mutex mutex;
  Traces<Trace> traces;
  TraceHistory history;
  Where last_line = nullptr;  // that made a trace
  int in_a_row = 0;           // so many
};

// C++ code as the life of a trace sees it.
class TracedCode::Host final : public TraceHost {
 public:
  Host(TracedCode& code, const Call& call, const std::vector<Type>& signature)
      : code_(code), call_(call), signature_(signature) {}

  Tracer& begin() override {
    auto scope = make_ref<Scope>(ScopeKind::kFunction, code_.options_.name, nullptr);
    scope->trace_no = static_cast<int>(code_.kept_->history.count()) + 1;
    return tracer_.emplace(make_ref<Graph>(scope));
  }

  std::optional<Tensors> run_body(Tracer& tracer) override {
    AttributeRecord attributes(tracer);
    KeepRecord keeping;
    std::vector<Tensor> arguments;
    for (const Type& t : signature_)
      arguments.push_back(tracer.input(t.dtype, t.shape, "argument"));
    Tensors out = call_.typed->run(code_.code_, call_.arguments, arguments, form);
    Ref<TraceState> kept = keeping.finish(out);
    state = attributes.finish(out);
    if (kept) state = state ? make_ref<BothStates>(std::move(state), std::move(kept)) : kept;
    return out;
  }

  void ended(Tracer&, bool) override {}

  void refuse(const Variable& v) override {
    const std::string& function = code_.options_.name;
    Diagnostic d;
    d.code = Code::E0401;
    d.op = function;
    d.headline = cat("`", function, "` makes the Variable `", v.name(),
                     "` on each call, and something outside keeps it");
    d.subject.name = v.name();
    d.subject.dtype = name(v.dtype());
    d.subject.shape = v.shape().text();
    d.subject.born = locate(v.state()->born);
    d.labels.push_back({Role::kBorn, d.subject.born, "made here, each time it is traced", true});
    d.why = cat("a graph is written once: whether `", v.name(),
                "` is to be made once or anew at each call of `", function,
                "`, the program does not say");
    d.fixes.push_back(manual_fix(cat("make `", v.name(), "` once, before `", function, "`")));
    d.fixes.push_back(
        manual_fix("make it only where there is none yet: `if (!v.defined()) v = Variable(...);`"));
    raise(std::move(d));
  }

  Ref<TraceState> state;
  Form form;

 private:
  TracedCode& code_;
  const Call& call_;
  const std::vector<Type>& signature_;
  std::optional<Tracer> tracer_;
};

TracedCode::TracedCode(Ref<RefCounted> owner, void* code, FunctionOptions options)
    : owner_(std::move(owner)),
      code_(code),
      options_(std::move(options)),
      kept_(make_owned<Kept>(options_)) {}

TracedCode::~TracedCode() = default;

Tensors TracedCode::call(const Call& call, Form& form) {
  bool tracing = context().interpreter != nullptr;
  check_defined(call, options_.name);
  for (const Tensor& t : call.tensors) tracing = tracing || t.is_symbolic();
  if (tracing) {  // its ops join the trace around it
    EffectsOfCall effects(options_.name);
    return effects.bound(call.typed->run(code_, call.arguments, call.tensors, form));
  }
  Tensors inputs;
  Ref<Trace> trace = find(call, inputs);
  if (trace->form) form = trace->form;
  return trace->leaks() ? trace->function->first_call(inputs, trace->take_leaked())
                        : trace->function->call_with_state(inputs);
}

Ref<TracedCode::Trace> TracedCode::find(const Call& call, Tensors& inputs) {
  auto takes = [&](const Trace& t) {
    if (!t.is_for(call) || !serves(t.signature, call.tensors)) return false;
    inputs = Tensors(call.tensors);
    return t.function->add_captured(inputs);
  };
  auto fits = [&](const Trace& t) { return (!t.went_by || t.went_by->hold()) && takes(t); };
  std::lock_guard lock(kept_->mutex);
  if (Ref<Trace> known = kept_->traces.find(fits)) {
    // A trace around this call goes by what this one went by.
    if (WatchRecord* around = known->went_by ? WatchRecord::current() : nullptr)
      around->join(*known->went_by);
    return known;
  }
  std::vector<Type> signature;
  for (const Tensor& t : call.tensors) signature.push_back({t.dtype(), t.shape()});
  for (;;) {
    Ref<Trace> made = make(signature, call);
    // Else another thread has changed its attributes meanwhile. What it did to objects itself is
    // done, and for later calls to see.
    if (takes(*made)) return made;
  }
}

Ref<ConcreteFunction> TracedCode::concrete(const Call& call) {
  check_defined(call, options_.name);
  Tensors inputs;
  return find(call, inputs)->function;
}

Ref<ConcreteFunction> TracedCode::concrete(const Typed& typed, size_t arguments,
                                           const std::vector<Type>& signature) {
  if (signature.size() != arguments)
    fail(Code::E1104, cat(options_.name, ".concrete: got ", signature.size(),
                          " types, expected one for each of ", arguments, " arguments"));
  std::lock_guard lock(kept_->mutex);
  if (auto known = kept_->traces.find([&](const Trace& t) {
        return t.is_for({.typed = &typed, .tensors = {}}) && t.signature == signature &&
               (!t.went_by || t.went_by->hold());
      }))
    return known->function;
  return make(signature, {.typed = &typed, .tensors = {}})->function;
}

Retrace TracedCode::Kept::difference(const Call& call, const std::vector<Type>& signature,
                                     const std::vector<Type>*& nearest) const {
  Retrace out;
  if (traces.empty()) return out;
  const auto& all = traces.list();
  for (const Ref<Trace>& t : all)
    if (auto changed = t->is_for(call) ? t->changed(signature) : std::nullopt) return *changed;
  auto alike = std::find_if(all.begin(), all.end(), [&](const Ref<Trace>& t) {
    return t->is_for(call) && same_dtypes(t->signature, signature);
  });
  const Trace& last = alike != all.end() ? **alike : *all.front();
  detail::PartNames names = names_of(call);
  if (alike != all.end()) nearest = &last.signature;
  if (last.typed != call.typed) {
    out.kind = Retrace::Kind::kStructure;
    out.part = "the arguments";
    out.was = "of some C++ types";
    out.now = "of others";
    return out;
  }
  for (size_t i = 0; i < call.facts.size() && i < last.facts.size(); ++i)
    if (last.facts[i] != call.facts[i] && i < names.facts.size()) {
      out.kind =
          names.facts[i].starts_with("capture") ? Retrace::Kind::kGuard : Retrace::Kind::kValue;
      out.part = names.facts[i];
      out.was = last.facts[i];
      out.now = call.facts[i];
      return out;
    }
  out.kind = nearest ? Retrace::Kind::kShape : Retrace::Kind::kDType;
  for (size_t i = 0; i < signature.size() && i < last.signature.size() && out.part.empty(); ++i)
    if (!(last.signature[i] == signature[i])) {
      out.part = names.tensors[i];
      out.was = type_text(last.signature[i].dtype, last.signature[i].shape);
      out.now = type_text(signature[i].dtype, signature[i].shape);
    }
  return out;
}

Ref<TracedCode::Trace> TracedCode::make(std::vector<Type> signature, const Call& call) {
  auto begin = std::chrono::steady_clock::now();
  Where line = here();
  const std::vector<Type>* nearest = nullptr;
  Retrace why = kept_->difference(call, signature, nearest);
  if (nearest && options_.reduce_retracing) {
    detail::PartNames names = names_of(call);
    for (Dimension d : kept_->history.relax(*nearest, signature))
      why.relaxed.push_back(cat(names.tensors[d.tensor], " dimension ", d.axis));
  }
  uint64_t first = make_ref<TensorRep>(DType::kBool, Shape(), nullptr)->id;
  Host host(*this, call, signature);
  Traced traced = make_trace(host, call.tensors);
  add_frozen(traced.function->graph(), first, why.frozen);
  traced.function->set_state(std::move(host.state));
  auto made = make_ref<Trace>(call, std::move(signature), std::move(host.form), std::move(traced));
  auto dropped = kept_->traces.add(made, [](const Trace&) { return false; });
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  why.milliseconds = spent.count();
  set_site(line);  // the code's own lines are done with
  kept_->note(why, line, options_);
  return made;
}

void TracedCode::Kept::note(const Retrace& why, Where line, const FunctionOptions& options) {
  history.note(why);
  in_a_row = line == last_line ? in_a_row + 1 : 1;
  last_line = line;
  if (in_a_row >= kWorthAWarning && why.kind != Retrace::Kind::kFirst) warn_of(why, line, options);
}

void TracedCode::Kept::warn_of(const Retrace& why, Where line,
                               const FunctionOptions& options) const {
  bool value = why.kind == Retrace::Kind::kValue, shape = why.kind == Retrace::Kind::kShape;
  const std::string& function = options.name;
  Diagnostic d;
  d.code = Code::W0601;
  d.op = function;
  d.headline = cat("`", function, "` is traced again and again: ", why.part, " was ", why.was,
                   ", now ", why.now);
  d.labels.push_back({Role::kUsed, locate(line), "traced here, again", true});
  std::string relaxed;
  for (const std::string& part : why.relaxed)
    relaxed += cat(relaxed.empty() ? "; " : " and ", part);
  if (!relaxed.empty())
    relaxed += why.relaxed.size() > 1 ? " are unknown from now on" : " is unknown from now on";
  d.why = cat(why.part, " changes from call to call, and ",
              value   ? "a plain C++ value is part of its trace"
              : shape ? "each shape needs a trace"
                      : "each change needs a trace",
              ": ", history.count(), " traces so far, which took ", rounded(history.milliseconds()),
              relaxed);
  if (shape)
    d.fixes.push_back(manual_fix(
        options.reduce_retracing
            ? cat("give `", function, "` tensors of one rank, or pad them to a few sizes")
            : cat("leave sizes open that change: `function(code, {.reduce_retracing = true})`")));
  else if (value)
    d.fixes.push_back(
        manual_fix(cat("let the code take a Tensor there: one trace serves all its values, and `",
                       function, "(", why.now, ")` is written as before")));
  else if (why.kind == Retrace::Kind::kGuard && why.part.starts_with("capture"))
    d.fixes.push_back(manual_fix(cat("pass it to `", function,
                                     "` as an argument, or make it a Variable or a "
                                     "`TensorAttribute`: calls read those anew")));
  else if (why.kind == Retrace::Kind::kFact)
    d.fixes.push_back(manual_fix(
        "set it once, before the calls; a value that changes belongs into a Variable, which calls "
        "read anew: `weight.assign(...)`"));
  else
    d.fixes.push_back(
        manual_fix(cat("give ", why.part, " the same dtype and structure each time")));
  warn(std::move(d));
}

std::string TracedCode::trace_report() const {
  std::lock_guard lock(kept_->mutex);
  return kept_->history.report();
}

size_t TracedCode::traces() const {
  std::lock_guard lock(kept_->mutex);
  return kept_->traces.size();
}

}  // namespace holdfast
