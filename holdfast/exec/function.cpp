#include "holdfast/exec/function.h"

#include <algorithm>
#include <chrono>

#include "holdfast/base/text.h"
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

Tensors TracedCode::call(std::span<const Tensor> arguments) {
  bool tracing = context().interpreter != nullptr;
  for (const Tensor& t : arguments) tracing = tracing || (t && t.is_symbolic());
  if (tracing) {  // its ops join the trace around it
    EffectsOfCall effects(options_.name);
    return effects.bound(body_(arguments));
  }
  return find(arguments)->call_as_traced(arguments);
}

Ref<ConcreteFunction> TracedCode::find(std::span<const Tensor> arguments) {
  std::lock_guard lock(mutex_);
  for (auto it = traces_.begin(); it != traces_.end(); ++it) {
    if (!serves(it->signature, arguments)) continue;
    if (it != traces_.begin()) traces_.splice(traces_.begin(), traces_, it);
    return traces_.front().function;
  }
  std::vector<Type> signature;
  for (const Tensor& t : arguments) signature.push_back({t.dtype(), t.shape()});
  return trace(signature);
}

Ref<ConcreteFunction> TracedCode::concrete(const std::vector<Type>& signature) {
  std::lock_guard lock(mutex_);
  for (const Trace& t : traces_)
    if (t.signature == signature) return t.function;
  return trace(signature);
}

Retrace TracedCode::difference(const std::vector<Type>& signature,
                               const std::vector<Type>*& nearest) const {
  Retrace out;
  if (traces_.empty()) return out;
  auto alike = std::find_if(traces_.begin(), traces_.end(),
                            [&](const Trace& t) { return same_dtypes(t.signature, signature); });
  bool sizes = alike != traces_.end();
  const std::vector<Type>& was = sizes ? alike->signature : traces_.front().signature;
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

Ref<ConcreteFunction> TracedCode::trace(std::vector<Type> signature) {
  auto begin = std::chrono::steady_clock::now();
  const std::vector<Type>* nearest = nullptr;
  Retrace made = difference(signature, nearest);
  if (nearest && options_.reduce_retracing)
    for (Dimension d : history_.relax(*nearest, signature))
      made.relaxed.push_back(cat(argument(d.tensor), " dimension ", d.axis));
  auto scope = make_ref<Scope>(ScopeKind::kFunction, options_.name, nullptr);
  scope->trace_no = static_cast<int>(history_.count()) + 1;
  auto graph = make_ref<Graph>(scope);
  {
    Tracer tracer(graph);
    Tracing tracing(tracer, true);
    std::vector<Tensor> arguments;
    for (const Type& t : signature) arguments.push_back(tracer.input(t.dtype, t.shape, "argument"));
    Tensors results = body_(arguments);
    for (const Tensor& t : results) graph->outputs.push_back(t ? tracer.resolve(t) : Edge{});
  }
  traces_.push_front({std::move(signature), make_ref<ConcreteFunction>(graph)});
  if (traces_.size() > options_.most_traces) traces_.pop_back();
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  made.milliseconds = spent.count();
  history_.note(std::move(made));
  return traces_.front().function;
}

std::string TracedCode::trace_report() const {
  std::lock_guard lock(mutex_);
  return history_.report();
}

size_t TracedCode::traces() const {
  std::lock_guard lock(mutex_);
  return traces_.size();
}

}  // namespace holdfast
