// Parts of images, and images in the middle of zeros.
#include <algorithm>
#include <cmath>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/need.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::image {
namespace {

/// A number that is known now, or one that a graph computes.
class Number {
 public:
  Number(int64_t known) : known_(known) {}
  Number(const char* function, const char* argument, const In& given) {
    Tensor t = given.tensor(int32);
    if (!kIndices.has(t.dtype()) || (t.shape().has_rank() && t.rank() != 0))
      fail(given.dtype() == DType::kInvalid || kIndices.has(t.dtype()) ? Code::E1102 : Code::E1101,
           cat(function, ": `", argument, "` is ", type_text(t), ", expected an integer"));
    if (t.is_symbolic())
      value_ = cast(t, int32);
    else
      known_ = Sizes(reshape(t, {1})).ints()[0];
  }
  /// The size of an axis.
  static Number size(const Tensor& t, int axis) {
    Number out(t.dim(axis));
    if (out.known_ == kUnknown) out.value_ = gather(shape(t), axis);
    return out;
  }
  bool known() const { return !value_.defined(); }
  int64_t number() const { return known_; }
  Tensor tensor() const { return known() ? Tensor::scalar(known_, int32) : value_; }
  friend Number operator+(const Number& a, const Number& b) {
    return both(a, b, a.known_ + b.known_, [](const Tensor& x, const Tensor& y) { return x + y; });
  }
  friend Number operator-(const Number& a, const Number& b) {
    return both(a, b, a.known_ - b.known_, [](const Tensor& x, const Tensor& y) { return x - y; });
  }
  /// Half of it, rounded down.
  Number half() const {
    if (known()) return Number(known_ >= 0 ? known_ / 2 : -((1 - known_) / 2));
    return Number(floordiv(value_, 2));
  }
  Number at_least_zero() const {
    return known() ? Number(std::max<int64_t>(known_, 0)) : Number(maximum(value_, 0));
  }
  friend Number least(const Number& a, const Number& b) {
    return both(a, b, std::min(a.known_, b.known_),
                [](const Tensor& x, const Tensor& y) { return minimum(x, y); });
  }

 private:
  explicit Number(Tensor value) : value_(std::move(value)) {}
  template <class F>
  static Number both(const Number& a, const Number& b, int64_t known, F&& f) {
    if (a.known() && b.known()) return Number(known);
    return Number(f(a.tensor(), b.tensor()));
  }
  int64_t known_ = 0;
  Tensor value_;
};

void need(const char* function, const char* argument, const Number& n, int64_t low,
          const char* expected) {
  if (n.known() && n.number() < low)
    fail(Code::E1103, cat(function, ": `", argument, "` is ", n.number(), ", expected ", expected));
}
void need_room(const char* function, const char* what, const Number& room, const Number& needed) {
  if (room.known() && needed.known() && needed.number() > room.number())
    fail(Code::E1103, cat(function, ": offset and target ", what, " end at ", needed.number(),
                          ", and there are ", room.number()));
}

Sizes sizes_of(std::initializer_list<Number> numbers) {
  Dims dims;
  std::vector<Tensor> tensors;
  bool known = true;
  for (const Number& n : numbers) {
    known = known && n.known();
    dims.push_back(n.number());
    tensors.push_back(n.tensor());
  }
  return known ? Sizes(dims) : Sizes(stack(tensors));
}

/// Images with an axis of batches in front; `one` where it was added.
struct Batched {
  Tensor images;
  bool one;
  Batched(const char* function, const In& given)
      : images(one_if_unknown(given)), one(need_images(function, images, "image") == 3) {
    if (one) images = expand_dims(images, 0);
  }
  Tensor like_given(const Tensor& t) const { return one ? squeeze(t, {.axis = 0}) : t; }
  Number height() const { return Number::size(images, 1); }
  Number width() const { return Number::size(images, 2); }
};

Tensor crop(const char* function, const Tensor& images, const Number& top, const Number& left,
            const Number& height, const Number& width) {
  need(function, "offset_height", top, 0, "0 or more");
  need(function, "offset_width", left, 0, "0 or more");
  need(function, "target_height", height, 1, "1 or more");
  need(function, "target_width", width, 1, "1 or more");
  need_room(function, "height", Number::size(images, 1), top + height);
  need_room(function, "width", Number::size(images, 2), left + width);
  return slice(images, sizes_of({0, top, left, 0}),
               sizes_of({Number::size(images, 0), height, width, Number::size(images, 3)}));
}

Tensor padded(const char* function, const Tensor& images, const Number& top, const Number& left,
              const Number& height, const Number& width) {
  need(function, "offset_height", top, 0, "0 or more");
  need(function, "offset_width", left, 0, "0 or more");
  Number below = height - top - Number::size(images, 1);
  Number right = width - left - Number::size(images, 2);
  need(function, "target_height", below, 0, "room for the offset and the image");
  need(function, "target_width", right, 0, "room for the offset and the image");
  Tensor around = sizes_of({0, 0, top, below, left, right, 0, 0}).tensor();
  Tensor out = pad(images, reshape(around, {4, 2}));
  Shape known = out.shape();  // a trace knows the sizes that are asked for, if not those given
  if (height.known()) known.dims()[1] = height.number();
  if (width.known()) known.dims()[2] = width.number();
  return known == out.shape() ? out : ensure_shape(out, known);
}

Tensor crop_or_pad(const char* function, const Tensor& images, const Number& height,
                   const Number& width) {
  need(function, "target_height", height, 1, "1 or more");
  need(function, "target_width", width, 1, "1 or more");
  Number high = Number::size(images, 1), wide = Number::size(images, 2);
  Tensor part =
      crop(function, images, (high - height).half().at_least_zero(),
           (wide - width).half().at_least_zero(), least(high, height), least(wide, width));
  return padded(function, part, (height - high).half().at_least_zero(),
                (width - wide).half().at_least_zero(), height, width);
}

}  // namespace

