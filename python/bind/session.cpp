// Graphs written by hand and their sessions, as the package's own Python code uses them.
#include "holdfast/exec/session.h"

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/graph_function.h"
#include "holdfast/exec/init_scope.h"
#include "holdfast/exec/partial_run.h"
#include "holdfast/exec/shared_variables.h"
#include "holdfast/graph/foreign.h"
#include "holdfast/graph/graph_def.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/ops/random/streams.h"
#include "python/bind/call.h"
#include "python/bind/graph.h"
#include "python/bind/graph_keeper.h"
#include "python/bind/nb.h"
#include "python/bind/object.h"
#include "python/bind/open_graph.h"
#include "python/bind/traced.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

// While it lives, the graph is the thread's default.
struct Entered {
  std::unique_ptr<GraphScope> scope;
};

Object& graph_class() {
  static Object* c = new Object;  // outlives the interpreter
  return *c;
}

// Makes a Python Graph stand for a graph.
void hook(PyObject* self, Ref<OpenGraph> graph) {
  Object keeper = keeper_of(*graph);
  if (PyObject_SetAttrString(self, "_keeper", keeper.get()) < 0) throw PythonError{};
  nb::inst_ptr<GraphBox>(self)->hook(std::move(graph), self);
}

nb::object wrap_graph(OpenGraph* g) {
  if (!g) return nb::none();
  if (g->wrapper) return nb::borrow(static_cast<PyObject*>(g->wrapper));
  // Only tensors were left of it: a new Python object stands for it.
  Object fresh = Object::steal(PyObject_CallMethod(graph_class().get(), "_revived", nullptr));
  hook(fresh.get(), Ref<OpenGraph>(g));
  return given(std::move(fresh));
}

struct ToPython {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(bool v) const { return nb::bool_(v); }
  nb::object operator()(int64_t v) const { return nb::int_(v); }
  nb::object operator()(double v) const { return nb::float_(v); }
  nb::object operator()(const std::string& v) const { return nb::bytes(v.data(), v.size()); }
  nb::object operator()(DType v) const { return nb::borrow(dtype_object(v)); }
  nb::object operator()(const Shape& v) const { return given(shape_object(v)); }
  nb::object operator()(const Tensor& v) const { return v.defined() ? nb::cast(v) : nb::none(); }
  nb::object operator()(const Ref<RefCounted>& v) const {
    return nb::str(v ? v->text().c_str() : "");
  }
  template <class T>
  nb::object operator()(const T& list) const {
    nb::list out;
    for (const auto& x : list) out.append((*this)(x));
    return out;
  }
};

// An attribute of a node: one of the op's own, or the dtype that a group of inputs shares.
nb::object attribute(const Node& n, const std::string& name) {
  if (int i = n.op->attr_index(name.c_str()); i >= 0 && static_cast<size_t>(i) < n.attrs.size())
    return std::visit(ToPython(), n.attrs[static_cast<size_t>(i)].value());
  if (n.op == &placeholder_op() && name == "_user_specified_name") return ToPython()(n.name);
  if (n.op == &placeholder_op() && name == "dtype") return ToPython()(n.outputs[0].dtype);
  if (n.op == &const_op() && name == "dtype") return ToPython()(n.outputs[0].dtype);
  if (VariableState* v = n.op == &handle_op() ? variable_behind(constant_of(n)) : nullptr) {
    if (name == "dtype") return ToPython()(v->dtype);
    if (name == "shape") return ToPython()(v->shape);
    if (name == "shared_name") return ToPython()(v->name);
  }
  for (size_t i = 0; i < n.op->inputs.size() && i < n.inputs.size(); ++i)
    if (n.op->inputs[i].group == name && n.inputs[i].node)
      return ToPython()(type_of(n.inputs[i]).dtype);
  PyErr_SetString(PyExc_ValueError,
                  cat("the operation `", n.name, "` has no attribute `", name, "`").c_str());
  throw PythonError{};
}

nb::object loc_of(Where w) {
  Loc at = locate(w);
  if (at.line <= 0) return nb::none();
  return given(to_dict(at));
}

