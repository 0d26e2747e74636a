// What layers have besides calls: streams of seeds, statistics of data, where channels are.
#include "holdfast/keras/layers/normalization/feature_normalization.h"
#include "holdfast/keras/layers/spatial/spatial.h"
#include "holdfast/keras/seed_generator.h"
#include "python/bind/call.h"
#include "python/bind/in_python.h"
#include "python/bind/keras.h"

namespace nb = nanobind;

namespace holdfast::py {

using keras::layers::NormalizationLayer;

namespace {

// Says which streams of seeds hang on a layer's object: Python's function, set once.
nb::object& finder() {
  static auto* f = new nb::object;
  return *f;
}

std::vector<Variable> python_seeds(const keras::Layer& layer) {
  WithGil gil;
  if (!gil || !layer.shared() || !finder().is_valid()) return {};
  nb::object found = finder()(nb::handle(static_cast<PyObject*>(layer.shared())));
  return variables_from(found.ptr(), "seeds");
}

nb::list variable_list(const std::vector<Variable>& all) {
  nb::list out;
  for (const Variable& v : all) out.append(given(python_of(*v.state())));
  return out;
}

}  // namespace

void bind_keras_features(nb::module_& m) {
  m.def("set_seed_finder", [](nb::object f) {
    finder() = std::move(f);
    keras::set_attribute_seeds(&python_seeds);
  });
  m.def("variables_and_seeds", [](nb::handle self) {
    return run([&] { return variable_list(keras::variables_and_seeds(layer_of(self.ptr()))); });
  });
  m.def("seed_states", [](nb::handle self) {
    return run([&] { return variable_list(keras::seed_states(layer_of(self.ptr()))); });
  });
  m.def("normalization_adapt", [](nb::handle self, nb::iterator batches) {
    run([&] {
      mark();
      layer_of<NormalizationLayer>(self.ptr()).adapt([&]() -> Tensor {
        if (batches == nb::iterator::sentinel()) return {};
        Tensor batch = nb::cast<Tensor>(*batches);
        ++batches;
        return batch;
      });
      return 0;
    });
  });
  m.def("normalization_statistics", [](nb::handle self) {
    return run([&] {
      mark();
      auto [mean, variance] = layer_of<NormalizationLayer>(self.ptr()).statistics();
      return nb::make_tuple(mean, variance);
    });
  });
  m.def("image_data_format", &keras::image_data_format);
  m.def("set_image_data_format", [](const std::string& format) {
    run([&] { return keras::set_image_data_format(format), 0; });
  });
}

}  // namespace holdfast::py
