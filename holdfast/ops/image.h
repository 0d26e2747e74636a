// Images: tensors [height, width, channels], or a batch of them. Their axes are of TensorFlow's
// order.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "holdfast/op/in.h"

namespace holdfast::image {

// -- sizes and parts

struct ResizeOptions {
  std::string method = "bilinear";     // "nearest", "bicubic", "area", "lanczos3", "lanczos5",
                                       // "gaussian", "mitchellcubic"
  bool preserve_aspect_ratio = false;  // as large as `size` has room for
  bool antialias = false;              // filters reach further where images get smaller
};
/// Images of another height and width.
HOLDFAST_API Tensor resize(const In& images, const Sizes& size, const ResizeOptions& = {});
struct ResizeWithPadOptions {
  std::string method = "bilinear";
  bool antialias = false;
};
/// Resized without a change of proportions, and zeros around them.
HOLDFAST_API Tensor resize_with_pad(const In& image, const In& target_height,
                                    const In& target_width, const ResizeWithPadOptions& = {});
/// The middle of images, or images with zeros around them.
HOLDFAST_API Tensor resize_with_crop_or_pad(const In& image, const In& target_height,
                                            const In& target_width);
HOLDFAST_API Tensor crop_to_bounding_box(const In& image, const In& offset_height,
                                         const In& offset_width, const In& target_height,
                                         const In& target_width);
/// Images in the middle of zeros, so many rows and columns from the top and from the left.
HOLDFAST_API Tensor pad_to_bounding_box(const In& image, const In& offset_height,
                                        const In& offset_width, const In& target_height,
                                        const In& target_width);
/// The middle of images, of this share of their height and width.
HOLDFAST_API Tensor central_crop(const In& image, double central_fraction);
struct CropAndResizeOptions {
  std::string method = "bilinear";  // or "nearest"
  double extrapolation_value = 0;   // of what lies outside of an image
};
/// Parts of images, resized to one size: `boxes` are [top, left, bottom, right] in shares of height
/// and width, of the images that `box_indices` name.
HOLDFAST_API Tensor crop_and_resize(const In& image, const In& boxes, const In& box_indices,
                                    const Sizes& crop_size, const CropAndResizeOptions& = {});

struct RandomCropOptions {
  std::optional<int64_t> seed = {};
};
/// A part of `value` of the given size, at a random place; any number of axes.
HOLDFAST_API Tensor random_crop(const In& value, const In& size, const RandomCropOptions& = {});
/// Likewise, as a pure function of `seed`, two integers.
HOLDFAST_API Tensor stateless_random_crop(const In& value, const In& size, const In& seed);

// -- turned round

HOLDFAST_API Tensor flip_left_right(const In& image);
HOLDFAST_API Tensor flip_up_down(const In& image);
/// Height and width change places.
HOLDFAST_API Tensor transpose(const In& image);
struct Rot90Options {
  int64_t k = 1;
};
/// Turned to the left by `k` right angles.
HOLDFAST_API Tensor rot90(const In& image, const Rot90Options& = {});
struct RandomImageOptions {
  std::optional<int64_t> seed = {};
};
/// Each image flipped, or not: half of the time.
HOLDFAST_API Tensor random_flip_left_right(const In& image, const RandomImageOptions& = {});
HOLDFAST_API Tensor random_flip_up_down(const In& image, const RandomImageOptions& = {});
HOLDFAST_API Tensor stateless_random_flip_left_right(const In& image, const In& seed);
HOLDFAST_API Tensor stateless_random_flip_up_down(const In& image, const In& seed);

// -- colours

struct ConvertImageDtypeOptions {
  bool saturate = false;  // what is out of range becomes the nearest number that is not
};
/// Pixels of another dtype: integers go up to the largest of their dtype, floats to 1.
HOLDFAST_API Tensor convert_image_dtype(const In& image, DType dtype,
                                        const ConvertImageDtypeOptions& = {});
HOLDFAST_API Tensor rgb_to_grayscale(const In& images);
HOLDFAST_API Tensor grayscale_to_rgb(const In& images);
/// Hue, saturation and value, each from 0 to 1.
HOLDFAST_API Tensor rgb_to_hsv(const In& images);
HOLDFAST_API Tensor hsv_to_rgb(const In& images);
HOLDFAST_API Tensor rgb_to_yiq(const In& images);
HOLDFAST_API Tensor yiq_to_rgb(const In& images);
HOLDFAST_API Tensor rgb_to_yuv(const In& images);
HOLDFAST_API Tensor yuv_to_rgb(const In& images);
/// Brighter by `delta`, of which 1 is the whole range.
HOLDFAST_API Tensor adjust_brightness(const In& image, const In& delta);
/// Further from the mean of its channel by a factor.
HOLDFAST_API Tensor adjust_contrast(const In& images, const In& contrast_factor);
/// The hue turned by `delta`, of which 1 is the whole circle.
HOLDFAST_API Tensor adjust_hue(const In& image, const In& delta);
HOLDFAST_API Tensor adjust_saturation(const In& image, const In& saturation_factor);
struct GammaOptions {
  double gamma = 1, gain = 1;
};
/// `gain * image ** gamma`.
HOLDFAST_API Tensor adjust_gamma(const In& image, const GammaOptions& = {});
/// Of mean 0 and variance 1, each image by itself.
HOLDFAST_API Tensor per_image_standardization(const In& image);
struct AdjustJpegQualityOptions {
  std::string dct_method = {};  // "", "INTEGER_FAST" or "INTEGER_ACCURATE"
};
/// What is left of an image that was written as a JPEG of this quality, 0 to 100.
HOLDFAST_API Tensor adjust_jpeg_quality(const In& image, const In& jpeg_quality,
                                        const AdjustJpegQualityOptions& = {});

HOLDFAST_API Tensor random_brightness(const In& image, double max_delta,
                                      const RandomImageOptions& = {});
HOLDFAST_API Tensor random_contrast(const In& image, double lower, double upper,
                                    const RandomImageOptions& = {});
HOLDFAST_API Tensor random_hue(const In& image, double max_delta, const RandomImageOptions& = {});
HOLDFAST_API Tensor random_saturation(const In& image, double lower, double upper,
                                      const RandomImageOptions& = {});
HOLDFAST_API Tensor random_jpeg_quality(const In& image, int64_t min_jpeg_quality,
                                        int64_t max_jpeg_quality, const RandomImageOptions& = {});
HOLDFAST_API Tensor stateless_random_brightness(const In& image, double max_delta, const In& seed);
HOLDFAST_API Tensor stateless_random_contrast(const In& image, double lower, double upper,
                                              const In& seed);
HOLDFAST_API Tensor stateless_random_hue(const In& image, double max_delta, const In& seed);
HOLDFAST_API Tensor stateless_random_saturation(const In& image, double lower, double upper,
                                                const In& seed);
HOLDFAST_API Tensor stateless_random_jpeg_quality(const In& image, int64_t min_jpeg_quality,
                                                  int64_t max_jpeg_quality, const In& seed);

// -- what they are like

/// The sum of absolute differences of neighbours, of each image.
HOLDFAST_API Tensor total_variation(const In& images);
/// Peak signal to noise ratio, in decibels, of each image.
HOLDFAST_API Tensor psnr(const In& a, const In& b, const In& max_val);
/// Structural similarity of each pair of images.
struct SsimOptions {
  int64_t filter_size = 11;
  double filter_sigma = 1.5, k1 = 0.01, k2 = 0.03;
  bool return_index_map = false;
};
HOLDFAST_API Tensor ssim(const In& img1, const In& img2, const In& max_val,
                         const SsimOptions& = {});
struct SsimMultiscaleOptions {
  std::vector<double> power_factors = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
  int64_t filter_size = 11;
  double filter_sigma = 1.5, k1 = 0.01, k2 = 0.03;
};
/// The same over images that get smaller by half, as often as there are `power_factors`.
HOLDFAST_API Tensor ssim_multiscale(const In& img1, const In& img2, const In& max_val,
                                    const SsimMultiscaleOptions& = {});
/// Differences of neighbours: along the height, and along the width.
HOLDFAST_API std::tuple<Tensor, Tensor> image_gradients(const In& image);
/// Sobel's derivatives along height and width, on a new last axis.
HOLDFAST_API Tensor sobel_edges(const In& image);

// -- boxes: [top, left, bottom, right]

struct NonMaxSuppressionOptions {
  KeptIn iou_threshold = 0.5;
  MaybeIn score_threshold = {};  // boxes of no better score are left out
};
/// The numbers of boxes that overlap no better one by more than a threshold, best first.
HOLDFAST_API Tensor non_max_suppression(const In& boxes, const In& scores,
                                        const Sizes& max_output_size,
                                        const NonMaxSuppressionOptions& = {});
struct NonMaxSuppressionWithScoresOptions {
  KeptIn iou_threshold = 0.5;
  MaybeIn score_threshold = {};
  KeptIn soft_nms_sigma = 0.0;  // above 0: an overlap lowers the worse score, and forbids nothing
};
/// The same with the scores that the boxes had when they were chosen.
HOLDFAST_API std::tuple<Tensor, Tensor> non_max_suppression_with_scores(
    const In& boxes, const In& scores, const Sizes& max_output_size,
    const NonMaxSuppressionWithScoresOptions& = {});
struct NonMaxSuppressionOverlapsOptions {
  KeptIn overlap_threshold = 0.5;
  MaybeIn score_threshold = {};
};
/// The same, where `overlaps[i, k]` says how much boxes `i` and `k` overlap.
HOLDFAST_API Tensor non_max_suppression_overlaps(const In& overlaps, const In& scores,
                                                 const Sizes& max_output_size,
                                                 const NonMaxSuppressionOverlapsOptions& = {});
struct NonMaxSuppressionPaddedOptions {
  KeptIn iou_threshold = 0.5;
  MaybeIn score_threshold = {};
  bool pad_to_max_output_size = false;     // batches need it
  bool sorted_input = false;               // the best box is the first one
  bool canonicalized_coordinates = false;  // the first two of each box are the smaller ones
  int64_t tile_size = 512;                 // of TensorFlow's loops: no result depends on it
};
/// The numbers of the best boxes of each image, [..., max_output_size], zeros behind them, and how
/// many they are. A box goes out where it overlaps a better one by the threshold or more.
HOLDFAST_API std::tuple<Tensor, Tensor> non_max_suppression_padded(
    const In& boxes, const In& scores, const Sizes& max_output_size,
    const NonMaxSuppressionPaddedOptions& = {});
struct CombinedSuppressionOptions {
  KeptIn iou_threshold = 0.5;
  MaybeIn score_threshold = {};
  bool pad_per_class = false;  // no more than `max_output_size_per_class` for each class
  bool clip_boxes = true;      // to numbers from 0 to 1
};
/// The best boxes of each image, their scores and classes, and how many they are; `boxes` is
/// [batch, boxes, classes or 1, 4] and `scores` [batch, boxes, classes].
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor, Tensor> combined_non_max_suppression(
    const In& boxes, const In& scores, const Sizes& max_output_size_per_class,
    const Sizes& max_total_size, const CombinedSuppressionOptions& = {});
struct BoxProposalOptions {
  KeptIn nms_threshold = 0.7;
  Sizes pre_nms_topn = 6000;  // so many of the best are looked at
  KeptIn min_size = 16;       // smaller ones are left out
  int64_t post_nms_topn = 300;
};
/// The best boxes that a network proposes, [batch, post_nms_topn, 4], and their scores: `anchors`
/// moved and stretched by `bbox_deltas`; `image_info` has height, width and scale of each image.
HOLDFAST_API std::tuple<Tensor, Tensor> generate_bounding_box_proposals(
    const In& scores, const In& bbox_deltas, const In& image_info, const In& anchors,
    const BoxProposalOptions& = {});
struct StatelessSampleBoxOptions {
  KeptIn min_object_covered = 0.1;                        // the share of a box that is to be seen
  std::vector<double> aspect_ratio_range = {0.75, 1.33};  // of widths to heights
  std::vector<double> area_range = {0.05, 1};             // in shares of the image
  int64_t max_attempts = 100;                             // then it is the whole image
  bool use_image_if_no_bounding_boxes = false;
};
struct SampleBoxOptions {
  int64_t seed = 0;  // of the op; 0 for none
  KeptIn min_object_covered = 0.1;
  std::vector<double> aspect_ratio_range = {0.75, 1.33};
  std::vector<double> area_range = {0.05, 1};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
};
/// A part of an image of that size, [height, width, channels], of a random shape, that shows enough
/// of one of its boxes: where it begins and its size, as `slice` takes them, and the part as a box.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> sample_distorted_bounding_box(
    const Sizes& image_size, const In& bounding_boxes, const SampleBoxOptions& = {});
/// The same, a pure function of `seed`.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> stateless_sample_distorted_bounding_box(
    const Sizes& image_size, const In& bounding_boxes, const In& seed,
    const StatelessSampleBoxOptions& = {});
/// Images with boxes drawn onto them; `boxes` in shares of height and width, [batch, boxes, 4].
HOLDFAST_API Tensor draw_bounding_boxes(const In& images, const In& boxes,
                                        const MaybeIn& colors = {});

}  // namespace holdfast::image
