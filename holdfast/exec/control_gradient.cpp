// Gradients of branches and loops. The forward op is made to hand out what the gradient needs of
// its inside; the gradient is another branch or loop.
#include <algorithm>

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/autodiff/recorder.h"
#include "holdfast/exec/control.h"
#include "holdfast/exec/control_ops.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/kernel.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/raw.h"
#include "holdfast/ops/list.h"
#include "holdfast/ops/list/list_value.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

// Whether a gradient may be wanted for what goes into a body.
bool flows_into(const Tensor& t) {
  if (!t.defined()) return false;
  if (t.dtype() != DType::kResource) return flows(t.dtype());
  auto* v = variable_behind(t);
  return v && is_differentiable(v->dtype);
}

// Zeros like a tensor; nothing for what a branch that was not taken left out.
Status run_zeros(Call& c) {
  if (!c.in().defined()) {
    c.set_out(0, Tensor());
    return {};
  }
  Tensors out;
  if (Status s = run_kernel(raw::zeros_like(), {&c.in(), 1}, {}, c.device, out); !s.ok()) return s;
  c.set_out(0, out[0]);
  return {};
}

Builder& everywhere(Builder& b) {
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda})
    b.kernel_for(kind, "zeros", run_zeros);
  return b;
}

const Op zeros_op = everywhere(RAW_OP(ZerosForGradient)
                                   .doc("Zeros like a tensor; nothing for what a branch left out.")
                                   .inputs("x?")
                                   .dtypes(kAll)
                                   .infer(+[](Infer& s) {
                                     if (s.has(0)) return s.output(s.dtype(), s.shape());
                                     s.output(float32, Shape::unknown());
                                   })
                                   .no_gradient());

Tensor zeros_for(const Tensor& t) {
  if (t.dtype() == DType::kVariant) return list_zeros_like(t);
  if (t.dtype() == DType::kResource) return zeros_like(Variable::from_handle(t).read());
  return t.shape().is_full() ? zeros_like(t) : zeros_op({t});
}

// The node behind an op of a graph, found by any output that is there.
Node& node_behind(Grad& g, Ref<Scope>& scope) {
  for (int i = 0; i < g.outputs(); ++i) {
    if (!g.y(i).defined() || !g.y(i).is_symbolic()) continue;
    scope = symbol_of(g.y(i))->scope;
    return *node_of(g.y(i));
  }
  fail(Code::E1105, g.op.name + ": the gradient of an op with bodies is taken in graphs only");
}

// Lets tapes know of outputs that were added to an op after it ran, so that gradients of gradients
// find them.
void tell_tapes(const Node& node, const Tensors& in, size_t had, std::span<const Tensor> added) {
  Tensors out(had, Tensor());
  for (const Tensor& t : added) out.push_back(t);
  for (Tape* tape : context().tapes) tape->ran(*node.op, in, node.attrs, out);
}

Tensors inputs_of(Grad& g) {
  Tensors in;
  for (int i = 0; i < g.inputs(); ++i) in.push_back(g.x(i));
  return in;
}

std::vector<Ref<Node>> sources_of(const Graph& g, std::vector<size_t>& positions) {
  std::vector<Ref<Node>> out;
  for (size_t i = 0; i < g.captures.size(); ++i) {
    if (!flows_into(g.captures[i].outer)) continue;
    out.push_back(g.captures[i].inner);
    positions.push_back(i);
  }
  return out;
}

Tensors replay_inside(const Graph& g, Tensors in) {
  for (const Capture& c : g.captures) in.push_back(c.outer);
  return replay(g, in);
}

// -- branches

struct Side {
  GraphGradient gradient;
  std::vector<size_t> sources;  // captures that a gradient is computed for
  size_t residuals = 0;
};

Side take_apart(Graph& body, size_t outputs) {
  Side s;
  s.gradient = differentiate(Ref<Graph>(&body), sources_of(body, s.sources), {.outputs = outputs});
  s.residuals = s.gradient.forward->outputs.size() - body.outputs.size();
  return s;
}

}  // namespace

