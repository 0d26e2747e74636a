#include "holdfast/graph/call_effects.h"

#include <algorithm>

#include "holdfast/graph/open_graph.h"
#include "holdfast/ops/array.h"

namespace holdfast {
namespace {

// While it lives, what is added to the graph runs after `nodes`.
class After {
 public:
  After(Tracer& tracer, std::vector<Ref<Node>> nodes) : tracer_(tracer) {
    tracer_.push_control(std::move(nodes));
  }
  ~After() { tracer_.pop_control(); }
  After(const After&) = delete;

 private:
  Tracer& tracer_;
};

}  // namespace

EffectsOfCall::EffectsOfCall(std::string name) : name_(std::move(name)) {
  if (!current_graph()) return;
  tracer_ = current_trace();
  const auto& nodes = tracer_->graph()->nodes;
  last_ = nodes.empty() ? nullptr : nodes.back().get();
}

std::vector<Ref<Node>> EffectsOfCall::found() const {
  std::vector<Ref<Node>> out;
  const auto& nodes = tracer_->graph()->nodes;
  for (size_t i = nodes.size(); i-- > 0 && nodes[i].get() != last_;) {
    const Node& n = *nodes[i];
    // What a generator draws for nobody changes nothing that anybody could see.
    if (n.op->traits.stateful && !n.state) out.push_back(nodes[i]);
  }
  // What variables begin with is assigned when they are initialised, not by each call.
  for (const OpenGraph::Held& held : current_graph()->variables()) std::erase(out, held.assign);
  std::reverse(out.begin(), out.end());
  return out;
}

Tensors EffectsOfCall::bound(std::span<const Tensor> results) {
  Tensors out(results);
  if (!tracer_ || current_trace() != tracer_) return out;
  std::vector<Ref<Node>> effects = found();
  if (effects.empty()) return out;
  bool any = false;
  {
    After all(*tracer_, effects);
    for (Tensor& t : out) {
      if (!t.defined() || t.dtype() == DType::kResource || t.dtype() == DType::kVariant) continue;
      t = identity(t);
      any = true;
    }
  }
  if (!any) current_graph()->group(std::move(effects), name_);
  return out;
}

}  // namespace holdfast
