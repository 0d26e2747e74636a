// Graphs as text, and the passes: for tools and tests.
#include "holdfast/graph/text.h"
#include "holdfast/graph/verify.h"
#include "holdfast/passes/passes.h"
#include "python/bind/graph.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

void bind_graph_text(nb::module_& m) {
  m.def(
      "parse_graph",
      [](const std::string& text) {
        return run([&] {
          Ref<Graph> g = parse_graph(text);
          verify_text(*g);
          return Concrete{make_ref<ConcreteFunction>(g), {}};
        });
      },
      "text"_a);
  // The function whose graph was written as text and read back.
  m.def(
      "through_text",
      [](Concrete& c) {
        return run([&] {
          Payload payload;
          std::string text = to_text(c.function->graph(), {.payload = &payload});
          Ref<Graph> g = parse_graph(text, &payload);
          verify_text(*g);
          return Concrete{make_ref<ConcreteFunction>(g), {}};
        });
      },
      "function"_a);
  m.def(
      "set_passes",
      [](const std::string& names) {
        run([&] {
          set_passes(names);
          return 0;
        });
      },
      "names"_a);
  m.def("passes", [] {
    nb::list out;
    for (const Pass& p : all_passes()) out.append(nb::make_tuple(p.name, p.doc));
    return out;
  });
  m.def("verify_passes", &verify_passes, "on"_a);
  m.def("record_passes", &record_passes, "on"_a);
  m.def("take_pass_records", [] {
    nb::list out;
    for (const PassRecord& r : take_pass_records())
      out.append(nb::make_tuple(r.graph, r.pass, r.text));
    return out;
  });
}

}  // namespace holdfast::py
