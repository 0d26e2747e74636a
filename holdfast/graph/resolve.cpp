// Decides every use of a tensor: in the graph that is being written, or as a value.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"
#include "holdfast/op/stand_in.h"

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
  while (s->parent && (s->kind == ScopeKind::kBranch || s->kind == ScopeKind::kLoop))
    s = s->parent.get();
  return s;
}

// A value of the same kind for the side that computes none.
std::string other_value(const TensorInfo& t, const Tensor& like) {
  if (!like.shape().is_full()) return cat("a ", t.dtype, t.shape, " of its own");
  return cat("`", written(Advice::kZeros, {written(like.shape().dims()), written(like.dtype())}),
             "`");
}

// The side of a statement in the program's words; empty for a function that is a side.
std::string side_of_statement(const Scope& s) {
  for (const char* word : {"if", "else"})
    for (const char* between : {" in line ", " of line "})
      if (std::string begin = cat(word, between); s.name.starts_with(begin))
        return cat("the `", word, "` side of line ", s.name.substr(begin.size()));
  return "";
}

void tell_branch(Diagnostic& d, const Scope& s, const std::string& name, const Tensor& t) {
  d.code = Code::E0104;
  d.headline = cat("`", name, "` was made in a branch, and is used after it");
  d.labels.push_back(
      {Role::kPlaced, locate(s.opened), "the branch: when it runs, only one side is taken", false});
  const std::string side = side_of_statement(s);
  d.why = cat("only ", side.empty() ? cat("the side `", s.name, "`") : side, " computes `", name,
              "`, and after the branch nobody knows which side was taken");
  d.fixes.push_back(manual_fix(
      !side.empty()
          ? cat("set `", name, "` in both branches: the other side sets it to ",
                other_value(d.subject, t))
          : cat("return it from both branches; the other side gives ", other_value(d.subject, t))));
}

void tell_loop(Diagnostic& d, const Scope& s, const std::string& name) {
  d.code = Code::E0103;
  d.headline = cat("`", name, "` was made in a loop's body, and is used after the loop");
  d.labels.push_back({Role::kPlaced, locate(s.opened), "the loop", false});
  d.why = cat("the body makes one value per iteration, so after the loop `", name,
              "` is not one tensor");
  d.fixes.push_back(manual_fix(cat("carry ", written(Advice::kCollect))));
}

// Where it is used, seen from the scope that owns it.
std::string place_of_use(const Scope& s) {
  if (s.open()) return "";
  if (s.kind == ScopeKind::kBranch) return "after the branch";
  if (s.kind == ScopeKind::kLoop) return "after the loop";
  Interpreter* writes = context().interpreter;
  if (!writes) return kEagerCode;
  const Scope* by = writes->scope() ? function_around(writes->scope()) : nullptr;
  return by ? cat("in the ", kind_text(by->kind), " `", by->name, "`") : "in another trace";
}

void tell_map(Diagnostic& d, const Scope& s, const std::string& name) {
  d.code = Code::E0114;
  d.headline =
      cat("`", name, "` is one example's value inside `", s.name, "`; it has no value here");
  d.labels.push_back({Role::kPlaced, locate(s.opened), "mapped here", false});
  d.why = cat("`", s.name, "` is written once and run for all examples together, so `", name,
              "` stands for many values");
  d.fixes.push_back(manual_fix(cat("return it from `", s.name, "`")));
}

// Hands the value out where it is made, with the edit where its text is on one line.
Fix keep_fix(const Scope& s, const Loc& born) {
  auto begin = static_cast<size_t>(std::max(born.col_begin, 0)),
       end = static_cast<size_t>(std::max(born.col_end, 0));
  if (born.col_begin < 0 || end <= begin || end > born.source.size())
    return manual_fix(cat("hand it out on each call: wrap it in `", written(Advice::kKeep, {"..."}),
                          "` inside `", s.name, "`"));
  std::string text = born.source.substr(begin, end - begin),
              wrapped = written(Advice::kKeep, {text});
  return {"hand it out where it is made; each call refreshes it",
          Applicability::kMaybe,
          {{born.file, born.line, born.col_begin, text, wrapped}}};
}

