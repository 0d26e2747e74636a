#include "holdfast/graph/open_graph.h"

#include <unordered_map>

#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/ops/array/view.h"

namespace holdfast {
namespace {

void infer_nothing(Infer&) {}
Status run_nothing(Call&) { return {}; }

struct DefaultAttrs {
  Attr<Shape> shape;
};

void infer_default(Infer& s) {
  const Shape& shape = s.attrs<DefaultAttrs>().shape();
  if (!shape.compatible(s.shape()))
    s.bad_shape(0, cat("one that fits the placeholder's, ", shape.text()));
  s.output(s.dtype(), shape);
}
Status run_default(Call& c) {
  c.set_out(0, view_of(c.in(), c.in().shape()));
  return {};
}

const Op nothing = RAW_OP(NoOp)
                       .doc("Does nothing; runs after what it was told to wait for.")
                       .inputs("")
                       .outputs("")
                       .infer(infer_nothing)
                       .kernel("nothing", run_nothing)
                       .kernel_for(DeviceKind::kCuda, "nothing", run_nothing)
                       .no_gradient();
const Op with_default = RAW_OP(PlaceholderWithDefault)
                            .doc("A value that may be given from outside; else the input.")
                            .inputs("input")
                            .attr("shape")
                            .attrs<&DefaultAttrs::shape>()
                            .replaceable()
                            .infer(infer_default)
                            .kernel("view", run_default)
                            .kernel_for(DeviceKind::kCuda, "view", run_default)
                            .gradient(+[](Grad& g) -> Tensors { return {g.dy()}; })
                            .keeps("");

}  // namespace

const OpDef& no_op() { return nothing.def(); }

struct OpenGraph::Index {
  std::unordered_map<uint64_t, size_t> by_id;
};

OpenGraph::OpenGraph(const std::string& name) : index_(make_owned<Index>()) {
  auto graph = make_ref<Graph>(make_ref<Scope>(ScopeKind::kGraph, name, nullptr));
  tracer_ = make_owned<Tracer>(std::move(graph), nullptr, this);
}

OpenGraph::~OpenGraph() = default;

const Ref<Graph>& OpenGraph::graph() const { return tracer_->graph(); }
Tensor OpenGraph::tensor(const Edge& e) const { return tracer_->symbol(e); }

Tensor OpenGraph::add_placeholder(DType dtype, Shape shape, const std::string& name) {
  return tracer_->input(dtype, std::move(shape), context().name_scope + name);
}

Tensor OpenGraph::add_default(const Tensor& input, Shape shape, const std::string& name) {
  InterpreterScope here(tracer_.get());
  NamedCall named(name, {});
  Tensor out = with_default({input}, {Arg(std::move(shape))});
  named.finish(out);
  return out;
}

Tensor OpenGraph::constant(const In& value, const std::string& name) {
  Tensor t = value.tensor();
  return t.is_symbolic() ? t : tracer_->constant_node(t, name);
}

Variable OpenGraph::variable(const In& initial, VariableOptions o) {
  InterpreterScope here_too(tracer_.get());
  Context& c = context();
  std::string name = graph()->unique_name(c.name_scope + o.name),
              around = std::exchange(c.name_scope, name + "/");
  tracer_->push_control({},
                        true);  // what a variable begins with depends on nothing that is computed
  struct Undo {
    Tracer& tracer;
    std::string& scope;
    std::string was;
    ~Undo() {
      scope = was;
      tracer.pop_control();
    }
  } undo{*tracer_, c.name_scope, around};
  Tensor value = initial.tensor(o.dtype);
  if (!value.is_symbolic()) value = tracer_->constant_node(value, "initial_value");
  if (o.dtype != DType::kInvalid && value.dtype() != o.dtype)
    fail(Code::E1101, cat("Variable `", name, "`: the initial value is of dtype ",
                          holdfast::name(value.dtype()), ", expected ", holdfast::name(o.dtype)));
  Shape shape = o.shape.value_or(value.shape());
  if (!shape.compatible(value.shape()))
    fail(Code::E1102, cat("Variable `", name, "`: the initial value's shape is ",
                          value.shape().text(), ", expected ", shape.text()));
  auto state = make_ref<VariableState>(name, value.dtype(), shape, o.trainable);
  state->born = here();
  state->graph = scope();
  state->constraint = o.constraint;
  state->set(
      symbol_for(tracer_->resolve(value), scope()));  // of its dtype and shape, and without a value
  Held held{Variable(std::move(state)), tracer_->resolve(value), nullptr, nullptr};
  held.handle = tracer_->resolve(held.variable.handle()).node;
  graph()->rename(*held.handle, name);
  c.op_name = "Assign";
  held.variable.assign(value);
  c.op_name.clear();
  held.assign = graph()->nodes.back();
  held.container = container_;
  held.shared_name = name;
  hold(held);
  return held.variable;
}

Variable OpenGraph::bare_variable(DType dtype, const Shape& shape, const std::string& base,
                                  const std::string& shared_name) {
  InterpreterScope here_too(tracer_.get());
  std::string name = graph()->unique_name(context().name_scope + base);
  auto state = make_ref<VariableState>(name, dtype, shape, false);
  state->born = here();
  state->graph = scope();
  Held held{Variable(std::move(state)), {}, nullptr, nullptr};
  held.handle = tracer_->resolve(held.variable.handle()).node;
  graph()->rename(*held.handle, name);
  held.container = container_;
  held.shared_name = shared_name;
  hold(held);
  return held.variable;
}

void OpenGraph::hold(Held held) {
  index_->by_id.emplace(held.variable.handle().id(), variables_.size());
  variables_.push_back(std::move(held));
}

OpenGraph::Held* OpenGraph::held_by(const Tensor& handle) {
  auto it = index_->by_id.find(handle.id());
  return it == index_->by_id.end() ? nullptr : &variables_[it->second];
}

const OpenGraph::Held* OpenGraph::find_variable(const Tensor& handle) const {
  return const_cast<OpenGraph*>(this)->held_by(handle);
}

Ref<Node> OpenGraph::group(std::vector<Ref<Node>> nodes, const std::string& name) {
  InterpreterScope here(tracer_.get());
  tracer_->push_control(std::move(nodes));
  struct Undo {
    Tracer& tracer;
    ~Undo() {
      tracer.pop_control();
      context().op_name.clear();
    }
  } undo{*tracer_};
  context().op_name = name;
  Tensors none;
  tracer_->run(no_op(), {}, {}, none);
  return graph()->nodes.back();
}

Ref<Node> OpenGraph::initializer(const std::string& name) {
  std::vector<Ref<Node>> all;
  for (const Held& h : variables_)
    if (h.assign) all.push_back(h.assign);
  return group(std::move(all), name);
}

Tensor OpenGraph::tensor(const std::string& name) const {
  size_t colon = name.rfind(':');
  Node* node = graph()->find(name.substr(0, colon));
  size_t output = 0;
  if (colon != std::string::npos) {
    for (char digit : name.substr(colon + 1)) {
      if (digit < '0' || digit > '9' || output > 9999) return {};
      output = output * 10 + static_cast<size_t>(digit - '0');
    }
  }
  if (!node || output >= node->outputs.size()) return {};
  return tensor(Edge{Ref<Node>(node), static_cast<int>(output)});
}

void OpenGraph::no_more() {
  graph()->finalized = true;
  if (!graph()->finalized_at) graph()->finalized_at = here();
}

static const Ref<OpenGraph>& given(const Ref<OpenGraph>& graph) {
  if (!graph) fail(Code::E1104, "GraphScope: `graph` is null, expected a graph");
  return graph;
}

GraphScope::GraphScope(const Ref<OpenGraph>& graph, Entered)
    : graph_(given(graph)),
      name_scope_(context().name_scope),
      tracing_(make_owned<Tracing>(graph->tracer(), false)) {
  // Names of one graph do not begin with the scopes of another.
  if (tracing_->was() != &graph->tracer()) context().name_scope.clear();
}
GraphScope::~GraphScope() { context().name_scope = name_scope_; }

OpenGraph* graph_of(const Tensor& t) {
  return t.defined() && t.is_symbolic() ? dynamic_cast<OpenGraph*>(symbol_of(t)->keeps.get())
                                        : nullptr;
}

OpenGraph* current_graph() {
  Tracer* t = current_trace();
  return t ? dynamic_cast<OpenGraph*>(t->home()) : nullptr;
}

}  // namespace holdfast
