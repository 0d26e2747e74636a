#include "holdfast/keras/layers/normalization/spectral_normalization.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/initializers.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

using O = SpectralNormalizationOptions;
ClassDef& declared =
    Declare<SpectralNormalizationLayer>(
        "layers.SpectralNormalization",
        "A layer whose kernel is divided by its largest singular value while training.",
        &Layer::def())
        .required<&O::layer>("layer")
        .option<&O::power_iterations>("power_iterations")
        .layer_options()
        .option<&O::activity_regularizer>("activity_regularizer", false)
        .weight<&SpectralNormalizationLayer::vector_u>("vector_u");

// The weight of a layer that has one of these names.
Variable weight_named(const Layer& layer, std::string_view wanted) {
  for (const ClassDef* d = &layer.definition(); d; d = d->base)
    for (const Weight& w : d->weights)
      if (w.name == wanted && w.get(layer).defined()) return w.get(layer);
  for (const Variable& v : layer.variables()) {
    std::string_view name = v.name();
    name = name.substr(name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1);
    if (name.substr(0, name.find(':')) == wanted) return v;
  }
  return {};
}

Tensor of_length_one(const Tensor& x) {
  constexpr double kSmallest = 1e-7;  // a vector of zeros stays one
  return x * minimum(rsqrt(reduce_sum(square(x))), 1 / kSmallest);
}

}  // namespace

SpectralNormalizationLayer::SpectralNormalizationLayer(const SpectralNormalizationOptions& o) {
  configure(o);
}
const ClassDef& SpectralNormalizationLayer::definition() const { return declared; }

void SpectralNormalizationLayer::check() {
  if (!options_.layer) fail(Code::E1104, "SpectralNormalization: `layer` is not given");
  if (options_.power_iterations < 1)
    fail(Code::E1103, cat("SpectralNormalization: `power_iterations` is ",
                          options_.power_iterations, ", expected at least 1"));
  options_.layer->name_it();
  hold(Ref<ModuleObject>(options_.layer.layer));
}

void SpectralNormalizationLayer::build(const Shape& inputs) {
  build_inner(*options_.layer, {inputs});
  kernel = weight_named(*options_.layer, "kernel");
  if (!kernel.defined()) kernel = weight_named(*options_.layer, "embeddings");
  if (!kernel.defined())
    fail(Code::E1104, cat(described(), ": its layer has no weight `kernel` or `embeddings`"),
         cat("that is what is divided by its largest singular value, and ",
             options_.layer->described(), " has none"));
  hold(kernel);  // Keras counts it among the layer's own, before the vector
  vector_u = add_weight({.name = "vector_u",
                         .shape = {1, kernel.shape()[-1]},
                         .dtype = kernel.dtype(),
                         .initializer = initializers::TruncatedNormal({.stddev = 0.02}),
                         .trainable = false});
}

std::optional<InputSpec> SpectralNormalizationLayer::input_spec() const {
  if (!built_for() || built_for()->empty()) return {};
  const Shape& s = built_for()->front();
  InputSpec out{.at_least = 1};
  if (s.has_rank() && s.rank() > 0) out.sizes = {{-1, s[-1]}};
  return out;
}

Tensor SpectralNormalizationLayer::call(const Tensor& inputs, const CallOptions& o) {
  Layer& layer = *options_.layer;
  if (o.training.value_or(false)) {
    Tensor whole = kernel.read(), u = vector_u.read(), v;
    Tensor weights = reshape(whole, {-1, kernel.shape()[-1]});
    for (int64_t i = 0; i < options_.power_iterations; ++i) {
      v = of_length_one(matmul(u, weights, {.transpose_b = true}));
      u = of_length_one(matmul(v, weights));
    }
    Tensor sigma = reduce_sum(matmul(v, weights) * u);
    Tensor none = reduce_all(whole == 0);  // a kernel of zeros stays what it is
    kernel.assign(stop_gradient(select(none, whole, whole / sigma)));
    vector_u.assign(stop_gradient(select(none, vector_u.read(), u)));
  }
  Tensor out = layer.run(inputs, {.training = o.training}).tensor(layer.described());
  return out.dtype() == inputs.dtype() ? out : cast(out, inputs.dtype());
}

}  // namespace holdfast::keras::layers
