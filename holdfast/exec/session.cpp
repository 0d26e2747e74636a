#include "holdfast/exec/session.h"

#include <algorithm>

#include "holdfast/base/patient_lock.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/plan.h"
#include "holdfast/exec/session_plan.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast {
namespace {

constexpr size_t kMostPlans =
    1024;  // a program that builds a new op for each run must not fill the memory

}  // namespace

struct Session::Planned final : RefCounted {
  Ref<Plan> plan;
  std::vector<OpenGraph::Held> reads;
};

// One run: what comes first, what is computed, and where each result comes from.
struct Session::Prepared final : Ready {
  struct Stage {
    Ref<Planned> planned;
    std::vector<Tensor> handles;  // of the variables that get its outputs
  };
  std::vector<Stage> first;  // initial values, those that others need before them
  Ref<Planned> planned;
  std::vector<Tensor> given;
  std::vector<int> from;  // of each fetch: which output of the plan; -1: `known`
  std::vector<Tensor> known;
};

Session::Session(Ref<OpenGraph> graph, std::string name, Opened)
    : graph_(std::move(graph)), name_(std::move(name)), kept_(make_owned<Kept>()) {
  if (!graph_) fail(Code::E1104, "Session: `graph` is null, expected a graph");
  opened_ = here();
}

Session::~Session() = default;

void Session::share(Ref<SharedVariables> shared) { kept_->shared = std::move(shared); }

void Session::let_go(bool at_end_of_block) {
  PatientLock lock(kept_->mutex);
  if (closed_) return;
  closed_ = true;
  closed_by_block_ = at_end_of_block;
  closed_at_ = here();
  kept_->plans.clear();
  kept_->handles.clear();
  kept_->states.clear();
}

bool Session::closed() const {
  PatientLock lock(kept_->mutex);
  return closed_;
}

size_t Session::plans() const {
  PatientLock lock(kept_->mutex);
  return kept_->plans.size();
}

void Session::need_open() const {
  if (!closed()) return;
  Diagnostic d;
  d.code = Code::E0802;
  const std::string session = receiver_words(name_);
  d.headline = cat(session.empty() ? "the session" : cat("`", session, "`"),
                   " is closed, and can't run anything");
  d.labels.push_back({Role::kPlaced, locate(opened_), "opened here", false});
  d.labels.push_back({Role::kClosed, locate(closed_at_),
                      closed_by_block_ ? cat("closed at the end of ", written(Advice::kInsideBlock))
                                       : "closed here",
                      false});
  d.labels.push_back(used_here("used here, after it was closed"));
  d.why =
      "a closed session has let go of its variables' values, so there is nothing left to run with";
  d.fixes.push_back(
      manual_fix(closed_by_block_
                     ? cat("move the run into ", written(Advice::kInsideBlock))
                     : cat("move the run before `", written(Advice::kCloseSession, {name_}), "`")));
  raise(std::move(d));
}

