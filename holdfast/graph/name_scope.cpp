#include "holdfast/graph/name_scope.h"

#include "holdfast/graph/trace.h"

namespace holdfast {

std::string name_scope_prefix(const std::string& name) {
  if (name.empty() || name.back() == '/') return name;
  std::string whole = context().name_scope + name;
  Tracer* t = current_trace();
  return (t ? t->graph()->unique_name(whole) : whole) + "/";
}

std::string current_name_scope() {
  const std::string& now = context().name_scope;
  return now.empty() ? now : now.substr(0, now.size() - 1);
}

NameScope::NameScope(const std::string& name)
    : name_(name_scope_prefix(name)), was_(context().name_scope) {
  context().name_scope = name_;
}
NameScope::~NameScope() { context().name_scope = was_; }

}  // namespace holdfast
