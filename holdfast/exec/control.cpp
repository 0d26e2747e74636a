#include "holdfast/exec/control.h"

#include "holdfast/base/interrupt.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/branch_terms.h"
#include "holdfast/exec/control_ops.h"
#include "holdfast/exec/plan.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

Ref<Scope> scope_here(ScopeKind kind, const std::string& name) {
  Tracer* around = current_trace();
  return make_ref<Scope>(kind, name, around ? around->graph()->scope : nullptr);
}

// Makes sure that ops go to the graph that owns `t`, also on a thread that is not tracing.
class InGraphOf {
 public:
  explicit InGraphOf(const Tensor& t) {
    if (current_trace() || !t.is_symbolic()) return;
    if (auto* tracer = dynamic_cast<Tracer*>(symbol_of(t)->scope->interpreter))
      inside_.emplace(*tracer, false);
  }

 private:
  std::optional<Tracing> inside_;
};

// What a body gives. Its lines are its own: afterwards the line of the statement executes again.
template <class F, class... Args>
Tensors traced(const F& body, const Args&... args) {
  AtSite statement(here());
  return body(args...);
}

// What has to run before a branch or a loop: what its parts wait for. An op of the graph that is
// written waits itself, one further out makes the part around us wait.
class Waiting {
 public:
  explicit Waiting(const std::vector<Tracer::Wait>& waits) : tracer_(current_trace()) {
    if (!tracer_) return;  // ops go to a model, in which nothing waits
    std::vector<Ref<Node>> here;
    for (const Tracer::Wait& w : waits) {
      if (w.scope == tracer_->graph()->scope)
        here.push_back(w.node);
      else
        tracer_->wait_for(w);
    }
    tracer_->push_control(std::move(here));
  }
  ~Waiting() {
    if (tracer_) tracer_->pop_control();
  }
  Waiting(const Waiting&) = delete;

 private:
  Tracer* tracer_;
};

void add_waits(const Tracer& from, std::vector<Tracer::Wait>& to) {
  to.insert(to.end(), from.waits().begin(), from.waits().end());
}

// One side of a condition. What it adds to sums outside is a further output, which the other side
// has as well.
struct Side {
  Side(const BranchFn& f, const std::string& name, std::vector<Tracer::Wait>& waits)
      : graph(make_ref<Graph>(scope_here(ScopeKind::kBranch, name))), tracer(graph) {
    Tracing tracing(tracer, true);
    BranchTerms adding(graph->scope);
    for (const Tensor& t : traced(f))
      graph->outputs.push_back(t.defined() ? tracer.resolve(t) : Edge{});
    results = graph->outputs.size();
    terms = adding.take();
    for (const BranchTerm& t : terms) {
      sums.push_back(t.value.rank() == 0 ? t.value : reduce_sum(t.value));
      graph->outputs.push_back(tracer.resolve(sums.back()));
    }
    add_waits(tracer, waits);
  }
  void give(const Tensor& value) { graph->outputs.push_back(tracer.resolve(value)); }

  Ref<Graph> graph;
  Tracer tracer;
  size_t results = 0;  // outputs that are the code's own
  std::vector<BranchTerm> terms;
  std::vector<Tensor> sums;
};

Tensor zero_like(const Tensor& t) { return Tensor::scalar(0.0, t.dtype()); }

Ref<Graph> loop_part(const LoopFn& f, const std::vector<Type>& types, const std::string& name,
                     std::vector<Tracer::Wait>& waits) {
  auto graph = make_ref<Graph>(scope_here(ScopeKind::kLoop, name));
  Tracer tracer(graph);
  Tracing tracing(tracer, true);
  std::vector<Tensor> variables;
  for (const Type& t : types) variables.push_back(tracer.input(t.dtype, t.shape, "variable"));
  for (const Tensor& t : traced(f, std::span<const Tensor>(variables)))
    graph->outputs.push_back(t.defined() ? tracer.resolve(t) : Edge{});
  add_waits(tracer, waits);
  return graph;
}

// The dtype of two that can say what either says; none where a cast has no meaning.
DType wider(DType a, DType b) {
  if (a == DType::kString || b == DType::kString) return DType::kInvalid;
  auto rank = [](DType d) { return is_bool(d) ? 0 : is_integer(d) ? 1 : is_floating(d) ? 2 : 3; };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? b : a;
  return size_of(a) < size_of(b) ? b : a;
}