// How the program can call a traced function where it is now.
std::string callable_name(const Scope& s) {
  std::string seen = s.kind == ScopeKind::kFunction ? visible_name(s) : "";
  return seen.empty() ? s.name : seen;
}

// A function that the traced one calls, where a line of that made the value: `"inner, traced with
// "`.
std::string helper_of(const Scope& s, const Loc& born) {
  constexpr std::string_view kName =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const std::string& who = born.qualname;
  const size_t dot = who.rfind('.');
  const std::string function = dot == std::string::npos ? who : who.substr(dot + 1);
  const std::string owner = dot == std::string::npos ? "" : who.substr(0, dot);
  if (function.empty() || function.find_first_not_of(kName) != std::string::npos)
    return "";  // a lambda, a module, a function with a signature
  const bool own = function == s.name || owner == s.name || owner.ends_with("." + s.name);
  return own ? "" : function + ", traced with ";
}

void tell_function(Diagnostic& d, const Scope& s, const std::string& name) {
  d.code = Code::E0101;
  std::string trace = s.trace_no ? cat(" (trace ", s.trace_no, ")") : "";
  if (s.runs == 0 && s.kind == ScopeKind::kFunction && !s.closed) {
    d.headline = cat("`", name, "` belongs to the function `", s.name, "`, whose trace failed");
    d.why = cat("an exception ended `", s.name, "` while it was traced", trace,
                ", so nothing has computed `", name, "`");
    d.fixes.push_back(manual_fix(cat("let `", s.name, "` come to its end, and return it")));
    return;
  }
  if (s.kind == ScopeKind::kBuild) {
    d.headline = cat("`", name, "` was made while layer `", s.name, "` was put into a model");
    if (s.closed)
      d.labels.push_back({Role::kClosed, locate(s.closed),
                          cat("layer `", s.name, "` was called on a symbol"), false});
    d.why = cat("the code of `", s.name, "` ran for a symbol there, and `", name,
                "` is a recipe of that run: no call of the model computes it");
    d.fixes.push_back(manual_fix(cat("call the model, and read what `", s.name, "` keeps then")));
    d.fixes.push_back(
        manual_fix(cat("or return it from `", s.name, "`, and make it an output of the model")));
    return;
  }
  if (s.runs == 0) {
    std::string seen = callable_name(s);
    // `net.step` says that it is `step`; of another name it is told whose it is.
    const bool same = seen == s.name || seen.ends_with("." + s.name) || s.name.starts_with("<");
    d.headline = same ? cat("`", name, "` belongs to the ", kind_text(s.kind), " `", seen,
                            "`, which never ran; it has no value")
                      : cat("`", name, "` belongs to `", seen, "` (", kind_text(s.kind), " `",
                            s.name, "`), which never ran");
    constexpr size_t kLongest = 100 - sizeof("error[E0101]: ");
    if (d.headline.size() > kLongest)
      d.headline = cat("`", name, "` has no value: `", seen, "` never ran");
    if (s.closed)
      d.labels.push_back(
          {Role::kClosed, locate(s.closed), cat("traced here", trace, ", not called"), false});
    d.why = cat("`", s.name, "` was traced but never called, so nothing has computed `", name, "`");
    d.fixes.push_back(manual_fix(cat("call `", callable_name(s), "(...)` first")));
  } else {
    d.headline = cat("`", name, "` belongs to the finished ", kind_text(s.kind), " `", s.name,
                     "`; it has no value here");
    if (s.closed)
      d.labels.push_back({Role::kClosed, locate(s.closed), cat("traced here", trace), false});
    d.why = cat("it left `", s.name,
                "` in a way that calls can't repeat, so it knows its first value only; there were ",
                s.runs.load(), s.runs.load() == 1 ? " call" : " calls");
    d.fixes.push_back(keep_fix(s, d.subject.born));
  }
  d.fixes.push_back(manual_fix(cat("or return it from `", s.name, "`")));
}