void bind_node(nb::module_& m) {
  nb::class_<NodeBox>(m, "Node")
      .def_prop_ro("id", [](NodeBox& n) { return reinterpret_cast<uintptr_t>(n.node.get()); })
      .def_prop_ro("name", [](NodeBox& n) { return n.node->name; })
      .def_prop_ro("type", [](NodeBox& n) { return n.node->op->name; })
      .def_prop_ro(
          "device",
          [](NodeBox& n) { return n.node->device ? n.node->device->name() : std::string(); })
      .def(
          "set_device",
          [](NodeBox& n, nb::handle kind, int index) {
            n.node->device = nullptr;
            if (kind.is_none()) return;
            bool gpu = nb::cast<std::string>(kind) == "GPU";
            for (Device* d : devices())
              if (gpu == (d->kind() != DeviceKind::kCpu) && d->index() == index) n.node->device = d;
          },
          "kind"_a.none(), "index"_a)
      .def(
          "set_after",
          [](NodeBox& n, const std::vector<NodeBox*>& before) { n.node->after = nodes_of(before); })
      .def_prop_ro("graph",
                   [](NodeBox& n) { return run([&] { return wrap_graph(n.graph.get()); }); })
      .def_prop_ro("keeper",
                   [](NodeBox& n) -> nb::object {
                     return n.graph ? given(keeper_of(*n.graph)) : nb::none();
                   })
      .def_prop_ro("scope", [](NodeBox& n) { return reinterpret_cast<uintptr_t>(n.scope.get()); })
      .def("inputs",
           [](NodeBox& n) {
             nb::list out;
             for (const Edge& e : n.node->inputs)
               if (e.node) out.append(nb::cast(n.tensor(e)));
             return out;
           })
      .def("outputs",
           [](NodeBox& n) {
             nb::list out;
             for (size_t i = 0; i < n.node->outputs.size(); ++i)
               out.append(nb::cast(n.tensor(Edge{n.node, static_cast<int>(i)})));
             return out;
           })
      .def("control_inputs",
           [](NodeBox& n) {
             nb::list out;
             for (const Ref<Node>& before : n.node->after)
               out.append(nb::cast(NodeBox{before, n.graph, n.scope}));
             return out;
           })
      .def("attr",
           [](NodeBox& n, const std::string& name) {
             return run([&] { return attribute(*n.node, name); });
           })
      .def("born", [](NodeBox& n) { return run([&] { return loc_of(n.node->where); }); });
}

// What is or was traced: the graph of a function, to look at.
struct TracedGraph {
  Ref<const Graph> graph;

  NodeBox node(const Ref<Node>& n) const { return {n, {}, graph->scope}; }
};

// The function that is being traced, not the branch or body of it.
Tracer* traced_function() {
  Tracer* t = current_trace();
  Scope* s = t ? t->graph()->scope.get() : nullptr;
  while (s && s->parent) s = s->parent.get();
  if (!s || s->kind != ScopeKind::kFunction) return nullptr;
  return dynamic_cast<Tracer*>(s->interpreter);
}

