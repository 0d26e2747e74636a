// Tracing and traced functions, as the package's own Python code uses them.
#include "python/bind/graph.h"

#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/functional.h"
#include "holdfast/exec/init_scope.h"
#include "holdfast/graph/call_effects.h"
#include "holdfast/graph/graph_def.h"
#include "holdfast/graph/trace.h"
#include "python/bind/call.h"
#include "python/bind/graph_keeper.h"
#include "python/bind/nb.h"
#include "python/bind/traced.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

ScopeKind kind_named(const std::string& name) {
  if (name == "function") return ScopeKind::kFunction;
  if (name == "branch") return ScopeKind::kBranch;
  if (name == "loop") return ScopeKind::kLoop;
  if (name == "graph") return ScopeKind::kGraph;
  if (name == "build") return ScopeKind::kBuild;
  if (name == "dataset") return ScopeKind::kDataset;
  if (name == "map") return ScopeKind::kMap;
  type_error("a scope's kind is '" + name + "'");
}

// Stands for a function's `def` where an instruction's offset is expected.
constexpr uint32_t kDefinition = ~0u;

// A graph that is being written. `enter` and `exit` nest.
class Writer {
 public:
  Writer(const std::string& name, const std::string& kind, bool inner, int trace_no,
         nb::handle code) {
    Ref<Scope> parent;
    if (Tracer* around = inner ? current_trace() : nullptr) parent = around->graph()->scope;
    auto scope = make_ref<Scope>(kind_named(kind), name, parent);
    scope->trace_no = trace_no;
    if (PyCode_Check(code.ptr()))
      scope->defined = intern(Origin::kPython, lasting(reinterpret_cast<PyCodeObject*>(code.ptr())),
                              kDefinition);
    tracer_ = std::make_unique<Tracer>(make_ref<Graph>(scope));
  }

  Tracer& tracer() const { return *tracer_; }
  Graph& graph() const { return *tracer_->graph(); }
  void enter(bool shut_out_tapes) {
    entered_.push_back(std::make_unique<Tracing>(*tracer_, shut_out_tapes));
  }
  void exit() {
    if (!entered_.empty()) entered_.pop_back();
  }

 private:
  std::unique_ptr<Tracer> tracer_;
  std::vector<std::unique_ptr<Tracing>> entered_;
};

// The library's, entered and left by Python's `with`; it nests.
class PyLifted {
 public:
  PyLifted() = default;
  PyLifted(const PyLifted&) = delete;
  void enter() {
    mark();
    entered_.push_back(std::make_unique<Lifted>());
  }
  void exit() {
    if (!entered_.empty()) entered_.pop_back();
  }

 private:
  std::vector<std::unique_ptr<Lifted>> entered_;
};

Tensor as_tensor(nb::handle o) {
  if (o.is_none()) return {};
  if (is_tensor(o.ptr())) return tensor_of(o.ptr());
  type_error("a graph's tensor is " + repr_of(o.ptr()));
}

nb::list list_of(const auto& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(t.defined() ? nb::cast(t) : nb::none());
  return out;
}

std::vector<Tensor> tensors_of(const std::vector<nb::object>& list) {
  std::vector<Tensor> out;
  for (auto& o : list) out.push_back(as_tensor(o));
  return out;
}

int traverse_concrete(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Concrete>(self)->code.get());
  return 0;
}

int clear_concrete(PyObject* self) {
  nb::inst_ptr<Concrete>(self)->code = Object();
  return 0;
}

PyType_Slot concrete_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_concrete)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_concrete)},
                                {0, nullptr}};

// A call inside a trace writes the graph's nodes into another one, which holds the code until it is
// finished itself; one that is written by hand is never finished, and has a keeper.
void lend_to_trace(const Concrete& c, const std::vector<Tensor>& inputs) {
  bool written = context().interpreter != nullptr;
  for (const Tensor& t : inputs) written = written || (t.defined() && t.is_symbolic());
  if (!c.code || !written) return;
  if (OpenGraph* graph = graph_by_hand(inputs))
    keep_with(*graph, c.code.get());
  else
    take_back_code(c.function->graph());
}

