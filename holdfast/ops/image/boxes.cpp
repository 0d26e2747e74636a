// Boxes around things in images: which to keep, and how to show them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/need.h"
#include "holdfast/ops/math.h"

namespace holdfast::image {
namespace {

struct Box {
  float top, left, bottom, right;
  explicit Box(const float* at)
      : top(std::min(at[0], at[2])),
        left(std::min(at[1], at[3])),
        bottom(std::max(at[0], at[2])),
        right(std::max(at[1], at[3])) {}
  float area() const { return (bottom - top) * (right - left); }
};

// What two boxes have in common, as a share of what both cover.
float overlap(const Box& a, const Box& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.f);
  float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.f);
  return height * width / (a.area() + b.area() - height * width);
}

void infer_suppression(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  for (int i = 2; i < 5; ++i) s.need_rank(i, 0, 0);
  const Shape &boxes = s.shape(0), &scores = s.shape(1);
  if (boxes.has_rank() && boxes[1] >= 0 && boxes[1] != 4) s.bad_shape(0, "[boxes, 4]");
  if (boxes.has_rank() && scores.has_rank() && boxes[0] >= 0 && scores[0] >= 0 &&
      boxes[0] != scores[0])
    s.bad_shape(1, cat("a score for each of ", boxes[0], " boxes"));
  if (auto most = s.ints(2); most && (*most)[0] < 0)
    s.bad_value("max_output_size", cat((*most)[0]), "0 or more");
  s.output(int32, Shape{kUnknown});
}

Status run_suppression(Call& c) {
  const auto *boxes = c.in(0).raw<float>(), *scores = c.in(1).raw<float>();
  int64_t most = std::max<int64_t>(c.ints(2)[0], 0);
  float allowed = *c.in(3).raw<float>(), least = *c.in(4).raw<float>();
  if (!(allowed >= 0 && allowed <= 1))
    return {Code::E1103,
            cat(c.op.name, ": `iou_threshold` is ", allowed, ", expected a number from 0 to 1")};
  if (c.in(0).dim(0) != c.in(1).dim(0))
    return {Code::E1102, cat(c.op.name, ": ", c.in(0).dim(0), " boxes and ", c.in(1).dim(0),
                             " scores, expected as many")};
  std::vector<int32_t> order;
  for (int64_t i = 0; i < c.in(1).size(); ++i)
    if (scores[i] > least) order.push_back(static_cast<int32_t>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  std::vector<int32_t> kept;
  for (int32_t i : order) {
    if (static_cast<int64_t>(kept.size()) >= most) break;
    Box box(boxes + i * 4);
    bool free = std::none_of(kept.begin(), kept.end(),
                             [&](int32_t k) { return overlap(box, Box(boxes + k * 4)) > allowed; });
    if (free) kept.push_back(i);
  }
  Tensor& out = c.out(0, Shape{static_cast<int64_t>(kept.size())});
  std::copy(kept.begin(), kept.end(), out.mutable_raw<int32_t>());
  return {};
}

const Op suppression_op =
    RAW_OP(NonMaxSuppressionV3)
        .doc("The numbers of boxes that overlap no better one by more than a threshold.")
        .inputs("boxes: T, scores: T, max_output_size: I!, iou_threshold: F, score_threshold: F")
        .outputs("selected_indices")
        .dtypes(DTypes{float32}, "T")
        .dtypes(DTypes{int32}, "I")
        .dtypes(DTypes{float32}, "F")
        .infer(infer_suppression)
        .kernel("reference", run_suppression)
        .on_host()
        .no_gradient();

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

REGISTER(FUNCTION(&non_max_suppression)
             .args("boxes, scores: S, max_output_size")
             .options<&NonMaxSuppressionOptions::iou_threshold,
                      &NonMaxSuppressionOptions::score_threshold>("iou_threshold, score_threshold")
             .python("image.non_max_suppression")
             .doc("The numbers of boxes that overlap no better one by more than a threshold, best "
                  "first."));
Tensor non_max_suppression(const In& boxes, const In& scores, const Sizes& max_output_size,
                           const NonMaxSuppressionOptions& o) {
  Tensor most = need_int32("non_max_suppression", "max_output_size", max_output_size);
  if (most.shape().has_rank() && (most.rank() > 1 || (most.rank() == 1 && most.dim(0) > 1)))
    fail(Code::E1102, cat("non_max_suppression: `max_output_size` is ", type_text(most),
                          ", expected one number"));
  most = reshape(most, Sizes{});
  return suppression_op({cast(boxes.tensor(float32), float32),
                         cast(scores.tensor(float32), float32), most,
                         static_cast<float>(o.iou_threshold),
                         o.score_threshold ? static_cast<float>(*o.score_threshold)
                                           : -std::numeric_limits<float>::infinity()});
}

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
