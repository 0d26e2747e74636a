#include "holdfast/exec/function.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "holdfast/base/text.h"
#include "holdfast/exec/attribute_state.h"
#include "holdfast/exec/retracing.h"
#include "holdfast/exec/trace_life.h"
#include "holdfast/exec/traces.h"
#include "holdfast/graph/call_effects.h"

namespace holdfast {
namespace {

std::string text_of(const Type& t) { return cat(name(t.dtype), t.shape.text()); }

bool same_dtypes(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Type& x, const Type& y) { return x.dtype == y.dtype; });
}

// Arguments of C++ code have no names that it could be asked for.
std::string argument(size_t i) { return cat("argument ", i + 1); }

}  // namespace

struct TracedCode::Trace final : RefCounted {
  Trace(std::vector<Type> signature, Ref<ConcreteFunction> function)
      : signature(std::move(signature)), function(std::move(function)) {}
  const std::vector<Type> signature;
  const Ref<ConcreteFunction> function;

  // What of its state is not as it was; none where the signature alone decides.
  std::optional<Retrace> changed(const std::vector<Type>& given) const {
    auto* attributes = dynamic_cast<const AttributeState*>(function->state());
    bool takes = std::equal(signature.begin(), signature.end(), given.begin(), given.end(),
                            [](const Type& a, const Type& b) {
                              return a.dtype == b.dtype && a.shape.compatible(b.shape);
                            });
    return attributes && takes ? attributes->difference() : std::nullopt;
  }
};

struct TracedCode::Kept {
  explicit Kept(const FunctionOptions& o) : traces(o.most_traces), history(o.name, 1) {}
  /// What of `signature` is not as in the trace it comes nearest to, and that trace's types.
  Retrace difference(const std::vector<Type>& signature, const std::vector<Type>*& nearest) const;

  std::recursive_mutex mutex;
  Traces<Trace> traces;
  TraceHistory history;
};

// C++ code as the life of a trace sees it.
class TracedCode::Host final : public TraceHost {
 public:
  Host(TracedCode& code, const std::vector<Type>& signature) : code_(code), signature_(signature) {}

  Tracer& begin() override {
    auto scope = make_ref<Scope>(ScopeKind::kFunction, code_.options_.name, nullptr);
    scope->trace_no = static_cast<int>(code_.kept_->history.count()) + 1;
    return tracer_.emplace(make_ref<Graph>(scope));
  }

  std::optional<Tensors> run_body(Tracer& tracer) override {
    AttributeRecord attributes(tracer);
    std::vector<Tensor> arguments;
    for (const Type& t : signature_)
      arguments.push_back(tracer.input(t.dtype, t.shape, "argument"));
    Tensors out = code_.body_(arguments);
    state = attributes.finish(out);
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
        manual_fix("make it only where there is none yet: `if (!v) v = Variable(...);`"));
    raise(std::move(d));
  }

  Ref<TraceState> state;

 private:
  TracedCode& code_;
  const std::vector<Type>& signature_;
  std::optional<Tracer> tracer_;
};

TracedCode::TracedCode(Body body, FunctionOptions options)
    : body_(std::move(body)), options_(std::move(options)), kept_(make_owned<Kept>(options_)) {}

TracedCode::~TracedCode() = default;

Tensors TracedCode::call(std::span<const Tensor> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].defined())
      fail(Code::E1104, cat(options_.name, ": argument ", i, " is a Tensor that refers to nothing"),
           "it was declared, or moved from, and no value was assigned to it since",
           {manual_fix("assign a value first; `defined()` tells whether there is one")});
  bool tracing = context().interpreter != nullptr;
  for (const Tensor& t : arguments) tracing = tracing || (t.defined() && t.is_symbolic());
  if (tracing) {  // its ops join the trace around it
    EffectsOfCall effects(options_.name);
    return effects.bound(body_(arguments));
  }
  Tensors inputs;
  Ref<Trace> trace = find(arguments, inputs);
  return trace->function->call_with_state(inputs);
}

Ref<TracedCode::Trace> TracedCode::find(std::span<const Tensor> arguments, Tensors& inputs) {
  auto fits = [&](const Trace& t) {
    if (!serves(t.signature, arguments)) return false;
    inputs = Tensors(arguments);
    return t.function->add_captured(inputs);
  };
  std::lock_guard lock(kept_->mutex);
  if (Ref<Trace> known = kept_->traces.find(fits)) return known;
  std::vector<Type> signature;
  for (const Tensor& t : arguments) signature.push_back({t.dtype(), t.shape()});
  for (;;) {
    Ref<Trace> made = make(signature, arguments);
    if (fits(*made)) return made;  // else another thread has changed its attributes meanwhile
  }
}

Ref<ConcreteFunction> TracedCode::concrete(const std::vector<Type>& signature) {
  std::lock_guard lock(kept_->mutex);
  if (auto known = kept_->traces.find([&](const Trace& t) { return t.signature == signature; }))
    return known->function;
  return make(signature, {})->function;
}

Retrace TracedCode::Kept::difference(const std::vector<Type>& signature,
                                     const std::vector<Type>*& nearest) const {
  Retrace out;
  if (traces.empty()) return out;
  const auto& all = traces.list();
  for (const Ref<Trace>& t : all)
    if (auto changed = t->changed(signature)) return *changed;
  auto alike = std::find_if(all.begin(), all.end(), [&](const Ref<Trace>& t) {
    return same_dtypes(t->signature, signature);
  });
  bool sizes = alike != all.end();
  const std::vector<Type>& was = sizes ? (*alike)->signature : all.front()->signature;
  if (sizes) nearest = &was;
  out.kind = sizes ? Retrace::Kind::kShape : Retrace::Kind::kDType;
  for (size_t i = 0; i < signature.size() && i < was.size() && out.part.empty(); ++i)
    if (!(was[i] == signature[i])) {
      out.part = argument(i);
      out.was = text_of(was[i]);
      out.now = text_of(signature[i]);
    }
  return out;
}

Ref<TracedCode::Trace> TracedCode::make(std::vector<Type> signature,
                                        std::span<const Tensor> arguments) {
  auto begin = std::chrono::steady_clock::now();
  const std::vector<Type>* nearest = nullptr;
  Retrace why = kept_->difference(signature, nearest);
  if (nearest && options_.reduce_retracing)
    for (Dimension d : kept_->history.relax(*nearest, signature))
      why.relaxed.push_back(cat(argument(d.tensor), " dimension ", d.axis));
  Host host(*this, signature);
  Ref<ConcreteFunction> function = make_trace(host, arguments).function;
  function->set_state(std::move(host.state));
  auto made = make_ref<Trace>(std::move(signature), std::move(function));
  auto dropped = kept_->traces.add(made, [](const Trace&) { return false; });
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  why.milliseconds = spent.count();
  kept_->history.note(std::move(why));
  return made;
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
