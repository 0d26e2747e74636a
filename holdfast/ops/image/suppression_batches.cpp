// Which boxes to keep in each image of a batch, and of several classes.
#include <limits>
#include <numeric>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/box.h"
#include "holdfast/ops/image/suppression.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::image {
namespace {

struct SortedAttrs {
  Attr<bool> sorted_input;
  Attr<bool> canonicalized_coordinates;
};
struct CombinedAttrs {
  Attr<bool> pad_per_class;
  Attr<bool> clip_boxes;
};

// -- batches

// Batches of TensorFlow's padded variant, whose rules are a little different: a box goes out where
// it overlaps a chosen one by the threshold or more, the first box of all says which corners are
// the smaller ones, and a box without a coordinate above zero is none.
void infer_batches(Infer& s) {
  s.need_rank(0, 2, -1);
  s.need_rank(1, 1, -1);
  need_scalars(s, 2);
  const Shape &boxes = s.shape(0), &scores = s.shape(1);
  if (boxes.has_rank() && boxes[boxes.rank() - 1] >= 0 && boxes[boxes.rank() - 1] != 4)
    s.bad_shape(0, "[..., boxes, 4]");
  int64_t most = known_limit(s, 2, "max_output_size", 0);
  if (!boxes.has_rank()) {
    s.output(int32, Shape::unknown());
    s.output(int32, Shape::unknown());
    return;
  }
  Dims rows(boxes.dims().begin(), boxes.dims().end() - 1);
  if (!scores.compatible(Shape(rows)))
    s.bad_shape(1, cat("a score for each box, ", Shape(rows).text()));
  rows.back() = most;
  s.output(int32, Shape(rows));
  s.output(int32, Shape(Dims(rows.begin(), rows.end() - 1)));
}

struct Batch {
  int64_t boxes;
  float allowed, least;
  bool sorted, ordered;
  bool keeps(float score) const {
    return least == -std::numeric_limits<float>::infinity() || score > least;
  }
};

// Chooses in one image; answers how many there are.
int32_t choose_in_image(const Batch& batch, const float* given, const float* scores, bool turned_y,
                        bool turned_x, int64_t most, int32_t* out) {
  auto n = static_cast<size_t>(batch.boxes);
  std::vector<int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  if (!batch.sorted)
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  struct Corners {
    float top, left, bottom, right;
    float area() const { return (bottom - top) * (right - left); }
  };
  auto corners = [&](int32_t i) {
    const float* at = given + int64_t{i} * 4;
    Corners c{at[0], at[1], at[2], at[3]};
    if (turned_y) std::swap(c.top, c.bottom);
    if (turned_x) std::swap(c.left, c.right);
    return c;
  };
  std::vector<Corners> chosen;
  for (int32_t i : order) {
    if (static_cast<int64_t>(chosen.size()) >= most) break;
    if (!batch.keeps(scores[i])) continue;
    Corners box = corners(i);
    if (!(box.top > 0 || box.left > 0 || box.bottom > 0 || box.right > 0)) continue;
    bool free = std::none_of(chosen.begin(), chosen.end(), [&](const Corners& k) {
      float height = std::max(std::min(box.bottom, k.bottom) - std::max(box.top, k.top), 0.f);
      float width = std::max(std::min(box.right, k.right) - std::max(box.left, k.left), 0.f);
      float shared = height * width;
      float share = shared / (box.area() + k.area() - shared + 1e-8f);
      return share > 0 && share >= batch.allowed;
    });
    if (!free) continue;
    out[chosen.size()] = i;
    chosen.push_back(box);
  }
  return static_cast<int32_t>(chosen.size());
}

Status run_batches(Call& c) {
  auto a = c.attrs<SortedAttrs>();
  const Tensor &boxes = c.in(0), &scores = c.in(1);
  int64_t n = boxes.dim(-2), most = std::max<int64_t>(c.ints(2)[0], 0);
  Dims rows(boxes.shape().dims().begin(), boxes.shape().dims().end() - 1);
  if (boxes.dim(-1) != 4 || scores.shape() != Shape(rows))
    return {Code::E1102, cat(c.op.name, ": boxes of ", boxes.shape().text(), " and scores of ",
                             scores.shape().text(), " don't belong together")};
  Batch batch{.boxes = n,
              .allowed = *c.in(3).raw<float>(),
              .least = *c.in(4).raw<float>(),
              .sorted = a.sorted_input(),
              .ordered = a.canonicalized_coordinates()};
  const auto *box = boxes.raw<float>(), *score = scores.raw<float>();
  bool looked = !batch.ordered && scores.size() > 0 && batch.keeps(score[0]);
  bool turned_y = looked && box[0] > box[2], turned_x = looked && box[1] > box[3];
  Dims lists(rows);
  lists.back() = most;
  Tensor &numbers = c.out(0, Shape(lists)),
         &counts = c.out(1, Shape(Dims(rows.begin(), rows.end() - 1)));
  auto* to = numbers.mutable_raw<int32_t>();
  auto* count = counts.mutable_raw<int32_t>();
  std::fill_n(to, numbers.size(), 0);
  parallel_for(counts.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      count[i] = choose_in_image(batch, box + i * n * 4, score + i * n, turned_y, turned_x, most,
                                 to + i * most);
  });
  return {};
}