// Asked for a value while its trace is still being written.
void tell_open(Diagnostic& d, const Scope& s, const std::string& name, const std::string& code,
               bool argument) {
  const Scope* f = function_around(&s);
  if (context().lifted) {
    d.code = Code::E0109;
    d.headline = cat("`", name, "` is computed by `", f->name,
                     "`; code of an `init_scope` runs before that");
    d.labels.push_back(
        {Role::kPlaced, locate(context().lifted), "code in here runs once, at build time", false});
    d.why = cat("the code in here runs once, at build time, and `", name,
                "` gets a value whenever `", f->name, "` runs");
    // An argument is made by the call, which is no line that could move.
    d.fixes.push_back(manual_fix(
        argument ? cat("move the use of `", name, "` out of the scope, below it")
                 : cat("make `", name, "` inside the scope too, or move its use below the scope")));
    return;
  }
  d.code = Code::E0203;
  if (f->kind == ScopeKind::kGraph) {
    d.headline = cat("`", name, "` has no value: it is part of the graph `", f->name, "`");
    d.why = cat("a graph writes ops down, and a session computes them; `", name,
                "` is a recipe and not a number");
    d.fixes.push_back(
        manual_fix(cat("run it in a session: `", written(Advice::kRunInSession, {code}), "`")));
    return;
  }
  d.headline = cat("`", name, "` has no value yet: `", f->name, "` is being traced");
  d.why = cat("this runs once, while tracing `", f->name, "`, when `", name,
              "` is a recipe and not a number");
  d.fixes.push_back(manual_fix(written(Advice::kLookAtNumbers)));
}

}  // namespace

bool has_value(const Tensor& t) {
  if (!t.is_symbolic()) return true;
  const Symbol& s = *symbol_of(t);
  return s.first.defined() && (s.kept || s.scope->runs <= 1);
}

Tensor value(const Tensor& t, const std::string& name) {
  if (!t.is_symbolic()) return t;
  if (has_value(t)) return symbol_of(t)->first;
  raise(lost(t, name));
}

Diagnostic lost(const Tensor& t, const std::string& given) {
  const Scope& s = *symbol_of(t)->scope;
  std::string name = given.empty() ? source_text(t.born()) : given;
  if (name.empty()) name = node_of(t)->name;
  Label used = used_here("used here");
  used.place = place_of_use(s);
  const Holder holder = s.open() ? Holder() : holder_of(t, name, used.loc);
  if (holder.is_meant) name = holder.path;
  Diagnostic d;
  d.subject = describe(t, name);
  d.subject.holder_path = holder.path;
  d.subject.owner = {kind_text(s.kind),
                     s.name,
                     locate(s.defined ? s.defined : s.opened),
                     s.trace_no,
                     s.open() ? "open" : "closed",
                     locate(s.closed)};
  const Scope* f = function_around(&s);
  std::string whose = f == &s ? s.name : cat(s.name, ", a ", kind_text(s.kind), " of ", f->name);
  const bool argument = node_of(t)->op == &placeholder_op();
  if (f == &s && s.kind == ScopeKind::kFunction && !argument)
    whose = cat(helper_of(s, d.subject.born), whose);
  if (std::string side = side_of_statement(s); !side.empty())
    whose = cat(side, ", a branch of ", f->name);
  std::string made = cat(" from ", t.rep()->op, ", in ", whose);
  if (argument)
    made = s.kind == ScopeKind::kLoop ? cat(", what an iteration of ", whose, " begins with")
                                      : cat(", an argument of ", whose);
  if (!holder.path.empty() && holder.path != name) made += cat("; held by `", holder.path, "`");
  d.labels.push_back(
      {Role::kBorn, locate(t.born()), cat("born here: ", type_text(t), made), false});
  d.labels.push_back(std::move(used));
  if (s.open())
    tell_open(d, s, name, in_code(t.born(), given), argument);
  else if (s.kind == ScopeKind::kBranch)
    tell_branch(d, s, name, t);
  else if (s.kind == ScopeKind::kLoop)
    tell_loop(d, s, name);
  else if (s.kind == ScopeKind::kMap)
    tell_map(d, s, name);
  else
    tell_function(d, s, name);
  return d;
}

