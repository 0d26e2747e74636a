// Colours of images: other dtypes, other spaces, brighter, more of this or that.
#include <cmath>
#include <limits>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/constant.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/need.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::image {
namespace {

// The largest number of an integer dtype.
double largest(DType d) {
  double out = 0;
  visit_plain(d, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) out = static_cast<double>(std::numeric_limits<T>::max());
  });
  return out;
}
int bits(DType d) { return static_cast<int>(size_of(d)) * 8 - (kSignedInts.has(d) ? 1 : 0); }

/// Pixels as floats, with `change` done to them, and of their own dtype again.
template <class F>
Tensor on_floats(const In& image, F&& change) {
  Tensor x = image.tensor(float32);
  DType own = x.dtype();
  Tensor floats = is_floating(own) ? x : convert_image_dtype(x, float32);
  return convert_image_dtype(change(floats), own, {.saturate = true});
}

Tensors channels(const Tensor& x) { return unstack(x, {.num = 3, .axis = -1}); }
Tensor joined(const Tensors& c) { return stack(c, {.axis = -1}); }

// The last axis times a matrix of 3 x 3.
Tensor mixed(const char* function, const In& images, std::initializer_list<float> matrix) {
  Tensor x = images.tensor(float32);
  if (!is_floating(x.dtype()))
    fail(Code::E1101, cat(function, ": `images` is ", type_text(x), ", expected floats"));
  x = need_channels(function, x, 3);
  Tensor kernel = empty(float32, Shape{3, 3}, cpu());
  std::copy(matrix.begin(), matrix.end(), kernel.mutable_raw<float>());
  return tensordot(x, cast(kernel, x.dtype()), 1);
}

Tensor colours(const char* function, const In& images) {
  Tensor x = images.tensor(float32);
  if (!is_floating(x.dtype()))
    fail(Code::E1101, cat(function, ": `images` is ", type_text(x), ", expected floats"), {},
         {manual_fix("`convert_image_dtype` makes floats of 0 to 1 of them")});
  return need_channels(function, x, 3);
}

}  // namespace

REGISTER(FUNCTION(&convert_image_dtype)
             .args("image, dtype")
             .options<&ConvertImageDtypeOptions::saturate>("saturate")
             .python("image.convert_image_dtype")
             .doc("Pixels of another dtype: integers go up to the largest of their dtype, floats "
                  "to 1.")
             .samples("uniform(2, 3), 'float32'", "uniform(2, 3, low=0, high=1), 'uint8'")
             .checks({.gradient = false}));
Tensor convert_image_dtype(const In& image, DType dtype, const ConvertImageDtypeOptions& o) {
  Tensor x = image.tensor();
  DType own = x.dtype();
  need_reals("convert_image_dtype", x);
  if (!kReals.has(dtype))
    fail(Code::E1101, cat("convert_image_dtype: `dtype` is ", name(dtype),
                          ", expected one of integers or floats"));
  auto to = [&](const Tensor& t) { return o.saturate ? saturate_cast(t, dtype) : cast(t, dtype); };
  if (own == dtype) return identity(x);
  bool from_int = is_integer(own), to_int = is_integer(dtype);
  if (from_int && to_int) {
    // Both ranges are powers of two: a shift is the whole of it.
    int by = bits(own) - bits(dtype);
    if (by > 0) return to(floordiv(x, Tensor::scalar(int64_t{1} << by, own)));
    Tensor wide = to(x);
    return by == 0 ? wide : wide * Tensor::scalar(int64_t{1} << -by, dtype);
  }
  if (from_int) return cast(x, dtype) * (1 / largest(own));
  if (!to_int) return cast(x, dtype);
  return to(x * (largest(dtype) + 0.5));
}

REGISTER(FUNCTION(&rgb_to_grayscale)
             .args("images")
             .python("image.rgb_to_grayscale")
             .doc("How bright pixels are: one channel of three.")
             .samples("uniform(2, 3, 3)", "uniform(3)")
             .reference("(images @ np.array([0.2989, 0.587, 0.114]))[..., None]"));
Tensor rgb_to_grayscale(const In& images) {
  Tensor x = need_channels("rgb_to_grayscale", images.tensor(float32), 3);
  DType own = x.dtype();
  Tensor floats = is_floating(own) ? x : convert_image_dtype(x, float32);
  Tensor weights = empty(float32, Shape{3, 1}, cpu());
  auto* w = weights.mutable_raw<float>();
  w[0] = 0.2989f, w[1] = 0.5870f, w[2] = 0.1140f;
  return convert_image_dtype(tensordot(floats, cast(weights, floats.dtype()), 1), own);
}

REGISTER(FUNCTION(&grayscale_to_rgb)
             .args("images")
             .python("image.grayscale_to_rgb")
             .doc("One channel as three that are alike.")
             .samples("uniform(2, 3, 1)")
             .reference("np.repeat(images, 3, -1)"));
