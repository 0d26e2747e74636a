#include "holdfast/graph/trace.h"

#include <algorithm>
#include <mutex>

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/random/streams.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

// The name of a new node: `name` below the scope in force, with a number where that is taken. One
// that ends with a slash is a whole path, to be taken as it is.
std::string name_for(Graph& g, const std::string& name) {
  if (name.empty() || name.back() != '/') return g.unique_name(context().name_scope + name);
  std::string whole = name.substr(0, name.size() - 1), free = whole;
  while (g.find(free)) free = g.unique_name(whole);
  return free;
}

bool within_graph_by_hand(const Scope& scope) {
  const Scope* s = &scope;
  while (s->parent) s = s->parent.get();
  return s->kind == ScopeKind::kGraph;
}

// The handle itself, in place of a symbol for the node that holds it.
Tensor handle_of(const Tensor& t) {
  bool held = t.defined() && t.dtype() == DType::kResource && t.is_symbolic() &&
              node_of(t)->op == &handle_op();
  return held ? constant_of(*node_of(t)) : t;
}

[[noreturn]] void finalized(const Graph& g, const OpDef& op) {
  Diagnostic d;
  d.code = Code::E0803;
  d.op = op.name;
  d.headline = cat(op.name, " can't be added: the graph is finalized");
  d.labels.push_back({Role::kClosed, locate(g.finalized_at), "finalized here", false});
  d.labels.push_back(used_here(cat(op.name, " is added here")));
  d.why =
      "a finalized graph takes no more ops, so that it can be shared between threads and sessions";
  d.fixes.push_back(manual_fix(cat("move it before `", g.scope->name, ".finalize()`")));
  raise(std::move(d));
}

}  // namespace

Tracer::Tracer(Ref<Graph> graph, const NodeMap* copies, RefCounted* home)
    : graph_(std::move(graph)),
      copies_(copies),
      seeds_(home ? random::GraphSeeds(std::nullopt) : random::seeds_for_trace()),
      may_be_fed_(within_graph_by_hand(*graph_->scope)),
      home_(home) {
  first_id_ = TensorRep(DType::kInvalid, {}, nullptr).id;
  graph_->scope->interpreter = this;
  for (const Ref<Node>& n : graph_->nodes)
    if (is_constant(*n)) constants_[constant_of(*n).id()] = n;
  for (const Capture& c : graph_->captures) captured_[c.outer.id()] = c.inner;
}
Tracer::~Tracer() { close(); }

void Tracer::close() {
  Scope& s = *graph_->scope;
  if (s.interpreter != this) return;
  s.interpreter = nullptr;
  if (!s.closed) s.closed = here();
  for (Tensor& t : made_)
    if (t.rep()->use_count() > 1) leaked.push_back(std::move(t));
  made_.clear();
}

Tensor Tracer::input(DType dtype, Shape shape, const std::string& name) {
  if (graph_->finalized) finalized(*graph_, placeholder_op());
  Ref<Node> node = placeholder_for({dtype, std::move(shape)},
                                   graph_->scope->defined ? graph_->scope->defined : here());
  graph_->add(node, name);
  graph_->inputs.push_back(node);
  Tensor out = made({node, 0});
  added(node);
  return out;
}

Tensor Tracer::symbol(const Edge& e) const {
  Tensor t = symbol_for(e, graph_->scope);
  if (home_) symbol_of(t)->keeps = Ref<RefCounted>(home_);
  if (e.node->op == &const_op() && kIndices.has(t.dtype()) && t.size() <= kMostKnown) {
    const Tensor& value = constant_of(*e.node);
    if (value.device() && value.device()->kind() == DeviceKind::kCpu) symbol_of(t)->known = value;
  }
  return t;
}

Tensor Tracer::made(const Edge& e) {
  Tensor t = symbol(e);
  if (!home_) made_.push_back(t);  // a graph that never closes has no leaks to look for
  return t;
}