void bind_traced_graph(nb::module_& m) {
  nb::class_<TracedGraph>(m, "TracedGraph")
      .def_prop_ro("scope",
                   [](TracedGraph& g) { return reinterpret_cast<uintptr_t>(g.graph->scope.get()); })
      .def_prop_ro("name", [](TracedGraph& g) { return g.graph->scope->name; })
      .def_prop_ro("open", [](TracedGraph& g) { return g.graph->scope->open(); })
      .def("nodes",
           [](TracedGraph& g) {
             nb::list out;
             for (const Ref<Node>& n : g.graph->nodes) out.append(nb::cast(g.node(n)));
             return out;
           })
      .def("effects",
           [](TracedGraph& g) {
             // What runs whether or not somebody takes its results.
             nb::list out;
             for (const Ref<Node>& n : g.graph->nodes)
               if (n->op->traits.stateful && n->op != &handle_op() && n->op != &placeholder_op())
                 out.append(nb::cast(g.node(n)));
             return out;
           })
      .def("captures",
           [](TracedGraph& g) {
             nb::list out;
             for (const Capture& c : g.graph->captures)
               out.append(nb::make_tuple(c.outer, symbol_for({c.inner, 0}, g.graph->scope)));
             return out;
           })
      .def("inputs",
           [](TracedGraph& g) {
             nb::list out;
             for (const Ref<Node>& n : g.graph->inputs)
               out.append(symbol_for({n, 0}, g.graph->scope));
             return out;
           })
      .def("text", [](TracedGraph& g) { return run([&] { return g.graph->text(); }); })
      .def("graph_def", [](TracedGraph& g) {
        return run([&] {
          std::string s = graph_def(*g.graph);
          return nb::bytes(s.data(), s.size());
        });
      });
  m.def("traced_graph", []() -> nb::object {
    Tracer* t = traced_function();
    return t ? nb::cast(TracedGraph{Ref<const Graph>(t->graph().get())}) : nb::none();
  });
  m.def("traced_graph_of", [](nb::handle concrete) {
    return TracedGraph{Ref<const Graph>(&concrete_of(concrete.ptr()).function->graph())};
  });
}

struct EnteredEager {
  std::unique_ptr<InterpreterScope> scope;
};