void Session::other_graph(const Tensor& t, const std::string& name, bool fed) const {
  const Scope& theirs = *symbol_of(t)->scope;
  const Scope& ours = *graph_->scope();
  Diagnostic d;
  d.code = Code::E0111;
  d.subject = describe(t, name);
  d.subject.owner = {"session_graph",
                     theirs.name,
                     locate(theirs.opened),
                     0,
                     theirs.open() ? "open" : "closed",
                     {}};
  std::string whose = visible_name(theirs), mine = visible_name(ours);
  const std::string session = receiver_words(name_);
  const std::string who = session.empty() ? "the session" : cat("`", session, "`");
  bool path = name.find_first_of(" (+-*/") == name.npos;
  bool python = language() == Language::kPython;
  if (whose.empty()) whose = python && path ? name + ".graph" : theirs.name;
  if (mine.empty()) mine = python && !session.empty() ? session + ".graph" : ours.name;
  d.headline =
      cat("`", name, "` belongs to the graph `", whose, "`, and ", who, " runs `", mine, "`");
  constexpr size_t kLongest = 100 - sizeof("error[E0111]: ");
  if (d.headline.size() > kLongest)  // the labels say which
    d.headline = cat("`", name, "` belongs to the graph `", whose, "`; ", who, " runs another");
  d.labels.push_back({Role::kBorn, locate(t.born()),
                      cat("born here: ", type_text(t), " from ", t.rep()->op, ", in `", whose, "`"),
                      false});
  d.labels.push_back(
      {Role::kPlaced, locate(theirs.opened), cat("graph `", whose, "` was made here"), false});
  d.labels.push_back(
      {Role::kPlaced, locate(ours.opened), cat("graph `", mine, "` was made here"), false});
  d.labels.push_back(
      {Role::kPlaced, locate(opened_), cat(who, " was opened here, for `", mine, "`"), false});
  d.labels.push_back(used_here(fed ? "fed here" : "run here"));
  d.why = "a session runs one graph, and knows nothing of another's tensors";
  const std::string opened = cat("`", written(Advice::kOpenSession, {whose}), "`");
  d.fixes.push_back(manual_fix(
      fed ? cat("feed tensors of `", mine, "`, or run what belongs to `", whose, "`: ", opened)
          : cat("open a session for it: ", opened)));
  raise(std::move(d));
}

Edge Session::edge_of_fetch(const Tensor& t, bool only) const {
  const Scope& owner = *symbol_of(t)->scope;
  if (&owner == graph_->scope().get()) return edge_of(t);
  std::string said = name_in_line(t, only), name = said.empty() ? node_of(t)->name : said;
  if (owner.kind == ScopeKind::kGraph) other_graph(t, name, false);
  if (owner.kind != ScopeKind::kLoop) raise(lost(t, said));
  Diagnostic d = lost(t, name);
  d.code = Code::E0113;
  d.headline =
      cat("`", name, "` is made in the loop's body `", owner.name, "`; a session can't fetch it");
  d.labels.clear();
  d.labels.push_back({Role::kBorn, locate(t.born()),
                      cat("born here: ", type_text(t), " from ", t.rep()->op, ", in ", owner.name),
                      false});
  d.labels.push_back({Role::kPlaced, locate(owner.opened),
                      cat("the loop; its body is `", owner.name, "`"), false});
  d.labels.push_back(used_here("fetched here"));
  d.why = cat("the body `", owner.name,
              "` gives one value per iteration, and none of them is left after the loop");
  d.fixes = {
      manual_fix(cat("let `", owner.name, "` carry ", written(Advice::kCollect), "; fetch that"))};
  raise(std::move(d));
}

Edge Session::edge_of_feed(const Tensor& key, const Tensor& value) const {
  if (!key.is_symbolic())
    fail(Code::E1104, "a tensor that has a value can't be fed",
         "only what a graph computes can be given another value for a run",
         {manual_fix("feed a placeholder, or another tensor of the graph")});
  if (symbol_of(key)->scope != graph_->scope()) {
    std::string said = name_in_line(key);
    other_graph(key, said.empty() ? node_of(key)->name : said, true);
  }
  Edge e = holdfast::edge_of(key);
  const Type& type = type_of(e);
  if (type.dtype == DType::kResource)
    fail(Code::E1104, cat("`", e.node->name, "` is a variable, and can't be fed"),
         "a run gives values to tensors",
         {manual_fix("assign to the variable, or feed a tensor that is computed from it")});
  if (value.dtype() != type.dtype)
    fail(Code::E1101, cat("`", placeholder_words(key, e.node->name), "` is fed with ",
                          type_text(value), ", expected dtype ", name(type.dtype)));
  if (!type.shape.compatible(value.shape()))
    fail(Code::E1102,
         cat("`", placeholder_words(key, e.node->name), "` is fed with a value of shape ",
             value.shape().text(), ", expected ", type.shape.text()),
         cat("the placeholder says which shapes it takes: ", type.shape.text()));
  return e;
}