Tensor Tracer::constant_node(const Tensor& t, const std::string& name) {
  if (graph_->finalized) finalized(*graph_, const_op());
  // Another identity: to a gradient a constant is its id.
  auto node = make_ref<Node>(&const_op(), Attrs{Arg(t.rep()->buffer ? view_of(t, t.shape()) : t)});
  node->where = here();
  node->outputs.push_back({t.dtype(), t.shape()});
  node->after = control();
  node->name = name_for(*graph_, name);
  graph_->append(node);
  constants_[constant_of(*node).id()] = node;
  Tensor out = made({node, 0});
  added(node);
  return out;
}

void Tracer::push_control(std::vector<Ref<Node>> nodes, bool clear) {
  std::lock_guard lock(here_mutex_);
  here_[std::this_thread::get_id()].control.push_back({std::move(nodes), clear, {}});
}

void Tracer::pop_control() {
  std::lock_guard lock(here_mutex_);
  auto it = here_.find(std::this_thread::get_id());
  if (it == here_.end() || it->second.control.empty())
    bug("control dependencies end that never began");
  it->second.control.pop_back();
  if (it->second.control.empty() && it->second.watchers.empty()) here_.erase(it);
}

std::vector<Ref<Node>> Tracer::control() const { return control_for({}); }

// What a node with these inputs must wait for, besides what its inputs wait for already.
std::vector<Ref<Node>> Tracer::control_for(std::span<const Edge> inputs) const {
  std::lock_guard lock(here_mutex_);
  auto it = here_.find(std::this_thread::get_id());
  std::vector<Ref<Node>> out;
  if (it == here_.end()) return out;
  auto is_input = [&](const Ref<Node>& n) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const Edge& e) { return e.node.get() == n.get(); });
  };
  const std::vector<Control>& stack = it->second.control;
  size_t first = stack.size();
  while (first > 0 && !stack[--first].alone) {
  }
  for (size_t i = first; i < stack.size(); ++i) {
    const Control& c = stack[i];
    bool obeyed = std::any_of(inputs.begin(), inputs.end(),
                              [&](const Edge& e) { return c.obey.count(e.node.get()) != 0; });
    for (const Ref<Node>& n : c.nodes)
      if (!obeyed && !is_input(n) && std::find(out.begin(), out.end(), n) == out.end())
        out.push_back(n);
  }
  return out;
}

void Tracer::push_watcher(Watcher watch) {
  std::lock_guard lock(here_mutex_);
  here_[std::this_thread::get_id()].watchers.push_back(std::move(watch));
}

void Tracer::pop_watcher() {
  std::lock_guard lock(here_mutex_);
  auto it = here_.find(std::this_thread::get_id());
  if (it == here_.end() || it->second.watchers.empty()) bug("a watcher ends that never began");
  it->second.watchers.pop_back();
  if (it->second.control.empty() && it->second.watchers.empty()) here_.erase(it);
}

void Tracer::added(const Ref<Node>& node) {
  std::vector<Watcher> watchers;
  {
    std::lock_guard lock(here_mutex_);
    auto it = here_.find(std::this_thread::get_id());
    if (it == here_.end()) return;
    std::vector<Control>& stack = it->second.control;
    for (size_t i = stack.size(); i-- > 0;) {
      stack[i].obey.insert(node.get());
      if (stack[i].alone) break;
    }
    watchers = it->second.watchers;
  }
  for (size_t i = watchers.size(); i-- > 0;) watchers[i](node);
}

void Tracer::wait_for(Wait wait) {
  if (wait.scope != graph_->scope && graph_->scope->inside(wait.scope.get()))
    waits_.push_back(std::move(wait));
}

