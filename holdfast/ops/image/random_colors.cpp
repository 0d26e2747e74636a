// Colours changed by random amounts, for training.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/random.h"

namespace holdfast::image {
namespace {

struct Range {
  double low, high;
};
Range around_zero(const char* function, double max_delta, double most) {
  if (!(max_delta >= 0 && max_delta <= most))
    fail(Code::E1103, cat(function, ": `max_delta` is ", max_delta, ", expected a number from 0",
                          most < 1 ? " to 0.5" : " on"));
  return {-max_delta, max_delta};
}
Range between(const char* function, double lower, double upper) {
  if (!(lower >= 0 && upper > lower))
    fail(Code::E1103, cat(function, ": `lower` is ", lower, " and `upper` ", upper,
                          ", expected 0 or more, and a larger number"));
  return {lower, upper};
}
Tensor drawn(const Range& r, const RandomImageOptions& o) {
  return random::uniform(Sizes{}, {.minval = r.low, .maxval = r.high, .seed = o.seed});
}
Tensor drawn(const Range& r, const In& seed) {
  return random::stateless_uniform(Sizes{}, seed, {.minval = r.low, .maxval = r.high});
}
constexpr double kAny = 1e300;

}  // namespace

REGISTER(FUNCTION(&random_brightness)
             .args("image, max_delta")
             .options<&RandomImageOptions::seed>("seed")
             .python("image.random_brightness")
             .doc("Brighter or darker by up to `max_delta`."));
Tensor random_brightness(const In& image, double max_delta, const RandomImageOptions& o) {
  return adjust_brightness(image, drawn(around_zero("random_brightness", max_delta, kAny), o));
}

REGISTER(FUNCTION(&random_contrast)
             .args("image, lower, upper")
             .options<&RandomImageOptions::seed>("seed")
             .python("image.random_contrast")
             .doc("Contrast multiplied by a factor between two numbers."));
Tensor random_contrast(const In& image, double lower, double upper, const RandomImageOptions& o) {
  return adjust_contrast(image, drawn(between("random_contrast", lower, upper), o));
}

REGISTER(FUNCTION(&random_hue)
             .args("image, max_delta")
             .options<&RandomImageOptions::seed>("seed")
             .python("image.random_hue")
             .doc("The hue turned by up to `max_delta`, 0.5 at most."));
Tensor random_hue(const In& image, double max_delta, const RandomImageOptions& o) {
  return adjust_hue(image, drawn(around_zero("random_hue", max_delta, 0.5), o));
}

REGISTER(FUNCTION(&random_saturation)
             .args("image, lower, upper")
             .options<&RandomImageOptions::seed>("seed")
             .python("image.random_saturation")
             .doc("Saturation multiplied by a factor between two numbers."));
Tensor random_saturation(const In& image, double lower, double upper, const RandomImageOptions& o) {
  return adjust_saturation(image, drawn(between("random_saturation", lower, upper), o));
}

REGISTER(FUNCTION(&stateless_random_brightness)
             .args("image, max_delta, seed: Seed")
             .python("image.stateless_random_brightness")
             .doc("Brighter or darker by up to `max_delta`, as `seed` decides.")
             .samples("uniform(2, 3, 1), 0.2, [1, 2]"));
Tensor stateless_random_brightness(const In& image, double max_delta, const In& seed) {
  Range r = around_zero("stateless_random_brightness", max_delta, kAny);
  return adjust_brightness(image, drawn(r, seed));
}

REGISTER(FUNCTION(&stateless_random_contrast)
             .args("image, lower, upper, seed: Seed")
             .python("image.stateless_random_contrast")
             .doc("Contrast multiplied by a factor between two numbers, as `seed` decides.")
             .samples("uniform(2, 3, 1), 0.2, 0.7, [1, 2]"));
Tensor stateless_random_contrast(const In& image, double lower, double upper, const In& seed) {
  return adjust_contrast(image, drawn(between("stateless_random_contrast", lower, upper), seed));
}

REGISTER(FUNCTION(&stateless_random_hue)
             .args("image, max_delta, seed: Seed")
             .python("image.stateless_random_hue")
             .doc("The hue turned by up to `max_delta`, as `seed` decides.")
             .samples("uniform(2, 3, 3, low=0.1, high=0.9), 0.2, [1, 2]")
             .checks({.gradient = false}));
Tensor stateless_random_hue(const In& image, double max_delta, const In& seed) {
  return adjust_hue(image, drawn(around_zero("stateless_random_hue", max_delta, 0.5), seed));
}

REGISTER(FUNCTION(&stateless_random_saturation)
             .args("image, lower, upper, seed: Seed")
             .python("image.stateless_random_saturation")
             .doc("Saturation multiplied by a factor between two numbers, as `seed` decides.")
             .samples("uniform(2, 3, 3, low=0.1, high=0.9), 0.2, 0.7, [1, 2]")
             .checks({.gradient = false}));
Tensor stateless_random_saturation(const In& image, double lower, double upper, const In& seed) {
  return adjust_saturation(image,
                           drawn(between("stateless_random_saturation", lower, upper), seed));
}

}  // namespace holdfast::image
