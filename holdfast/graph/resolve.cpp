// Decides every use of a tensor: in the graph that is being written, or as a value.
#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/refuse.h"

namespace holdfast {
namespace {

const char* kind_text(ScopeKind k) {
  switch (k) {
    case ScopeKind::kFunction: return "function";
    case ScopeKind::kBranch: return "branch";
    case ScopeKind::kLoop: return "loop";
    case ScopeKind::kGraph: return "graph";
    case ScopeKind::kBuild: return "layer's build";
    case ScopeKind::kDataset: return "dataset's function";
    case ScopeKind::kMap: return "mapped function";
  }
  return "scope";
}

// The function around a branch or a loop's body.
const Scope* function_around(const Scope* s) {
  while (s->parent && (s->kind == ScopeKind::kBranch || s->kind == ScopeKind::kLoop)) s = s->parent.get();
  return s;
}

void tell_branch(Diagnostic& d, const Scope& s, const std::string& name) {
  d.code = Code::E0104;
  d.headline = cat("`", name, "` was made in a branch, and is used after it");
  d.labels.push_back({Role::kPlaced, locate(s.opened), cat("the branch: only one side of it runs"), false});
  d.why = cat("only the branch `", s.name, "` computes `", name, "`; after it, nobody knows which branch ran");
  d.fixes.push_back(manual_fix(cat("return `", name, "` from both branches, the other one giving e.g. `", module_alias(), ".zeros(...)`")));
}

void tell_loop(Diagnostic& d, const Scope& s, const std::string& name) {
  d.code = Code::E0103;
  d.headline = cat("`", name, "` was made in a loop's body, and is used after the loop");
  d.labels.push_back({Role::kPlaced, locate(s.opened), "the loop", false});
  d.why = cat("the body gives one value per iteration, so after the loop `", name, "` is not one tensor");
  d.fixes.push_back(manual_fix(cat("collect them: `ta = ta.write(i, ", name, ")` in the body, `ta.stack()` after the loop")));
}

void tell_map(Diagnostic& d, const Scope& s, const std::string& name) {
  d.code = Code::E0114;
  d.headline = cat("`", name, "` is one example's value inside `", s.name, "`; it has no value here");
  d.labels.push_back({Role::kPlaced, locate(s.opened), "mapped here", false});
  d.why = cat("`", s.name, "` is written once and run for all examples together, so `", name, "` stands for many values");
  d.fixes.push_back(manual_fix(cat("return it from `", s.name, "`")));
}

void tell_function(Diagnostic& d, const Scope& s, const std::string& name) {
  d.code = Code::E0101;
  d.headline = cat("`", name, "` belongs to the finished ", kind_text(s.kind), " `", s.name, "`; it has no value here");
  if (s.closed) d.labels.push_back({Role::kClosed, locate(s.closed), cat("traced here", s.trace_no ? cat(" (trace ", s.trace_no, ")") : ""), false});
  if (s.runs == 0) {
    d.why = cat("`", s.name, "` was traced but never called, so nothing has computed `", name, "`");
    d.fixes.push_back(manual_fix(cat("call `", s.name, "(...)` first")));
  } else {
    d.why = cat("`", name, "` left `", s.name, "` on a way that its later calls do not repeat; its value is that of the first call");
    d.fixes.push_back(manual_fix(cat("hand it out on each call: `", module_alias(), ".keep(", name, ")`")));
  }
  d.fixes.push_back(manual_fix(cat("return it from `", s.name, "`")));
}

// Asked for a value while its trace is still being written.
void tell_open(Diagnostic& d, const Scope& s, const std::string& name) {
  const Scope* f = function_around(&s);
  if (context().lifted) {
    d.code = Code::E0109;
    d.headline = cat("`", name, "` belongs to `", f->name, "`, and this runs outside of it");
    d.labels.push_back({Role::kPlaced, locate(context().lifted), "code in here runs once, at build time", false});
    d.why = cat("`init_scope` runs once, at build time, when `", name, "` has no value");
    d.fixes.push_back(manual_fix(cat("move `", name, "` into the scope, or the use out of it")));
    return;
  }
  d.code = Code::E0203;
  if (f->kind == ScopeKind::kGraph) {
    d.headline = cat("`", name, "` has no value: it is part of the graph `", f->name, "`");
    d.why = cat("a graph writes ops down, and a session computes them; `", name, "` is a recipe and not a number");
    d.fixes.push_back(manual_fix(cat("run it in a session: `sess.run(", name, ")`")));
    return;
  }
  d.headline = cat("`", name, "` has no value yet: `", f->name, "` is being traced");
  d.why = cat("this runs once, while tracing `", f->name, "`, when `", name, "` is a recipe and not a number");
  d.fixes.push_back(manual_fix(cat("run the code that needs the number in a `py_function`, with the dtypes of its results")));
}

}  // namespace

bool has_value(const Tensor& t) {
  if (!t.is_symbolic()) return true;
  const Symbol& s = *symbol_of(t);
  return s.first && (s.kept || s.scope->runs <= 1);
}

Tensor value(const Tensor& t, const std::string& name) {
  if (!t.is_symbolic()) return t;
  if (has_value(t)) return symbol_of(t)->first;
  raise(lost(t, name));
}

Diagnostic lost(const Tensor& t, const std::string& given) {
  const Scope& s = *symbol_of(t)->scope;
  std::string name = given.empty() ? node_of(t)->name : given;
  Diagnostic d;
  d.subject = describe(t, name);
  d.subject.owner = {kind_text(s.kind), s.name, locate(s.defined ? s.defined : s.opened), s.trace_no, s.open() ? "open" : "closed", locate(s.closed)};
  d.labels.push_back({Role::kBorn, locate(t.born()), cat("born here: ", type_text(t), " from ", t.rep()->op, ", in ", function_around(&s)->name), false});
  d.labels.push_back(used_here(s.open() ? "used here" : "used here, after it was finished"));
  if (s.open()) tell_open(d, s, name);
  else if (s.kind == ScopeKind::kBranch) tell_branch(d, s, name);
  else if (s.kind == ScopeKind::kLoop) tell_loop(d, s, name);
  else if (s.kind == ScopeKind::kMap) tell_map(d, s, name);
  else tell_function(d, s, name);
  return d;
}

// A branch or a body gets variables, and values older than itself, from the graph around it: there a gradient
// sees them, and a function can give others in their place.
bool Tracer::from_around(const Tensor& t) const {
  const Scope& s = *graph_->scope;
  bool part = s.kind == ScopeKind::kBranch || s.kind == ScopeKind::kLoop;
  if (!part || !s.parent || !s.parent->open()) return false;
  return t.dtype() == DType::kResource || t.id() < first_id_;
}

Edge Tracer::resolve(const Tensor& t, const std::string& name) {
  if (!t.is_symbolic()) {
    if (!from_around(t)) return constant(t);
    dynamic_cast<Tracer*>(graph_->scope->parent->interpreter)->resolve(t, name);
    return capture(t);
  }
  const Scope* owner = symbol_of(t)->scope.get();
  if (owner == graph_->scope.get()) {
    Edge e = edge_of(t);
    if (copies_) if (auto it = copies_->find(e.node.get()); it != copies_->end()) e.node = it->second;
    return e;
  }
  if (!owner->open()) return constant(value(t, name));
  if (!graph_->scope->inside(owner)) {
    const Scope& here = *graph_->scope;
    Diagnostic d = lost(t, name);
    d.code = Code::E0110;
    d.headline = cat("`", d.subject.name, "` belongs to the graph `", owner->name, "`, and is used in `", here.name, "`");
    d.why = "neither graph is inside the other, so neither can use the other's values";
    d.fixes = {manual_fix(cat("make it under the same graph, `with ", here.name, ".as_default():`, or give it as an argument"))};
    raise(std::move(d));
  }
  // Level by level: what the scope around us must capture too, it captures first.
  if (const Scope* parent = graph_->scope->parent.get(); parent != owner)
    if (auto* around = dynamic_cast<Tracer*>(parent->interpreter)) around->resolve(t, name);
  return capture(t);
}

}  // namespace holdfast