// Lets other threads run while a plan works.
Tensors unlocked(Tensors (ConcreteFunction::*call)(std::span<const Tensor>), ConcreteFunction& f,
                 const std::vector<Tensor>& inputs) {
  Unlocked unlocked(inputs, f.worth_unlocking());
  return (f.*call)(inputs);
}

nb::object scope_info(const Tensor& t) {
  if (!t.is_symbolic()) return nb::none();
  const Scope& s = *symbol_of(t)->scope;
  static const char* kinds[] = {"function", "branch", "loop", "graph", "build", "dataset", "map"};
  nb::dict d;
  d["kind"] = kinds[static_cast<int>(s.kind)];
  d["name"] = s.name;
  d["open"] = s.open();
  d["trace_no"] = s.trace_no;
  d["runs"] = s.runs.load();
  d["scope"] = reinterpret_cast<uintptr_t>(&s);
  d["opened"] = given(to_dict(locate(s.opened)));
  d["node"] = node_of(t)->name;
  d["output"] = symbol_of(t)->output;
  return d;
}

// Gives a symbol a narrower shape from here on: what the graph computes for it is checked when it
// runs.
void set_shape(const Tensor& t, const Shape& shape) {
  Scope& scope = *symbol_of(t)->scope;
  if (!scope.open()) return;
  const OpDef& op = *find_op("EnsureShape");
  Tensors out;
  scope.interpreter->run(op, std::span<const Tensor>(&t, 1), Attrs{Arg(shape)}, out);
  t.rep()->shape = out[0].shape();
  t.rep()->beyond = out[0].rep()->beyond;
}

// The integers that a trace knows a symbol to hold, None for those it does not; None if it knows
// none.
nb::object known_numbers(const Tensor& t) {
  if (!t.is_symbolic() || !symbol_of(t)->known.defined()) return nb::none();
  const Symbol& s = *symbol_of(t);
  nb::list out;
  for (int64_t i = 0; i < s.known.size(); ++i) {
    bool hidden = s.unknown >> i & 1;
    if (hidden)
      out.append(nb::none());
    else
      out.append(s.known.dtype() == int32 ? int64_t{s.known.raw<int32_t>()[i]}
                                          : s.known.raw<int64_t>()[i]);
  }
  return out;
}

// What `tell` says of each plan that the function has, one behind the other.
std::string told(const Concrete& c, std::string (*tell)(const FastPlan&)) {
  return run([&] {
    std::string all;
    c.function->plan().for_each([&](const FastPlan& f) { all += tell(f); });
    return all;
  });
}

}  // namespace

Concrete lent(Ref<ConcreteFunction> function) {
  Object code = lend_to_keeper(function->graph());
  if (code) function->set_lease(lease_on(code.get()));
  return {std::move(function), std::move(code)};
}

Tracer& tracer_of(PyObject* writer) {
  if (!nb::isinstance<Writer>(nb::handle(writer)))
    type_error("expected a Writer, got " + repr_of(writer));
  return nb::inst_ptr<Writer>(nb::handle(writer))->tracer();
}

const Concrete& concrete_of(PyObject* o) {
  if (!nb::isinstance<Concrete>(nb::handle(o)))
    type_error("expected a ConcreteFunction, got " + repr_of(o));
  return *nb::inst_ptr<Concrete>(nb::handle(o));
}