void bind_open_graph(nb::module_& m) {
  nb::class_<EnteredEager>(m, "EnteredEager").def("close", [](EnteredEager& e) {
    e.scope.reset();
  });
  m.def("enter_eager", [] { return EnteredEager{std::make_unique<InterpreterScope>(nullptr)}; });
  nb::class_<Entered>(m, "Entered").def("close", [](Entered& e) { e.scope.reset(); });
  nb::class_<GraphBox>(m, "GraphBase", nb::is_weak_referenceable())
      .def(nb::init<>())
      .def("_open",
           [](nb::handle self, const std::string& name) {
             run([&] {
               mark();
               hook(self.ptr(), make_ref<OpenGraph>(name));
               return 0;
             });
           })
      .def("_enter", [](GraphBox& g) { return Entered{std::make_unique<GraphScope>(g.graph)}; })
      .def("_install",
           [](GraphBox& g, bool on) {
             // The graph of a program that has no eager execution: on this thread and on those that
             // begin later.
             Interpreter* who = on ? static_cast<Interpreter*>(&g.graph->tracer()) : nullptr;
             context().interpreter = who;
             set_first_interpreter(who);
             random::set_first_seeds(on ? &g.graph->tracer().seeds() : nullptr);
           })
      .def(
          "_placeholder",
          [](GraphBox& g, nb::handle dtype, nb::handle shape, const std::string& name) {
            return run([&] {
              mark();
              return g.graph->placeholder(dtype_of_object(dtype.ptr()), shape_of(shape.ptr()),
                                          name);
            });
          },
          "dtype"_a, "shape"_a.none(), "name"_a)
      .def(
          "_placeholder_with_default",
          [](GraphBox& g, const Tensor& input, nb::handle shape, const std::string& name) {
            return run([&] {
              mark();
              return g.graph->placeholder_with_default(input, shape_of(shape.ptr()), name);
            });
          },
          "input"_a, "shape"_a.none(), "name"_a)
      .def("_constant",
           [](GraphBox& g, const Tensor& value, const std::string& name) {
             return run([&] {
               mark();
               return g.graph->constant(value, name);
             });
           })
      .def("_group",
           [](GraphBox& g, const std::vector<NodeBox*>& nodes, const std::string& name) {
             return run([&] {
               mark();
               return NodeBox{g.graph->group(nodes_of(nodes), name), g.graph};
             });
           })
      .def("_push_control",
           [](GraphBox& g, const std::vector<NodeBox*>& nodes, bool clear) {
             g.graph->tracer().push_control(nodes_of(nodes), clear);
           })
      .def("_foreign",
           [](GraphBox& g, const std::string& type, const std::vector<Tensor>& inputs,
              const nb::list& dtypes, const std::string& name) {
             return run([&] {
               mark();
               std::vector<DType> kinds;
               for (nb::handle d : dtypes) kinds.push_back(dtype_of_object(d.ptr()));
               return NodeBox{add_foreign(*g.graph, type, inputs, kinds, name), g.graph};
             });
           })
      .def("_push_watcher",
           [](GraphBox& g, nb::callable watch) {
             auto code = make_ref<Held>(Object::share(watch.ptr()));
             g.graph->tracer().push_watcher([code, graph = g.graph.get()](const Ref<Node>& n) {
               nb::object node = nb::cast(NodeBox{n, Ref<OpenGraph>(graph)});
               Object::steal(PyObject_CallOneArg(code->get().get(), node.ptr()));
             });
           })
      .def("_pop_watcher",
           [](GraphBox& g) {
             run([&] {
               g.graph->tracer().pop_watcher();
               return 0;
             });
           })
      .def("_pop_control",
           [](GraphBox& g) {
             run([&] {
               g.graph->tracer().pop_control();
               return 0;
             });
           })
      .def("_nodes",
           [](GraphBox& g) {
             nb::list out;
             for (const Ref<Node>& n : g.graph->graph()->nodes)
               out.append(nb::cast(NodeBox{n, g.graph}));
             return out;
           })
      .def("_size", [](GraphBox& g) { return g.graph->graph()->nodes.size(); })
      .def("_find",
           [](GraphBox& g, const std::string& name) -> nb::object {
             Ref<Node> n = g.graph->find(name);
             return n ? nb::cast(NodeBox{n, g.graph}) : nb::none();
           })
      .def("_initializer_of",
           [](GraphBox& g, const Tensor& handle) -> nb::object {
             const OpenGraph::Held* held = g.graph->find_variable(handle);
             return held ? nb::cast(NodeBox{held->assign, g.graph}) : nb::none();
           })
      .def("_initial_of",
           [](GraphBox& g, const Tensor& handle) -> nb::object {
             const OpenGraph::Held* held = g.graph->find_variable(handle);
             return held ? nb::cast(g.graph->tensor(held->initial)) : nb::none();
           })
      .def("_handle_of",
           [](GraphBox& g, const Tensor& handle) -> nb::object {
             const OpenGraph::Held* held = g.graph->find_variable(handle);
             return held ? nb::cast(NodeBox{held->handle, g.graph}) : nb::none();
           })
      .def("_set_container",
           [](GraphBox& g, std::string name) { return g.graph->set_container(std::move(name)); })
      .def("_unique_name",
           [](GraphBox& g, const std::string& name) { return g.graph->graph()->unique_name(name); })
      .def("_free_name",
           [](GraphBox& g, const std::string& name) {
             return g.graph->graph()->continued()->unique_name(name);
           })
      .def("_seed", [](GraphBox& g) { return g.graph->tracer().seeds().global_seed(); })
      .def(
          "_set_seed",
          [](GraphBox& g, std::optional<int64_t> seed) {
            g.graph->tracer().seeds().set_global_seed(seed);
          },
          "seed"_a.none())
      .def("_finalize",
           [](GraphBox& g) {
             mark();
             g.graph->finalize();
           })
      .def_prop_ro("_finalized", [](GraphBox& g) { return g.graph->graph()->finalized; })
      .def_prop_ro("_scope",
                   [](GraphBox& g) {
                     return g.graph ? reinterpret_cast<uintptr_t>(g.graph->scope().get()) : 0;
                   })
      .def_prop_ro("_scope_name", [](GraphBox& g) { return g.graph->scope()->name; })
      .def("_text", [](GraphBox& g) { return run([&] { return graph_text(*g.graph); }); })
      .def("_read",
           [](nb::handle self, const std::string& text, const std::string& name) {
             run([&] {
               mark();
               hook(self.ptr(), graph_from_text(text, name));
               return 0;
             });
           })
      .def("_graph_def", [](GraphBox& g) {
        return run([&] {
          std::string s = graph_def(*g.graph->graph());
          return nb::bytes(s.data(), s.size());
        });
      });
  m.def("set_graph_class", [](nb::object c) { graph_class() = Object::share(c.ptr()); });
  m.def("wait_for", [](const std::vector<NodeBox*>& nodes) {
    Tracer* tracer = current_trace();
    for (NodeBox* n : nodes)
      if (tracer && n->graph) tracer->wait_for({n->graph->scope(), n->node});
  });
  m.def("current_graph", [] { return run([] { return wrap_graph(current_graph()); }); });
  m.def("root_graph", [] { return run([] { return wrap_graph(root_graph()); }); });
  m.def("graph_of", [](const Tensor& t) { return run([&] { return wrap_graph(graph_of(t)); }); });
  m.def("node_of", [](const Tensor& t) -> nb::object {
    if (!t.is_symbolic()) return nb::none();
    if (OpenGraph* g = graph_of(t)) return nb::cast(NodeBox{edge_of(t).node, Ref<OpenGraph>(g)});
    return nb::cast(NodeBox{edge_of(t).node, {}, symbol_of(t)->scope});
  });
  m.def(
      "known_value",
      [](const Tensor& t) -> nb::object {
        if (!t.is_symbolic()) return nb::cast(t);
        const Symbol& s = *symbol_of(t);
        if (is_constant(*node_of(t)) && t.dtype() != DType::kResource)
          return nb::cast(constant_of(*node_of(t)));
        return s.known.defined() && !s.unknown ? nb::cast(s.known) : nb::none();
      },
      "The value of a tensor, where it is known before it is computed; else None.");
  m.def(
      "set_op_name", [](const std::string& s) { context().op_name = s; },
      "What the next node is called that has no name of its own.");
  m.def("get_name_scope", [] { return context().name_scope; });
  m.def("set_name_scope", [](const std::string& s) { context().name_scope = s; });
  m.def("name_scope_prefix", [](const std::string& name) { return name_scope_prefix(name); });
}