Tensor& Session::handle_here(const OpenGraph::Held& held) {
  Tensor& handle = kept_->handles[held.variable.handle().id()];
  if (!handle.defined() && kept_->shared) {
    handle = kept_->shared->handle(*held.variable.state());
  } else if (!handle.defined()) {
    const VariableState& of = *held.variable.state();
    auto state = make_ref<VariableState>(of.name, of.dtype, of.shape, of.trainable);
    state->born = of.born;
    handle = handle_to(std::move(state));
  }
  return handle;
}

Ref<RefCounted> Session::state_here(const Node& n) {
  if (!dynamic_cast<random::NodeGenerator*>(n.state.get())) return n.state;
  Ref<RefCounted>& state = kept_->states[&n];
  if (!state) state = make_ref<random::NodeGenerator>(random::seeds_of(*n.op, n.attrs));
  return state;
}

Tensor Session::value(const Variable& v) {
  need_open();
  const OpenGraph::Held* held = graph_->find_variable(v.handle());
  if (!held) fail(Code::E1104, "a session is asked for a variable that is not of its graph");
  PatientLock lock(kept_->mutex);
  return variable_state(handle_here(*held))->get();
}

void Session::set_value(const Variable& v, Tensor value) {
  need_open();
  const OpenGraph::Held* held = graph_->find_variable(v.handle());
  if (!held)
    fail(Code::E1104, "a session is given a value for a variable that is not of its graph");
  PatientLock lock(kept_->mutex);
  variable_state(handle_here(*held))->set(std::move(value));
}

Ref<Session::Planned> Session::plan(const std::vector<Edge>& edges,
                                    const std::vector<Ref<Node>>& ops, const std::vector<Edge>& fed,
                                    const std::vector<std::string>& names, const Tensor& only) {
  Kept::Key key;
  for (const Edge& e : edges) key.push_back({e.node.get(), e.output});
  key.push_back({nullptr, 0});
  for (const Ref<Node>& n : ops) key.push_back({n.get(), -1});
  key.push_back({nullptr, 1});
  for (const Edge& e : fed) key.push_back({e.node.get(), e.output});
  PatientLock lock(kept_->mutex);
  auto& planned = kept_->plans[key];
  if (planned) return planned;
  try {
    Pruned pruned = prune(*graph_, {edges, ops, fed, names, only},
                          {[this](const OpenGraph::Held& held) { return handle_here(held); },
                           [this](const Node& n) { return state_here(n); }});
    auto made = make_ref<Planned>();
    for (const OpenGraph::Held* held : pruned.reads) made->reads.push_back(*held);
    made->plan = Plan::compile(pruned.graph);
    if (kept_->plans.size() > kMostPlans) kept_->plans.clear();
    return kept_->plans[key] = made;
  } catch (...) {
    kept_->plans.erase(key);
    throw;
  }
}