void bind_graph(nb::module_& m) {
  nb::class_<Concrete>(m, "ConcreteFunction", nb::is_weak_referenceable(),
                       nb::type_slots(concrete_slots))
      .def_prop_ro("name", [](Concrete& c) { return c.function->name(); })
      .def_prop_ro(
          "_scope",
          [](Concrete& c) { return reinterpret_cast<uintptr_t>(c.function->graph().scope.get()); })
      .def_prop_ro("runs", [](Concrete& c) { return c.function->graph().scope->runs.load(); })
      .def("call",
           [](Concrete& c, const std::vector<nb::object>& inputs) {
             return run([&] {
               mark();
               std::vector<Tensor> in = tensors_of(inputs);
               lend_to_trace(c, in);
               return list_of(unlocked(&ConcreteFunction::call, *c.function, in));
             });
           })
      .def("first_call",
           [](Concrete& c, const std::vector<nb::object>& inputs,
              const std::vector<Tensor>& leaked) {
             return run([&] {
               mark();
               std::vector<Tensor> in = tensors_of(inputs);
               Tensors out;
               {
                 Unlocked unlocked(in, true);
                 out = c.function->first_call(in, leaked);
               }
               return list_of(out);
             });
           })
      .def("input_names",
           [](Concrete& c) {
             nb::list out;
             for (const Ref<Node>& n : c.function->graph().inputs) out.append(n->name);
             return out;
           })
      .def("output_types",
           [](Concrete& c) {
             return run([&] {
               nb::list out;
               for (const Edge& e : c.function->graph().outputs) {
                 Type t = e.node ? type_of(e) : Type{};
                 out.append(nb::make_tuple(nb::borrow(dtype_object(t.dtype)),
                                           given(shape_object(t.shape))));
               }
               return out;
             });
           })
      .def("symbols",
           [](Concrete& c) {
             const Graph& g = c.function->graph();
             nb::list in, out;
             for (const Ref<Node>& n : g.inputs) in.append(symbol_for({n, 0}, g.scope));
             for (const Capture& x : g.captures) in.append(symbol_for({x.inner, 0}, g.scope));
             for (const Edge& e : g.outputs)
               if (e.node) out.append(symbol_for(e, g.scope));
             return nb::make_tuple(in, out);
           })
      .def("variables",
           [](Concrete& c) {
             return run([&] {
               nb::list out;
               for (const Tensor& t : c.function->variables())
                 out.append(given(wrap_variable(Variable::from_handle(t))));
               return out;
             });
           })
      .def("graph_def",
           [](Concrete& c) {
             return run([&] {
               std::string s = graph_def(c.function->graph());
               return nb::bytes(s.data(), s.size());
             });
           })
      .def("text", [](Concrete& c) { return run([&] { return c.function->graph().text(); }); })
      .def("memory_plan",
           [](Concrete& c) { return told(c, [](const FastPlan& f) { return f.memory().text(); }); })
      .def("explain",
           [](Concrete& c) { return told(c, [](const FastPlan& f) { return f.explain(); }); })
      .def("time_steps",
           [](Concrete& c, bool on) {
             run([&] {
               c.function->plan().set_timed(on);
               return 0;
             });
           })
      .def("optimised_text",
           [](Concrete& c) { return run([&] { return c.function->plan().graph().text(); }); });
  m.def("trace_size", [] {
    Tracer* tracer = current_trace();
    return tracer ? tracer->graph()->nodes.size() : size_t{0};
  });
  nb::class_<EffectsOfCall>(m, "EffectsOfCall")
      .def(nb::init<std::string>(), "name"_a)
      .def("bound", [](EffectsOfCall& e, const std::vector<nb::object>& results) {
        return run([&] {
          mark();
          return list_of(e.bound(tensors_of(results)));
        });
      });
  nb::class_<Writer>(m, "Writer", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](Writer* self, const std::string& name, const std::string& kind, bool inner,
             int trace_no, nb::handle code) {
            run([&] {
              mark();
              new (self) Writer(name, kind, inner, trace_no, code);
              return 0;
            });
          },
          "name"_a, "kind"_a = "function", "inner"_a = false, "trace_no"_a = 0,
          "code"_a.none() = nb::none())
      .def("enter", &Writer::enter, "shut_out_tapes"_a = true)
      .def("exit", &Writer::exit)
      .def(
          "input",
          [](Writer& w, nb::handle dtype, nb::handle shape, const std::string& name) {
            return run([&] {
              mark();
              Shape sizes = shape_of(shape.ptr(), "the shape of a graph's input");
              return w.tracer().input(dtype_of_object(dtype.ptr()), sizes, name);
            });
          },
          "dtype"_a, "shape"_a.none(), "name"_a)
      .def("set_outputs",
           [](Writer& w, const std::vector<nb::object>& list) {
             run([&] {
               mark();
               std::vector<Edge> out;
               for (const Tensor& t : tensors_of(list))
                 out.push_back(t.defined() ? w.tracer().resolve(t) : Edge{});
               w.graph().outputs = std::move(out);
               return 0;
             });
           })
      .def(
          "refusal",
          [](Writer& w, const Tensor& t, const std::string& name) {
            return run([&]() -> nb::object {
              mark();
              try {
                w.tracer().resolve(t, name);
              } catch (const Error& e) {
                return nb::steal(to_dict(e.diagnostic()).release());
              }
              return nb::none();
            });
          },
          "tensor"_a, "name"_a,
          "What is said of a tensor by that name where this graph can't have it, else None.")
      .def("close",
           [](Writer& w) {
             mark();
             w.tracer().close();
           })
      .def("baked", [](Writer& w, const Tensor& t) { return w.tracer().baked(t.id()); })
      .def("release", [](Writer& w, const Tensor& t) { return w.tracer().release(t); })
      .def("captures",
           [](Writer& w) {
             nb::list out;
             for (const Capture& c : w.graph().captures) out.append(c.outer);
             return out;
           })
      .def("function",
           [](Writer& w) {
             return run([&] { return lent(make_ref<ConcreteFunction>(w.tracer().graph())); });
           })
      .def("text", [](Writer& w) { return run([&] { return w.graph().text(); }); });
  nb::class_<PyLifted>(m, "Lifted")
      .def(nb::init<>())
      .def("enter", &PyLifted::enter)
      .def("exit", &PyLifted::exit);
  m.def("is_lifted", [] { return static_cast<bool>(context().lifted); });
  m.def("is_tracing", [] { return current_trace() != nullptr; });
  m.def("is_building", [] {
    Tracer* writes = current_trace();
    return writes && writes->scope()->kind == ScopeKind::kBuild;
  });
  m.def("has_value", [](const Tensor& t) { return has_value(t); });
  m.def(
      "asked_value",
      [](nb::handle t, const char* what) { return run([&] { return read(t.ptr(), what); }); },
      "What a symbol stands for where Python asks for a value; refused by name where it has none.");
  m.def(
      "value",
      [](const Tensor& t, const std::string& name) {
        return run([&] {
          mark();
          return value(t, name);
        });
      },
      "tensor"_a, "name"_a = "");
  m.def("keep_value", [](const Tensor& symbol, const Tensor& value) {
    symbol_of(symbol)->first = value;
    symbol_of(symbol)->kept = true;
  });
  m.def("peek", [](const Tensor& t, const std::vector<std::pair<std::string, Tensor>>& feed) {
    return run([&] {
      mark();
      return peek(t, feed);
    });
  });
  m.def("scope_of", &scope_info);
  m.def("set_shape", [](const Tensor& t, nb::handle shape) {
    run([&] {
      mark();
      auto dims = ints_of(shape.ptr());
      if (!dims) type_error("a shape is " + repr_of(shape.ptr()));
      set_shape(t, Shape(*dims));
      return 0;
    });
  });
  m.def("known_numbers", &known_numbers);
  m.def("roots_of", [](const Tensor& t) {
    // The inputs of its graph that a symbol depends on, nearest first.
    nb::list out;
    if (!t.is_symbolic()) return out;
    std::unordered_set<const Node*> seen{node_of(t)};
    std::vector<const Node*> queue{node_of(t)};
    for (size_t i = 0; i < queue.size(); ++i) {
      if (queue[i]->op == &placeholder_op()) out.append(queue[i]->name);
      for (const Edge& e : queue[i]->inputs)
        if (e.node && seen.insert(e.node.get()).second) queue.push_back(e.node.get());
    }
    return out;
  });
}

}  // namespace holdfast::py
