#include "holdfast/keras/layers/spatial/pooling.h"

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/pooling.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

std::string name_of(Pool pool, bool whole, bool shortened, int axes) {
  return cat("layers.", whole ? "Global" : "",
             pool == Pool::kMax ? "Max"
             : shortened        ? "Avg"
                                : "Average",
             shortened ? "Pool" : "Pooling", axes, "D");
}
std::string doc_of(Pool pool, bool whole, int axes) {
  return cat("The ", pool == Pool::kMax ? "largest element" : "mean of the elements", " of each ",
             whole ? "channel, over " : "window of ",
             axes == 1   ? "steps of time."
             : axes == 2 ? "an image."
                         : "a volume.");
}

}  // namespace

template <Pool pool, int axes>
ClassDef& PoolingOver<pool, axes>::def() {
  using O = PoolingOptions;
  static ClassDef& d = Declare<PoolingOver>(name_of(pool, false, false, axes),
                                            doc_of(pool, false, axes), &Layer::def())
                           .template option<&O::pool_size>("pool_size")
                           .template option<&O::strides>("strides")
                           .template option<&O::padding>("padding")
                           .template option<&O::data_format>("data_format")
                           .template option<&O::name>("name")
                           .by_name()
                           .template option<&O::trainable>("trainable")
                           .template option<&O::dtype>("dtype")
                           .key_before("padding", "strides")
                           .alias(name_of(pool, false, true, axes));
  return d;
}

template <Pool pool, int axes>
ClassDef& GlobalPoolingOver<pool, axes>::def() {
  using O = GlobalPoolingOptions;
  static ClassDef& d = Declare<GlobalPoolingOver>(name_of(pool, true, false, axes),
                                                  doc_of(pool, true, axes), &Layer::def())
                           .template option<&O::data_format>("data_format")
                           .template option<&O::keepdims>("keepdims")
                           .layer_options()
                           .parameters({"inputs", "mask"})
                           .alias(name_of(pool, true, true, axes));
  return d;
}

template class PoolingOver<Pool::kMax, 1>;
template class PoolingOver<Pool::kMax, 2>;
template class PoolingOver<Pool::kMax, 3>;
template class PoolingOver<Pool::kAverage, 1>;
template class PoolingOver<Pool::kAverage, 2>;
template class PoolingOver<Pool::kAverage, 3>;
template class GlobalPoolingOver<Pool::kMax, 1>;
template class GlobalPoolingOver<Pool::kMax, 2>;
template class GlobalPoolingOver<Pool::kMax, 3>;
template class GlobalPoolingOver<Pool::kAverage, 1>;
template class GlobalPoolingOver<Pool::kAverage, 2>;
template class GlobalPoolingOver<Pool::kAverage, 3>;

namespace {

template <int axes>
void declare_over() {
  PoolingOver<Pool::kMax, axes>::def();
  PoolingOver<Pool::kAverage, axes>::def();
  GlobalPoolingOver<Pool::kMax, axes>::def();
  GlobalPoolingOver<Pool::kAverage, axes>::def();
}
[[maybe_unused]] const bool declared =
    (declare_over<1>(), declare_over<2>(), declare_over<3>(), true);

}  // namespace

PoolingLayer::PoolingLayer(Pool pool, int axes) : pool_(pool), axes_(axes) {
  options_.pool_size.sizes.assign(static_cast<size_t>(axes), 2);
}

void PoolingLayer::check() {
  const std::string& of = definition().name;
  settle_sides(options_.pool_size, axes_, 1, "pool_size", of);
  if (!options_.strides) options_.strides = options_.pool_size;
  settle_sides(*options_.strides, axes_, 1, "strides", of);
  settle_padding(options_.padding, {"valid", "same"}, of);
  settle_format(options_.data_format, of);
}

Tensor PoolingLayer::call(const Tensor& inputs, const CallOptions&) {
  const PoolingOptions& o = options_;
  const std::vector<int64_t>& size = o.pool_size.sizes;
  const std::vector<int64_t>& strides = o.strides ? o.strides->sizes : size;
  need_field(*this, inputs.shape(), axes_, o.data_format);
  if (o.padding == "valid") need_room(*this, inputs.shape(), size, o.data_format, "the pool");
  std::string padding = o.padding == "same" ? "SAME" : "VALID";
  std::string format = op_format(axes_, o.data_format);
  return pool_ == Pool::kMax
             ? nn::max_pool(inputs, size, strides, padding, {.data_format = format})
             : nn::avg_pool(inputs, size, strides, padding, {.data_format = format});
}

void GlobalPoolingLayer::check() { settle_format(options_.data_format, definition().name); }

Tensor GlobalPoolingLayer::call(const Tensor& given, const CallOptions& c) {
  const GlobalPoolingOptions& o = options_;
  Tensor inputs = pool_ == Pool::kMax ? given : as_factor(*this, given);
  need_field(*this, inputs.shape(), axes_, o.data_format);
  std::vector<int64_t> axes;
  for (int i = 0; i < axes_; ++i) axes.push_back(first_axis(o.data_format) + i);
  ReduceOptions over{.axis = axes, .keepdims = o.keepdims};
  if (pool_ == Pool::kMax) return reduce_max(inputs, over);
  if (!masked_ || !c.mask.is_tensor()) return reduce_mean(inputs, over);
  Tensor kept = cast(expand_dims(c.mask.tensor(), channels_first(o.data_format) ? 1 : 2), boolean);
  Tensor sum = reduce_sum(select(kept, inputs, zeros_like(inputs)), over);
  return sum / reduce_sum(cast(kept, inputs.dtype()), over);
}

}  // namespace holdfast::keras::layers