Tensors if_gradient(Grad& g) {
  Ref<Scope> scope;
  Node& node = node_behind(g, scope);
  auto [then, otherwise] = bodies_in(*node.op, node.attrs);
  size_t outputs = static_cast<size_t>(g.outputs()), had = node.outputs.size();
  size_t then_captures = then.captures.size();
  Side sides[2] = {take_apart(then, outputs), take_apart(otherwise, outputs)};
  // Each side hands out its own residuals, and nothing in the place of the other's.
  Graph &a = *sides[0].gradient.forward, &b = *sides[1].gradient.forward;
  for (size_t i = 0; i < sides[0].residuals; ++i)
    node.outputs.push_back(type_of(a.outputs[had + i]));
  for (size_t i = 0; i < sides[1].residuals; ++i)
    node.outputs.push_back(type_of(b.outputs[had + i]));
  a.outputs.resize(a.outputs.size() + sides[1].residuals);
  b.outputs.insert(b.outputs.begin() + static_cast<std::ptrdiff_t>(had), sides[0].residuals,
                   Edge{});
  node.op->attr(node.attrs, "then_branch") = Arg(Ref<RefCounted>(sides[0].gradient.forward));
  node.op->attr(node.attrs, "else_branch") = Arg(Ref<RefCounted>(sides[1].gradient.forward));
  Tensors added;
  for (size_t i = had; i < node.outputs.size(); ++i)
    added.push_back(symbol_for({Ref<Node>(&node), static_cast<int>(i)}, scope));
  tell_tapes(node, inputs_of(g), had, added);

  auto first_input = [&](int which) { return which == 0 ? 1 : 1 + then_captures; };
  // What only decides which side is taken gets no gradient, as in code that runs at once.
  auto reached = [&](size_t input) {
    for (int which : {0, 1}) {
      const Side& s = sides[which];
      for (size_t k = 0; k < s.sources.size(); ++k)
        if (first_input(which) + s.sources[k] == input && s.gradient.backward->outputs[k].node)
          return true;
    }
    return false;
  };
  std::vector<size_t> wanted;
  for (size_t i = 1; i < static_cast<size_t>(g.inputs()); ++i)
    if (flows_into(g.x(static_cast<int>(i))) && g.wants(static_cast<int>(i)) && reached(i))
      wanted.push_back(i);
  Tensors dx(static_cast<size_t>(g.inputs()), Tensor());
  if (wanted.empty()) return dx;
  auto side = [&](int which) {
    const Side& s = sides[which];
    Tensors in;
    size_t from = which == 0 ? 0 : sides[0].residuals, first = first_input(which);
    for (size_t i = 0; i < s.residuals; ++i) in.push_back(added[from + i]);
    for (size_t t : s.gradient.targets) {
      int i = static_cast<int>(t);
      in.push_back(g.has_dy(i) ? g.dy(i) : zeros_for(symbol_for({Ref<Node>(&node), i}, scope)));
    }
    Tensors gradients = replay_inside(*s.gradient.backward, in), out;
    for (size_t input : wanted) {
      Tensor found;
      for (size_t k = 0; k < s.sources.size(); ++k)
        if (first + s.sources[k] == input) found = gradients[k];
      out.push_back(found.defined() ? found : zeros_for(g.x(static_cast<int>(input))));
    }
    return out;
  };
  Tensors found = cond(
      g.x(0), [&] { return side(0); }, [&] { return side(1); },
      {"gradient of " + then.scope->name, "gradient of " + otherwise.scope->name});
  for (size_t k = 0; k < wanted.size(); ++k) dx[wanted[k]] = found[k];
  return dx;
}

// -- loops

