// What images are like: how far from each other, how they change from pixel to pixel.
#include <array>
#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/conv.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/need.h"
#include "holdfast/ops/linalg/extent.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/pooling.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::image {
namespace {

// Differences of neighbours along an axis, one less than there are pixels.
Tensor differences(const Tensor& x, int axis) {
  Dims begin(static_cast<size_t>(x.rank()), 0), all(static_cast<size_t>(x.rank()), -1);
  begin[static_cast<size_t>(axis)] = 1;
  Tensor behind = slice(x, begin, all);
  Dims start(static_cast<size_t>(x.rank()), 0);
  return behind - slice(x, start, Sizes(shape(behind)));
}

// As in TensorFlow, whatever floats the images are of.
Tensor floats(const Tensor& x) { return convert_image_dtype(x, float32); }
// The first of two images, whose sizes are those of the second: compared by the graph where only
// that knows them, since ops on the two would repeat what has size 1.
Tensor need_alike(const char* function, const std::array<std::string, 2>& names, const Tensor& a,
                  const Tensor& b) {
  if (a.dtype() != b.dtype())
    fail(Code::E1101, cat(function, ": images of ", name(a.dtype()), " and of ", name(b.dtype()),
                          ", expected one dtype"));
  if (!a.shape().compatible(b.shape()))
    fail(Code::E1102, cat(function, ": images of ", a.shape().text(), " and of ", b.shape().text(),
                          ", expected one shape"));
  if (!a.shape().has_rank() || !b.shape().has_rank()) return a;
  std::vector<linalg::Meeting> all;
  for (int i = 0; i < a.rank(); ++i)
    if (a.dim(i) < 0 || b.dim(i) < 0)
      all.push_back({function, cat("axis ", i), names, {a, b}, {i, i}});
  return all.empty() ? a : linalg::met(all);
}
// The largest value of pixels, scaled as they are.
Tensor range_of(const In& max_val, DType pixels) { return floats(cast(max_val, pixels)); }

// What two batches of images have in common at each place: of brightness and contrast, and of
// contrast alone.
struct Likeness {
  Tensor whole, contrast;
};
Likeness likeness(const char* function, const Tensor& x, const Tensor& y, const Tensor& largest,
                  const SsimOptions& o) {
  if (o.filter_size < 1 || !(o.filter_sigma > 0))
    fail(Code::E1103, cat(function, ": a filter of size ", o.filter_size, " and sigma ",
                          o.filter_sigma, ", expected 1 or more, and a number above 0"));
  for (int axis = 1; axis < 3; ++axis)
    if (x.dim(axis) >= 0 && x.dim(axis) < o.filter_size)
      fail(Code::E1102, cat(function, ": images of ", x.shape().text(),
                            " are smaller than the filter of size ", o.filter_size));
  Tensor c1 = square(largest * o.k1), c2 = square(largest * o.k2);
  // A bell of that size, the same for each channel.
  Tensor at = cast(range(o.filter_size), x.dtype()) - static_cast<double>(o.filter_size - 1) / 2;
  Tensor bell = square(at) * (-0.5 / (o.filter_sigma * o.filter_sigma));
  Tensor both = reshape(expand_dims(bell, 0) + expand_dims(bell, 1), {1, -1});
  Tensor kernel = reshape(nn::softmax(both), {o.filter_size, o.filter_size, 1, 1});
  Tensor channels = gather(shape(x), 3);
  kernel = tile(kernel, Sizes(stack({Tensor::scalar(1, int32), Tensor::scalar(1, int32), channels,
                                     Tensor::scalar(1, int32)})));
  auto mean = [&](const Tensor& t) {
    return nn::depthwise_conv2d(t, kernel, {1, 1, 1, 1}, "VALID");
  };
  Tensor mean_x = mean(x), mean_y = mean(y);
  Tensor product = mean_x * mean_y * 2., squares = square(mean_x) + square(mean_y);
  Tensor luminance = (product + c1) / (squares + c1);
  Tensor covered = (mean(x * y) * 2. - product + c2) / (mean(square(x) + square(y)) - squares + c2);
  return {luminance * covered, covered};
}

// Two batches of images, and whether they were one image each.
struct Pair {
  Tensor x, y, largest;
  bool one;
};
Pair pair_of(const char* function, const In& img1, const In& img2, const In& max_val) {
  Tensor x = img1, y = img2;
  bool one = need_images(function, x, "img1") == 3;
  x = need_alike(function, {"img1", "img2"}, x, y);
  Tensor largest = range_of(max_val, x.dtype());
  x = floats(x), y = floats(y);
  if (one) x = expand_dims(x, 0), y = expand_dims(y, 0);
  return {x, y, largest, one};
}

// Half as large: means of four pixels, where those at the edge count twice if there is one too few.
Tensor halved(const Tensor& x) {
  Tensor more = gather(shape(x), {1, 2}) % 2;
  Tensor behind = concat({Tensor::of<int32_t>({0}), more, Tensor::of<int32_t>({0})}, 0);
  Tensor even = pad(x, stack({zeros_like(behind), behind}, {.axis = 1}), {.mode = "SYMMETRIC"});
  return nn::avg_pool2d(even, 2, 2, "VALID");
}

}  // namespace

