#include "holdfast/exec/concrete.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/autodiff/recorder.h"
#include "holdfast/base/patient_lock.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/plan.h"
#include "holdfast/graph/call_effects.h"
#include "holdfast/graph/trace.h"
#include "holdfast/passes/effects.h"

namespace holdfast {
namespace {

constexpr size_t kMostOrders = 4;  // that a call prepares for tapes that may ask for any number

bool has_bodies(const Graph& g) {
  return std::any_of(g.nodes.begin(), g.nodes.end(),
                     [](const Ref<Node>& n) { return !bodies_of(*n).empty(); });
}

// Stands for the gradient of residuals that a call was not prepared for.
Backward no_further(const std::string& name, size_t orders) {
  return [=](const std::vector<Tensor>&) -> std::vector<Tensor> {
    fail(Code::E1105,
         cat("one persistent tape gives at most ", orders, " orders of gradients of `", name, "`"),
         cat("each order needs more of what is inside `", name,
             "`, and a call keeps only so much for a tape that may ask for any number"),
         {manual_fix("open a tape for each order, one inside the other")});
  };
}

}  // namespace

/// Forward and backward as functions of their own, so that gradients of gradients come for free.
struct ConcreteFunction::Gradient final : RefCounted {
  Ref<ConcreteFunction> forward, backward;
  std::vector<size_t> targets;
  size_t outputs = 0;             // of the function itself; residuals that are none of them follow
  std::vector<size_t> residuals;  // which outputs of `forward` the backward begins with
  std::vector<size_t> sources;    // inputs that a gradient is computed for
  std::vector<Tensor> variables;  // handles that one is computed for, after the inputs
  Ref<GradientTape::Paths> paths = make_ref<GradientTape::Paths>();
  Lease lease;

