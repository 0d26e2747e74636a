// A part of a tensor at a random place.
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/scope.h"

namespace holdfast::image {
namespace {

// `draw(shape, largest)` gives integers in [0, largest) of the dtype of `size`. As in TensorFlow
// they are brought into range by a remainder, so that the same seed gives the same part.
template <class F>
Tensor crop(const char* function, const Tensor& value, const Tensor& size, F&& draw) {
  if (!kIndices.has(size.dtype()))
    fail(Code::E1101, cat(function, ": `size` is ", type_text(size), ", expected int32 or int64"));
  Tensor whole = cast(shape(value), size.dtype());
  if (value.shape().has_rank() && size.shape().has_rank() &&
      (size.rank() != 1 || (size.dim(0) >= 0 && size.dim(0) != value.rank())))
    fail(Code::E1102, cat(function, ": `size` is ", type_text(size), ", expected ", value.rank(),
                          " sizes, one for each axis of ", type_text(value)));
  if (!size.is_symbolic() && value.shape().is_full()) {
    Dims wanted = Sizes(size).ints();
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] < 0 || wanted[i] > value.shape().dims()[i])
        fail(Code::E1103, cat(function, ": `size` is ", Shape(wanted).text(),
                              ", expected sizes of 0 to those of ", value.shape().text()));
  }
  int64_t largest = size.dtype() == int32 ? std::numeric_limits<int32_t>::max()
                                          : std::numeric_limits<int64_t>::max();
  Tensor at = draw(Sizes(shape(size)), Tensor::scalar(largest, size.dtype()));
  return slice(value, Sizes(floormod(at, whole - size + 1)), Sizes(size));
}

}  // namespace

REGISTER(FUNCTION(&random_crop)
             .args("value, size: S")
             .options<&RandomCropOptions::seed>("seed")
             .python("image.random_crop, compat.v1.random_crop")
             .doc("A part of `value` of the given size, at a random place.")
             .samples("uniform(3, 4), [3, 4]")
             .reference("value"));
Tensor random_crop(const In& value, const In& size, const RandomCropOptions& o) {
  return crop("random_crop", value, size, [&](const Sizes& shape, const Tensor& most) {
    return random::uniform(shape, {.maxval = most, .dtype = most.dtype(), .seed = o.seed});
  });
}

REGISTER(FUNCTION(&stateless_random_crop)
             .args("value, size: S, seed: Seed")
             .python("image.stateless_random_crop")
             .doc("A part of `value` of the given size, at a place that `seed` decides.")
             .samples("uniform(3, 4), [3, 4], [1, 2]")
             .reference("value"));
Tensor stateless_random_crop(const In& value, const In& size, const In& seed) {
  return crop("stateless_random_crop", value, size, [&](const Sizes& shape, const Tensor& most) {
    return random::stateless_uniform(shape, seed,
                                     {.minval = 0, .maxval = most, .dtype = most.dtype()});
  });
}

}  // namespace holdfast::image
