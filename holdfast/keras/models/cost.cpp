#include "holdfast/keras/models/cost.h"

#include "holdfast/graph/bodies.h"
#include "holdfast/graph/trace.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/sequential.h"

namespace holdfast::keras {
namespace {

int64_t size_or_one(int64_t d) { return d < 0 ? 1 : d; }

Shape with_ones(const Shape& s) {
  if (!s.has_rank()) return s;
  std::vector<int64_t> sizes;
  for (int64_t d : s.dims()) sizes.push_back(size_or_one(d));
  return Shape(sizes);
}

int64_t elements(const Shape& s) {
  int64_t out = 1;
  if (s.has_rank())
    for (int64_t d : s.dims()) out *= size_or_one(d);
  return out;
}

const Shape& shape_of_input(const Node& n, size_t i) {
  const Edge& e = n.inputs[i];
  return e.node->outputs[static_cast<size_t>(e.output)].shape;
}
bool has_input(const Node& n, size_t i) { return i < n.inputs.size() && n.inputs[i].node; }

Cost graph_cost(const Graph& graph);

// Products and sums of a contraction: for each result, as many as are summed over.
int64_t products(const Node& n, int64_t results, int64_t summed) {
  return n.outputs.empty() ? 0 : 2 * results * summed;
}

Cost op_cost(const Node& n) {
  const OpDef& op = *n.op;
  Cost out;
  bool inside = false;
  for (size_t i = 0; i < n.attrs.size(); ++i)
    if (const Graph* body = body_in(n.attrs[i])) {
      out += graph_cost(*body);
      inside = true;
    }
  if (inside) {
    // How often the body of a loop runs is seen when it runs.
    if (op.name.find("While") != std::string::npos) out.complete = false;
    return out;
  }
  if (n.outputs.empty() || !has_input(n, 0)) return out;
  DType made = n.outputs[0].dtype;
  if (!is_floating(made) && !is_complex(made)) return out;  // sizes and indices
  const Traits& t = op.traits;
  if (t.view || t.rearranges || t.host || t.reads || t.stateful || t.moves) return out;
  const Shape& result = n.outputs[0].shape;
  int64_t results = elements(result);
  auto starts = [&](const char* with) { return op.name.starts_with(with); };
  if (has_input(n, 1) && (starts("MatMul") || starts("BatchMatMul"))) {
    const Shape& a = shape_of_input(n, 0);
    int64_t rows = result.has_rank() && result.rank() > 1 ? size_or_one(result[-2]) : 1;
    int64_t last = a.has_rank() && a.rank() > 1 ? size_or_one(a[-1]) * size_or_one(a[-2]) : 1;
    out.flops = products(n, results, last / std::max<int64_t>(1, rows));
  } else if (has_input(n, 2) && starts("Conv") && op.name.ends_with("BackpropInput")) {
    const Shape &filter = shape_of_input(n, 1), &from = shape_of_input(n, 2);
    out.flops = products(n, elements(from),
                         elements(filter) / std::max<int64_t>(1, size_or_one(filter[-1])));
  } else if (has_input(n, 1) && starts("DepthwiseConv")) {
    const Shape& filter = shape_of_input(n, 1);
    out.flops = products(n, results, size_or_one(filter[0]) * size_or_one(filter[1]));
  } else if (has_input(n, 1) && starts("Conv")) {
    const Shape& filter = shape_of_input(n, 1);
    out.flops =
        products(n, results, elements(filter) / std::max<int64_t>(1, size_or_one(filter[-1])));
  } else {
    // A reduction looks at each element of its input, an elementwise op makes each of its output.
    out.flops = std::max(results, elements(shape_of_input(n, 0)));
  }
  return out;
}

Cost graph_cost(const Graph& graph) {
  Cost out;
  for (const Ref<Node>& n : graph.nodes) out += op_cost(*n);
  return out;
}

// Runs `f` in a trace of its own, on symbols like `tensors` of a batch of 1.
template <class F>
Cost traced_cost(const std::string& name, std::span<const Tensor> tensors, F f) {
  auto graph = make_ref<Graph>(make_ref<Scope>(ScopeKind::kBuild, name, nullptr));
  Tracer tracer(graph);
  auto alike = [&](const Tensor& t, const char* as) {
    return t.defined() && t.is_symbolic() ? tracer.input(t.dtype(), with_ones(t.shape()), as) : t;
  };
  std::vector<Tensor> symbols;
  for (const Tensor& t : tensors) {
    symbols.push_back(alike(t, "input"));
    if (Tensor mask = t.defined() ? mask_of(t) : Tensor(); mask.defined())
      set_mask(symbols.back(), alike(mask, "mask"));
  }
  try {
    Tracing in(tracer, true);
    f(symbols);
  } catch (const Error&) {
    return {0, false};  // it does not stand a batch of 1
  }
  return graph_cost(*graph);
}

std::vector<Ref<Node>> inner_nodes(const Layer& layer) {
  if (auto* f = dynamic_cast<const FunctionalLayer*>(&layer)) return f->nodes();
  if (auto* s = dynamic_cast<const SequentialLayer*>(&layer)) return s->nodes();
  return {};
}

bool foreign_inside(const Layer& layer) {
  for (const Ref<Node>& n : inner_nodes(layer))
    if (LayerCall* call = layer_call(*n))
      if (call->runs_foreign_code() || foreign_inside(*call->layer)) return true;
  return false;
}

}  // namespace

Cost cost_of(const Node& node) {
  LayerCall* call = layer_call(node);
  if (!call) return op_cost(node);
  if (call->runs_foreign_code()) return {0, false};
  if (foreign_inside(*call->layer)) {
    Cost out;
    for (const Ref<Node>& n : inner_nodes(*call->layer)) out += cost_of(*n);
    return out;
  }
  LossesKept kept(*call->layer);
  std::vector<Tensor> used = operands_of(node);
  return traced_cost(call->layer->name(), used,
                     [&](std::span<const Tensor> symbols) { call->replay(symbols, false); });
}

Cost cost_of(Layer& layer, const std::vector<Shape>& inputs) {
  std::vector<Tensor> types;
  for (const Shape& s : inputs) types.push_back(symbol_of_type(layer.compute_dtype(), s));
  LossesKept kept(layer);
  return traced_cost(layer.name(), types, [&](std::span<const Tensor> symbols) {
    std::vector<Nested> each(symbols.begin(), symbols.end());
    CallOptions testing;
    testing.training = false;
    layer.run(each.size() == 1 ? each[0] : Nested::list(std::move(each)), testing);
  });
}

}  // namespace holdfast::keras
