// Pools: the largest or the mean of the elements under a window.
//
// `ksize` and `strides` are one number, one per spatial axis, or one per axis of the input. Cells
// that padding adds do not count: they are never the largest, and no mean includes them.
#pragma once

#include <tuple>
#include <vector>

#include "holdfast/op/in.h"
#include "holdfast/ops/padding.h"

namespace holdfast::nn {

struct PoolOptions {
  std::optional<std::string> data_format = {};
};
struct Pool1DOptions {
  std::string data_format = "NWC";
};
struct Pool2DOptions {
  std::string data_format = "NHWC";
};
struct Pool3DOptions {
  std::string data_format = "NDHWC";
};
/// Largest element under each window, over as many axes as the input has beside batch and channels.
HOLDFAST_API Tensor max_pool(const In& input, const Sizes& ksize, const Sizes& strides,
                             const Padding& padding, const PoolOptions& = {});
/// Largest element under each window of a line.
HOLDFAST_API Tensor max_pool1d(const In& input, const Sizes& ksize, const Sizes& strides,
                               const Padding& padding, const Pool1DOptions& = {});
/// Largest element under each window of an image.
HOLDFAST_API Tensor max_pool2d(const In& input, const Sizes& ksize, const Sizes& strides,
                               const Padding& padding, const Pool2DOptions& = {});
/// Largest element under each window of a volume.
HOLDFAST_API Tensor max_pool3d(const In& input, const Sizes& ksize, const Sizes& strides,
                               const Padding& padding, const Pool3DOptions& = {});

/// Mean of the elements under each window, over as many axes as the input has beside batch and
/// channels.
HOLDFAST_API Tensor avg_pool(const In& input, const Sizes& ksize, const Sizes& strides,
                             const Padding& padding, const PoolOptions& = {});
/// Mean of the elements under each window of a line.
HOLDFAST_API Tensor avg_pool1d(const In& input, const Sizes& ksize, const Sizes& strides,
                               const Padding& padding, const Pool1DOptions& = {});
/// Mean of the elements under each window of an image.
HOLDFAST_API Tensor avg_pool2d(const In& input, const Sizes& ksize, const Sizes& strides,
                               const Padding& padding, const Pool2DOptions& = {});
/// Mean of the elements under each window of a volume.
HOLDFAST_API Tensor avg_pool3d(const In& input, const Sizes& ksize, const Sizes& strides,
                               const Padding& padding, const Pool3DOptions& = {});

struct AnyPoolOptions {
  Axes strides = {};
  Padding padding = "VALID";
  std::optional<std::string> data_format = {};
  Axes dilations = {};
};
/// max_pool or avg_pool, chosen by `pooling_type`: "MAX" or "AVG".
HOLDFAST_API Tensor pool(const In& input, const Sizes& window_shape,
                         const std::string& pooling_type, const AnyPoolOptions& = {});

struct ArgmaxPoolOptions {
  std::string data_format = "NHWC";
  DType output_dtype = int64;
  bool include_batch_in_index = false;
};
/// max_pool2d, and where in its image each largest element was: the index (y * width + x) *
/// channels + channel.
HOLDFAST_API std::tuple<Tensor, Tensor> max_pool_with_argmax(const In& input, const Sizes& ksize,
                                                             const Sizes& strides,
                                                             const Padding& padding,
                                                             const ArgmaxPoolOptions& = {});

struct FractionalPoolOptions {
  bool pseudo_random = false;  // windows of both sizes evenly spread
  bool overlapping = false;    // a window ends with the first row and column of the next
  int64_t seed = 0;            // 0: another choice in each call
};
/// Largest element under windows of two sizes, which shrink an image by a factor that is no
/// integer; and where the windows begin along rows and columns.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> fractional_max_pool(
    const In& value, const std::vector<double>& pooling_ratio, const FractionalPoolOptions& = {});
/// The same with the mean of the elements.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> fractional_avg_pool(
    const In& value, const std::vector<double>& pooling_ratio, const FractionalPoolOptions& = {});

struct LocalResponseOptions {
  int64_t depth_radius = 5;
  double bias = 1, alpha = 1, beta = 0.5;
};
/// input / (bias + alpha * the sum of squares over the channels within `depth_radius`) ** beta.
HOLDFAST_API Tensor local_response_normalization(const In& input, const LocalResponseOptions& = {});

}  // namespace holdfast::nn
