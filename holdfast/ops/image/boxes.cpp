// Boxes around things in images, shown.
#include <algorithm>
#include <cmath>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/math.h"

namespace holdfast::image {
namespace {

void infer_drawing(Infer& s) {
  s.need_rank(0, 4, 4);
  s.need_rank(1, 3, 3);
  s.need_rank(2, 2, 2);
  const Shape &images = s.shape(0), &boxes = s.shape(1), &colors = s.shape(2);
  if (boxes.has_rank() && boxes[2] >= 0 && boxes[2] != 4) s.bad_shape(1, "[batch, boxes, 4]");
  if (images.has_rank() && boxes.has_rank() && images[0] >= 0 && boxes[0] >= 0 &&
      images[0] != boxes[0])
    s.bad_shape(1, cat("boxes of each of ", images[0], " images"));
  if (images.has_rank() && images[3] >= 0 && (images[3] == 2 || images[3] > 4))
    s.bad_shape(0, "images of 1, 3 or 4 channels");
  if (images.has_rank() && colors.has_rank() && colors[0] != 0 && colors[1] >= 0 &&
      images[3] >= 0 && colors[1] < images[3])
    s.bad_shape(2, cat("colours of ", images[3], " channels"));
  s.output(s.dtype(), images);
}

// TensorFlow's colours, in turn, where a program names none.
constexpr float kColors[10][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

constexpr float kWhite = 1;  // all boxes of images without colours

Status run_drawing(Call& c) {
  const Tensor &images = c.in(0), &boxes = c.in(1), &colors = c.in(2);
  int64_t height = images.dim(1), width = images.dim(2), channels = images.dim(3);
  bool own = colors.dim(0) > 0;
  if (boxes.dim(0) != images.dim(0) || (own && colors.dim(1) < channels) || channels > 4)
    return {Code::E1102, cat(c.op.name, ": images of ", images.shape().text(), ", boxes of ",
                             boxes.shape().text(), " and colours of ", colors.shape().text(),
                             " don't belong together")};
  Tensor& out = c.out();
  std::copy_n(images.raw<float>(), images.size(), out.mutable_raw<float>());
  for (int64_t b = 0; b < images.dim(0); ++b)
    for (int64_t k = 0; k < boxes.dim(1); ++k) {
      const float* color =
          own ? colors.raw<float>() + k % colors.dim(0) * colors.dim(1) : kColors[k % 10];
      if (channels == 1) color = &kWhite;
      const float* at = boxes.raw<float>() + (b * boxes.dim(1) + k) * 4;
      if (!std::all_of(at, at + 4, [](float v) { return std::abs(v) < 1e9f; })) continue;
      auto place = [](float share, int64_t size) {
        return static_cast<int64_t>(share * static_cast<float>(size - 1));
      };
      int64_t top = place(at[0], height), left = place(at[1], width), bottom = place(at[2], height),
              right = place(at[3], width);
      if (top >= height || bottom < 0 || left >= width || right < 0 || bottom < top || right < left)
        continue;
      auto paint = [&](int64_t y, int64_t x) {
        if (y < 0 || y >= height || x < 0 || x >= width) return;
        std::copy_n(color, channels,
                    out.mutable_raw<float>() + ((b * height + y) * width + x) * channels);
      };
      int64_t first_row = std::max<int64_t>(top, 0), last_row = std::min(bottom, height - 1);
      int64_t first = std::max<int64_t>(left, 0), last = std::min(right, width - 1);
      for (int64_t x = first; x <= last; ++x) paint(top, x), paint(bottom, x);
      for (int64_t y = first_row; y <= last_row; ++y) paint(y, left), paint(y, right);
    }
  return {};
}

const Op drawing_op = RAW_OP(DrawBoundingBoxesV2)
                          .doc("Images with boxes drawn onto them.")
                          .inputs("images: T, boxes: F, colors: F")
                          .dtypes(DTypes{float32}, "T")
                          .dtypes(DTypes{float32}, "F")
                          .infer(infer_drawing)
                          .kernel("reference", run_drawing)
                          .on_host()
                          .no_gradient();

}  // namespace

REGISTER(FUNCTION(&draw_bounding_boxes)
             .args("images, boxes: F, colors: C")
             .python("image.draw_bounding_boxes")
             .doc("Images with boxes drawn onto them; `boxes` in shares of height and width, "
                  "[batch, boxes, 4]."));
Tensor draw_bounding_boxes(const In& images, const In& boxes, const MaybeIn& colors) {
  Tensor x = images.tensor(float32);
  Tensor own = colors ? cast(colors.tensor(float32), float32) : zeros({0, 4}, float32);
  return cast(drawing_op({cast(x, float32), cast(boxes.tensor(float32), float32), own}), x.dtype());
}

}  // namespace holdfast::image
