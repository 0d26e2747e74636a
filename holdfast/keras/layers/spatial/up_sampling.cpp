#include "holdfast/keras/layers/spatial/up_sampling.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

ClassDef& up1d =
    Declare<UpSampling1DLayer>("layers.UpSampling1D", "Each step `size` times.", &Layer::def())
        .option<&UpSampling1DOptions::size>("size")
        .layer_options();
ClassDef& up2d =
    Declare<UpSampling2DLayer>("layers.UpSampling2D",
                               "Images made larger: elements repeated, or values between them.",
                               &Layer::def())
        .option<&UpSampling2DOptions::size>("size")
        .option<&UpSampling2DOptions::data_format>("data_format")
        .option<&UpSampling2DOptions::interpolation>("interpolation")
        .layer_options();
ClassDef& up3d =
    Declare<UpSampling3DLayer>("layers.UpSampling3D", "Volumes made larger: elements repeated.",
                               &Layer::def())
        .option<&UpSampling3DOptions::size>("size")
        .option<&UpSampling3DOptions::data_format>("data_format")
        .layer_options();

// The shape that comes out, as far as it is known.
Tensor with_known(const Tensor& y, const Tensor& x, const std::vector<int64_t>& sizes, int first) {
  Shape known =
      x.shape().has_rank() ? x.shape() : Shape::of_rank(static_cast<int>(sizes.size()) + 2);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (int64_t& d = known.dims()[static_cast<size_t>(first) + i]; d >= 0) d *= sizes[i];
  return y.shape() == known ? y : ensure_shape(y, known);
}

Tensor repeated(const Tensor& x, const std::vector<int64_t>& sizes, int first) {
  Tensor y = x;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) y = repeat(y, sizes[i], {.axis = first + static_cast<int64_t>(i)});
  return with_known(y, x, sizes, first);
}

// [n * factor, n]: how much each element has of each of the old ones, by distance of their middles.
Tensor blend(const Tensor& length, int64_t factor, DType dtype) {
  Tensor n = cast(length, dtype);
  Tensor places = (cast(range(length * static_cast<int32_t>(factor)), dtype) + 0.5) /
                      static_cast<double>(factor) -
                  0.5;
  Tensor inside = minimum(maximum(places, 0.0), n - 1);
  return nn::relu(1 - abs(expand_dims(inside, 1) - cast(range(length), dtype)));
}

// By filters that reach further than the neighbours; those are for images of channels last.
Tensor resized(const Tensor& inputs, const UpSampling2DOptions& o) {
  bool second = channels_first(o.data_format);
  Tensor images = second ? transpose(inputs, {.perm = {{0, 2, 3, 1}}}) : inputs;
  Tensor have = shape(images);
  Tensor sides = stack({at(have, 1) * static_cast<int32_t>(o.size.sizes[0]),
                        at(have, 2) * static_cast<int32_t>(o.size.sizes[1])});
  Tensor y = image::resize(images, sides, {.method = o.interpolation});
  if (second) y = transpose(y, {.perm = {{0, 3, 1, 2}}});
  if (is_floating(inputs.dtype())) return cast(y, inputs.dtype());
  // Filters reach below the least and above the largest element.
  return saturate_cast(round(y), inputs.dtype());
}

}  // namespace

const ClassDef& UpSampling1DLayer::definition() const { return up1d; }
const ClassDef& UpSampling2DLayer::definition() const { return up2d; }
const ClassDef& UpSampling3DLayer::definition() const { return up3d; }

void UpSampling1DLayer::check() { need_at_least(options_.size, 1, "size", definition().name); }

Tensor UpSampling1DLayer::call(const Tensor& inputs, const CallOptions&) {
  need_field(*this, inputs.shape(), 1, "channels_last");
  return repeated(inputs, {options_.size}, 1);
}

void UpSampling2DLayer::check() {
  UpSampling2DOptions& o = options_;
  settle_sides(o.size, 2, 1, "size", definition().name);
  settle_format(o.data_format, definition().name);
  const std::vector<std::string> known = {"bicubic", "bilinear", "lanczos3", "lanczos5", "nearest"};
  if (std::find(known.begin(), known.end(), o.interpolation) == known.end())
    unknown_identifier(cat("`interpolation` of ", definition().name), o.interpolation, known);
}

Tensor UpSampling2DLayer::call(const Tensor& inputs, const CallOptions&) {
  const UpSampling2DOptions& o = options_;
  need_field(*this, inputs.shape(), 2, o.data_format);
  int first = first_axis(o.data_format);
  if (o.interpolation == "nearest") return repeated(inputs, o.size.sizes, first);
  Tensor have = shape(inputs);
  // What lies between integers is computed in floats, and rounded afterwards.
  if (o.interpolation != "bilinear" || !is_floating(inputs.dtype()))
    return with_known(resized(inputs, o), inputs, o.size.sizes, first);
  Tensor rows = blend(at(have, first), o.size.sizes[0], inputs.dtype());
  Tensor columns = blend(at(have, first + 1), o.size.sizes[1], inputs.dtype());
  bool second = channels_first(o.data_format);
  Tensor y = einsum(second ? "ih,bchw->bciw" : "ih,bhwc->biwc", {rows, inputs});
  y = einsum(second ? "jw,bciw->bcij" : "jw,biwc->bijc", {columns, y});
  return with_known(y, inputs, o.size.sizes, first);
}

void UpSampling3DLayer::check() {
  settle_sides(options_.size, 3, 1, "size", definition().name);
  settle_format(options_.data_format, definition().name);
}

Tensor UpSampling3DLayer::call(const Tensor& inputs, const CallOptions&) {
  need_field(*this, inputs.shape(), 3, options_.data_format);
  return repeated(inputs, options_.size.sizes, first_axis(options_.data_format));
}

}  // namespace holdfast::keras::layers
