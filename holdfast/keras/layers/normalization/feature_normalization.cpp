#include "holdfast/keras/layers/normalization/feature_normalization.h"

#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/keras/layers/numbers.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/normalization.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

using O = NormalizationOptions;
ClassDef& declared =
    Declare<NormalizationLayer>("layers.Normalization",
                                "`(inputs - mean) / sqrt(variance)` for each feature; `adapt` "
                                "finds mean and variance of a data set.",
                                &Layer::def())
        .option<&O::axis>("axis")
        .option<&O::mean>("mean")
        .option<&O::variance>("variance")
        .option<&O::invert>("invert")
        .layer_options()
        .key_before("invert", "mean")
        .weight<&NormalizationLayer::mean>("adapt_mean")
        .weight<&NormalizationLayer::variance>("adapt_variance")
        .weight<&NormalizationLayer::count>("count");

}  // namespace

const ClassDef& NormalizationLayer::definition() const { return declared; }

void NormalizationLayer::check() {
  O& o = options_;
  axes_.clear();
  if (o.axis.kind() == Config::Kind::kInteger)
    axes_.push_back(o.axis.as_integer());
  else if (!o.axis.is_null())
    OptionType<std::vector<int64_t>>::set(axes_, o.axis, "`axis` of Normalization");
  o.axis = OptionType<std::vector<int64_t>>::get(axes_);
  if (o.mean.is_null() != o.variance.is_null())
    fail(Code::E1104,
         cat("Normalization: `", o.mean.is_null() ? "variance" : "mean", "` is given without `",
             o.mean.is_null() ? "mean" : "variance", "`, expected both or none"));
  if (o.mean.is_null()) return;
  Tensor m = numbers(o.mean, float32, "`mean` of Normalization");
  Tensor v = numbers(o.variance, float32, "`variance` of Normalization");
  if (!(m.shape() == v.shape()))
    fail(Code::E1102, cat("Normalization: `mean` has the shape ", m.shape().text(),
                          " and `variance` ", v.shape().text(), ", expected the same"));
  if (m.rank() > static_cast<int>(axes_.size()))
    fail(Code::E1102, cat("Normalization: `mean` has the shape ", m.shape().text(),
                          ", expected at most ", axes_.size(), " axes, as many as `axis`"));
}

std::vector<int64_t> NormalizationLayer::kept_axes(const Shape& inputs) const {
  if (!inputs.has_rank())
    fail(Code::E1102, cat(described(), ": `inputs` has the shape ", inputs.text(),
                          ", expected a known number of axes"));
  std::vector<int64_t> out;
  for (int64_t a : axes_) out.push_back(axis_of(*this, inputs, a));
  std::sort(out.begin(), out.end());
  return out;
}

void NormalizationLayer::build(const Shape& inputs) {
  std::vector<int64_t> sizes;
  for (int64_t a : kept_axes(inputs))
    sizes.push_back(known_size(*this, inputs, static_cast<int>(a),
                               "there is a mean and a variance for each element of `axis`"));
  if (!options_.mean.is_null()) return;
  mean = add_weight({.name = "mean", .shape = sizes, .initializer = "zeros", .trainable = false});
  variance =
      add_weight({.name = "variance", .shape = sizes, .initializer = "ones", .trainable = false});
  count = add_weight(
      {.name = "count", .shape = {}, .dtype = int32, .initializer = "zeros", .trainable = false});
}

// Statistics of the kept axes, in a shape that broadcasts to the inputs.
Tensor NormalizationLayer::placed(const Tensor& value, const Shape& inputs) const {
  if (value.rank() == 0) return value;
  std::vector<int64_t> dims(static_cast<size_t>(inputs.rank()), 1), axes = kept_axes(inputs);
  for (int i = 1; i <= value.rank(); ++i) {
    int64_t size = value.shape()[-i], axis = axes[axes.size() - static_cast<size_t>(i)];
    if (size != 1)
      need_size(*this, inputs, static_cast<int>(axis), size, "so many means were given");
    dims[static_cast<size_t>(axis)] = size;
  }
  return reshape(value, dims);
}