namespace {

// What a loop was made to keep: how often it ran, and a list for each residual of its body.
struct Kept final : RefCounted {
  GraphGradient gradient;
  size_t variables = 0;  // of the loop before
  std::vector<size_t> var_sources, capture_sources;
  struct Residual {
    int capture = -1;  // the body's capture it is, the same in each iteration
    int output = -1;   // or the output that lists it
    Type type;
  };
  std::vector<Residual> residuals;
  int counter = 0;   // the output that counts
  Ref<Kept> before;  // for the gradient of fewer variables
};

// Puts nodes that were just written before the one that is to use them.
void move_before(Graph& g, size_t from, const Node& user) {
  auto at = std::find_if(g.nodes.begin(), g.nodes.end(),
                         [&](const Ref<Node>& n) { return n.get() == &user; });
  g.move_back(from, static_cast<size_t>(at - g.nodes.begin()));
}

// A loop variable more: in both bodies and at the op itself.
struct Extension {
  Tracer& body;
  Tracer& test;
  Node& node;
  Graph& around;

  int add(const Type& type, const Tensor& initial,
          const std::function<Tensor(const Tensor&)>& next) {
    int index = static_cast<int>(body.graph()->inputs.size());
    test.input(type.dtype, type.shape, "variable");
    {
      Tracing inside(body, true);
      Tensor now = body.input(type.dtype, type.shape, "variable");
      body.graph()->outputs.push_back(body.resolve(next(now)));
    }
    auto given = make_ref<Node>(&const_op(), Attrs{Arg(initial)});
    given->outputs.push_back({initial.dtype(), initial.shape()});
    size_t end = around.nodes.size();
    around.add(given, "initial");
    move_before(around, end, node);
    node.inputs.insert(static_cast<size_t>(index), Edge{given, 0});
    node.outputs.push_back(type);
    return index;
  }
};

Ref<Kept> keep(Grad& g, Node& node, const Ref<Scope>& scope) {
  size_t outputs = static_cast<size_t>(g.outputs()), asked = 0;
  for (size_t i = 0; i < outputs; ++i)
    if (g.has_dy(static_cast<int>(i))) asked = i + 1;
  // What it was made to keep before will do again, unless a gradient arrives at that itself.
  Ref<Kept> last(static_cast<Kept*>(node.gradient.get()));
  for (Ref<Kept> before = last; before; before = before->before)
    if (asked <= before->variables && before->variables <= outputs &&
        (!before->before || before->before->variables < asked))
      return before;
  auto [test, body] = bodies_in(*node.op, node.attrs);
  auto kept = make_ref<Kept>();
  kept->variables = outputs;
  kept->before = last;
  std::vector<Ref<Node>> sources;
  for (size_t i = 0; i < outputs; ++i) {
    if (!flows(body.inputs[i]->outputs[0].dtype)) continue;
    sources.push_back(body.inputs[i]);
    kept->var_sources.push_back(i);
  }
  for (const Ref<Node>& n : sources_of(body, kept->capture_sources)) sources.push_back(n);
  kept->gradient = differentiate(Ref<Graph>(&body), sources, {.outputs = outputs});
  Graph& forward = *kept->gradient.forward;
  std::vector<Edge> residuals(
      forward.outputs.begin() + static_cast<std::ptrdiff_t>(body.outputs.size()),
      forward.outputs.end());
  forward.outputs.resize(body.outputs.size());
  auto* around = dynamic_cast<Tracer*>(scope->interpreter);
  if (!around) bug("the gradient of a loop is taken in a graph that is closed");
  auto new_body = forward.continued(), new_test = test.continued();
  {
    Tracer body_tracer(new_body), test_tracer(new_test);
    Extension extend{body_tracer, test_tracer, node, *around->graph()};
    kept->counter =
        extend.add({int32, Shape{}}, Tensor::scalar(0), [](const Tensor& n) { return add(n, 1); });
    for (const Edge& e : residuals) {
      Kept::Residual r;
      r.type = type_of(e);
      for (size_t i = 0; i < forward.captures.size(); ++i)
        if (forward.captures[i].inner == e.node) r.capture = static_cast<int>(i);
      if (r.capture < 0) {
        Tensor value = symbol_for(e, body.scope);
        r.output = extend.add({DType::kVariant, Shape{}}, make_list({}),
                              [&](const Tensor& list) { return list_keep(list, value); });
      }
      kept->residuals.push_back(r);
    }
  }
  node.op->attr(node.attrs, "cond") = Arg(Ref<RefCounted>(new_test));
  node.op->attr(node.attrs, "body") = Arg(Ref<RefCounted>(new_body));
  node.gradient = kept;
  return kept;
}

}  // namespace