const Op batches_op =
    RAW_OP(NonMaxSuppressionBatches)
        .doc(
            "The numbers of boxes that overlap no better one of their image by a threshold, zeros "
            "behind them, and how many they are.")
        .inputs("boxes: T, scores: T, max_output_size: I!, iou_threshold: T, score_threshold: T")
        .outputs("selected_indices, valid_outputs")
        .dtypes(DTypes{float32}, "T")
        .dtypes(DTypes{int32}, "I")
        .attr("sorted_input", false)
        .attr("canonicalized_coordinates", false)
        .attrs<&SortedAttrs::sorted_input, &SortedAttrs::canonicalized_coordinates>()
        .infer(infer_batches)
        .kernel("reference", run_batches)
        .on_host()
        .no_gradient();

// -- batches, and classes

// How many boxes an image has room for.
int64_t room(int64_t total, int64_t per_class, int64_t classes, bool pad_per_class) {
  if (!pad_per_class) return total;
  if (total < 0 || per_class < 0 || classes < 0) return kUnknown;
  return classes == 0 || per_class <= total / classes ? std::min(total, per_class * classes)
                                                      : total;
}

void infer_combined(Infer& s) {
  s.need_rank(0, 4, 4);
  s.need_rank(1, 3, 3);
  need_scalars(s, 2);
  Shape boxes = s.shape(0), scores = s.shape(1);
  if (!boxes.has_rank()) boxes = Shape::of_rank(4);
  if (!scores.has_rank()) scores = Shape::of_rank(3);
  if (boxes[3] >= 0 && boxes[3] != 4) s.bad_shape(0, "[batch, boxes, classes or 1, 4]");
  if (!boxes.compatible(Shape{scores[0], scores[1], kUnknown, 4}))
    s.bad_shape(1, cat("[batch, boxes, classes] of boxes of ", boxes.text()));
  if (boxes[2] >= 0 && boxes[2] != 1 && scores[2] >= 0 && boxes[2] != scores[2])
    s.bad_shape(0, cat("1 or ", scores[2], " on the third axis, one for each class"));
  int64_t per_class = known_limit(s, 2, "max_output_size_per_class", 1),
          total = known_limit(s, 3, "max_total_size", 1),
          batch = boxes[0] >= 0 ? boxes[0] : scores[0];
  int64_t most = room(total, per_class, scores[2], s.attrs<CombinedAttrs>().pad_per_class());
  s.output(float32, Shape{batch, most, 4});
  s.output(float32, Shape{batch, most});
  s.output(float32, Shape{batch, most});
  s.output(int32, Shape{batch});
}

