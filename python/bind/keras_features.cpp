// What layers have besides calls: statistics of data, where channels are.
#include "holdfast/keras/layers/normalization/feature_normalization.h"
#include "holdfast/keras/layers/spatial/spatial.h"
#include "python/bind/call.h"
#include "python/bind/keras.h"

namespace nb = nanobind;

namespace holdfast::py {

using keras::layers::NormalizationLayer;

void bind_keras_features(nb::module_& m) {
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