Tensors while_gradient(Grad& g) {
  Ref<Scope> scope;
  Node& node = node_behind(g, scope);
  size_t had = node.outputs.size();
  auto kept = keep(g, node, scope);
  auto output = [&](int i) { return symbol_for({Ref<Node>(&node), i}, scope); };
  Tensors added;
  for (size_t i = kept->variables; i < node.outputs.size(); ++i)
    added.push_back(output(static_cast<int>(i)));
  if (had < node.outputs.size()) {
    Tensors in = inputs_of(g);  // as it has them now: further variables after those it had
    for (size_t i = kept->variables; i < node.outputs.size(); ++i)
      in.insert(i, constant_of(*node.inputs[i].node));
    tell_tapes(node, in, had, std::span<const Tensor>(added).subspan(had - kept->variables));
  }

  Graph& body = bodies_in(*node.op, node.attrs).second;
  size_t n = kept->variables,
         first_capture = static_cast<size_t>(g.inputs()) - body.captures.size();
  auto capture = [&](size_t i) -> const Tensor& {
    return g.x(static_cast<int>(first_capture + i));
  };
  Tensors state{added[static_cast<size_t>(kept->counter) - n]};
  for (size_t v : kept->var_sources) {
    int i = static_cast<int>(v);
    state.push_back(g.has_dy(i) ? g.dy(i) : zeros_for(output(i)));
  }
  size_t vars = kept->var_sources.size();
  std::vector<size_t> reached;  // of the captures, by their number among the sources: what only
                                // ends the loop gets no gradient
  for (size_t k = 0; k < kept->capture_sources.size(); ++k)
    if (kept->gradient.backward->outputs[vars + k].node) reached.push_back(k);
  for (size_t k : reached) state.push_back(zeros_for(capture(kept->capture_sources[k])));
  Tensors final = while_loop(
      [](std::span<const Tensor> s) -> Tensors { return {greater(s[0], 0)}; },
      [&](std::span<const Tensor> s) {
        Tensor i = subtract(s[0], 1);
        Tensors in, next{i};
        for (const Kept::Residual& r : kept->residuals)
          in.push_back(r.capture >= 0 ? capture(static_cast<size_t>(r.capture))
                                      : list_kept(added[static_cast<size_t>(r.output) - n], i,
                                                  {r.type.dtype, r.type.shape}));
        for (size_t t : kept->gradient.targets) {
          size_t at =
              static_cast<size_t>(std::find(kept->var_sources.begin(), kept->var_sources.end(), t) -
                                  kept->var_sources.begin());
          in.push_back(s[1 + at]);
        }
        Tensors gradients = replay_inside(*kept->gradient.backward, in);
        for (size_t k = 0; k < vars; ++k)
          next.push_back(gradients[k].defined() ? gradients[k] : zeros_for(s[1 + k]));
        for (size_t k = 0; k < reached.size(); ++k) {
          const Tensor &so_far = s[1 + vars + k], &more = gradients[vars + reached[k]];
          next.push_back(so_far.dtype() == DType::kVariant ? list_add(so_far, more)
                                                           : add(so_far, more));
        }
        return next;
      },
      state, {}, {"gradient's condition", "gradient of " + body.scope->name});
  Tensors dx(static_cast<size_t>(g.inputs()), Tensor());
  for (size_t k = 0; k < vars; ++k) dx[kept->var_sources[k]] = final[1 + k];
  for (size_t k = 0; k < reached.size(); ++k)
    dx[first_capture + kept->capture_sources[reached[k]]] = final[1 + vars + k];
  return dx;
}

}  // namespace holdfast
