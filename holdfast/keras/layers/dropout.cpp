#include "holdfast/keras/layers/dropout.h"

#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/dropout.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras::layers {
namespace {

ClassDef& dropout =
    Declare<DropoutLayer>("layers.Dropout",
                          "While training, elements are zero with probability `rate`, and the "
                          "others are divided by `1 - rate`.",
                          &Layer::def())
        .required<&DropoutOptions::rate>("rate")
        .option<&DropoutOptions::noise_shape>("noise_shape")
        .option<&DropoutOptions::seed>("seed")
        .layer_options()
        .key_before("seed", "noise_shape");
ClassDef& alpha_dropout =
    Declare<AlphaDropoutLayer>("layers.AlphaDropout",
                               "Dropout that keeps the mean and the variance of inputs which a "
                               "`selu` gave.",
                               &Layer::def())
        .required<&DropoutOptions::rate>("rate")
        .option<&DropoutOptions::noise_shape>("noise_shape")
        .option<&DropoutOptions::seed>("seed")
        .layer_options()
        .key_before("seed", "noise_shape");
ClassDef& spatial_dropout1d =
    Declare<SpatialDropout1DLayer>("layers.SpatialDropout1D",
                                   "Dropout of whole channels, over all steps.", &Layer::def())
        .required<&SpatialDropout1DOptions::rate>("rate")
        .option<&SpatialDropout1DOptions::seed>("seed")
        .option<&SpatialDropout1DOptions::name>("name")
        .option<&SpatialDropout1DOptions::dtype>("dtype")
        .by_name()
        .option<&SpatialDropout1DOptions::trainable>("trainable");

template <class L>
ClassDef& declare_spatial(const char* path, const char* doc) {
  using O = SpatialDropoutOptions;
  return Declare<L>(path, doc, &Layer::def())
      .template required<&O::rate>("rate")
      .template option<&O::data_format>("data_format")
      .template option<&O::seed>("seed")
      .template option<&O::name>("name")
      .template option<&O::dtype>("dtype")
      .by_name()
      .template option<&O::trainable>("trainable")
      .key_before("seed", "data_format");
}
ClassDef& spatial_dropout2d = declare_spatial<SpatialDropout2DLayer>(
    "layers.SpatialDropout2D", "Dropout of whole channels of images.");
ClassDef& spatial_dropout3d = declare_spatial<SpatialDropout3DLayer>(
    "layers.SpatialDropout3D", "Dropout of whole channels of volumes.");

ClassDef& gaussian_dropout =
    Declare<GaussianDropoutLayer>("layers.GaussianDropout",
                                  "While training, inputs times normal noise around 1 with the "
                                  "variance `rate / (1 - rate)`.",
                                  &Layer::def())
        .required<&GaussianDropoutOptions::rate>("rate")
        .option<&GaussianDropoutOptions::seed>("seed")
        .layer_options();
ClassDef& gaussian_noise =
    Declare<GaussianNoiseLayer>("layers.GaussianNoise",
                                "While training, inputs plus normal noise around 0.", &Layer::def())
        .required<&GaussianNoiseOptions::stddev>("stddev")
        .option<&GaussianNoiseOptions::seed>("seed")
        .layer_options();

void need_share(double value, const char* option, const std::string& of, bool below_one = false) {
  if (value >= 0 && (below_one ? value < 1 : value <= 1)) return;
  fail(Code::E1103, cat(of, ": `", option, "` is ", value, ", expected 0 to 1",
                        below_one ? ", without 1 itself" : ""));
}

void need_noise_shape(const Shape& s, const std::string& of) {
  for (int64_t d : s)
    if (d == 0 || d < -1)
      fail(Code::E1103, cat(of, ": `noise_shape` is ", s.text(),
                            ", expected sizes of at least 1, or none for the input's"));
}

// The shape that noise is drawn in: sizes of the inputs in the places of those that are open.
Sizes drawn_shape(const Layer& layer, const Shape& noise, const Tensor& inputs) {
  if (!noise.has_rank()) return shape_of(inputs);
  const Shape& s = inputs.shape();
  need_axes(layer, s, noise.rank(), "those of `noise_shape`");
  Dims sizes = noise.dims();
  bool known = true;
  for (int i = 0; i < noise.rank(); ++i) {
    int64_t have = s.has_rank() ? s[i] : kUnknown;
    if (noise[i] > 1 && have >= 0 && noise[i] != have)
      fail(Code::E1102, cat(layer.described(), ": `inputs` has the shape ", s.text(),
                            ", expected one that `noise_shape` ", noise.text(), " broadcasts to"));
    if (noise[i] < 0) sizes[static_cast<size_t>(i)] = have;
    known &= sizes[static_cast<size_t>(i)] >= 0;
  }
  if (known) return sizes;
  Tensor all = shape(inputs);
  std::vector<Tensor> each;
  for (int i = 0; i < noise.rank(); ++i) {
    int64_t size = sizes[static_cast<size_t>(i)];
    each.push_back(size < 0 ? at(all, i) : Tensor::scalar(static_cast<int32_t>(size)));
  }
  return stack(each);
}

Tensor dropped(const Tensor& x, double rate, const Tensor& seed, const Sizes& noise_shape) {
  return rate == 1 ? zeros_like(x)
                   : nn::stateless_dropout(x, rate, seed, {.noise_shape = noise_shape});
}

}  // namespace

