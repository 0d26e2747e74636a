#include <algorithm>
#include <set>

#include "holdfast/autodiff/forward.h"
#include "python/bind/held.h"
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

// A tape as Python has it. Its record can be walked several times, for a jacobian's rows; one that
// is not persistent is used once, and emptied after it.
struct PyTape : GradientTape {
  PyTape(bool persistent, bool watch_accessed)
      : GradientTape({.persistent = true,
                      .watch_accessed_variables = watch_accessed,
                      .paused = true,
                      .sees_itself = persistent}),
        persistent(persistent),
        watches_accessed(watch_accessed),
        opened(here()) {}

  void begin_use() {
    used = here();
    if (persistent) return;
    if (recording()) leave();
    spent = true;
  }
  void end_use() {
    if (persistent) return;
    seen = watched_variables();
    GradientTape::reset();
  }
  void enter();
  void leave();

  const bool persistent, watches_accessed;
  const Where opened;
  Where used = nullptr;
  bool spent = false;
  std::vector<Variable> seen;  // what it watched, once it is spent
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
  if (t.spent || !is_tensor(target.ptr())) return nb::borrow(Py_NotImplemented);
  std::vector<Source> from = plain_sources(sources.ptr());
  Tensor y = tensor_of(target.ptr());
  bool itself = std::any_of(from.begin(), from.end(), [&](auto& s) { return s.id() == y.id(); });
  if (from.empty() || itself) return nb::borrow(Py_NotImplemented);
  mark();
  t.begin_use();
  std::vector<Gradient> found;
  try {
    found = t.gradients({y}, from, {}, Unconnected::kNone, !t.persistent);
  } catch (...) {
    t.end_use();
    throw;
  }
  bool said = std::any_of(found.begin(), found.end(), [](auto& g) { return !g.dense; });
  if (!said) t.end_use();
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

nb::list python_variables(const std::vector<Variable>& variables) {
  nb::list out;
  for (const Variable& v : variables) out.append(nb::steal(wrap_variable(v).release()));
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
          [](PyTape* self, nb::handle persistent, nb::handle watch_accessed) {
            run([&] {
              mark();
              new (self) PyTape(truth(persistent), truth(watch_accessed));
              return 0;
            });
          },
          "persistent"_a = false, "watch_accessed_variables"_a = true)
      .def("start", [](PyTape& t) { t.start(); })
      .def("stop", [](PyTape& t) { t.stop(); })
      .def("reset",
           [](PyTape& t) {
             t.reset();
             t.spent = false;
             t.used = nullptr;
             t.seen.clear();
           })
      .def("_enter", &PyTape::enter)
      .def("_leave", &PyTape::leave)
      .def("_begin_use",
           [](PyTape& t) {
             mark();
             t.begin_use();
           })
      .def("_end_use", &PyTape::end_use)
      .def_prop_ro("recording", [](PyTape& t) { return t.recording(); })
      .def_prop_ro("_persistent", [](PyTape& t) { return t.persistent; })
      .def_prop_ro("_watch_accessed", [](PyTape& t) { return t.watches_accessed; })
      .def_prop_ro("_spent", [](PyTape& t) { return t.spent; })
      .def_prop_ro("_opened_at", [](PyTape& t) { return mark_of(t.opened); })
      .def_prop_ro("_used_at", [](PyTape& t) { return mark_of(t.used); })
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
           [](PyTape& t) {
             return run([&] { return python_variables(t.spent ? t.seen : t.watched_variables()); });
           })
      .def("_plain_gradient",
           [](PyTape& t, nb::handle target, nb::handle sources, nb::handle settle) {
             return run([&] { return plain_gradient(t, target, sources, settle); });
           })
      .def(
          "_gradient",
          [](PyTape& t, const std::vector<Tensor>& targets, const std::vector<nb::object>& sources,
             const std::vector<nb::object>& upstream, bool zero, bool last) {
            return run([&] {
              mark();
              std::vector<Source> from = sources_of(sources);
              std::vector<Tensor> dy;
              for (auto& u : upstream) dy.push_back(u.is_none() ? Tensor() : tensor_of(u.ptr()));
              auto all = t.gradients(targets, from, dy,
                                     zero ? Unconnected::kZero : Unconnected::kNone, last);
              nb::list out;
              for (auto& g : all) out.append(to_python(g));
              return out;
            });
          },
          "targets"_a, "sources"_a, "upstream"_a, "zero"_a, "last"_a = false)
      .def("_jvp",
           [](PyTape& t, const Tensor& target, const std::vector<nb::object>& primals,
              const std::vector<Tensor>& tangents, bool zero) {
             return run([&]() -> nb::object {
               mark();
               Tensor found = jvp(t, target, sources_of(primals), tangents,
                                  zero ? Unconnected::kZero : Unconnected::kNone);
               return found ? nb::cast(found) : nb::none();
             });
           })
      .def("_jacobian",
           [](PyTape& t, const Tensor& target, const std::vector<nb::object>& sources, bool zero) {
             return run([&] {
               mark();
               nb::list out;
               for (const Tensor& j : t.jacobian(target, sources_of(sources),
                                                 zero ? Unconnected::kZero : Unconnected::kNone))
                 out.append(j ? nb::cast(j) : nb::none());
               return out;
             });
           })
      .def("_batch_jacobian",
           [](PyTape& t, const Tensor& target, nb::handle source, bool zero) {
             return run([&]() -> nb::object {
               mark();
               Tensor found = t.batch_jacobian(target, source_of(source),
                                               zero ? Unconnected::kZero : Unconnected::kNone);
               return found ? nb::cast(found) : nb::none();
             });
           })
      .def("_why_none", [](PyTape& t, const Tensor& target, nb::handle source) {
        return run([&] {
          static const char* kinds[] = {"integer", "unwatched", "cut", "taken", "off", "no path"};
          NoGradientReason found = t.why_none(target, source_of(source));
          nb::list lines;
          for (Where at : found.lines) lines.append(nb::steal(to_dict(locate(at)).release()));
          return nb::make_tuple(kinds[static_cast<int>(found.kind)], found.op, lines);
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
      static std::set<std::string>
          names;  // records point at their name: each is kept once, for ever
      GradientTape::record_custom(names.insert(name).first->c_str(), in, out,
                                  PyBackward{make_ref<Held>(Object::share(f.ptr()))});
      return 0;
    });
  });
  m.def("tape_watches", [](const std::vector<Tensor>& in) { return GradientTape::watched(in); });
}

}  // namespace holdfast::py