[[noreturn]] void unlike(const std::string& what, const Type& a, const Type& b, Where wa, Where wb,
                         const char* first, const char* second) {
  Diagnostic d;
  d.code = Code::E0902;
  d.headline = cat(what, " is ", name(a.dtype), first, " and ", name(b.dtype), second);
  d.labels.push_back({Role::kBorn, locate(wa), cat(name(a.dtype), " here"), false});
  d.labels.push_back({Role::kBorn, locate(wb), cat(name(b.dtype), " here"), false});
  d.labels.push_back(used_here());
  d.why =
      "one tensor comes out, whichever way the graph goes, so both sides must give the same dtype";
  DType both = wider(a.dtype, b.dtype);
  if (both == DType::kInvalid) {
    d.fixes.push_back(
        manual_fix(cat("give ", name(a.dtype), " or ", name(b.dtype), " both times")));
  } else {
    std::string cast = written(Advice::kCast, {"...", written(both)});
    d.fixes.push_back(manual_fix(cat("give ", name(both), " both times: `", cast, "` where it is ",
                                     name(both == a.dtype ? b.dtype : a.dtype))));
  }
  raise(std::move(d));
}

void add_captures(const Graph& g, Tensors& in) {
  for (const Capture& c : g.captures) in.push_back(c.outer);
}

bool truth(const Tensor& t, const char* what) {
  if (t.dtype() != DType::kBool || !t.shape().elements() || t.size() != 1)
    fail(Code::E1101, cat(what, " is ", type_text(t), ", expected one bool"));
  return copy_to(t, cpu()).item<bool>();
}

Tensors run_loop(const LoopFn& condition, const LoopFn& body, std::span<const Tensor> variables,
                 const LoopOptions& o) {
  Tensors now(variables);
  for (int64_t n = 0; !o.maximum_iterations || n < *o.maximum_iterations; ++n) {
    if (!truth(value(condition(now)[0]), "a loop's condition")) break;
    Tensors next = body(now);
    if (next.size() != now.size())
      fail(Code::E1104,
           cat("a loop's body gave ", next.size(), " values for ", now.size(), " variables"));
    now = std::move(next);
    check_interrupt();
  }
  return now;
}

}  // namespace

static void need_code(bool given, const char* function) {
  if (!given)
    fail(Code::E1104, cat(function, ": a function that was given holds no code"),
         "a `std::function` that nothing was assigned to can't be called");
}

Tensors cond(In pred, const BranchFn& true_fn, const BranchFn& false_fn,
             const ControlNames& names) {
  need_code(true_fn && false_fn, "cond");
  Tensor p = pred.tensor();
  if (has_value(p)) return truth(value(p), "a condition") ? true_fn() : false_fn();
  InGraphOf graph(p);
  std::vector<Tracer::Wait> waits;
  Side one(true_fn, names.first, waits), other(false_fn, names.second, waits);
  const Ref<Graph>&first = one.graph, &second = other.graph;
  if (one.results != other.results)
    fail(Code::E1104,
         cat("the branches of a condition give ", one.results, " and ", other.results, " values"),
         "what comes out must not depend on the way the graph goes",
         {manual_fix("return the same number of values from both branches")});
  // The terms of one side come first, then those of the other.
  if (!one.terms.empty() || !other.terms.empty()) {
    auto& mine = second->outputs;
    std::vector<Edge> own(mine.begin() + static_cast<std::ptrdiff_t>(other.results), mine.end());
    mine.resize(other.results);
    for (const Tensor& t : one.sums) other.give(zero_like(t));
    mine.insert(mine.end(), own.begin(), own.end());
    for (const Tensor& t : other.sums) one.give(zero_like(t));
  }
  for (size_t i = 0; i < first->outputs.size(); ++i) {
    const Edge &a = first->outputs[i], &b = second->outputs[i];
    if (a.node && b.node && type_of(a).dtype != type_of(b).dtype)
      unlike(one.results == 1 ? "what a condition gives" : cat("value ", i, " of a condition"),
             type_of(a), type_of(b), a.node->where, b.node->where, " on one side", " on the other");
  }
  Tensors in{p}, out;
  add_captures(*first, in);
  add_captures(*second, in);
  Waiting before(waits);
  apply(if_op(has_effects(*first) || has_effects(*second)), in,
        Attrs{Arg(Ref<RefCounted>(first)), Arg(Ref<RefCounted>(second))}, out);
  size_t next = one.results;
  for (Side* side : {&one, &other})
    for (const BranchTerm& t : side->terms) t.instead(out[next++]);
  out.resize(one.results);
  return out;
}

