#include "holdfast/exec/init_scope.h"

#include "holdfast/graph/trace.h"

namespace holdfast {

Lifted::Lifted() : interpreter_(context().interpreter), lifted_(context().lifted) {
  Context& c = context();
  if (c.interpreter) c.lifted = here();
  c.interpreter = nullptr;
}

Lifted::~Lifted() {
  context().interpreter = interpreter_;
  context().lifted = lifted_;
}

void InitScope::enter() {
  graph_ = Ref<OpenGraph>(root_graph());
  if (!graph_) {
    lifted_.emplace();
    return;
  }
  std::string names = context().name_scope;
  within_.emplace(graph_);
  context().name_scope = std::move(names);
  graph_->tracer().push_control({}, true);
}

InitScope::~InitScope() {
  if (graph_) graph_->tracer().pop_control();
}

OpenGraph* root_graph() {
  Tracer* t = current_trace();
  const Scope* s = t ? t->graph()->scope.get() : nullptr;
  while (s && s->parent) s = s->parent.get();
  auto* root = s ? dynamic_cast<Tracer*>(s->interpreter) : nullptr;
  return root ? dynamic_cast<OpenGraph*>(root->home()) : nullptr;
}

}  // namespace holdfast