REGISTER(FUNCTION(&crop_to_bounding_box)
             .args("image, offset_height: I, offset_width: J, target_height: K, target_width: L")
             .python("image.crop_to_bounding_box")
             .doc("A part of images, so many rows and columns from the top and from the left.")
             .samples("uniform(4, 5, 2), 1, 2, 2, 3", "uniform(2, 4, 5, 1), 0, 0, 4, 5")
             .reference("image[..., offset_height:offset_height + target_height, "
                        "offset_width:offset_width + target_width, :]"));
Tensor crop_to_bounding_box(const In& image, const In& offset_height, const In& offset_width,
                            const In& target_height, const In& target_width) {
  const char* name = "crop_to_bounding_box";
  Batched b(name, image);
  return b.like_given(crop(
      name, b.images, {name, "offset_height", offset_height}, {name, "offset_width", offset_width},
      {name, "target_height", target_height}, {name, "target_width", target_width}));
}

REGISTER(
    FUNCTION(&pad_to_bounding_box)
        .args("image, offset_height: I, offset_width: J, target_height: K, target_width: L")
        .python("image.pad_to_bounding_box")
        .doc("Images with zeros around them, so many rows and columns from the top and from "
             "the left.")
        .samples("uniform(2, 3, 2), 1, 2, 4, 6", "uniform(2, 2, 3, 1), 0, 0, 2, 3")
        .reference("np.pad(image, [(0, 0)] * (image.ndim - 3) + [(offset_height, target_height "
                   "- offset_height - image.shape[-3]), (offset_width, target_width - "
                   "offset_width - image.shape[-2]), (0, 0)])"));
Tensor pad_to_bounding_box(const In& image, const In& offset_height, const In& offset_width,
                           const In& target_height, const In& target_width) {
  const char* name = "pad_to_bounding_box";
  Batched b(name, image);
  return b.like_given(padded(
      name, b.images, {name, "offset_height", offset_height}, {name, "offset_width", offset_width},
      {name, "target_height", target_height}, {name, "target_width", target_width}));
}

REGISTER(FUNCTION(&resize_with_crop_or_pad)
             .args("image, target_height: K, target_width: L")
             .python("image.resize_with_crop_or_pad, image.resize_image_with_crop_or_pad")
             .doc("The middle of images, or images with zeros around them.")
             .samples("uniform(4, 5, 2), 2, 5", "uniform(4, 2, 1), 3, 4"));
Tensor resize_with_crop_or_pad(const In& image, const In& target_height, const In& target_width) {
  const char* name = "resize_with_crop_or_pad";
  Batched b(name, image);
  return b.like_given(crop_or_pad(name, b.images, {name, "target_height", target_height},
                                  {name, "target_width", target_width}));
}