  /// Its residuals are outputs of the function already, so it is its own gradient's forward part,
  /// and so on.
  bool closed() const { return forward->graph().outputs.size() == outputs; }
  /// The gradient of one call, of which it keeps the residuals. `given`: how many inputs there
  /// were.
  Backward bound(std::vector<Tensor> residuals, size_t given);
};

struct ConcreteFunction::Made {
  struct Alone final : RefCounted {
    std::recursive_mutex mutex;
  };
  std::once_flag listed;
  std::vector<Tensor> variables;
  std::mutex mutex;
  Ref<Alone> alone;                // shared with what stands for it in gradients
  std::atomic<bool> small{false};  // it is planned, and takes no time
  Lease lease;
  Ref<Plan> plan;
  Ref<Gradient> gradient;
};

ConcreteFunction::ConcreteFunction(Ref<Graph> graph)
    : graph_(std::move(graph)), made_(make_owned<Made>()) {}
ConcreteFunction::~ConcreteFunction() = default;

void ConcreteFunction::run_alone() { made_->alone = make_ref<Made::Alone>(); }
void ConcreteFunction::set_lease(Lease lease) { made_->lease = std::move(lease); }

const std::vector<Tensor>& ConcreteFunction::variables() const {
  std::call_once(made_->listed, [&] {
    for (const Ref<Node>& n : graph_->nodes)
      if (n->op == &handle_op() && variable_behind(constant_of(*n)))
        made_->variables.push_back(constant_of(*n));
  });
  return made_->variables;
}

const Plan& ConcreteFunction::plan() {
  PatientLock lock(made_->mutex);
  Ref<Plan>& plan = made_->plan;
  if (plan) return *plan;
  plan = Plan::compile(graph_);
  constexpr int64_t kBytes = 1 << 18;
  constexpr size_t kSteps = 16;
  bool small = plan->bytes() < kBytes && plan->steps().size() < kSteps;
  // Nobody knows how long a loop takes, whatever the sizes; a branch may hold one.
  for (const Step& s : plan->steps())
    small = small && s.types && s.node->op->traits.control == Control::kNone;
  made_->small = small;
  return *plan;
}

bool ConcreteFunction::worth_unlocking() const {
  // A call that tapes see may have to wait for another thread that writes the gradient down, in
  // Python.
  return made_->alone || !made_->small.load(std::memory_order_relaxed) || !context().tapes.empty();
}

Ref<ConcreteFunction::Gradient> ConcreteFunction::gradient() {
  auto made = [&] {
    PatientLock lock(made_->mutex);
    return made_->gradient;
  };
  if (auto before = made()) return before;
  // Writing it runs custom gradients, and calls that ask for no gradient must not wait for those.
  PatientLock writing(graph_->scope->reopening());
  if (auto meanwhile = made()) return meanwhile;
  auto written = written_gradient();
  PatientLock lock(made_->mutex);
  return made_->gradient = written;
}

Ref<ConcreteFunction> ConcreteFunction::alike(Ref<Graph> graph) const {
  auto out = make_ref<ConcreteFunction>(std::move(graph));
  out->made_->alone = made_->alone;
  out->made_->lease = made_->lease;
  return out;
}

Ref<ConcreteFunction::Gradient> ConcreteFunction::written_gradient() {
  auto out = make_ref<Gradient>();
  std::vector<Ref<Node>> sources;
  auto consider = [&](const Ref<Node>& n, size_t position) {
    if (!flows(n->outputs[0].dtype)) return;
    sources.push_back(n);
    out->sources.push_back(position);
  };
  for (size_t i = 0; i < graph_->inputs.size(); ++i) consider(graph_->inputs[i], i);
  for (size_t i = 0; i < graph_->captures.size(); ++i)
    consider(graph_->captures[i].inner, graph_->inputs.size() + i);
  for (const Ref<Node>& n : graph_->nodes) {
    VariableState* v = n->op == &handle_op() ? variable_behind(constant_of(*n)) : nullptr;
    if (!v || !is_differentiable(v->dtype)) continue;
    sources.push_back(n);
    out->variables.push_back(constant_of(*n));
  }
  GraphGradient both = differentiate(graph_, sources, {.share = true, .sparse = true});
  out->forward = alike(both.forward);
  out->backward = make_ref<ConcreteFunction>(both.backward);
  out->backward->made_->lease = out->lease = made_->lease;
  out->targets = both.targets;
  out->outputs = graph_->outputs.size();
  out->residuals = both.residuals;
  // The same by the positions of inputs and outputs; variables follow after the inputs.
  size_t given = graph_->inputs.size() + graph_->captures.size();
  auto position = [&](size_t source) {
    size_t n = out->sources.size();
    return source < n ? out->sources[source] : given + source - n;
  };
  for (size_t s : both.sparse) out->paths->sparse.push_back(position(s));
  if (!both.leads.empty())
    out->paths->leads.assign(out->outputs, std::vector<bool>(given + out->variables.size()));
  for (size_t t = 0; t < both.leads.size(); ++t)
    for (size_t s = 0; s < sources.size(); ++s)
      out->paths->leads[out->targets[t]][position(s)] = both.leads[t][s];
  return out;
}

Tensors ConcreteFunction::written(std::span<const Tensor> inputs) const {
  if (!graph_->customs.empty())
    fail(Code::E1105,
         cat("`", name(),
             "` has a custom gradient inside, and a concrete function with one can't be called "
             "inside a trace"),
         "its gradient is code that belongs to the trace it was made in",
         {manual_fix("call the function itself instead")});
  std::optional<Tracing> inside;  // also on a thread that is not tracing
  for (const Tensor& t : inputs)
    if (!context().interpreter && t.defined() && t.is_symbolic())
      if (auto* tracer = dynamic_cast<Tracer*>(symbol_of(t)->scope->interpreter))
        inside.emplace(*tracer, false);
  EffectsOfCall effects(name());
  return effects.bound(replay(*graph_, inputs));
}

Tensors ConcreteFunction::call_as_traced(std::span<const Tensor> arguments) {
  Tensors inputs(arguments);
  if (!add_captured(inputs))
    fail(Code::E1103,
         cat("the concrete function `", name(),
             "` was traced for attributes of other dtypes or shapes than they have now"),
         "a concrete function has one graph, which reads them at each call",
         {manual_fix("call the function itself, which is traced again where that is needed")});
  return call_with_state(inputs);
}

bool ConcreteFunction::add_captured(Tensors& inputs) const {
  size_t arguments = inputs.size();
  for (const Capture& c : graph_->captures) inputs.push_back(c.outer);
  return !state_ || state_->read({inputs.data() + arguments, inputs.size() - arguments});
}

Tensors ConcreteFunction::call_with_state(std::span<const Tensor> inputs) {
  Tensors out = call(inputs);
  if (state_) state_->perform(out);
  return out;
}

Tensors ConcreteFunction::call(std::span<const Tensor> inputs) {
  if (context().interpreter) return written(inputs);
  for (const Tensor& t : inputs)
    if (t.defined() && t.is_symbolic()) return written(inputs);
  graph_->scope->runs.fetch_add(1, std::memory_order_relaxed);
  std::optional<PatientLock<std::recursive_mutex>> alone;
  if (made_->alone) alone.emplace(made_->alone->mutex);
  if (!context().tapes.empty()) return call_recorded(inputs);
  Tensors out;
  plan().run(inputs, out);
  return out;
}

Tensors ConcreteFunction::call_recorded(std::span<const Tensor> inputs) {
  GradientTape::accessed(variables(), made_->lease);
  std::vector<Tensor> from(inputs.begin(), inputs.end());
  from.insert(from.end(), variables().begin(), variables().end());
  size_t orders = GradientTape::orders(from);
  Tensors all;
  if (orders == 0) {
    plan().run(inputs, all);
    return all;
  }
  // The gradient of each order needs residuals, which are results that the next order looks at.
  std::vector<Ref<Gradient>> chain{gradient()};
  bool any_number = orders == GradientTape::kAnyNumber;
  size_t most = !any_number           ? orders
                : has_bodies(*graph_) ? 2
                                      : kMostOrders;  // a loop's gradient always adds to the loop
  while (chain.size() < most && !chain.back()->closed())
    chain.push_back(chain.back()->forward->gradient());
  {
    GradientTape::Inside inside(any_number ? kMostOrders
                                           : orders);  // the tapes see the call as one op
    chain.back()->forward->plan().run(inputs, all);
  }
  // To a tape a tensor is its id: one that goes in and out, or comes out twice, needs another.
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined() || !all[i].rep()->buffer) continue;
    auto same = [&](const Tensor& t) { return t.defined() && t.id() == all[i].id(); };
    bool in = i < graph_->outputs.size() && std::any_of(inputs.begin(), inputs.end(), same);
    if (!in && std::none_of(all.begin(), all.begin() + i, same)) continue;
    Tensor again = view_of(all[i], all[i].shape());
    again.rep()->beyond = all[i].rep()->beyond;  // what a number carries to the gradient goes along
    all[i] = again;
  }
  from.assign(inputs.begin(), inputs.end());
  from.insert(from.end(), chain[0]->variables.begin(), chain[0]->variables.end());
  std::vector<GradientTape::Level> levels;
  for (const auto& g : chain) {
    std::vector<Tensor> residuals;
    for (size_t i : g->residuals) residuals.push_back(all[i]);
    levels.push_back({{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(g->outputs)},
                      g->bound(std::move(residuals), inputs.size()),
                      g->paths});
  }
  std::optional<GradientTape::Level> beyond;
  if (any_number && !chain.back()->closed())
    beyond.emplace(GradientTape::Level{{}, no_further(name(), chain.size())});
  if (beyond)
    for (size_t i = chain.back()->outputs; i < all.size(); ++i)
      if (std::none_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
            return t.defined() && all[i].defined() && t.id() == all[i].id();
          }))
        beyond->outputs.push_back(all[i]);
  GradientTape::record_call(graph_->scope->name.c_str(), from, levels, beyond);
  all.resize(graph_->outputs.size());
  return all;
}