Edge Tracer::constant(const Tensor& t) {
  Ref<Node>& node = constants_[t.id()];
  if (!node) {
    bool handle = t.dtype() == DType::kResource;
    node = make_ref<Node>(handle ? &handle_op() : &const_op(), Attrs{Arg(t)});
    node->where = t.born();
    node->outputs.push_back({t.dtype(), t.shape()});
    graph_->add(node, operand_.empty() ? context().name_scope + node->op->name : operand_);
  }
  return {node, 0};
}

Edge Tracer::capture(const Tensor& t) {
  Ref<Node>& node = captured_[t.id()];
  if (!node) {
    node = placeholder_for({t.dtype(), t.shape()}, t.born());
    graph_->add(node, "captured");
    graph_->captures.push_back({t, node});
  }
  return {node, 0};
}

bool Tracer::release(const Tensor& t) {
  auto it = constants_.find(t.id());
  if (it == constants_.end()) return false;
  Node& node = *it->second;
  node.op = &placeholder_op();
  node.attrs = Attrs{Arg(t.dtype()), Arg(t.shape())};
  graph_->captures.push_back({t, it->second});
  return true;
}

void Tracer::went_by(const Tensor& t, bool numbers) {
  if (!may_be_fed_) return;
  if (!t.is_symbolic()) {
    auto it = constants_.find(t.id());
    if (it != constants_.end())
      note_reading({it->second, 0}, numbers ? constant_of(*it->second) : Tensor(), here());
    return;
  }
  const Scope& owner = *symbol_of(t)->scope;
  const Tensor& known = numbers ? symbol_of(t)->known : Tensor();
  if (numbers && !known.defined()) return;
  if (&owner == graph_->scope.get())
    note_reading(resolve(t), known, here());
  else if (auto* around = dynamic_cast<Tracer*>(owner.interpreter))
    around->note_reading(edge_of(t), known, nullptr);
}

void Tracer::note_reading(const Edge& e, const Tensor& numbers, Where where) {
  std::vector<Reading>& all = graph_->readings;
  size_t at = graph_->nodes.size();
  for (size_t i = all.size(); i-- > 0 && all[i].at == at;)
    if (all[i].of == e && all[i].where == where && all[i].numbers.defined() == numbers.defined())
      return;
  all.push_back({e, type_of(e).shape, numbers, at, where});
}

void Tracer::run(const OpDef& op, std::span<const Tensor> given, const Attrs& attrs, Tensors& out) {
  if (graph_->finalized) finalized(*graph_, op);
  std::span<const Tensor> in = given;
  Tensors handles;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].defined() || in[i].dtype() != DType::kResource || !in[i].is_symbolic()) continue;
    if (handles.empty()) handles = Tensors(given);
    handles[i] = handle_of(given[i]);
    in = handles;
  }
  try {
    check_signature(op, in);
    auto node = make_ref<Node>(&op, attrs);
    const std::string& said = context().op_name;
    node->name = name_for(*graph_, said.empty() ? op.name : said);
    for (size_t i = 0; i < in.size(); ++i) {
      const Tensor& t = in[i];
      if (home_) operand_ = cat(node->name, "/", op.inputs[std::min(i, op.inputs.size() - 1)].name);
      bool stranger = t.defined() && t.is_symbolic() && symbol_of(t)->scope != graph_->scope &&
                      !symbol_of(t)->scope->open();
      node->inputs.push_back(
          !t.defined()
              ? Edge{}
              : resolve(t, stranger ? operand_source(op, in, static_cast<int>(i)).text : ""));
    }
    operand_.clear();
    Infer infer(op, in, attrs);
    op.infer(infer);
    for (size_t i = 0; i < in.size(); ++i) {
      const InputDef& def = op.inputs[std::min(i, op.inputs.size() - 1)];
      if (def.host && in[i].defined() && !in[i].is_symbolic()) baked_.insert(in[i].id());
    }
    const Context& c = context();
    node->where = here();
    node->device = c.device;
    node->placed = c.placed;
    if (op.traits.draws) node->state = make_ref<random::NodeGenerator>(random::seeds_of(op, attrs));
    for (size_t i = 0; i < infer.dtypes.size(); ++i)
      node->outputs.push_back({infer.dtypes[i], infer.shapes[i]});
    node->after = control_for(node->inputs);
    graph_->append(node);
    out.resize(node->outputs.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = made({node, static_cast<int>(i)});
    // Messages show where the variable was made that a value was read from, as in eager code.
    if (in.size() == 1 && in[0].defined() && op.traits.reads_variable)
      if (VariableState* v = variable_behind(in[0])) out[0].rep()->variable_born = v->born;
    follow_known(op, in, attrs, out);
    added(node);
  } catch (Error& e) {
    operand_.clear();
    e.name_op(op.name);
    throw;
  }
}