// Initial values of all variables that `of` reads and nobody has initialised, in stages: each needs
// only those before.
void Session::initialise(Prepared& ready, const Planned& of, const std::vector<Edge>& fed) {
  std::vector<std::pair<OpenGraph::Held, Ref<Planned>>> waiting;
  auto empty = [&](const OpenGraph::Held& held) {
    PatientLock lock(kept_->mutex);
    return !variable_state(handle_here(held))->get().defined();
  };
  std::unordered_set<uint64_t> seen;
  auto want = [&](const std::vector<OpenGraph::Held>& reads) {
    for (const OpenGraph::Held& held : reads)
      if (held.initial.node && seen.insert(held.variable.handle().id()).second && empty(held))
        waiting.push_back({held, plan({held.initial}, {}, fed,
                                      {"the initial value of " + held.variable.name()})});
  };
  want(of.reads);
  for (size_t i = 0; i < waiting.size(); ++i)
    want(std::vector<OpenGraph::Held>(waiting[i].second->reads));
  while (!waiting.empty()) {
    std::unordered_set<uint64_t> without;  // a value
    for (const auto& one : waiting) without.insert(one.first.variable.handle().id());
    auto blocked = [&](const auto& one) {
      return std::any_of(one.second->reads.begin(), one.second->reads.end(),
                         [&](const OpenGraph::Held& read) {
                           return without.count(read.variable.handle().id()) != 0;
                         });
    };
    auto later = std::stable_partition(waiting.begin(), waiting.end(),
                                       [&](const auto& one) { return !blocked(one); });
    if (later == waiting.begin()) bug("initial values of variables need each other");
    // Together, so that a random number which two of them use is drawn once.
    std::vector<Edge> edges;
    std::vector<std::string> names;
    Prepared::Stage stage;
    for (auto it = waiting.begin(); it != later; ++it) {
      edges.push_back(it->first.initial);
      names.push_back("the initial value of " + it->first.variable.name());
      PatientLock lock(kept_->mutex);
      stage.handles.push_back(handle_here(it->first));
    }
    stage.planned = plan(edges, {}, fed, names);
    ready.first.push_back(std::move(stage));
    waiting.erase(waiting.begin(), later);
  }
}

Ref<Session::Ready> Session::prepare(const std::vector<Fetch>& fetches, const Feeds& feeds) {
  need_open();
  auto ready = make_ref<Prepared>();
  std::vector<Edge> edges, fed;
  std::vector<Ref<Node>> ops;
  for (const Fetch& f : fetches) {
    if (!f.tensor.defined() && !f.node)
      fail(Code::E1104, "a Session was asked for a Tensor that refers to nothing",
           "a fetch is a tensor or an op of the graph",
           {manual_fix(
               "assign a tensor of the graph first; `defined()` tells whether there is one")});
    bool symbol = f.tensor.defined() && f.tensor.is_symbolic() && !has_value(f.tensor);
    ready->from.push_back(symbol ? static_cast<int>(edges.size()) : -1);
    ready->known.push_back(symbol || !f.tensor.defined() ? Tensor() : holdfast::value(f.tensor));
    if (f.node) ops.push_back(f.node);
    if (!symbol) continue;
    edges.push_back(edge_of_fetch(f.tensor, fetches.size() == 1));
  }
  for (const auto& [key, value] : feeds) {
    fed.push_back(edge_of_feed(key, value));
    ready->given.push_back(holdfast::value(value));
  }
  ready->planned = plan(edges, ops, fed, {}, fetches.size() == 1 ? fetches[0].tensor : Tensor());
  initialise(*ready, *ready->planned, fed);
  return ready;
}

Tensors Session::finish(Ready& prepared) {
  auto& ready = static_cast<Prepared&>(prepared);
  if (!ready.first.empty()) {
    PatientLock lock(kept_->initialising);
    for (Prepared::Stage& stage : ready.first) {
      auto done = [](const Tensor& handle) { return variable_state(handle)->get().defined(); };
      if (std::all_of(stage.handles.begin(), stage.handles.end(), done))
        continue;  // another thread was faster
      Tensors values;
      stage.planned->plan->run(ready.given, values);
      for (size_t i = 0; i < stage.handles.size(); ++i)
        if (!done(stage.handles[i])) variable_state(stage.handles[i])->set(values[i]);
    }
  }
  Tensors computed, out;
  ready.planned->plan->run(ready.given, computed);
  for (size_t i = 0; i < ready.from.size(); ++i)
    out.push_back(ready.from[i] < 0 ? ready.known[i]
                                    : computed[static_cast<size_t>(ready.from[i])]);
  return out;
}

Tensor Session::run_one(const Tensor& fetch, const Feeds& feeds) {
  return run_now({Fetch(fetch)}, feeds)[0];
}

Tensors Session::run_now(const std::vector<Fetch>& fetches, const Feeds& feeds) {
  auto ready = prepare(fetches, feeds);
  return finish(*ready);
}

}  // namespace holdfast
