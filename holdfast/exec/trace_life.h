// The life of a trace, the same in every language: it begins, the code runs on symbols, it ends and
// becomes a function, or it fails and leaves nothing behind.
#pragma once

#include <optional>

#include "holdfast/exec/concrete.h"
#include "holdfast/exec/watched.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/variable.h"

namespace holdfast {

/// What a language does for the traces of one piece of code.
class HOLDFAST_API TraceHost {
 public:
  virtual ~TraceHost() = default;
  /// A graph to write into, of which the host keeps the tracer. Called once for each attempt.
  virtual Tracer& begin() = 0;
  /// Runs the code on symbols, which it asks the tracer for, and gives the outputs of the graph:
  /// what the code returns, then what its stores need. Nothing where the code has to run again from
  /// its beginning, in another form. When it is back, only the program may hold symbols.
  virtual std::optional<Tensors> run_body(Tracer& tracer) = 0;
  /// The graph is whole and closed. The last word on its captures: which of them are places that
  /// each call reads anew. `final`: no further attempt follows.
  virtual void ended(Tracer& tracer, bool final) = 0;
  /// Throws: `v`, one of those that every attempt makes, is held by something that outlives it.
  [[noreturn]] virtual void refuse(const Variable& v) = 0;
};

/// What is left of a trace.
struct Traced {
  Ref<ConcreteFunction> function;
  std::vector<Tensor> leaked;  // symbols that the program still holds
  Ref<TraceFacts> facts;       // what it went by on objects of C++; null for nothing
};

/// Traces the host's code for a call with these tensors; none, or empty ones, for types alone.
///
/// Code that makes variables which outlive the trace is traced again: if it was to make them once
/// and for all, it finds them there. If it makes them again, a program would get new ones on each
/// call, or never: that is refused.
HOLDFAST_API Traced make_trace(TraceHost& host, std::span<const Tensor> inputs);

}  // namespace holdfast
