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
  if (!g.slices) return nb::cast(g.dense);
  return nb::make_tuple(g.slices->values, g.slices->indices, g.slices->dense_shape);
}

}  // namespace

void bind_tape(nb::module_& m) {
  nb::class_<GradientTape>(m, "TapeBase")
      .def(
          "__init__",
          [](GradientTape* self, bool sees_itself, bool watch_accessed) {
            mark();
            // Its record can be walked several times, for a jacobian's rows; the Python class says
            // when that ends.
            new (self) GradientTape({.persistent = true,
                                     .watch_accessed_variables = watch_accessed,
                                     .paused = true,
                                     .sees_itself = sees_itself});
          },
          "sees_itself"_a, "watch_accessed_variables"_a = true)
      .def("start", [](GradientTape& t) { t.start(); })
      .def("stop", [](GradientTape& t) { t.stop(); })
      .def("reset", [](GradientTape& t) { t.reset(); })
      .def_prop_ro("recording", [](GradientTape& t) { return t.recording(); })
      .def("_watch",
           [](GradientTape& t, nb::handle o) {
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
           [](GradientTape& t) {
             return run([&] {
               nb::list out;
               for (const Variable& v : t.watched_variables())
                 out.append(nb::steal(wrap_variable(v).release()));
               return out;
             });
           })
      .def(
          "_gradient",
          [](GradientTape& t, const std::vector<Tensor>& targets,
             const std::vector<nb::object>& sources, const std::vector<nb::object>& upstream,
             bool zero, bool last) {
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
           [](GradientTape& t, const Tensor& target, const std::vector<nb::object>& primals,
              const std::vector<Tensor>& tangents, bool zero) {
             return run([&]() -> nb::object {
               mark();
               Tensor found = jvp(t, target, sources_of(primals), tangents,
                                  zero ? Unconnected::kZero : Unconnected::kNone);
               return found ? nb::cast(found) : nb::none();
             });
           })
      .def("_jacobian",
           [](GradientTape& t, const Tensor& target, const std::vector<nb::object>& sources,
              bool zero) {
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
           [](GradientTape& t, const Tensor& target, nb::handle source, bool zero) {
             return run([&]() -> nb::object {
               mark();
               Tensor found = t.batch_jacobian(target, source_of(source),
                                               zero ? Unconnected::kZero : Unconnected::kNone);
               return found ? nb::cast(found) : nb::none();
             });
           })
      .def("_explain", [](GradientTape& t, const Tensor& target, nb::handle source) {
        return run([&] {
          mark();
          return nb::steal(to_dict(t.explain(target, source_of(source))).release());
        });
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
