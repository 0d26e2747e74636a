#include "holdfast/graph/trace.h"

#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/random/streams.h"

namespace holdfast {
namespace {

// What a node is called when the user does not say: its op's name.
std::string base_name(const OpDef& op) {
  const Context& c = context();
  return c.name_scope + (c.op_name.empty() ? op.name : c.op_name);
}

// Whether it draws from a stream that its first two attributes choose.
bool draws(const OpDef& op) { return op.traits.stateful && op.attrs.size() >= 2 && op.attrs[0].name == "seed" && op.attrs[1].name == "seed2"; }

[[noreturn]] void finalized(const Graph& g, const OpDef& op) {
  Diagnostic d;
  d.code = Code::E0803;
  d.op = op.name;
  d.headline = cat(op.name, " can't be added: the graph is finalized");
  d.labels.push_back({Role::kClosed, locate(g.finalized_at), "finalized here", false});
  d.labels.push_back(used_here(cat(op.name, " is added here")));
  d.why = "a finalized graph takes no more ops, so that it can be shared between threads and sessions";
  d.fixes.push_back(manual_fix(cat("move it before `", g.scope->name, ".finalize()`")));
  raise(std::move(d));
}

}  // namespace

Tracer::Tracer(Ref<Graph> graph, const NodeMap* copies)
    : graph_(std::move(graph)), copies_(copies), seeds_(random::seed_state().global_seed()) {
  first_id_ = TensorRep(DType::kInvalid, {}, nullptr).id;
  graph_->scope->interpreter = this;
  for (const Ref<Node>& n : graph_->nodes) if (is_constant(*n)) constants_[constant_of(*n).id()] = n;
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
  auto node = make_ref<Node>(&placeholder_op(), Attrs{Arg(dtype), Arg(shape)});
  node->where = graph_->scope->defined ? graph_->scope->defined : here();
  node->outputs.push_back({dtype, std::move(shape)});
  graph_->add(node, name);
  graph_->inputs.push_back(node);
  Tensor t = symbol_for({node, 0}, graph_->scope);
  made_.push_back(t);
  return t;
}

Edge Tracer::constant(const Tensor& t) {
  Ref<Node>& node = constants_[t.id()];
  if (!node) {
    bool handle = t.dtype() == DType::kResource;
    node = make_ref<Node>(handle ? &handle_op() : &const_op(), Attrs{Arg(t)});
    node->where = t.born();
    node->outputs.push_back({t.dtype(), t.shape()});
    graph_->add(node, context().name_scope + (handle ? "VarHandleOp" : "Const"));
  }
  return {node, 0};
}

Edge Tracer::capture(const Tensor& t) {
  Ref<Node>& node = captured_[t.id()];
  if (!node) {
    node = make_ref<Node>(&placeholder_op(), Attrs{Arg(t.dtype()), Arg(t.shape())});
    node->where = t.born();
    node->outputs.push_back({t.dtype(), t.shape()});
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

void Tracer::run(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out) {
  if (graph_->finalized) finalized(*graph_, op);
  try {
    check_signature(op, in);
    auto node = make_ref<Node>(&op, attrs);
    for (size_t i = 0; i < in.size(); ++i) {
      const Tensor& t = in[i];
      bool stranger = t && t.is_symbolic() && symbol_of(t)->scope != graph_->scope && !symbol_of(t)->scope->open();
      node->inputs.push_back(!t ? Edge{} : resolve(t, stranger ? operand_source(op, in, static_cast<int>(i)).text : ""));
    }
    Infer infer(op, in, attrs);
    op.infer(infer);
    for (size_t i = 0; i < in.size(); ++i) {
      const InputDef& def = op.inputs[std::min(i, op.inputs.size() - 1)];
      if (def.host && in[i] && !in[i].is_symbolic()) baked_.insert(in[i].id());
    }
    const Context& c = context();
    node->where = here();
    node->device = c.device;
    node->placed = c.placed;
    if (draws(op)) node->state = make_ref<random::NodeGenerator>(random::OpSeeds{attrs[0].i(), attrs[1].i()});
    for (size_t i = 0; i < infer.dtypes.size(); ++i) node->outputs.push_back({infer.dtypes[i], infer.shapes[i]});
    graph_->add(node, base_name(op));
    out.resize(node->outputs.size());
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = symbol_for({node, static_cast<int>(i)}, graph_->scope);
      made_.push_back(out[i]);
    }
    follow_known(op, in, attrs, out);
  } catch (Error& e) {
    e.name_op(op.name);
    throw;
  }
}

void Tracer::custom(const char* name, const std::vector<Tensor>& in, const std::vector<Tensor>& out, const Backward& backward) {
  graph_->customs.push_back({name, graph_->nodes.size(), in, out, backward});
}

Tracing::Tracing(Tracer& tracer, bool shut_out_tapes) : was_(context().interpreter), seeds_(random::seed_scope().graph), lifted_(context().lifted), shut_out_(shut_out_tapes) {
  Context& c = context();
  c.interpreter = &tracer;
  random::seed_scope().graph = &tracer.seeds();
  c.lifted = nullptr;
  if (shut_out_) std::swap(observers_, c.observers);
}

Tracing::~Tracing() {
  Context& c = context();
  c.interpreter = was_;
  random::seed_scope().graph = seeds_;
  c.lifted = lifted_;
  if (shut_out_) std::swap(observers_, c.observers);
}

Tracer* current_trace() { return dynamic_cast<Tracer*>(context().interpreter); }

}  // namespace holdfast