Status run_combined(Call& c) {
  auto a = c.attrs<CombinedAttrs>();
  const Tensor &boxes = c.in(0), &scores = c.in(1);
  int64_t batch = boxes.dim(0), n = boxes.dim(1), kinds = boxes.dim(2), classes = scores.dim(2),
          per_class = c.ints(2)[0], total = c.ints(3)[0];
  if (scores.dim(0) != batch || scores.dim(1) != n || boxes.dim(3) != 4 ||
      (kinds != 1 && kinds != classes))
    return {Code::E1102, cat(c.op.name, ": boxes of ", boxes.shape().text(), " and scores of ",
                             scores.shape().text(), " don't belong together")};
  if (per_class < 1 || total < 1)
    return {Code::E1103, cat(c.op.name, ": `max_output_size_per_class` is ", per_class,
                             " and `max_total_size` ", total, ", expected 1 or more")};
  Limits limits{
      .most = per_class, .least = *c.in(5).raw<float>(), .allowed = *c.in(4).raw<float>()};
  if (Status bad = need_share(c, "iou_threshold", limits.allowed); !bad.ok()) return bad;
  int64_t most = room(total, per_class, classes, a.pad_per_class());
  auto* out_boxes = c.out(0, Shape{batch, most, 4}).mutable_raw<float>();
  auto* out_scores = c.out(1, Shape{batch, most}).mutable_raw<float>();
  auto* out_classes = c.out(2, Shape{batch, most}).mutable_raw<float>();
  auto* counts = c.out(3, Shape{batch}).mutable_raw<int32_t>();
  std::fill_n(out_boxes, batch * most * 4, 0.f);
  std::fill_n(out_scores, batch * most, 0.f);
  std::fill_n(out_classes, batch * most, 0.f);
  bool clip = a.clip_boxes();
  parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    struct Found {
      Choice choice;
      int64_t of;  // its class
    };
    for (int64_t i = begin; i < end; ++i) {
      const float *box = boxes.raw<float>() + i * n * kinds * 4,
                  *score = scores.raw<float>() + i * n * classes;
      std::vector<Found> found;
      for (int64_t k = 0; k < classes; ++k) {
        auto at = [&](int64_t number) { return box + (number * kinds + (kinds > 1 ? k : 0)) * 4; };
        for (const Choice& each : choose(
                 n, limits, [&](int64_t number) { return score[number * classes + k]; },
                 [&](int32_t x, int32_t y) { return overlap(Box(at(x)), Box(at(y))); }))
          found.push_back({each, k});
      }
      std::stable_sort(found.begin(), found.end(), [](const Found& x, const Found& y) {
        return x.choice.score > y.choice.score;
      });
      int64_t count = std::min<int64_t>(most, static_cast<int64_t>(found.size()));
      counts[i] = static_cast<int32_t>(count);
      for (int64_t j = 0; j < count; ++j) {
        const Found& each = found[static_cast<size_t>(j)];
        const float* from = box + (each.choice.number * kinds + (kinds > 1 ? each.of : 0)) * 4;
        for (int64_t m = 0; m < 4; ++m)
          out_boxes[(i * most + j) * 4 + m] =
              clip ? std::max(std::min(from[m], 1.f), 0.f) : from[m];
        out_scores[i * most + j] = each.choice.score;
        out_classes[i * most + j] = static_cast<float>(each.of);
      }
    }
  });
  return {};
}

const Op combined_op =
    RAW_OP(CombinedNonMaxSuppression)
        .doc(
            "The best boxes of each image, among those that overlap no better one of their class "
            "by more than a threshold.")
        .inputs(
            "boxes: T, scores: T, max_output_size_per_class: I!, max_total_size: I!, "
            "iou_threshold: T, score_threshold: T")
        .outputs("nmsed_boxes, nmsed_scores, nmsed_classes, valid_detections")
        .dtypes(DTypes{float32}, "T")
        .dtypes(DTypes{int32}, "I")
        .attr("pad_per_class", false)
        .attr("clip_boxes", true)
        .attrs<&CombinedAttrs::pad_per_class, &CombinedAttrs::clip_boxes>()
        .infer(infer_combined)
        .kernel("reference", run_combined)
        .on_host()
        .no_gradient();

}  // namespace