void Tracer::custom(const char* name, const std::vector<Tensor>& in, const std::vector<Tensor>& out,
                    const Backward& backward) {
  CustomGradient custom{name, graph_->nodes.size(), in, out, backward};
  // What the graph holds must not hold the graph; and one edge is one symbol, whichever gradient
  // speaks of it.
  for (auto* list : {&custom.inputs, &custom.outputs})
    for (Tensor& t : *list) {
      if (!home_ || !t.defined() || !t.is_symbolic() || symbol_of(t)->scope != graph_->scope)
        continue;
      auto& known = plain_[node_of(t)];
      known.resize(node_of(t)->outputs.size());
      Tensor& plain = known[static_cast<size_t>(symbol_of(t)->output)];
      if (!plain.defined()) plain = symbol_for(edge_of(t), graph_->scope);
      t = plain;
    }
  graph_->customs.push_back(std::move(custom));
}

Tracing::Tracing(Tracer& tracer, bool shut_out_tapes)
    : was_(context().interpreter), seeds_(random::seed_scope().graph), lifted_(context().lifted) {
  Context& c = context();
  c.interpreter = &tracer;
  random::seed_scope().graph = &tracer.seeds();
  c.lifted = nullptr;
  if (shut_out_tapes) unseen_.emplace();
}

Tracing::~Tracing() {
  Context& c = context();
  c.interpreter = was_;
  random::seed_scope().graph = seeds_;
  c.lifted = lifted_;
}

namespace {

// Who will write down an op on these operands: the owner of the first symbol, else whoever is asked
// now.
Tracer* writer_for(std::span<const Tensor> operands) {
  for (const Tensor& t : operands)
    if (t.defined() && t.is_symbolic() && symbol_of(t)->scope->open() && !context().interpreter)
      return dynamic_cast<Tracer*>(symbol_of(t)->scope->interpreter);
  return current_trace();
}

}  // namespace

NamedCall::NamedCall(const std::string& name, std::span<const Tensor> operands)
    : tracer_(writer_for(operands)) {
  if (!tracer_) return;
  Context& c = context();
  before_ = tracer_->graph()->nodes.size();
  name_ = name_for(*tracer_->graph(), name);
  scope_ = std::exchange(c.name_scope, name_ + "/");
}

NamedCall::~NamedCall() {
  if (tracer_) context().name_scope = scope_;
}

void NamedCall::finish(const Tensor& result) {
  if (!tracer_ || !result.defined() || !result.is_symbolic()) return;
  Graph& g = *tracer_->graph();
  Node* node = node_of(result);
  auto first = g.nodes.begin() + static_cast<std::ptrdiff_t>(before_);
  if (std::none_of(first, g.nodes.end(), [&](const Ref<Node>& n) { return n.get() == node; }))
    return;
  std::string was = node->name + "/";
  g.rename(*node, name_);
  for (auto it = first; it != g.nodes.end(); ++it)  // its own constants follow it
    if ((*it)->name.compare(0, was.size(), was) == 0)
      g.rename(**it, g.unique_name(name_ + "/" + (*it)->name.substr(was.size())));
}

Tracer* current_trace() { return dynamic_cast<Tracer*>(context().interpreter); }

}  // namespace holdfast
