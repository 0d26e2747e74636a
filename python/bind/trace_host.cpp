// Python's part in the life of a trace (`holdfast/exec/trace_life.h`), and in making variables.
#include "holdfast/exec/creations.h"
#include "holdfast/exec/trace_life.h"
#include "python/bind/call.h"
#include "python/bind/entry.h"
#include "python/bind/graph.h"
#include "python/bind/nb.h"
#include "python/bind/object.h"

namespace nb = nanobind;

namespace holdfast::py {
namespace {

Tensor tensor_or_none(nb::handle o) { return is_tensor(o.ptr()) ? tensor_of(o.ptr()) : Tensor(); }

// An object with the methods of a TraceHost: `_tracing/trace.py` has it.
class PyTraceHost final : public TraceHost {
 public:
  explicit PyTraceHost(nb::handle host) : host_(host) {}

  Tracer& begin() override {
    writer_ = ask("begin");
    return tracer_of(writer_.ptr());
  }

  std::optional<Tensors> run_body(Tracer&) override {
    nb::object given;
    try {
      given = ask("run_body");
    } catch (...) {
      mark();
      throw;
    }
    mark();
    if (given.is_none()) return std::nullopt;
    Tensors out;
    for (nb::handle each : given) out.push_back(tensor_or_none(each));
    return out;
  }

  void ended(Tracer&, bool final) override { ask("ended", final ? Py_True : Py_False); }

  void refuse(const Variable& v) override {
    ask("refuse", wrap_variable(v).get());
    type_error("a trace makes variables on each call");
  }

 private:
  template <class... A>
  nb::object ask(const char* method, A*... arguments) {
    nb::object bound = host_.attr(method);
    return given(called(bound.ptr(), arguments...));
  }

  nb::handle host_;
  nb::object writer_;
};

// What a trace went by, as Python holds it.
struct HeldFacts {
  Ref<TraceFacts> facts;
};

void bind_facts(nb::module_& m) {
  nb::class_<WatchedChange>(m, "WatchedChange")
      .def_ro("name", &WatchedChange::name)
      .def_ro("of", &WatchedChange::of)
      .def_ro("was", &WatchedChange::was)
      .def_ro("now", &WatchedChange::now)
      .def(
          "is_of",
          [](const WatchedChange& c, nb::handle o) {
            auto* behind = object_behind<Shared>(o.ptr());
            return behind && behind == c.object;
          },
          "Whether it is an object's that changed.");
  nb::class_<HeldFacts>(m, "TraceFacts")
      .def("hold", [](const HeldFacts& f) { return f.facts->hold(); })
      .def("difference", [](const HeldFacts& f) { return f.facts->difference(); })
      .def(
          "join",
          [](const HeldFacts& f) {
            if (WatchRecord* around = WatchRecord::current()) around->join(*f.facts);
          },
          "The trace that is being made goes by the same.");
}

}  // namespace

Ref<TraceFacts> facts_of(PyObject* held) {
  return held == Py_None ? nullptr : nb::cast<const HeldFacts&>(nb::handle(held)).facts;
}

void bind_trace_host(nb::module_& m) {
  bind_facts(m);
  set_shared_count(
      [](void* shared) noexcept -> int64_t { return Py_REFCNT(static_cast<PyObject*>(shared)); });
  m.def(
      "make_trace",
      [](nb::handle host, const std::vector<nb::object>& inputs) {
        return run([&] {
          PyTraceHost python(host);
          std::vector<Tensor> given;
          for (const nb::object& o : inputs) given.push_back(tensor_or_none(o));
          Traced made = make_trace(python, given);
          nb::list leaked;
          for (const Tensor& t : made.leaked) leaked.append(nb::cast(t));
          nb::object facts = nb::none();
          if (made.facts) facts = nb::cast(HeldFacts{std::move(made.facts)});
          return nb::make_tuple(nb::cast(lent(std::move(made.function))), leaked, facts);
        });
      },
      "The function that an object's code is traced to, the symbols that the program holds, and "
      "what it went by on objects of C++.");
  m.def(
      "starting_value",
      [](const Tensor& t) {
        return run([&] {
          mark();
          CreationWatcher* trace = creation_watcher();
          return trace ? trace->starting_value(t) : t;
        });
      },
      "What a symbol is in the call that is traced.");
  m.def(
      "note_created",
      [](nb::handle variable, const Tensor& given) {
        run([&] {
          mark();
          CreationWatcher* trace = current_trace() ? creation_watcher() : nullptr;
          if (trace) trace->created(variable_argument(variable.ptr(), "`variable`"), given);
          return 0;
        });
      },
      "Tells the trace, if there is one, of a new Variable and its initial value.");
  m.def("creates_in_trace", [] { return creation_watcher() != nullptr; });
  m.def("created_any", [] {
    auto* trace = dynamic_cast<Creations*>(creation_watcher());
    return trace && trace->any();
  });
}

}  // namespace holdfast::py
