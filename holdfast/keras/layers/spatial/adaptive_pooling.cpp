#include "holdfast/keras/layers/spatial/adaptive_pooling.h"

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras::layers {

template <Pool pool, int axes>
ClassDef& AdaptivePoolingOver<pool, axes>::def() {
  using O = AdaptivePoolingOptions;
  constexpr bool kMax = pool == Pool::kMax;
  static ClassDef& d =
      Declare<AdaptivePoolingOver>(
          cat("layers.Adaptive", kMax ? "Max" : "Average", "Pooling", axes, "D"),
          cat("The ", kMax ? "largest element" : "mean", " of each part, where every axis falls ",
              "into as many parts as `output_size` says."),
          &Layer::def())
          .template required<&O::output_size>("output_size")
          .template option<&O::data_format>("data_format")
          .layer_options();
  return d;
}

template class AdaptivePoolingOver<Pool::kMax, 1>;
template class AdaptivePoolingOver<Pool::kMax, 2>;
template class AdaptivePoolingOver<Pool::kMax, 3>;
template class AdaptivePoolingOver<Pool::kAverage, 1>;
template class AdaptivePoolingOver<Pool::kAverage, 2>;
template class AdaptivePoolingOver<Pool::kAverage, 3>;

namespace {

[[maybe_unused]] const bool declared = [] {
  AdaptivePoolingOver<Pool::kMax, 1>::def();
  AdaptivePoolingOver<Pool::kMax, 2>::def();
  AdaptivePoolingOver<Pool::kMax, 3>::def();
  AdaptivePoolingOver<Pool::kAverage, 1>::def();
  AdaptivePoolingOver<Pool::kAverage, 2>::def();
  AdaptivePoolingOver<Pool::kAverage, 3>::def();
  return true;
}();

}  // namespace

void AdaptivePoolingLayer::check() {
  settle_sides(options_.output_size, axes_, 1, "output_size", definition().name);
  settle_format(options_.data_format, definition().name);
}

Tensor AdaptivePoolingLayer::call(const Tensor& inputs, const CallOptions&) {
  need_field(*this, inputs.shape(), axes_, options_.data_format);
  Tensor out = inputs;
  for (int i = 0; i < axes_; ++i) {
    int axis = i + first_axis(options_.data_format);
    int64_t size = out.dim(axis), parts = options_.output_size.sizes[static_cast<size_t>(i)];
    if (size < 0)
      fail(Code::E1102,
           cat(described(), ": axis ", axis, " of `inputs` has no known size in ",
               inputs.shape().text()),
           "how long each part is follows from the size of the axis",
           {manual_fix("give the Input that size")});
    std::vector<Tensor> pieces;
    for (int64_t k = 0; k < parts; ++k) {
      int64_t first = size * k / parts, last = (size * (k + 1) + parts - 1) / parts;
      Dims begin(static_cast<size_t>(out.rank()), 0), length(static_cast<size_t>(out.rank()), -1);
      begin[static_cast<size_t>(axis)] = first;
      length[static_cast<size_t>(axis)] = last - first;
      Tensor part = slice(out, begin, length);
      pieces.push_back(pool_ == Pool::kMax ? reduce_max(part, {.axis = {axis}, .keepdims = true})
                                           : reduce_mean(part, {.axis = {axis}, .keepdims = true}));
    }
    out = concat(pieces, axis);
  }
  return out;
}

}  // namespace holdfast::keras::layers