REGISTER(FUNCTION(&resize_with_pad)
             .args("image, target_height: K, target_width: L")
             .options<&ResizeWithPadOptions::method, &ResizeWithPadOptions::antialias>(
                 "method, antialias")
             .python("image.resize_with_pad")
             .doc("Images resized without a change of proportions, and zeros around them.")
             .samples("uniform(4, 2, 1), 3, 4", "uniform(1, 2, 2, 1), 3, 5, method='nearest'")
             .checks({.rtol = 1e-3, .atol = 1e-3}));
Tensor resize_with_pad(const In& image, const In& target_height, const In& target_width,
                       const ResizeWithPadOptions& o) {
  const char* name = "resize_with_pad";
  Batched b(name, image);
  Number height(name, "target_height", target_height), width(name, "target_width", target_width);
  need(name, "target_height", height, 1, "1 or more");
  need(name, "target_width", width, 1, "1 or more");
  // As TensorFlow rounds: sizes down, and what is above and to the left of the image too.
  Tensor own = cast(sizes_of({b.height(), b.width()}).tensor(), float64);
  Tensor room = cast(sizes_of({height, width}).tensor(), float64);
  Tensor ratio = reduce_max(own / room);
  Tensor size = cast(floor(own / ratio), int32);
  Tensor before = maximum(cast(floor((room - own / ratio) / 2.), int32), 0);
  Tensor small = resize(b.images, Sizes(size), {.method = o.method, .antialias = o.antialias});
  return b.like_given(padded(name, small, {name, "offset_height", gather(before, 0)},
                             {name, "offset_width", gather(before, 1)}, height, width));
}

REGISTER(FUNCTION(&central_crop)
             .args("image, central_fraction")
             .python("image.central_crop")
             .doc("The middle of images, of a share of their height and width.")
             .samples("uniform(4, 6, 2), 0.5", "uniform(1, 5, 5, 1), 1.0"));
Tensor central_crop(const In& image, double central_fraction) {
  const char* name = "central_crop";
  if (!(central_fraction > 0 && central_fraction <= 1))
    fail(Code::E1103, cat(name, ": `central_fraction` is ", central_fraction,
                          ", expected a number above 0, and 1 at most"));
  Batched b(name, image);
  if (central_fraction == 1) return image;
  auto edge = [&](const Number& size) {
    if (size.known())
      return Number(static_cast<int64_t>((static_cast<double>(size.number()) -
                                          static_cast<double>(size.number()) * central_fraction) /
                                         2));
    Tensor whole = cast(size.tensor(), float64);
    return Number(name, "image", cast((whole - whole * central_fraction) / 2., int32));
  };
  Number top = edge(b.height()), left = edge(b.width());
  return b.like_given(
      crop(name, b.images, top, left, b.height() - top - top, b.width() - left - left));
}

REGISTER(FUNCTION(&crop_and_resize)
             .args("image, boxes: F, box_indices: I, crop_size")
             .options<&CropAndResizeOptions::method, &CropAndResizeOptions::extrapolation_value>(
                 "method, extrapolation_value")
             .python("image.crop_and_resize")
             .doc("Parts of images, resized to one size. `boxes` are [top, left, bottom, right] in "
                  "shares of height and width, of the images that `box_indices` name.")
             .samples("uniform(2, 4, 5, 2), [[0.1, 0.2, 0.7, 0.9], [0.3, 0.1, 0.8, 0.6]], [1, 0], "
                      "[3, 2]")
             .checks({.rtol = 1e-3, .atol = 1e-3}));
