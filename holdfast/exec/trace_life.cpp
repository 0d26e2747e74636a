#include "holdfast/exec/trace_life.h"

#include "holdfast/exec/creations.h"

namespace holdfast {
namespace {

struct Attempt {
  Traced traced;
  std::vector<Variable> made;  // variables that outlive it
};

// Nothing where the code has to run again. `last`: whether variables may not be made any more.
std::optional<Attempt> attempt(TraceHost& host, std::span<const Tensor> inputs, bool last) {
  Tracer& tracer = host.begin();
  struct Closing {  // also where the code throws: no line has finished it then
    Tracer& tracer;
    bool finished = false;
    ~Closing() {
      tracer.close();
      if (!finished) tracer.scope()->closed = nullptr;
    }
  } closing{tracer};
  Creations creations(tracer, inputs);
  Ref<TraceFacts> facts;
  {
    Tracing in(tracer, true);
    WatchRecord watching;
    std::optional<Tensors> outputs = host.run_body(tracer);
    facts = watching.finish();
    if (!outputs) {
      closing.finished = true;
      return std::nullopt;
    }
    std::vector<Edge> edges;
    for (const Tensor& t : *outputs) edges.push_back(t.defined() ? tracer.resolve(t) : Edge{});
    tracer.graph()->outputs = std::move(edges);
  }
  tracer.close();
  Attempt out{{}, creations.survivors()};
  out.traced.facts = std::move(facts);
  if (last && !out.made.empty()) host.refuse(out.made.front());
  if (Variable lost = creations.kept_by_graph(); lost.defined()) host.refuse(lost);
  host.ended(tracer, out.made.empty());
  out.traced.leaked = std::exchange(tracer.leaked, {});
  out.traced.function = make_ref<ConcreteFunction>(tracer.graph());
  if (creations.locals()) out.traced.function->run_alone();
  closing.finished = true;
  return out;
}

Attempt settled(TraceHost& host, std::span<const Tensor> inputs, bool last) {
  for (;;)
    if (std::optional<Attempt> out = attempt(host, inputs, last)) return std::move(*out);
}

}  // namespace

Traced make_trace(TraceHost& host, std::span<const Tensor> inputs) {
  {
    Attempt first = settled(host, inputs, false);
    if (first.made.empty()) return std::move(first.traced);
  }
  return settled(host, inputs, true).traced;
}

}  // namespace holdfast
