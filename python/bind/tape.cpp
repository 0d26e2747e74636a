#include <algorithm>
#include <iterator>
#include <set>

#include "holdfast/autodiff/forward.h"
#include "holdfast/autodiff/recorder.h"
#include "python/bind/graph_keeper.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

Source source_of(nb::handle o) {
  if (is_tensor(o.ptr())) return Source(tensor_of(o.ptr()));
  if (is_variable(o.ptr())) return Source(variable_of(o.ptr()));
  type_error("a gradient's source is " + repr_of(o.ptr()) + ", expected a tensor or a variable");
}

std::vector<Source> sources_of(const std::vector<nb::object>& objects) {
  std::vector<Source> out;
  for (const nb::object& o : objects) out.push_back(source_of(o));
  return out;
}

nb::object to_python(const Gradient& g) {
  if (g.none()) return nb::none();
  if (!g.slices) return nb::steal(wrap(g.dense));
  return nb::make_tuple(g.slices->values, g.slices->indices, g.slices->dense_shape);
}

// A tape as Python has it: one that a `with` opens.
struct PyTape : GradientTape {
  PyTape(bool persistent, bool watch_accessed, bool sees_itself)
      : GradientTape({.persistent = persistent,
                      .watch_accessed_variables = watch_accessed,
                      .paused = true,
                      .sees_itself = sees_itself}) {}

  void enter();
  void leave();
  /// Marks the line that uses it; a tape without further uses is closed by that.
  void use() {
    mark();
    if (!options().persistent && recording()) leave();
  }
};

// The tapes of this thread that are open, the outermost first. Who is open is held by its `with`.
thread_local std::vector<PyTape*> open_tapes;

void PyTape::enter() {
  open_tapes.push_back(this);
  start();
}
void PyTape::leave() {
  auto found = std::find(open_tapes.rbegin(), open_tapes.rend(), this);
  if (found != open_tapes.rend()) open_tapes.erase(std::next(found).base());
  if (recording()) stop();
}

// A tensor or a variable, or a plain list or tuple of them, as sources; nothing for anything else.
std::vector<Source> plain_sources(PyObject* o) {
  bool list = PyList_CheckExact(o), tuple = PyTuple_CheckExact(o);
  Py_ssize_t n = list ? PyList_GET_SIZE(o) : tuple ? PyTuple_GET_SIZE(o) : 1;
  std::vector<Source> out;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* each = list ? PyList_GET_ITEM(o, i) : tuple ? PyTuple_GET_ITEM(o, i) : o;
    if (is_tensor(each))
      out.emplace_back(tensor_of(each));
    else if (is_variable(each))
      out.emplace_back(variable_of(each));
    else
      return {};
  }
  return out;
}

// The gradients of one tensor, nested as `sources` are, where there is nothing to say about them:
// each is there, and dense. `settle` is told what was found where that is not so. NotImplemented
// where the general way has to look at the arguments.
nb::object plain_gradient(PyTape& t, nb::handle target, nb::handle sources, nb::handle settle) {
  if (t.spent() || !is_tensor(target.ptr())) return nb::borrow(Py_NotImplemented);
  std::vector<Source> from = plain_sources(sources.ptr());
  Tensor y = tensor_of(target.ptr());
  bool itself = std::any_of(from.begin(), from.end(), [&](auto& s) { return s.id() == y.id(); });
  if (from.empty() || itself) return nb::borrow(Py_NotImplemented);
  t.use();
  std::vector<Gradient> found = t.gradients({y}, from);
  bool said = std::any_of(found.begin(), found.end(), [](auto& g) { return !g.dense.defined(); });
  if (!said && found.size() == 1 && !PyList_Check(sources.ptr()) && !PyTuple_Check(sources.ptr()))
    return to_python(found[0]);
  nb::list out;
  for (auto& g : found) out.append(to_python(g));
  if (said) return settle(target, sources, out);
  if (PyTuple_Check(sources.ptr())) return nb::steal(PyList_AsTuple(out.ptr()));
  return out;
}

// Where a site is in Python: code and instruction. None for others.
nb::object mark_of(Where w) {
  if (!w || w->origin != Origin::kPython) return nb::none();
  return nb::make_tuple(nb::borrow(static_cast<PyObject*>(const_cast<void*>(w->pointer))),
                        w->offset);
}

// The reason as Python decides by it.
const char* meaning(NoGradient kind) {
  switch (kind) {
    case NoGradient::kNotDifferentiable: return "integer";
    case NoGradient::kNotWatched: return "unwatched";
    case NoGradient::kCut: return "cut";
    case NoGradient::kTaken: return "taken";
    case NoGradient::kOffTape: return "off";
    case NoGradient::kNoPath: break;
  }
  return "no path";
}

nb::list python_variables(const std::vector<Variable>& variables) {
  nb::list out;
  for (const Variable& v : variables) out.append(given(wrap_variable(v)));
  return out;
}

bool truth(nb::handle o) {
  int yes = PyObject_IsTrue(o.ptr());
  if (yes < 0) throw PythonError{};
  return yes;
}

}  // namespace