Backward ConcreteFunction::Gradient::bound(std::vector<Tensor> saved, size_t given) {
  Ref<RefCounted> alive = lease ? lease() : nullptr;
  return [g = Ref<Gradient>(this), alive, saved = std::move(saved),
          given](const std::vector<Tensor>& upstream) {
    Tensors in(saved.begin(), saved.end());
    for (size_t t : g->targets) in.push_back(upstream[t]);
    // What writing the gradient took from around the graph: constants, where the graph is part of
    // another and holds none of its own.
    for (const Capture& c : g->backward->graph().captures) in.push_back(c.outer);
    Tensors gradients = g->backward->call(in);
    std::vector<Tensor> dx(given + g->variables.size());
    for (size_t i = 0; i < g->sources.size(); ++i) dx[g->sources[i]] = gradients[i];
    for (size_t i = 0; i < g->variables.size(); ++i)
      dx[given + i] = gradients[g->sources.size() + i];
    for (size_t i = g->sources.size() + g->variables.size(); i < gradients.size(); ++i)
      dx.push_back(gradients[i]);  // indices and shapes of gradients that are rows
    return dx;
  };
}

Tensors ConcreteFunction::first_call(std::span<const Tensor> inputs,
                                     const std::vector<Tensor>& leaked) {
  if (leaked.empty() || context().interpreter) return call_with_state(inputs);
  // The same run must compute both: a second one would draw other random numbers and assign twice.
  auto whole = graph_->continued();
  for (const Tensor& t : leaked) whole->outputs.push_back(edge_of(t));
  auto function = alike(whole);
  Tensors all = function->call(inputs);
  size_t own = graph_->outputs.size();
  for (size_t i = 0; i < leaked.size(); ++i) symbol_of(leaked[i])->first = all[own + i];
  all.resize(own);
  if (state_) state_->perform(all);
  return all;
}

}  // namespace holdfast
