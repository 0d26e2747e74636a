// Moving pixels between space, depth and batch, and patches of images.
#pragma once

#include <tuple>

#include "holdfast/op/arg.h"
#include "holdfast/op/in.h"

namespace holdfast {

namespace nn {
struct DepthOptions {
  std::string data_format = "NHWC";
};
/// Blocks of pixels become channels.
HOLDFAST_API Tensor space_to_depth(const In& input, int64_t block_size, const DepthOptions& = {});
/// Channels become blocks of pixels.
HOLDFAST_API Tensor depth_to_space(const In& input, int64_t block_size, const DepthOptions& = {});
}  // namespace nn

/// Blocks along the axes behind the first become batches, after padding with zeros.
HOLDFAST_API Tensor space_to_batch(const In& input, const In& block_shape, const In& paddings);
/// Batches become blocks along the axes behind the first, which are then cropped.
HOLDFAST_API Tensor batch_to_space(const In& input, const In& block_shape, const In& crops);
/// What space_to_batch needs as paddings so that blocks fit, and batch_to_space as crops.
HOLDFAST_API std::tuple<Tensor, Tensor> required_space_to_batch_paddings(
    const In& input_shape, const In& block_shape, const MaybeIn& base_paddings = {});
/// The same of images, in square blocks.
HOLDFAST_API Tensor image_to_batch(const In& input, const In& paddings, int64_t block_size);
HOLDFAST_API Tensor batch_to_image(const In& input, const In& crops, int64_t block_size);

namespace image {
/// Windows of images, one in the depth of each result pixel.
HOLDFAST_API Tensor extract_patches(const In& images, const Ints& sizes, const Ints& strides,
                                    const Ints& rates, const std::string& padding);
}  // namespace image

}  // namespace holdfast