Tensor handle_or_tensor(nb::handle o) {
  if (is_variable(o.ptr())) return variable_of(o.ptr()).handle();
  if (is_tensor(o.ptr())) return tensor_of(o.ptr());
  type_error("a gradient's source is " + repr_of(o.ptr()) + ", expected a tensor or a variable");
}

nb::list gradients(const std::vector<Tensor>& ys, const std::vector<nb::object>& xs,
                   const std::vector<nb::object>& upstream, const std::vector<Tensor>& stop,
                   bool zero) {
  Tracer* tracer = current_trace();
  for (const Tensor& y : ys)
    if (!tracer && y.is_symbolic())
      tracer = dynamic_cast<Tracer*>(symbol_of(y)->scope->interpreter);
  if (!tracer) type_error("no graph is being written");
  std::vector<Tensor> from;
  for (auto& x : xs) from.push_back(handle_or_tensor(x));
  GradientsOptions o{{}, stop, zero ? Unconnected::kZero : Unconnected::kNone};
  for (auto& u : upstream) o.upstream.push_back(u.is_none() ? Tensor() : tensor_of(u.ptr()));
  nb::list out;
  for (const Gradient& g : gradients_in(*tracer, ys, from, o)) {
    if (g.none())
      out.append(nb::none());
    else if (!g.slices)
      out.append(nb::cast(g.dense));
    else
      out.append(nb::make_tuple(g.slices->values, g.slices->indices, g.slices->dense_shape));
  }
  return out;
}

nb::list list_of(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(t.defined() ? nb::cast(t) : nb::none());
  return out;
}

std::vector<Fetch> fetches_of(const std::vector<nb::object>& list) {
  std::vector<Fetch> wanted;
  for (const nb::object& f : list) {
    if (is_tensor(f.ptr()))
      wanted.emplace_back(tensor_of(f.ptr()));
    else
      wanted.emplace_back(nb::cast<NodeBox&>(f).node);
  }
  return wanted;
}

