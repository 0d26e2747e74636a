// The public pools.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/nn/conv/call.h"
#include "holdfast/ops/nn/numpy_reference.h"
#include "holdfast/ops/nn/pool_raw.h"
#include "holdfast/ops/pooling.h"
#include "holdfast/ops/spatial.h"

namespace holdfast::nn {
namespace {

enum class Take : uint8_t { kMost, kMean };

Tensor run(const char* function, Take take, int axes, const In& input, const Sizes& ksize,
           const Sizes& strides, const Padding& padding,
           const std::optional<std::string>& data_format) {
  Tensor x = input;
  bool first = is_channels_first(function, data_format, axes);
  if (padding.is_explicit() && take == Take::kMean)
    fail(Code::E1105, cat(function, ": padding as a list of pairs is not supported"),
         "supported: 'SAME' and 'VALID'; or pad the input first");
  Attrs attrs = conv_attrs(
      function, axes, first, per_axis(function, "strides", strides, axes, first), padding,
      per_axis(function, std::string_view(function) == "pool" ? "window_shape" : "ksize", ksize,
               axes, first));
  if (take == Take::kMean && axes < 3) attrs.pop_back();
  need_rank(function, "input", x, axes + 2, axes + 2);
  if (axes == 1) x = insert_axis(x, first ? 2 : 1);
  const Op& op = axes == 3 ? (take == Take::kMost ? max_pool3d_op : avg_pool3d_op)
                           : (take == Take::kMost ? max_pool_op : avg_pool_op);
  Tensor y = op({x}, std::move(attrs));
  return axes == 1 ? remove_axis(y, first ? 2 : 1) : y;
}

// A window with holes, step 1, no padding: what lies `rate` apart goes into one image, where the
// window has no holes, and back.
Tensor run_dilated(Take take, int axes, Tensor x, const Sizes& window, const Ints& rates,
                   const std::optional<std::string>& data_format) {
  bool first = is_channels_first("pool", data_format, axes);
  Ints to_last{0}, to_first{0, axes + 1};
  for (int i = 0; i < axes; ++i) {
    to_last.push_back(i + 2);
    to_first.push_back(i + 1);
  }
  to_last.push_back(1);
  if (first) x = transpose(x, {.perm = Sizes(to_last)});
  std::vector<int32_t> block, pads;
  for (int i = 0; i < axes; ++i) {
    int64_t rate = rates[static_cast<size_t>(i)], over = x.dim(i + 1) % rate;
    block.push_back(static_cast<int32_t>(rate));
    pads.push_back(0);
    pads.push_back(static_cast<int32_t>(over ? rate - over : 0));
  }
  Tensor blocks = Tensor::of<int32_t>(block, Shape{axes});
  Tensor rest = Tensor::of<int32_t>(pads, Shape{axes, 2});
  x = space_to_batch(x, blocks, rest);
  x = run("pool", take, axes, x, window, 1, "VALID", format_name(axes, false));
  x = batch_to_space(x, blocks, rest);
  return first ? transpose(x, {.perm = Sizes(to_first)}) : x;
}

bool axes_known(const Tensor& x, const std::optional<std::string>& format) {
  return x.shape().has_rank() || (format && format->size() >= 3 && format->size() <= 5);
}

// As many axes as the data format names, or as the input has.
int axes_of(const char* function, const Tensor& x, const std::optional<std::string>& format) {
  if (format && format->size() >= 3 && format->size() <= 5)
    return static_cast<int>(format->size()) - 2;
  need_rank(function, "input", x, 3, 5);
  return x.rank() - 2;
}

}  // namespace

REGISTER(FUNCTION(&max_pool)
             .args("input, ksize, strides, padding")
             .options<&PoolOptions::data_format>("data_format")
             .python("nn.max_pool")
             .doc("Largest element under each window, over as many axes as the input has beside "
                  "batch and channels.")
             .samples("uniform(2, 5, 6, 3), 2, 2, 'VALID'",
                      "uniform(2, 5, 6, 3), [3, 2], [2, 1], 'SAME'",
                      "uniform(2, 7, 3), 2, 2, 'SAME'", "uniform(2, 3, 5, 6), 2, 2, 'SAME', 'NCHW'",
                      "uniform(2, 5, 6, 3), 3, 2, [[0, 0], [1, 2], [0, 1], [0, 0]]")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmax").c_str()));
static const Composition max_later(
    "max_pool", 1,
    +[](std::span<const Tensor> in, const Sizes& ksize, const Sizes& strides,
        const Padding& padding, const std::optional<std::string>& data_format) {
      return max_pool(in[0], ksize, strides, padding, {.data_format = data_format});
    });
Tensor max_pool(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                const PoolOptions& o) {
  Tensor x = input;
  if (!axes_known(x, o.data_format))
    return max_later({x}, x.dtype(), Shape::unknown(), ksize, strides, padding, o.data_format);
  return run("max_pool", Take::kMost, axes_of("max_pool", x, o.data_format), x, ksize, strides,
             padding, o.data_format);
}

REGISTER(FUNCTION(&max_pool1d)
             .args("input, ksize, strides, padding")
             .options<&Pool1DOptions::data_format>("data_format")
             .python("nn.max_pool1d")
             .doc("Largest element under each window of a line.")
             .samples("uniform(2, 7, 3), 3, 2, 'SAME'", "uniform(2, 3, 7), 3, 2, 'VALID', 'NCW'")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmax").c_str()));
Tensor max_pool1d(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                  const Pool1DOptions& o) {
  return run("max_pool1d", Take::kMost, 1, input, ksize, strides, padding, o.data_format);
}

REGISTER(FUNCTION(&max_pool2d)
             .args("input, ksize, strides, padding")
             .options<&Pool2DOptions::data_format>("data_format")
             .python("nn.max_pool2d")
             .doc("Largest element under each window of an image.")
             .samples("uniform(2, 5, 6, 3), 2, 2, 'VALID'")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmax").c_str()));
Tensor max_pool2d(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                  const Pool2DOptions& o) {
  return run("max_pool2d", Take::kMost, 2, input, ksize, strides, padding, o.data_format);
}

REGISTER(FUNCTION(&max_pool3d)
             .args("input, ksize, strides, padding")
             .options<&Pool3DOptions::data_format>("data_format")
             .python("nn.max_pool3d")
             .doc("Largest element under each window of a volume.")
             .samples("uniform(1, 4, 5, 3, 2), 2, 2, 'SAME'",
                      "uniform(1, 2, 4, 5, 3), 2, 1, 'VALID', 'NCDHW'")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmax").c_str()));
Tensor max_pool3d(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                  const Pool3DOptions& o) {
  return run("max_pool3d", Take::kMost, 3, input, ksize, strides, padding, o.data_format);
}

REGISTER(FUNCTION(&avg_pool)
             .args("input, ksize, strides, padding")
             .options<&PoolOptions::data_format>("data_format")
             .python("nn.avg_pool")
             .doc("Mean of the elements under each window, over as many axes as the input has "
                  "beside batch and channels.")
             .samples("uniform(2, 5, 6, 3), 2, 2, 'VALID'",
                      "uniform(2, 5, 6, 3), [3, 2], [2, 1], 'SAME'",
                      "uniform(2, 7, 3), 2, 2, 'SAME'", "uniform(2, 3, 5, 6), 2, 2, 'SAME', 'NCHW'")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmean").c_str()));
static const Composition avg_later(
    "avg_pool", 1,
    +[](std::span<const Tensor> in, const Sizes& ksize, const Sizes& strides,
        const Padding& padding, const std::optional<std::string>& data_format) {
      return avg_pool(in[0], ksize, strides, padding, {.data_format = data_format});
    });
Tensor avg_pool(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                const PoolOptions& o) {
  Tensor x = input;
  if (!axes_known(x, o.data_format))
    return avg_later({x}, x.dtype(), Shape::unknown(), ksize, strides, padding, o.data_format);
  return run("avg_pool", Take::kMean, axes_of("avg_pool", x, o.data_format), x, ksize, strides,
             padding, o.data_format);
}

REGISTER(FUNCTION(&avg_pool1d)
             .args("input, ksize, strides, padding")
             .options<&Pool1DOptions::data_format>("data_format")
             .python("nn.avg_pool1d")
             .doc("Mean of the elements under each window of a line.")
             .samples("uniform(2, 7, 3), 3, 2, 'SAME'", "uniform(2, 3, 7), 3, 2, 'VALID', 'NCW'")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmean").c_str()));
Tensor avg_pool1d(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                  const Pool1DOptions& o) {
  return run("avg_pool1d", Take::kMean, 1, input, ksize, strides, padding, o.data_format);
}

REGISTER(FUNCTION(&avg_pool2d)
             .args("input, ksize, strides, padding")
             .options<&Pool2DOptions::data_format>("data_format")
             .python("nn.avg_pool2d")
             .doc("Mean of the elements under each window of an image.")
             .samples("uniform(2, 5, 6, 3), 3, 1, 'SAME'")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmean").c_str()));
Tensor avg_pool2d(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                  const Pool2DOptions& o) {
  return run("avg_pool2d", Take::kMean, 2, input, ksize, strides, padding, o.data_format);
}

REGISTER(FUNCTION(&avg_pool3d)
             .args("input, ksize, strides, padding")
             .options<&Pool3DOptions::data_format>("data_format")
             .python("nn.avg_pool3d")
             .doc("Mean of the elements under each window of a volume.")
             .samples("uniform(1, 4, 5, 3, 2), 2, 2, 'SAME'",
                      "uniform(1, 2, 4, 5, 3), 2, 1, 'VALID', 'NCDHW'")
             .reference(numpy_pool("input.ndim - 2", "ksize", "strides", "np.nanmean").c_str()));
Tensor avg_pool3d(const In& input, const Sizes& ksize, const Sizes& strides, const Padding& padding,
                  const Pool3DOptions& o) {
  return run("avg_pool3d", Take::kMean, 3, input, ksize, strides, padding, o.data_format);
}

REGISTER(
    FUNCTION(&pool)
        .args("input, window_shape, pooling_type")
        .options<&AnyPoolOptions::strides, &AnyPoolOptions::padding, &AnyPoolOptions::data_format,
                 &AnyPoolOptions::dilations>("strides, padding, data_format, dilations")
        .python("nn.pool")
        .doc("max_pool or avg_pool, chosen by `pooling_type`: 'MAX' or 'AVG'.")
        .samples("uniform(2, 5, 6, 3), [2, 2], 'MAX'",
                 "uniform(2, 5, 6, 3), [2, 3], 'AVG', [2, 1], 'SAME'",
                 "uniform(2, 7, 3), [2], 'AVG'")
        .reference(numpy_pool("input.ndim - 2", "window_shape", "strides",
                              "(np.nanmax if pooling_type == 'MAX' else np.nanmean)")
                       .c_str()));
static const Composition any_later(
    "pool", 1,
    +[](std::span<const Tensor> in, const Sizes& window_shape, const std::string& type,
        const Axes& strides, const Padding& padding, const std::optional<std::string>& data_format,
        const Axes& dilations) {
      return pool(in[0], window_shape, type,
                  {.strides = strides,
                   .padding = padding,
                   .data_format = data_format,
                   .dilations = dilations});
    });
Tensor pool(const In& input, const Sizes& window_shape, const std::string& type,
            const AnyPoolOptions& o) {
  Tensor x = input;
  if (type != "MAX" && type != "AVG")
    fail(Code::E1103, cat("pool: `pooling_type` is '", type, "', expected 'MAX' or 'AVG'"));
  if (!axes_known(x, o.data_format))
    return any_later({x}, x.dtype(), Shape::unknown(), window_shape, type, o.strides, o.padding,
                     o.data_format, o.dilations);
  int axes = axes_of("pool", x, o.data_format);
  Take take = type == "MAX" ? Take::kMost : Take::kMean;
  Sizes strides = o.strides ? *o.strides : Sizes(1);
  Ints rates = per_axis("pool", "dilations", o.dilations, axes, false);
  if (std::all_of(rates.begin(), rates.end(), [](int64_t d) { return d == 1; }))
    return run("pool", take, axes, x, window_shape, strides, o.padding, o.data_format);
  rates = Ints(rates.begin() + 1, rates.end() - 1);
  for (int64_t d : known_numbers(strides, "pool", "strides"))
    if (d != 1)
      fail(Code::E1105, "pool: `strides` beside `dilations` are not supported",
           "supported: one of them other than 1");
  if (o.padding.is_explicit() || o.padding.mode() != "VALID")
    fail(Code::E1105, "pool: `dilations` beside padding are not supported",
         "supported: padding 'VALID'; or pad the input first");
  for (int64_t d : rates)
    if (d < 1)
      fail(Code::E1103, cat("pool: `dilations` holds ", d, ", expected numbers of 1 or more"));
  need_rank("pool", "input", x, axes + 2, axes + 2);
  if (!sizes_known({x}))
    return any_later({x}, x.dtype(), Shape::of_rank(axes + 2), window_shape, type, o.strides,
                     o.padding, o.data_format, o.dilations);
  return run_dilated(take, axes, x, window_shape, rates, o.data_format);
}

}  // namespace holdfast::nn