REGISTER(FUNCTION(&total_variation)
             .args("images")
             .python("image.total_variation")
             .doc("The sum of absolute differences of neighbouring pixels, of each image.")
             .samples("uniform(3, 4, 2)", "uniform(2, 3, 3, 1)")
             .reference("np.abs(np.diff(images, axis=-3)).sum((-3, -2, -1)) + np.abs(np.diff("
                        "images, axis=-2)).sum((-3, -2, -1))")
             .checks({.rtol = 1e-4, .gradient = false}));
Tensor total_variation(const In& images) {
  Tensor x = images;
  int rank = need_images("total_variation", x);
  auto sum = [&](int axis) {
    return reduce_sum(abs(differences(x, rank + axis)), {.axis = {-3, -2, -1}});
  };
  return sum(-3) + sum(-2);
}

REGISTER(FUNCTION(&psnr)
             .args("a, b: B, max_val: M")
             .python("image.psnr")
             .doc("Peak signal to noise ratio in decibels, of each image.")
             .samples("uniform(3, 4, 1), uniform(3, 4, 1), 1.0")
             .checks({.rtol = 1e-3}));
Tensor psnr(const In& a, const In& b, const In& max_val) {
  Tensor x = a, y = b;
  need_images("psnr", x, "a");
  x = need_alike("psnr", {"a", "b"}, x, y);
  Tensor largest = range_of(max_val, x.dtype());
  Tensor error = reduce_mean(square(floats(x) - floats(y)), {.axis = {-3, -2, -1}});
  return 20. * log(largest) / std::log(10.) - 10. / std::log(10.) * log(error);
}

REGISTER(FUNCTION(&ssim)
             .args("img1, img2: B, max_val: M")
             .options<&SsimOptions::filter_size, &SsimOptions::filter_sigma, &SsimOptions::k1,
                      &SsimOptions::k2, &SsimOptions::return_index_map>(
                 "filter_size, filter_sigma, k1, k2, return_index_map")
             .python("image.ssim")
             .doc("Structural similarity of each pair of images; of each place where "
                  "`return_index_map` is set.")
             .samples("uniform(1, 12, 12, 1), uniform(1, 12, 12, 1), 1.0, filter_size=5")
             .checks({.rtol = 1e-2, .atol = 1e-2, .gradient = false}));
Tensor ssim(const In& img1, const In& img2, const In& max_val, const SsimOptions& o) {
  Pair p = pair_of("ssim", img1, img2, max_val);
  Tensor map = likeness("ssim", p.x, p.y, p.largest, o).whole;
  Tensor out = o.return_index_map ? reduce_mean(map, {.axis = -1})
                                  : reduce_mean(reduce_mean(map, {.axis = {-3, -2}}), {.axis = -1});
  return p.one ? squeeze(out, {.axis = 0}) : out;
}