std::pair<Tensor, Tensor> NormalizationLayer::values(DType dtype) const {
  const O& o = options_;
  if (!o.mean.is_null())
    return {numbers(o.mean, dtype, "`mean` of Normalization"),
            numbers(o.variance, dtype, "`variance` of Normalization")};
  need_built(*this, mean, "mean");
  return {cast(mean.read(), dtype), cast(variance.read(), dtype)};
}

std::pair<Tensor, Tensor> NormalizationLayer::statistics() const {
  if (!built_for() || built_for()->empty())
    fail(Code::E1104, cat(described(), " is not built, and has no statistics yet"),
         "they have a place for each feature, and how many there are is not known",
         {manual_fix("call `adapt` or the layer itself first")});
  const Shape& inputs = built_for()->front();
  auto [m, v] = values(is_floating(compute_dtype()) ? compute_dtype() : float32);
  std::vector<int64_t> dims(static_cast<size_t>(inputs.rank()), 1);
  for (int64_t a : kept_axes(inputs)) dims[static_cast<size_t>(a)] = inputs[static_cast<int>(a)];
  return {broadcast_to(placed(m, inputs), dims), broadcast_to(placed(v, inputs), dims)};
}

Tensor NormalizationLayer::call(const Tensor& inputs, const CallOptions&) {
  const O& o = options_;
  DType dtype = is_floating(compute_dtype()) ? compute_dtype() : float32;
  Tensor x = inputs.dtype() == dtype ? inputs : cast(inputs, dtype);
  auto [m, v] = values(dtype);
  constexpr double kLeast = 1e-7;  // where a feature is the same everywhere
  Tensor middle = placed(m, x.shape()), spread = maximum(sqrt(placed(v, x.shape())), kLeast);
  return o.invert ? middle + x * spread : (x - middle) / spread;
}

void NormalizationLayer::adapt(const std::vector<Tensor>& batches) {
  size_t i = 0;
  adapt([&] { return i < batches.size() ? batches[i++] : Tensor(); });
}

void NormalizationLayer::adapt(const holdfast::Callback<Tensor()>& next) {
  if (!options_.mean.is_null())
    fail(Code::E1104, cat(described(), ": `adapt` was called, and `mean` and `variance` are given"),
         "there is nothing to find", {manual_fix("make the layer without `mean` and `variance`")});
  Tensor all_mean, all_variance;
  double seen = 0;
  for (Tensor batch = next(); batch.defined(); batch = next()) {
    const Shape& s = batch.shape();
    build_once(s);
    std::vector<int64_t> kept = kept_axes(s), over;
    for (size_t i = 0; i < kept.size(); ++i)
      need_size(*this, s, static_cast<int>(kept[i]), mean.shape()[static_cast<int>(i)],
                "the layer was built for that size");
    double elements = 1;
    for (int i = 0; i < s.rank(); ++i)
      if (std::find(kept.begin(), kept.end(), i) == kept.end()) {
        over.push_back(i);
        elements *= static_cast<double>(s[i]);
      }
    if (elements == 0) continue;
    auto [m, v] = nn::moments(cast(batch, mean.dtype()), over);
    seen += elements;
    double share = elements / seen;
    if (!all_mean.defined()) {
      all_mean = m;
      all_variance = v;
      continue;
    }
    Tensor both = all_mean * (1 - share) + m * share;
    all_variance =
        (all_variance + square(all_mean - both)) * (1 - share) + (v + square(m - both)) * share;
    all_mean = both;
  }
  if (!all_mean.defined())
    fail(Code::E1104, cat(described(), ": `adapt` was given no data, expected at least one batch"));
  mean.assign(all_mean);
  variance.assign(all_variance);
}

}  // namespace holdfast::keras::layers