// A trace lasts, and would go on with a value of now where each call of its owner leaves another.
[[noreturn]] static void stale_later(const Tensor& t, const std::string& name, const Scope& here) {
  const Scope& owner = *symbol_of(t)->scope;
  Diagnostic d = lost(t, name);
  const std::string& what = d.subject.name;
  d.why = cat("`", here.name, "` is traced once, and would go on with the value that `", owner.name,
              "` has left by now, whatever later calls of `", owner.name, "` leave");
  const std::string given = cat("to `", here.name, "` as an argument");
  d.fixes = {manual_fix(symbol_of(t)->kept
                            ? cat("give `", what, "` ", given)
                            : cat("return it from `", owner.name, "`, and give it ", given))};
  raise(std::move(d));
}

// A branch or a body gets variables, and values older than itself, from the graph around it: there
// a gradient sees them, and a function can give others in their place.
bool Tracer::from_around(const Tensor& t) const {
  const Scope& s = *graph_->scope;
  // So does a function that is mapped: it is called where it was written, with what is around it.
  if (s.kind == ScopeKind::kMap) return t.dtype() != DType::kResource && t.id() < first_id_;
  bool part = s.kind == ScopeKind::kBranch || s.kind == ScopeKind::kLoop;
  if (!part || !s.parent || !s.parent->open()) return false;
  return t.dtype() == DType::kResource || t.id() < first_id_;
}

Edge Tracer::resolve(const Tensor& t, const std::string& name) {
  if (!t.is_symbolic()) {
    if (!from_around(t)) return constant(t);
    const Scope* parent = graph_->scope->parent.get();
    if (auto* around = dynamic_cast<Tracer*>(parent ? parent->interpreter : nullptr))
      around->resolve(t, name);
    return capture(t);
  }
  const Scope* owner = symbol_of(t)->scope.get();
  if (owner == graph_->scope.get()) {
    Edge e = edge_of(t);
    if (copies_)
      if (auto it = copies_->find(e.node.get()); it != copies_->end()) e.node = it->second;
    return e;
  }
  if (!owner->open()) {
    const Scope* here = function_around(graph_->scope.get());
    const bool lasts = here->kind == ScopeKind::kFunction || here->kind == ScopeKind::kDataset;
    // What an earlier trace of the same function left is there for every call of this one.
    const bool own = here->defined && function_around(owner)->defined == here->defined;
    if (lasts && !own && has_value(t)) stale_later(t, name, *here);
    return constant(value(t, name));
  }
  if (!graph_->scope->inside(owner)) {
    Tensors values;
    if (auto replace = stand_ins().replace; replace && replace({&t, 1}, values))
      return resolve(values[0], name);
    if (auto refuse = stand_ins().refuse) refuse(t);
    const Scope &side = *graph_->scope, &here = *function_around(&side);
    Diagnostic d = lost(t, name);
    d.code = Code::E0110;
    std::string theirs = visible_name(*owner), ours = visible_name(here);
    if (theirs.empty()) theirs = cat(d.subject.name, "'s ", owner->name);
    bool usable = !ours.empty() && here.kind == ScopeKind::kGraph;
    if (ours.empty()) ours = here.name;
    d.headline = cat("`", d.subject.name, "` belongs to the ", kind_text(owner->kind), " `", theirs,
                     "`, and is used in `", ours, "`");
    if (&side != &here)
      for (Label& label : d.labels)
        if (label.primary) label.place = cat("by `", side.name, "` of `", ours, "`");
    d.labels.push_back({Role::kPlaced, locate(owner->opened),
                        cat(kind_text(owner->kind), " `", theirs, "` begins here"), false});
    d.labels.push_back({Role::kPlaced, locate(here.opened),
                        cat(kind_text(here.kind), " `", ours, "` begins here"), false});
    d.why = "neither graph is inside the other, so neither can use the other's values";
    d.fixes = {manual_fix(usable ? cat("make it under the same graph, `",
                                       written(Advice::kEnterGraph, {ours}),
                                       "`, or give it as an argument")
                                 : cat("give it to `", ours, "` as an argument"))};
    raise(std::move(d));
  }
  // Level by level: what the scope around us must capture too, it captures first.
  if (const Scope* parent = graph_->scope->parent.get(); parent != owner)
    if (auto* around = dynamic_cast<Tracer*>(parent->interpreter)) around->resolve(t, name);
  return capture(t);
}

}  // namespace holdfast