Tensor crop_and_resize(const In& image, const In& boxes, const In& box_indices,
                       const Sizes& crop_size, const CropAndResizeOptions& o) {
  const char* name = "crop_and_resize";
  if (o.method != "bilinear" && o.method != "nearest")
    fail(Code::E1103, cat(name, ": `method` is \"", o.method,
                          "\", expected \"bilinear\" or "
                          "\"nearest\""));
  Tensor images = image, corners = boxes.tensor(float32), which = box_indices.tensor(int32);
  if (images.shape().has_rank() && images.rank() != 4)
    fail(Code::E1102, cat(name, ": `image` is ", type_text(images), ", expected a batch"));
  if (corners.shape().has_rank() &&
      (corners.rank() != 2 || (corners.dim(1) >= 0 && corners.dim(1) != 4)))
    fail(Code::E1102, cat(name, ": `boxes` is ", type_text(corners), ", expected [boxes, 4]"));
  if (which.shape().has_rank() && which.rank() != 1)
    fail(Code::E1102, cat(name, ": `box_indices` is ", type_text(which), ", expected a vector"));
  need_reals(name, images);
  need_reals(name, corners);
  corners = cast(corners, float32);
  images = cast(images, float32);
  Tensor to = need_int32(name, "crop_size", crop_size);
  if (to.shape().has_rank() && (to.rank() != 1 || (to.dim(0) >= 0 && to.dim(0) != 2)))
    fail(Code::E1102, cat(name, ": `crop_size` is ", type_text(to), ", expected 2 numbers"));
  // Before anything is laid out along one axis: the whole must have a size that can be counted.
  if (!to.is_symbolic() && corners.shape().is_full() && images.shape().has_rank()) {
    Tensor here = copy_to(to, cpu());
    const auto* n = here.raw<int32_t>();
    if (n[0] < 1 || n[1] < 1)
      fail(Code::E1103,
           cat(name, ": `crop_size` is [", n[0], ",", n[1], "], expected sizes of 1 or more"));
    Shape all{corners.dim(0), n[0], n[1], std::max<int64_t>(images.dim(3), 1)};
    if (!all.elements())
      fail(Code::E1103,
           cat(name, ": `crop_size` is [", n[0], ",", n[1],
               "], expected sizes that can be counted for ", corners.dim(0), " boxes"));
  }
  // Where rows (or columns) of the results lie: [boxes, size of the result].
  auto places = [&](int axis, const Tensor& count, const Tensor& whole) {
    Tensor low = slice(corners, {0, axis}, {-1, 1}), high = slice(corners, {0, axis + 2}, {-1, 1});
    Tensor last = cast(whole - 1, float32), n = cast(count, float32);
    Tensor step = (high - low) * last / maximum(n - 1.f, 1.f);
    Tensor at = low * last + expand_dims(cast(range(count), float32), 0) * step;
    return where(less_equal(n, 1.f), (low + high) * 0.5f * last + zeros_like(at), at);
  };
  Tensor size = shape(images);
  Tensor ys = places(0, gather(to, 0), gather(size, 1));
  Tensor xs = places(1, gather(to, 1), gather(size, 2));
  auto inside = [](const Tensor& at, const Tensor& whole) {
    return logical_and(greater_equal(at, 0.f), less_equal(at, cast(whole - 1, float32)));
  };
  Tensor there = logical_and(expand_dims(inside(ys, gather(size, 1)), 2),
                             expand_dims(inside(xs, gather(size, 2)), 1));
  auto within = [](const Tensor& at, const Tensor& whole) {
    return clip_by_value(cast(at, int32), 0, whole - 1);
  };
  auto pixels = [&](const Tensor& y, const Tensor& x) {
    Tensor row = expand_dims(within(y, gather(size, 1)), 2);
    Tensor column = expand_dims(within(x, gather(size, 2)), 1);
    Tensor none = zeros_like(row + column);
    Tensor batch = reshape(cast(which, int32), {-1, 1, 1}) + none;
    return gather_nd(images, stack({batch, row + none, column + none}, {.axis = -1}));
  };
  Tensor out;
  if (o.method == "nearest") {
    out = pixels(floor(ys + 0.5f), floor(xs + 0.5f));
  } else {
    Tensor top = floor(ys), left = floor(xs);
    Tensor down = expand_dims(expand_dims(ys - top, 2), 3);
    Tensor right = expand_dims(expand_dims(xs - left, 1), 3);
    Tensor a = pixels(top, left), b = pixels(top, ceil(xs)), c = pixels(ceil(ys), left),
           d = pixels(ceil(ys), ceil(xs));
    Tensor above = a + (b - a) * right, below = c + (d - c) * right;
    out = above + (below - above) * down;
  }
  return where(expand_dims(there, 3), out, static_cast<float>(o.extrapolation_value));
}

}  // namespace holdfast::image