void bind_tape(nb::module_& m) {
  nb::class_<PyTape>(m, "TapeBase")
      .def(
          "__init__",
          [](PyTape* self, nb::handle persistent, nb::handle watch_accessed, bool sees_itself) {
            run([&] {
              mark();
              new (self) PyTape(truth(persistent), truth(watch_accessed), sees_itself);
              return 0;
            });
          },
          "persistent"_a = false, "watch_accessed_variables"_a = true, "sees_itself"_a = true)
      .def("start", [](PyTape& t) { t.start(); })
      .def("stop", [](PyTape& t) { t.stop(); })
      .def("reset", [](PyTape& t) { t.reset(); })
      .def("_enter", &PyTape::enter)
      .def("_leave", &PyTape::leave)
      .def_prop_ro("recording", [](PyTape& t) { return t.recording(); })
      .def_prop_ro("_persistent", [](PyTape& t) { return t.options().persistent; })
      .def_prop_ro("_watch_accessed",
                   [](PyTape& t) { return t.options().watch_accessed_variables; })
      .def_prop_ro("_spent", [](PyTape& t) { return t.spent(); })
      .def_prop_ro("_opened_at", [](PyTape& t) { return mark_of(t.opened()); })
      .def("_watch",
           [](PyTape& t, nb::handle o) {
             run([&] {
               if (is_variable(o.ptr()))
                 t.watch(variable_of(o.ptr()));
               else if (is_tensor(o.ptr()))
                 t.watch(tensor_of(o.ptr()));
               else
                 type_error("watch: got " + repr_of(o.ptr()) + ", expected a tensor or a variable");
               return 0;
             });
           })
      .def("_watched_variables",
           [](PyTape& t) { return run([&] { return python_variables(t.watched_variables()); }); })
      .def("_plain_gradient",
           [](PyTape& t, nb::handle target, nb::handle sources, nb::handle settle) {
             return run([&] { return plain_gradient(t, target, sources, settle); });
           })
      .def(
          "_gradient",
          [](PyTape& t, const std::vector<Tensor>& targets, const std::vector<nb::object>& sources,
             const std::vector<nb::object>& upstream, bool zero) {
            return run([&] {
              t.use();
              std::vector<Source> from = sources_of(sources);
              std::vector<Tensor> dy;
              for (auto& u : upstream) dy.push_back(u.is_none() ? Tensor() : tensor_of(u.ptr()));
              auto all =
                  t.gradients(targets, from, dy, zero ? Unconnected::kZero : Unconnected::kNone);
              nb::list out;
              for (auto& g : all) out.append(to_python(g));
              return out;
            });
          },
          "targets"_a, "sources"_a, "upstream"_a, "zero"_a)
      .def("_jvp",
           [](PyTape& t, const Tensor& target, const std::vector<nb::object>& primals,
              const std::vector<Tensor>& tangents, bool zero) {
             return run([&]() -> nb::object {
               mark();
               Tensor found = jvp(t, target, sources_of(primals), tangents,
                                  zero ? Unconnected::kZero : Unconnected::kNone);
               return found.defined() ? nb::cast(found) : nb::none();
             });
           })
      .def("_jacobian",
           [](PyTape& t, const Tensor& target, const std::vector<nb::object>& sources, bool zero) {
             return run([&] {
               t.use();
               nb::list out;
               for (const Tensor& j : t.jacobian(target, sources_of(sources),
                                                 zero ? Unconnected::kZero : Unconnected::kNone))
                 out.append(j.defined() ? nb::cast(j) : nb::none());
               return out;
             });
           })
      .def("_batch_jacobian",
           [](PyTape& t, const Tensor& target, nb::handle source, bool zero) {
             return run([&]() -> nb::object {
               t.use();
               Tensor found = t.batch_jacobian(target, source_of(source),
                                               zero ? Unconnected::kZero : Unconnected::kNone);
               return found.defined() ? nb::cast(found) : nb::none();
             });
           })
      .def("_why_none",
           [](PyTape& t, const Tensor& target, nb::handle source) {
             return run([&] { return meaning(t.why_none(target, source_of(source)).kind); });
           })
      .def("_explain",
           [](PyTape& t, const Tensor& target, nb::handle source, std::string y, std::string x,
              std::string tape, std::string replaced) {
             return run([&] {
               mark();
               GradientNames names{std::move(y), std::move(x), std::move(tape),
                                   std::move(replaced)};
               Source from = source_of(source);
               return nb::make_tuple(meaning(t.why_none(target, from).kind),
                                     given(to_dict(t.explain(target, from, names))));
             });
           })
      .def("_already_used", [](PyTape& t, const std::string& name) {
        return run([&] {
          mark();
          return given(to_dict(t.already_used({.tape = name})));
        });
      });
  m.def("open_tapes", [] {
    nb::list out;
    for (PyTape* t : open_tapes) out.append(nb::find(t));
    return out;
  });
  m.def("record_custom", [](const std::string& name, const std::vector<Tensor>& in,
                            const std::vector<Tensor>& out, nb::callable f) {
    run([&] {
      mark();
      // Records point at their name: each is kept once, for ever.
      static auto& names = *new std::set<std::string>;
      auto code = make_ref<Held>(Object::share(f.ptr()));
      GradientTape::record_custom(names.insert(name).first->c_str(), in, out, PyBackward{code});
      if (OpenGraph* graph = graph_by_hand(out)) keep_with(*graph, *code);
      return 0;
    });
  });
  m.def(
      "way_past",
      [](const std::string& op, const std::string& target) {
        mark();
        return way_past(op, target);
      },
      "What to write in place of an op that has no gradient.");
  m.def("tape_watches", [](const std::vector<Tensor>& in) { return GradientTape::watched(in); });
}

}  // namespace holdfast::py