Tensor grayscale_to_rgb(const In& images) {
  Tensor x = need_channels("grayscale_to_rgb", images, 1);
  return concat({x, x, x}, -1);
}

REGISTER(FUNCTION(&rgb_to_hsv)
             .args("images")
             .python("image.rgb_to_hsv")
             .doc("Hue, saturation and value of pixels, each from 0 to 1.")
             .samples("uniform(4, 3, low=0.1, high=0.9)")
             .checks({.rtol = 1e-4, .second_gradient = false}));
Tensor rgb_to_hsv(const In& images) {
  Tensor x = colours("rgb_to_hsv", images);
  Tensors c = channels(x);
  Tensor value = reduce_max(x, {.axis = -1}), spread = value - reduce_min(x, {.axis = -1});
  Tensor any = greater(spread, 0);
  Tensor safe = where(any, spread, ones_like(spread));
  Tensor norm = 1. / (safe * 6.);
  Tensor hue = where(
      equal(c[0], value), norm * (c[1] - c[2]),
      where(equal(c[1], value), norm * (c[2] - c[0]) + 2. / 6, norm * (c[0] - c[1]) + 4. / 6));
  hue = where(any, hue, zeros_like(hue));
  hue = where(less(hue, 0), hue + 1., hue);
  return joined({hue, divide_no_nan(spread, maximum(value, 0)), value});
}

REGISTER(FUNCTION(&hsv_to_rgb)
             .args("images")
             .python("image.hsv_to_rgb")
             .doc("The colours that a hue, a saturation and a value stand for.")
             .samples("uniform(4, 3, low=0.1, high=0.9)")
             .checks({.rtol = 1e-4, .gradient = false}));
Tensor hsv_to_rgb(const In& images) {
  Tensor x = colours("hsv_to_rgb", images);
  Tensors c = channels(x);
  Tensor turn = c[0] * 6.;
  auto part = [&](const Tensor& share) {
    return (1. - c[1] + c[1] * clip_by_value(share, 0, 1)) * c[2];
  };
  return joined({part(abs(turn - 3.) - 1.), part(2. - abs(turn - 2.)), part(2. - abs(turn - 4.))});
}

REGISTER(FUNCTION(&rgb_to_yiq)
             .args("images")
             .python("image.rgb_to_yiq")
             .doc("Luma and the two chromas of NTSC.")
             .samples("uniform(2, 3)"));
Tensor rgb_to_yiq(const In& images) {
  return mixed("rgb_to_yiq", images,
               {0.299f, 0.59590059f, 0.2115f, 0.587f, -0.27455667f, -0.52273617f, 0.114f,
                -0.32134392f, 0.31119955f});
}

REGISTER(FUNCTION(&yiq_to_rgb)
             .args("images")
             .python("image.yiq_to_rgb")
             .doc("The colours that luma and the two chromas of NTSC stand for.")
             .samples("uniform(2, 3)"));
Tensor yiq_to_rgb(const In& images) {
  return mixed(
      "yiq_to_rgb", images,
      {1, 1, 1, 0.95598634f, -0.27201283f, -1.10674021f, 0.6208248f, -0.64720424f, 1.70423049f});
}

REGISTER(FUNCTION(&rgb_to_yuv)
             .args("images")
             .python("image.rgb_to_yuv")
             .doc("Luma and the two chromas of PAL.")
             .samples("uniform(2, 3)"));
Tensor rgb_to_yuv(const In& images) {
  return mixed("rgb_to_yuv", images,
               {0.299f, -0.14714119f, 0.61497538f, 0.587f, -0.28886916f, -0.51496512f, 0.114f,
                0.43601035f, -0.10001026f});
}

REGISTER(FUNCTION(&yuv_to_rgb)
             .args("images")
             .python("image.yuv_to_rgb")
             .doc("The colours that luma and the two chromas of PAL stand for.")
             .samples("uniform(2, 3)"));
Tensor yuv_to_rgb(const In& images) {
  return mixed("yuv_to_rgb", images,
               {1, 1, 1, 0, -0.394642334f, 2.03206185f, 1.13988303f, -0.58062185f, 0});
}

REGISTER(FUNCTION(&adjust_brightness)
             .args("image, delta: D")
             .python("image.adjust_brightness")
             .doc("Images that are brighter by `delta`, of which 1 is the whole range.")
             .samples("uniform(2, 3, 1), 0.25")
             .reference("image + delta"));
Tensor adjust_brightness(const In& image, const In& delta) {
  return on_floats(image, [&](const Tensor& x) { return x + cast(delta, x.dtype()); });
}

