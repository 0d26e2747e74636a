// Why a function was traced again: the library's record of it, kept by Python's functions too.
#include "holdfast/exec/retracing.h"

#include "python/bind/call.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

constexpr std::pair<const char*, Retrace::Kind> kKinds[] = {
    {"first", Retrace::Kind::kFirst},
    {"value", Retrace::Kind::kValue},
    {"shape", Retrace::Kind::kShape},
    {"dtype", Retrace::Kind::kDType},
    {"structure", Retrace::Kind::kStructure},
    {"object", Retrace::Kind::kObject},
    {"guard", Retrace::Kind::kGuard},
    {"fact", Retrace::Kind::kFact},
    {"made", Retrace::Kind::kMade}};

Retrace::Kind kind_of(std::string_view word) {
  for (auto& [known, kind] : kKinds)
    if (known == word) return kind;
  type_error("a retrace of an unknown kind: " + std::string(word));
}

// Types are pairs of a DType and its sizes: None for one that is open, or for an unknown rank.
std::vector<Type> types_of(const nb::list& list) {
  std::vector<Type> out;
  for (nb::handle each : list)
    out.push_back(
        {dtype_of_object(nb::object(each[0]).ptr()), shape_of(nb::object(each[1]).ptr())});
  return out;
}

nb::list to_python(const std::vector<Type>& types) {
  nb::list out;
  for (const Type& t : types)
    out.append(nb::make_tuple(nb::borrow(dtype_object(t.dtype)), given(sizes_object(t.shape))));
  return out;
}

}  // namespace

void bind_retracing(nb::module_& m) {
  nb::class_<Retrace>(m, "Retrace")
      .def(
          "__init__",
          [](Retrace* self, std::string part, std::string was, std::string now,
             const std::string& kind, double milliseconds, std::vector<std::string> relaxed) {
            run([&] {
              new (self) Retrace{std::move(part), std::move(was), std::move(now),
                                 kind_of(kind),   milliseconds,   std::move(relaxed)};
              return 0;
            });
          },
          "part"_a, "was"_a, "now"_a, "kind"_a, "milliseconds"_a,
          "relaxed"_a = std::vector<std::string>())
      .def_ro("part", &Retrace::part)
      .def_ro("was", &Retrace::was)
      .def_ro("now", &Retrace::now)
      .def_prop_ro("kind",
                   [](const Retrace& t) {
                     for (auto& [word, kind] : kKinds)
                       if (kind == t.kind) return word;
                     return "";
                   })
      .def_ro("milliseconds", &Retrace::milliseconds)
      .def_ro("relaxed", &Retrace::relaxed)
      .def("__str__", &Retrace::text);
  nb::class_<TraceHistory>(m, "TraceHistory")
      .def(nb::init<std::string, int>(), "name"_a, "misses"_a)
      .def("relax",
           [](TraceHistory& h, const nb::list& last, const nb::list& now) {
             return run([&] {
               std::vector<Type> types = types_of(now);
               nb::list opened;
               for (Dimension d : h.relax(types_of(last), types))
                 opened.append(nb::make_tuple(d.tensor, d.axis));
               return nb::make_tuple(to_python(types), opened);
             });
           })
      .def("note", &TraceHistory::note)
      .def("report", &TraceHistory::report)
      .def_prop_ro("count", &TraceHistory::count)
      .def_prop_ro("milliseconds", &TraceHistory::milliseconds)
      .def_prop_ro("last", [](const TraceHistory& h) -> std::optional<Retrace> {
        if (h.traces().empty()) return std::nullopt;
        return h.traces().back();
      });
}

}  // namespace holdfast::py