// A number that the call itself made a tensor of was born where it is used as one: messages about
// it speak of its placeholder.
void born_as_placeholders(const std::vector<std::pair<Tensor, Tensor>>& feeds) {
  for (auto& [placeholder, value] : feeds)
    if (value.defined() && !value.is_symbolic() && value.born() == here() && value.rep()->buffer) {
      value.rep()->born = placeholder.born();
      value.rep()->op = placeholder.rep()->op;
    }
}

nb::list run_session(Session& s, const std::vector<nb::object>& fetches,
                     const std::vector<std::pair<Tensor, Tensor>>& feeds) {
  born_as_placeholders(feeds);
  auto ready = s.prepare(fetches_of(fetches), feeds);
  Tensors out;
  {
    WithoutGil unlocked;
    out = s.finish(*ready);
  }
  return list_of(out);
}

// The variables of a server, as Python holds them.
struct SharedBox {
  Ref<SharedVariables> variables = make_ref<SharedVariables>();
};

// A run in parts, and the session it belongs to.
struct PartialBox {
  nb::object session;
  std::unique_ptr<PartialRun> run;
};

void bind_partial_run(nb::module_& m) {
  nb::class_<PartialBox>(m, "PartialRun")
      .def("__init__",
           [](PartialBox* self, nb::object session, const std::vector<nb::object>& fetches,
              const std::vector<Tensor>& feeds) {
             run([&] {
               mark();
               auto made = std::make_unique<PartialRun>(nb::cast<Session&>(session),
                                                        fetches_of(fetches), feeds);
               new (self) PartialBox{std::move(session), std::move(made)};
               return 0;
             });
           })
      .def("run", [](PartialBox& p, const std::vector<nb::object>& fetches,
                     const std::vector<std::pair<Tensor, Tensor>>& feeds) {
        return run([&] {
          mark();
          return list_of(p.run->run(fetches_of(fetches), feeds));
        });
      });
}

}  // namespace

void bind_session(nb::module_& m) {
  bind_node(m);
  bind_traced_graph(m);
  bind_open_graph(m);
  bind_partial_run(m);
  m.def("graph_gradients",
        [](const std::vector<Tensor>& ys, const std::vector<nb::object>& xs,
           const std::vector<nb::object>& upstream, const std::vector<Tensor>& stop, bool zero) {
          return run([&] {
            mark();
            return gradients(ys, xs, upstream, stop, zero);
          });
        });
  m.def("graph_function", [](GraphBox& g, const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& outputs, const std::vector<NodeBox*>& ops) {
    return run([&] {
      mark();
      return Concrete{graph_function(*g.graph, inputs, outputs, nodes_of(ops)),
                      keeper_of(*g.graph)};
    });
  });
  nb::class_<SharedBox>(m, "SharedVariables").def(nb::init<>());
  nb::class_<Session>(m, "SessionBase", nb::is_weak_referenceable())
      .def("_share", [](Session& s, const SharedBox& shared) { s.share(shared.variables); })
      .def("__init__",
           [](Session* self, GraphBox& graph, const std::string& name) {
             run([&] {
               mark();
               new (self) Session(graph.graph, name);
               return 0;
             });
           })
      .def("_run",
           [](Session& s, const std::vector<nb::object>& fetches,
              const std::vector<std::pair<Tensor, Tensor>>& feeds) {
             return run([&] {
               mark();
               return run_session(s, fetches, feeds);
             });
           })
      .def("_close",
           [](Session& s, bool at_end_of_block) {
             mark();
             s.close(at_end_of_block);
           })
      .def_prop_ro("_closed", [](Session& s) { return s.closed(); })
      .def("_graph", [](Session& s) { return run([&] { return wrap_graph(s.graph().get()); }); })
      .def("_value",
           [](Session& s, nb::handle v) {
             return run([&] {
               mark();
               return s.value(variable_argument(v.ptr(), "`v`"));
             });
           })
      .def("_load", [](Session& s, nb::handle v, const Tensor& value) {
        run([&] {
          mark();
          s.set_value(variable_argument(v.ptr(), "`v`"), value);
          return 0;
        });
      });
}

}  // namespace holdfast::py