const ClassDef& DropoutLayer::definition() const { return dropout; }
const ClassDef& AlphaDropoutLayer::definition() const { return alpha_dropout; }
const ClassDef& SpatialDropout1DLayer::definition() const { return spatial_dropout1d; }
const ClassDef& SpatialDropout2DLayer::definition() const { return spatial_dropout2d; }
const ClassDef& SpatialDropout3DLayer::definition() const { return spatial_dropout3d; }
const ClassDef& GaussianDropoutLayer::definition() const { return gaussian_dropout; }
const ClassDef& GaussianNoiseLayer::definition() const { return gaussian_noise; }

void DropoutLayer::check() {
  need_share(options_.rate, "rate", definition().name);
  need_noise_shape(options_.noise_shape, definition().name);
}

Tensor DropoutLayer::call(const Tensor& inputs, const CallOptions& c) {
  const DropoutOptions& o = options_;
  if (!c.training.value_or(false) || o.rate == 0) return inputs;
  Sizes noise = drawn_shape(*this, o.noise_shape, inputs);
  return dropped(inputs, o.rate, next_seed(), noise);
}

void AlphaDropoutLayer::check() {
  need_share(options_.rate, "rate", definition().name, true);
  need_noise_shape(options_.noise_shape, definition().name);
}

Tensor AlphaDropoutLayer::call(const Tensor& inputs, const CallOptions& c) {
  const DropoutOptions& o = options_;
  if (!c.training.value_or(false) || o.rate == 0) return inputs;
  Sizes drawn = drawn_shape(*this, o.noise_shape, inputs);
  // What `selu` gives for numbers far below zero takes the place of what is dropped.
  constexpr double kAlpha = 1.6732632423543772, kScale = 1.0507009873554805;
  constexpr double kLow = -kAlpha * kScale;
  double a = 1 / std::sqrt((1 - o.rate) * (1 + o.rate * kLow * kLow)), b = -a * kLow * o.rate;
  Tensor kept = cast(random::stateless_uniform(drawn, next_seed()) >= o.rate, inputs.dtype());
  return a * (inputs * kept + kLow * (1 - kept)) + b;
}

void SpatialDropout1DLayer::check() { need_share(options_.rate, "rate", definition().name); }

Tensor SpatialDropout1DLayer::call(const Tensor& inputs, const CallOptions& c) {
  need_axes(*this, inputs.shape(), 3, "[batch, steps, channels]");
  if (!c.training.value_or(false) || options_.rate == 0) return inputs;
  return dropped(inputs, options_.rate, next_seed(), drawn_shape(*this, {-1, 1, -1}, inputs));
}

void SpatialDropoutLayer::check() {
  need_share(options_.rate, "rate", definition().name);
  settle_format(options_.data_format, definition().name);
}

Tensor SpatialDropoutLayer::call(const Tensor& inputs, const CallOptions& c) {
  int channels = need_field(*this, inputs.shape(), axes_, options_.data_format);
  if (!c.training.value_or(false) || options_.rate == 0) return inputs;
  Dims noise(static_cast<size_t>(axes_) + 2, 1);
  noise[0] = noise[static_cast<size_t>(channels)] = kUnknown;
  return dropped(inputs, options_.rate, next_seed(), drawn_shape(*this, Shape(noise), inputs));
}

void GaussianDropoutLayer::check() { need_share(options_.rate, "rate", definition().name, true); }

Tensor GaussianDropoutLayer::call(const Tensor& inputs, const CallOptions& c) {
  double rate = options_.rate;
  if (!c.training.value_or(false) || rate == 0) return inputs;
  return inputs *
         random::stateless_normal(
             shape_of(inputs), next_seed(),
             {.mean = 1.0, .stddev = std::sqrt(rate / (1 - rate)), .dtype = inputs.dtype()});
}

void GaussianNoiseLayer::check() { need_share(options_.stddev, "stddev", definition().name); }

Tensor GaussianNoiseLayer::call(const Tensor& inputs, const CallOptions& c) {
  if (!c.training.value_or(false) || options_.stddev == 0) return inputs;
  return inputs + random::stateless_normal(
                      shape_of(inputs), next_seed(),
                      {.mean = 0.0, .stddev = options_.stddev, .dtype = inputs.dtype()});
}

}  // namespace holdfast::keras::layers