REGISTER(FUNCTION(&adjust_contrast)
             .args("images, contrast_factor: F")
             .python("image.adjust_contrast")
             .doc("Pixels further from the mean of their channel by a factor.")
             .samples("uniform(2, 3, 2), 1.5")
             .reference("(images - images.mean((-3, -2), keepdims=True)) * contrast_factor + "
                        "images.mean((-3, -2), keepdims=True)"));
Tensor adjust_contrast(const In& images, const In& contrast_factor) {
  if (Tensor f = contrast_factor; f.shape().has_rank() && f.rank() != 0)
    fail(Code::E1102, cat("adjust_contrast: `contrast_factor` is ", type_text(f),
                          ", expected one number for all images"));
  return on_floats(images, [&](const Tensor& given) {
    Tensor x = need(given, {.function = "adjust_contrast", .least = 3});
    Tensor mean = reduce_mean(x, {.axis = {-3, -2}, .keepdims = true});
    return (x - mean) * cast(contrast_factor, x.dtype()) + mean;
  });
}

REGISTER(FUNCTION(&adjust_hue)
             .args("image, delta: D")
             .python("image.adjust_hue")
             .doc("Images whose hue is turned by `delta`, of which 1 is the whole circle.")
             .samples("uniform(2, 3, 3, low=0.1, high=0.9), 0.2")
             .checks({.rtol = 1e-3, .gradient = false}));
Tensor adjust_hue(const In& image, const In& delta) {
  if (Tensor d = delta; !d.is_symbolic() && d.size() == 1 && !(std::abs(d.to_double()) <= 1))
    fail(Code::E1103,
         cat("adjust_hue: `delta` is ", d.to_double(), ", expected a number from -1 to 1"));
  return on_floats(image, [&](const Tensor& given) {
    Tensor x = need(given, {.function = "adjust_hue", .argument = "image", .channels = 3});
    Tensors c = channels(rgb_to_hsv(x));
    Tensor hue = floormod(c[0] + cast(delta, x.dtype()), Tensor::scalar(1.0, x.dtype()));
    return hsv_to_rgb(joined({hue, c[1], c[2]}));
  });
}

REGISTER(FUNCTION(&adjust_saturation)
             .args("image, saturation_factor: F")
             .python("image.adjust_saturation")
             .doc("Images whose saturation is multiplied by a factor.")
             .samples("uniform(2, 3, 3, low=0.1, high=0.9), 0.5")
             .checks({.rtol = 1e-3, .gradient = false}));
Tensor adjust_saturation(const In& image, const In& saturation_factor) {
  return on_floats(image, [&](const Tensor& given) {
    Tensor x = need(given, {.function = "adjust_saturation", .argument = "image", .channels = 3});
    Tensors c = channels(rgb_to_hsv(x));
    Tensor saturation = clip_by_value(c[1] * cast(saturation_factor, x.dtype()), 0, 1);
    return hsv_to_rgb(joined({c[0], saturation, c[2]}));
  });
}

REGISTER(FUNCTION(&adjust_gamma)
             .args("image")
             .options<&GammaOptions::gamma, &GammaOptions::gain>("gamma, gain")
             .python("image.adjust_gamma")
             .doc("`gain * image ** gamma`.")
             .samples("uniform(2, 3, 1, low=0.1, high=0.9), 0.5, 2.0")
             .reference("gain * image ** gamma")
             .checks({.rtol = 1e-4}));
Tensor adjust_gamma(const In& image, const GammaOptions& o) {
  if (!(o.gamma >= 0))
    fail(Code::E1103, cat("adjust_gamma: `gamma` is ", o.gamma, ", expected 0 or more"));
  return on_floats(image, [&](const Tensor& x) { return o.gain * pow(x, o.gamma); });
}

REGISTER(FUNCTION(&per_image_standardization)
             .args("image")
             .python("image.per_image_standardization")
             .doc("Images of mean 0 and variance 1, each by itself.")
             .samples("uniform(2, 3, 2)", "uniform(2, 3, 3, 1)")
             .reference("(image - image.mean((-3, -2, -1), keepdims=True)) / np.maximum(image.std("
                        "(-3, -2, -1), keepdims=True), 1 / np.sqrt(np.prod(image.shape[-3:])))")
             .checks({.rtol = 1e-3, .atol = 1e-4}));
Tensor per_image_standardization(const In& image) {
  Tensor x =
      need(image.tensor(float32),
           {.function = "per_image_standardization", .argument = "image", .least = 3, .most = 4});
  need_reals("per_image_standardization", x);
  if (x.dtype() != float32) x = cast(x, float32);
  Tensor mean = reduce_mean(x, {.axis = {-3, -2, -1}, .keepdims = true});
  Tensor spread = reduce_std(x, {.axis = {-3, -2, -1}, .keepdims = true});
  Tensor count = reduce_sum(ones_like(x), {.axis = {-3, -2, -1}, .keepdims = true});
  return (x - mean) / maximum(spread, rsqrt(count));
}

}  // namespace holdfast::image
