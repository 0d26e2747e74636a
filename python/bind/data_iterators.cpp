// Datasets that graphs are given or make, and iterators of graphs that sessions run.
#include "holdfast/data/argument.h"
#include "holdfast/data/graph_iterators.h"
#include "holdfast/data/worker.h"
#include "python/bind/data.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {

void bind_data_iterators(nb::module_& m) {
  m.def(
      "data_stop_workers", [] { data::stop_workers(); },
      "Ends the threads of all pipelines: the interpreter is about to go.");
  m.def(
      "data_graph_iterator",
      [](nb::handle begins) {
        return run([&] {
          mark();
          if (begins.is_none()) return data::iterator_handle(data::iterator_slot());
          data::Dataset of = dataset_of(begins);
          return data::iterator_handle(data::iterator_slot(&of));
        });
      },
      "begins"_a.none());
  m.def("data_carrier", [](nb::handle dataset) {
    return run([&] { return data::carrier_of(dataset_of(dataset)); });
  });
  m.def("data_argument", [](const Tensor& carrier, nb::handle promised) {
    return made(
        [&] { return data::dataset_argument(carrier, dataset_of(promised).element_spec()); });
  });
  m.def("data_is_open", [](nb::handle dataset) {
    return run([&] { return !data::open_tensors(*dataset_of(dataset).object()).empty(); });
  });
  m.def("data_cardinality_in_graph", [](nb::handle dataset) {
    return run([&] {
      mark();
      return data::cardinality_in_graph(dataset_of(dataset));
    });
  });
  m.def("data_initialize", [](const Tensor& iterator, nb::handle dataset) {
    return run([&] {
      mark();
      return data::initialize(iterator, dataset_of(dataset));
    });
  });
  m.def("data_string_handle", [](const Tensor& iterator) {
    return run([&] {
      mark();
      return data::string_handle(iterator);
    });
  });
  m.def("data_from_string_handle", [](const Tensor& name) {
    return run([&] {
      mark();
      return data::from_string_handle(name);
    });
  });
}

}  // namespace holdfast::py