REGISTER(
    FUNCTION(&ssim_multiscale)
        .args("img1, img2: B, max_val: M")
        .options<&SsimMultiscaleOptions::power_factors, &SsimMultiscaleOptions::filter_size,
                 &SsimMultiscaleOptions::filter_sigma, &SsimMultiscaleOptions::k1,
                 &SsimMultiscaleOptions::k2>("power_factors, filter_size, filter_sigma, k1, k2")
        .python("image.ssim_multiscale")
        .doc("Structural similarity of each pair of images and of halves of them, as many as "
             "there are `power_factors`.")
        .samples("uniform(1, 12, 11, 1), uniform(1, 12, 11, 1), 1.0, power_factors=[0.4, 0.6], "
                 "filter_size=5")
        .checks({.rtol = 1e-2, .atol = 1e-2, .gradient = false}));
Tensor ssim_multiscale(const In& img1, const In& img2, const In& max_val,
                       const SsimMultiscaleOptions& o) {
  const char* name = "ssim_multiscale";
  if (o.power_factors.empty())
    fail(Code::E1103, cat(name, ": `power_factors` is empty, expected a number for each scale"));
  Pair p = pair_of(name, img1, img2, max_val);
  SsimOptions each{
      .filter_size = o.filter_size, .filter_sigma = o.filter_sigma, .k1 = o.k1, .k2 = o.k2};
  Tensor product;
  for (size_t i = 0; i < o.power_factors.size(); ++i) {
    if (i) p.x = halved(p.x), p.y = halved(p.y);
    Likeness found = likeness(name, p.x, p.y, p.largest, each);
    bool last = i + 1 == o.power_factors.size();
    Tensor mean = reduce_mean(last ? found.whole : found.contrast, {.axis = {-3, -2}});
    Tensor factor = pow(nn::relu(mean), o.power_factors[i]);
    product = i ? product * factor : factor;
  }
  Tensor out = reduce_mean(product, {.axis = -1});
  return p.one ? squeeze(out, {.axis = 0}) : out;
}

REGISTER(FUNCTION(&image_gradients)
             .args("image")
             .python("image.image_gradients")
             .returns("dy, dx")
             .doc("Differences of neighbouring pixels, along the height and along the width; 0 at "
                  "the end.")
             .samples("uniform(2, 3, 4, 1)"));
std::tuple<Tensor, Tensor> image_gradients(const In& image) {
  Tensor x = image;
  if (x.shape().has_rank() && x.rank() != 4)
    fail(Code::E1102, cat("image_gradients: `image` is ", type_text(x),
                          ", expected a batch of "
                          "images"));
  need_images("image_gradients", x, "image");
  Tensor down = differences(x, 1), right = differences(x, 2);
  return {pad(down, {{0, 0}, {0, 1}, {0, 0}, {0, 0}}),
          pad(right, {{0, 0}, {0, 0}, {0, 1}, {0, 0}})};
}

REGISTER(FUNCTION(&sobel_edges)
             .args("image")
             .python("image.sobel_edges")
             .doc("Sobel's derivatives along height and width, on a new last axis.")
             .samples("uniform(2, 4, 5, 2)")
             .checks({.rtol = 1e-3, .atol = 1e-4}));
Tensor sobel_edges(const In& image) {
  Tensor x = image.tensor(float32);
  if (need_images("sobel_edges", x, "image") != 4)
    fail(Code::E1102, cat("sobel_edges: `image` is ", type_text(x),
                          ", expected a batch of "
                          "images"));
  Tensor wide = pad(x, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, {.mode = "REFLECT"});
  // The derivative along one axis of the mean, by 1 2 1, along the other.
  auto part = [&](const Tensor& t, int axis, int64_t begin, int64_t cut) {
    Dims from{0, 0, 0, 0};
    from[static_cast<size_t>(axis)] = begin;
    Tensor size = shape(t);
    Tensor less_one = one_hot(axis, 4, {.dtype = int32}) * static_cast<int32_t>(cut);
    return slice(t, from, Sizes(size - less_one));
  };
  auto smooth = [&](const Tensor& t, int axis) {
    return part(t, axis, 0, 2) + part(t, axis, 1, 2) * 2 + part(t, axis, 2, 2);
  };
  auto slope = [&](const Tensor& t, int axis) { return part(t, axis, 2, 2) - part(t, axis, 0, 2); };
  return stack({slope(smooth(wide, 2), 1), slope(smooth(wide, 1), 2)}, {.axis = -1});
}

}  // namespace holdfast::image
