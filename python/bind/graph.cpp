// Tracing and traced functions, as the package's own Python code uses them.
#include "holdfast/exec/concrete.h"
#include "holdfast/graph/trace.h"
#include "holdfast/passes/passes.h"
#include "python/bind/call.h"
#include "python/bind/nb.h"

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

// A graph that is being written. `enter` and `exit` nest.
class Writer {
 public:
  Writer(const std::string& name, const std::string& kind, bool inner, int trace_no) {
    Ref<Scope> parent;
    if (Tracer* around = inner ? current_trace() : nullptr) parent = around->graph()->scope;
    auto scope = make_ref<Scope>(kind_named(kind), name, parent);
    scope->trace_no = trace_no;
    tracer_ = std::make_unique<Tracer>(make_ref<Graph>(scope));
  }

  Tracer& tracer() const { return *tracer_; }
  Graph& graph() const { return *tracer_->graph(); }
  void enter(bool shut_out_tapes) { entered_.push_back(std::make_unique<Tracing>(*tracer_, shut_out_tapes)); }
  void exit() { if (!entered_.empty()) entered_.pop_back(); }

 private:
  std::unique_ptr<Tracer> tracer_;
  std::vector<std::unique_ptr<Tracing>> entered_;
};

struct Concrete {
  Ref<ConcreteFunction> function;
};

Tensor as_tensor(nb::handle o) {
  if (o.is_none()) return {};
  if (is_tensor(o.ptr())) return tensor_of(o.ptr());
  type_error("a graph's tensor is " + repr_of(o.ptr()));
}

nb::list list_of(const auto& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(t ? nb::cast(t) : nb::none());
  return out;
}

std::vector<Tensor> tensors_of(const std::vector<nb::object>& list) {
  std::vector<Tensor> out;
  for (auto& o : list) out.push_back(as_tensor(o));
  return out;
}

// Lets other threads run while a plan works.
Tensors unlocked(Tensors (ConcreteFunction::*call)(std::span<const Tensor>), ConcreteFunction& f, const std::vector<Tensor>& inputs) {
  Unlocked unlocked(inputs);
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
  d["opened"] = nb::steal(to_dict(locate(s.opened)).release());
  d["node"] = node_of(t)->name;
  d["output"] = symbol_of(t)->output;
  return d;
}

// Gives a symbol a narrower shape from here on: what the graph computes for it is checked when it runs.
void set_shape(const Tensor& t, const Shape& shape) {
  Scope& scope = *symbol_of(t)->scope;
  if (!scope.open()) return;
  const OpDef& op = *find_op("EnsureShape");
  Tensors out;
  scope.interpreter->run(op, std::span<const Tensor>(&t, 1), Attrs{Arg(shape)}, out);
  t.rep()->shape = out[0].shape();
  t.rep()->beyond = out[0].rep()->beyond;
}

// The integers that a trace knows a symbol to hold, None for those it does not; None if it knows none.
nb::object known_numbers(const Tensor& t) {
  if (!t.is_symbolic() || !symbol_of(t)->known) return nb::none();
  const Symbol& s = *symbol_of(t);
  nb::list out;
  for (int64_t i = 0; i < s.known.size(); ++i) {
    bool hidden = s.unknown >> i & 1;
    if (hidden) out.append(nb::none());
    else out.append(s.known.dtype() == int32 ? int64_t{s.known.data<int32_t>()[i]} : s.known.data<int64_t>()[i]);
  }
  return out;
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<Concrete>(m, "ConcreteFunction", nb::is_weak_referenceable())
      .def_prop_ro("name", [](Concrete& c) { return c.function->name(); })
      .def("call", [](Concrete& c, const std::vector<nb::object>& inputs) {
        return run([&] { mark(); return list_of(unlocked(&ConcreteFunction::call, *c.function, tensors_of(inputs))); });
      })
      .def("first_call", [](Concrete& c, const std::vector<nb::object>& inputs, const std::vector<Tensor>& leaked) {
        return run([&] { mark(); return list_of(c.function->first_call(tensors_of(inputs), leaked)); });
      })
      .def("text", [](Concrete& c) { return run([&] { return c.function->graph().text(); }); })
      .def("optimised_text", [](Concrete& c) { return run([&] { return c.function->plan().graph().text(); }); });
  nb::class_<Writer>(m, "Writer", nb::is_weak_referenceable())
      .def("__init__", [](Writer* self, const std::string& name, const std::string& kind, bool inner, int trace_no) {
        run([&] { mark(); new (self) Writer(name, kind, inner, trace_no); return 0; });
      }, "name"_a, "kind"_a = "function", "inner"_a = false, "trace_no"_a = 0)
      .def("enter", &Writer::enter, "shut_out_tapes"_a = true)
      .def("exit", &Writer::exit)
      .def("input", [](Writer& w, nb::handle dtype, nb::handle shape, const std::string& name) {
        return run([&] {
          mark();
          Shape s = Shape::unknown();
          if (!shape.is_none()) {
            auto dims = ints_of(shape.ptr());
            if (!dims) type_error("a graph's input has no shape: " + repr_of(shape.ptr()));
            s = Shape(*dims);
          }
          return w.tracer().input(dtype_of_object(dtype.ptr()), s, name);
        });
      }, "dtype"_a, "shape"_a.none(), "name"_a)
      .def("set_outputs", [](Writer& w, const std::vector<nb::object>& list) {
        run([&] {
          mark();
          std::vector<Edge> out;
          for (const Tensor& t : tensors_of(list)) out.push_back(t ? w.tracer().resolve(t) : Edge{});
          w.graph().outputs = std::move(out);
          return 0;
        });
      })
      .def("close", [](Writer& w) { mark(); w.tracer().close(); })
      .def("leaked", [](Writer& w) { nb::list out = list_of(w.tracer().leaked); w.tracer().leaked.clear(); return out; })
      .def("baked", [](Writer& w, const Tensor& t) { return w.tracer().baked(t.id()); })
      .def("release", [](Writer& w, const Tensor& t) { return w.tracer().release(t); })
      .def("captures", [](Writer& w) {
        nb::list out;
        for (const Capture& c : w.graph().captures) out.append(c.outer);
        return out;
      })
      .def("function", [](Writer& w) { return Concrete{make_ref<ConcreteFunction>(w.tracer().graph())}; })
      .def("text", [](Writer& w) { return run([&] { return w.graph().text(); }); });
  m.def("is_tracing", [] { return current_trace() != nullptr; });
  m.def("has_value", [](const Tensor& t) { return has_value(t); });
  m.def("value", [](const Tensor& t, const std::string& name) { return run([&] { mark(); return value(t, name); }); }, "tensor"_a, "name"_a = "");
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
}

}  // namespace holdfast::py