Tensors without_gradient(std::span<const Tensor> values) {
  Tensors out;
  for (const Tensor& t : values)
    out.push_back(is_floating(t.dtype()) || is_complex(t.dtype()) ? stop_gradient(t) : t);
  return out;
}

Tensors detail::repeat_while(const LoopFn& condition, const LoopFn& body,
                             std::span<const Tensor> variables, const LoopOptions& o,
                             const ControlNames& names) {
  need_code(condition && body, "while_loop");
  if (!o.back_prop) {
    LoopOptions seen = o;
    seen.back_prop = true;
    return without_gradient(while_loop(condition, body, variables, seen, names));
  }
  bool staged = current_trace() != nullptr;
  Tensor owner;
  for (const Tensor& t : variables)
    if (!has_value(t)) {
      staged = true;
      owner = t;
    }
  if (!staged) return run_loop(condition, body, variables, o);
  std::optional<InGraphOf> graph;
  if (owner.defined()) graph.emplace(owner);
  Tensors all(variables);
  LoopFn holds = condition, next = body;
  size_t given = all.size();
  if (o.maximum_iterations) {  // a counter beside the variables
    Tensor most = Tensor::scalar(*o.maximum_iterations);
    all.push_back(Tensor::scalar(int64_t{0}));
    holds = [=](std::span<const Tensor> v) -> Tensors {
      return {logical_and(less(v[given], most), condition(v.first(given))[0])};
    };
    next = [=](std::span<const Tensor> v) {
      Tensors out = body(v.first(given));
      out.push_back(add(v[given], int64_t{1}));
      return out;
    };
  }
  std::vector<Type> types;
  for (size_t i = 0; i < all.size(); ++i) {
    bool loose = i < o.shape_invariants.size() && o.shape_invariants[i];
    types.push_back({all[i].dtype(), loose ? *o.shape_invariants[i] : all[i].shape()});
  }
  Ref<Graph> step;
  std::vector<Tracer::Wait> waits;
  for (bool settled = false; !settled;) {
    step = loop_part(next, types, names.second, waits);
    if (step->outputs.size() != types.size())
      fail(Code::E1104,
           cat("a loop's body gave ", step->outputs.size(), " values for ", given, " variables"));
    settled = true;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!step->outputs[i].node)
        fail(Code::E1104, cat("a loop's body gave nothing for variable ", i));
      const Type& gave = type_of(step->outputs[i]);
      if (gave.dtype != types[i].dtype)
        unlike(given == 1 ? "the loop variable" : cat("loop variable ", i), types[i], gave,
               all[i].born(), step->outputs[i].node->where, " before an iteration", " after it");
      Shape both = widened(types[i].shape, gave.shape);
      if (both == types[i].shape) continue;
      if (i < o.shape_invariants.size() && o.shape_invariants[i])
        fail(Code::E1102, cat("loop variable ", i, " becomes ", gave.shape.text(),
                              ", and its shape invariant is ", types[i].shape.text()));
      types[i].shape = both;
      settled = false;
    }
  }
  Ref<Graph> test = loop_part(holds, types, names.first, waits);
  if (test->outputs.size() != 1 || type_of(test->outputs[0]).dtype != DType::kBool)
    fail(Code::E1101, "a loop's condition must give one bool");
  Tensors in = all, out;
  add_captures(*test, in);
  add_captures(*step, in);
  Waiting before(waits);
  apply(while_op(has_effects(*test) || has_effects(*step)), in,
        Attrs{Arg(Ref<RefCounted>(test)), Arg(Ref<RefCounted>(step))}, out);
  out.resize(given);
  return out;
}

}  // namespace holdfast
