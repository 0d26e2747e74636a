// Images turned round and mirrored.
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/need.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::image {
namespace {

Tensor mirrored(const char* function, const In& image, int axis) {
  Tensor x = need(image, {.function = function, .argument = "image", .least = 3, .most = 4});
  return reverse(x, {axis - 3});
}

// `draw(shape)` gives numbers in [0, 1): one for each image. As in TensorFlow one image is mirrored
// below a half, and those of a batch from there on.
template <class F>
Tensor some_mirrored(const char* function, const In& image, int axis, F&& draw) {
  Tensor x = need(image, {.function = function, .argument = "image", .least = 3, .most = 4});
  if (!x.shape().has_rank()) {  // one image is a batch of one, but for its side of the half
    Tensor sizes = shape(x), one = equal(rank(x), 3);
    Tensor count = where(one, Tensor::scalar(1, int32), gather(sizes, 0));
    Tensor last = gather(sizes, rank(x) + Tensor::of<int32_t>({-3, -2, -1}));
    Tensor batch = reshape(x, Sizes(concat({reshape(count, {1}), last}, 0)));
    Tensor drawn = draw(Sizes(reshape(count, {1})));
    Tensor chosen = where(one, less(drawn, 0.5f), greater(round(drawn), 0.5f));
    Tensor turned = where(reshape(chosen, {-1, 1, 1, 1}), mirrored(function, batch, axis), batch);
    return reshape(turned, Sizes(sizes));
  }
  if (x.rank() == 3) return where(less(draw(Sizes{}), 0.5f), mirrored(function, x, axis), x);
  Tensor chosen = greater(round(draw(Sizes(slice(shape(x), {0}, {1})))), 0.5f);
  return where(reshape(chosen, {-1, 1, 1, 1}), mirrored(function, x, axis), x);
}
Tensor some_mirrored(const char* function, const In& image, int axis, const RandomImageOptions& o) {
  return some_mirrored(function, image, axis, [&](const Sizes& shape) {
    return random::uniform(shape, {.seed = o.seed});
  });
}
Tensor some_mirrored_by(const char* function, const In& image, int axis, const In& seed) {
  return some_mirrored(function, image, axis,
                       [&](const Sizes& shape) { return random::stateless_uniform(shape, seed); });
}

const Composition transpose_later(
    "image_transpose", 1, +[](std::span<const Tensor> in) { return image::transpose(in[0]); });

}  // namespace

REGISTER(FUNCTION(&flip_left_right)
             .args("image")
             .python("image.flip_left_right")
             .doc("Images mirrored from left to right.")
             .samples("uniform(2, 3, 2)", "uniform(2, 2, 3, 1)")
             .reference("image[..., ::-1, :]"));
Tensor flip_left_right(const In& image) { return mirrored("flip_left_right", image, 1); }

REGISTER(FUNCTION(&flip_up_down)
             .args("image")
             .python("image.flip_up_down")
             .doc("Images turned upside down.")
             .samples("uniform(2, 3, 2)", "uniform(2, 2, 3, 1)")
             .reference("image[..., ::-1, :, :]"));
Tensor flip_up_down(const In& image) { return mirrored("flip_up_down", image, 0); }

REGISTER(FUNCTION(&transpose)
             .args("image")
             .python("image.transpose")
             .doc("Images whose height and width have changed places.")
             .samples("uniform(2, 3, 2)", "uniform(2, 2, 3, 1)")
             .reference("np.swapaxes(image, -3, -2)"));
Tensor transpose(const In& image) {
  Tensor x = image;
  if (!x.shape().has_rank()) return transpose_later({x}, x.dtype(), Shape::unknown());
  if (need_images("transpose", x, "image") == 3) return holdfast::transpose(x, {.perm = {1, 0, 2}});
  return holdfast::transpose(x, {.perm = {0, 2, 1, 3}});
}

REGISTER(FUNCTION(&rot90)
             .args("image")
             .options<&Rot90Options::k>("k")
             .python("image.rot90")
             .doc("Images turned to the left by `k` right angles.")
             .samples("uniform(2, 3, 2)", "uniform(2, 2, 3, 1), k=3", "uniform(2, 3, 1), k=-2")
             .reference("np.rot90(image, k, (image.ndim - 3, image.ndim - 2))"));
Tensor rot90(const In& image, const Rot90Options& o) {
  Tensor x = need(image, {.function = "rot90", .argument = "image", .least = 3, .most = 4});
  switch ((o.k % 4 + 4) % 4) {
    case 1: return flip_up_down(image::transpose(x));
    case 2: return flip_up_down(flip_left_right(x));
    case 3: return image::transpose(flip_up_down(x));
    default: return identity(x);
  }
}

REGISTER(FUNCTION(&random_flip_left_right)
             .args("image")
             .options<&RandomImageOptions::seed>("seed")
             .python("image.random_flip_left_right")
             .doc("Each image mirrored from left to right, or not."));
Tensor random_flip_left_right(const In& image, const RandomImageOptions& o) {
  return some_mirrored("random_flip_left_right", image, 1, o);
}

REGISTER(FUNCTION(&random_flip_up_down)
             .args("image")
             .options<&RandomImageOptions::seed>("seed")
             .python("image.random_flip_up_down")
             .doc("Each image turned upside down, or not."));
Tensor random_flip_up_down(const In& image, const RandomImageOptions& o) {
  return some_mirrored("random_flip_up_down", image, 0, o);
}

REGISTER(FUNCTION(&stateless_random_flip_left_right)
             .args("image, seed: Seed")
             .python("image.stateless_random_flip_left_right")
             .doc("Each image mirrored from left to right, or not, as `seed` decides."));
Tensor stateless_random_flip_left_right(const In& image, const In& seed) {
  return some_mirrored_by("stateless_random_flip_left_right", image, 1, seed);
}

REGISTER(FUNCTION(&stateless_random_flip_up_down)
             .args("image, seed: Seed")
             .python("image.stateless_random_flip_up_down")
             .doc("Each image turned upside down, or not, as `seed` decides."));
Tensor stateless_random_flip_up_down(const In& image, const In& seed) {
  return some_mirrored_by("stateless_random_flip_up_down", image, 0, seed);
}

}  // namespace holdfast::image