REGISTER(FUNCTION(&non_max_suppression_padded)
             .args("boxes, scores: S, max_output_size")
             .options<&NonMaxSuppressionPaddedOptions::iou_threshold,
                      &NonMaxSuppressionPaddedOptions::score_threshold,
                      &NonMaxSuppressionPaddedOptions::pad_to_max_output_size,
                      &NonMaxSuppressionPaddedOptions::sorted_input,
                      &NonMaxSuppressionPaddedOptions::canonicalized_coordinates,
                      &NonMaxSuppressionPaddedOptions::tile_size>(
                 "iou_threshold, score_threshold, pad_to_max_output_size, sorted_input, "
                 "canonicalized_coordinates, tile_size")
             .python("image.non_max_suppression_padded")
             .returns("selected_indices, num_valid")
             .doc("The numbers of the best boxes of each image, and how many they are: zeros fill "
                  "them up to `max_output_size` where `pad_to_max_output_size` is set, as batches "
                  "need it. Results do not depend on `tile_size`."));
std::tuple<Tensor, Tensor> non_max_suppression_padded(const In& boxes, const In& scores,
                                                      const Sizes& max_output_size,
                                                      const NonMaxSuppressionPaddedOptions& o) {
  const char* name = "non_max_suppression_padded";
  if (o.tile_size < 1)
    fail(Code::E1103, cat(name, ": `tile_size` is ", o.tile_size, ", expected 1 or more"));
  Tensor x = float_of_in(boxes);
  if (!o.pad_to_max_output_size && x.shape().has_rank() && x.rank() > 2)
    fail(Code::E1103, cat(name, ": `pad_to_max_output_size` is false and `boxes` ", type_text(x)),
         "images of a batch have different numbers of boxes, which one tensor holds only padded",
         {manual_fix("set `pad_to_max_output_size`")});
  Tensors out = batches_op.many(
      {x, float_of_in(scores), count_limit(name, "max_output_size", max_output_size),
       float_of_in(o.iou_threshold), score_limit(o.score_threshold)},
      {o.sorted_input, o.canonicalized_coordinates});
  if (o.pad_to_max_output_size) return {out[0], out[1]};
  return {slice(out[0], {0}, reshape(out[1], {1})), out[1]};
}

REGISTER(FUNCTION(&combined_non_max_suppression)
             .args("boxes, scores: S, max_output_size_per_class, max_total_size")
             .options<&CombinedSuppressionOptions::iou_threshold,
                      &CombinedSuppressionOptions::score_threshold,
                      &CombinedSuppressionOptions::pad_per_class,
                      &CombinedSuppressionOptions::clip_boxes>(
                 "iou_threshold, score_threshold, pad_per_class, clip_boxes")
             .python("image.combined_non_max_suppression")
             .returns("nmsed_boxes, nmsed_scores, nmsed_classes, valid_detections")
             .doc("The best boxes of each image with scores, classes and how many they are: those "
                  "that overlap no better one of their class by more than a threshold. `boxes` is "
                  "[batch, boxes, classes or 1, 4], `scores` [batch, boxes, classes]."));
std::tuple<Tensor, Tensor, Tensor, Tensor> combined_non_max_suppression(
    const In& boxes, const In& scores, const Sizes& max_output_size_per_class,
    const Sizes& max_total_size, const CombinedSuppressionOptions& o) {
  const char* name = "combined_non_max_suppression";
  Tensors out =
      combined_op.many({float_of_in(boxes), float_of_in(scores),
                        count_limit(name, "max_output_size_per_class", max_output_size_per_class),
                        count_limit(name, "max_total_size", max_total_size),
                        float_of_in(o.iou_threshold), score_limit(o.score_threshold)},
                       {o.pad_per_class, o.clip_boxes});
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace holdfast::image
