#include "holdfast/exec/function.h"

#include "holdfast/graph/call_effects.h"

namespace holdfast {
namespace {

bool fits(const std::vector<Type>& signature, std::span<const Tensor> arguments) {
  if (signature.size() != arguments.size()) return false;
  for (size_t i = 0; i < signature.size(); ++i)
    if (signature[i].dtype != arguments[i].dtype() || !(signature[i].shape == arguments[i].shape()))
      return false;
  return true;
}

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
    if (!fits(it->signature, arguments)) continue;
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

Ref<ConcreteFunction> TracedCode::trace(const std::vector<Type>& signature) {
  auto scope = make_ref<Scope>(ScopeKind::kFunction, options_.name, nullptr);
  scope->trace_no = ++traced_;
  auto graph = make_ref<Graph>(scope);
  {
    Tracer tracer(graph);
    Tracing tracing(tracer, true);
    std::vector<Tensor> arguments;
    for (const Type& t : signature) arguments.push_back(tracer.input(t.dtype, t.shape, "argument"));
    Tensors results = body_(arguments);
    for (const Tensor& t : results) graph->outputs.push_back(t ? tracer.resolve(t) : Edge{});
  }
  traces_.push_front({signature, make_ref<ConcreteFunction>(graph)});
  if (traces_.size() > options_.most_traces) traces_.pop_back();
  return traces_.front().function;
}

size_t TracedCode::traces() const {
  std::lock_guard lock(mutex_);
  return traces_.size();
}

}  // namespace holdfast
