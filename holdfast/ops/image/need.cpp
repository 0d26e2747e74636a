#include "holdfast/ops/image/need.h"

#include <limits>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"

namespace holdfast::image {

int need_images(const char* function, const Tensor& images, const char* argument) {
  const Shape& s = images.shape();
  if (!s.has_rank())
    fail(Code::E1102,
         cat(function, ": the number of axes of `", argument, "` is not known, expected 3 or 4"),
         {}, {manual_fix("say its shape first, with `ensure_shape` or `set_shape`")});
  if (s.rank() != 3 && s.rank() != 4)
    fail(Code::E1102, cat(function, ": `", argument, "` is ", type_text(images),
                          ", expected [height, width, channels], or a batch of such"));
  return s.rank();
}

Tensor one_if_unknown(const Tensor& images) {
  if (images.shape().has_rank()) return images;
  return ensure_shape(images, Shape{kUnknown, kUnknown, kUnknown});
}

Tensor need_int32(const char* function, const char* argument, const Sizes& sizes) {
  Tensor t = sizes.tensor();
  if (t.dtype() == int32) return t;
  if (!kIndices.has(t.dtype()))
    fail(Code::E1101, cat(function, ": `", argument, "` is ", type_text(t), ", expected integers"));
  if (!t.is_symbolic())
    for (int64_t n : sizes.ints())
      if (n > std::numeric_limits<int32_t>::max() || n < std::numeric_limits<int32_t>::min())
        fail(Code::E1103,
             cat(function, ": `", argument, "` has ", n, ", expected numbers that int32 holds"));
  return cast(t, int32);
}

void need_reals(const char* function, const Tensor& images) {
  if (!kReals.has(images.dtype()))
    fail(Code::E1101,
         cat(function, ": pixels of ", name(images.dtype()), ", expected integers or floats"));
}

void need_channels(const char* function, const Tensor& images, int64_t channels) {
  const Shape& s = images.shape();
  bool fits =
      !s.has_rank() || (s.rank() >= 1 && (s[s.rank() - 1] < 0 || s[s.rank() - 1] == channels));
  if (!fits)
    fail(Code::E1102, cat(function, ": `images` is ", type_text(images), ", expected ", channels,
                          channels == 1 ? " channel" : " channels", " on the last axis"));
}

}  // namespace holdfast::image
