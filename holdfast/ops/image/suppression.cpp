// Which boxes to keep where several are around the same thing: the best.
#include "holdfast/ops/image/suppression.h"

#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/box.h"
#include "holdfast/ops/image/need.h"
#include "holdfast/ops/math.h"

namespace holdfast::image {

void need_scalars(const Infer& s, int from) {
  for (int i = from; i < s.inputs(); ++i) s.need_rank(i, 0, 0);
}

int64_t known_limit(const Infer& s, int i, const char* argument, int64_t least) {
  auto found = s.ints(i);
  if (!found) return kUnknown;
  if ((*found)[0] < least) s.bad_value(argument, cat((*found)[0]), cat(least, " or more"));
  return (*found)[0];
}

Status need_share(const Call& c, const char* argument, float share) {
  if (share >= 0 && share <= 1) return {};
  return {Code::E1103,
          cat(c.op.name, ": `", argument, "` is ", share, ", expected a number from 0 to 1")};
}

Tensor float_of_in(const In& x) { return cast(x.tensor(float32), float32); }

Tensor score_limit(const MaybeIn& given) {
  return given ? float_of_in(*given) : Tensor::scalar(-std::numeric_limits<float>::infinity());
}

Tensor count_limit(const char* function, const char* argument, const Sizes& given) {
  Tensor most = need_int32(function, argument, given);
  if (most.shape().has_rank() && (most.rank() > 1 || (most.rank() == 1 && most.dim(0) != 1)))
    fail(Code::E1102,
         cat(function, ": `", argument, "` is ", type_text(most), ", expected one number"));
  return reshape(most, Sizes{});
}

namespace {

struct PadAttrs {
  Attr<bool> pad_to_max_output_size;
};

void need_boxes(const Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  const Shape &boxes = s.shape(0), &scores = s.shape(1);
  if (boxes.has_rank() && boxes[1] >= 0 && boxes[1] != 4) s.bad_shape(0, "[boxes, 4]");
  if (boxes.has_rank() && scores.has_rank() && boxes[0] >= 0 && scores[0] >= 0 &&
      boxes[0] != scores[0])
    s.bad_shape(1, cat("a score for each of ", boxes[0], " boxes"));
}

// Limits as the inputs from 2 on say them.
Limits limits_of(Call& c) {
  Limits found{.most = std::max<int64_t>(c.ints(2)[0], 0),
               .least = *c.in(4).raw<float>(),
               .allowed = *c.in(3).raw<float>()};
  if (c.has(5)) found.sigma = *c.in(5).raw<float>();
  return found;
}

Status check_boxes(Call& c, const Limits& limits) {
  if (Status bad = need_share(c, "iou_threshold", limits.allowed); !bad.ok()) return bad;
  if (!(limits.sigma >= 0))
    return {Code::E1103,
            cat(c.op.name, ": `soft_nms_sigma` is ", limits.sigma, ", expected 0 or more")};
  if (c.in(0).dim(0) != c.in(1).dim(0))
    return {Code::E1102, cat(c.op.name, ": ", c.in(0).dim(0), " boxes and ", c.in(1).dim(0),
                             " scores, expected as many")};
  return {};
}

std::vector<Choice> chosen_boxes(Call& c, const Limits& limits) {
  const auto *boxes = c.in(0).raw<float>(), *scores = c.in(1).raw<float>();
  return choose(
      c.in(1).size(), limits, [&](int64_t i) { return scores[i]; },
      [&](int32_t i, int32_t k) { return overlap(Box(boxes + i * 4), Box(boxes + k * 4)); });
}

// Numbers of what was chosen, and zeros up to `length`.
void write_numbers(const std::vector<Choice>& chosen, int64_t length, Tensor& out) {
  auto* to = out.mutable_raw<int32_t>();
  std::fill_n(to, length, 0);
  std::transform(chosen.begin(), chosen.end(), to, [](const Choice& each) { return each.number; });
}

// -- one image: the numbers alone

void infer_suppression(Infer& s) {
  need_boxes(s);
  need_scalars(s, 2);
  known_limit(s, 2, "max_output_size", 0);
  s.output(int32, Shape{kUnknown});
}

Status run_suppression(Call& c) {
  Limits limits = limits_of(c);
  if (Status bad = check_boxes(c, limits); !bad.ok()) return bad;
  auto chosen = chosen_boxes(c, limits);
  auto count = static_cast<int64_t>(chosen.size());
  write_numbers(chosen, count, c.out(0, Shape{count}));
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

// -- with scores, and their number

Shape padded(const Infer& s, bool to_the_limit) {
  int64_t most = known_limit(s, 2, "max_output_size", 0);
  return Shape{to_the_limit ? most : kUnknown};
}

void infer_counted(Infer& s) {
  need_boxes(s);
  need_scalars(s, 2);
  s.output(int32, padded(s, s.attrs<PadAttrs>().pad_to_max_output_size()));
  s.output(int32, Shape{});
}

void infer_scored(Infer& s) {
  need_boxes(s);
  need_scalars(s, 2);
  Shape chosen = padded(s, s.attrs<PadAttrs>().pad_to_max_output_size());
  s.output(int32, chosen);
  s.output(float32, chosen);
  s.output(int32, Shape{});
}

Status run_counted(Call& c) {
  Limits limits = limits_of(c);
  if (Status bad = check_boxes(c, limits); !bad.ok()) return bad;
  auto chosen = chosen_boxes(c, limits);
  auto count = static_cast<int64_t>(chosen.size());
  int64_t length = c.attrs<PadAttrs>().pad_to_max_output_size() ? limits.most : count;
  write_numbers(chosen, length, c.out(0, Shape{length}));
  int last = c.outputs() - 1;
  if (last == 2) {
    auto* scores = c.out(1, Shape{length}).mutable_raw<float>();
    std::fill_n(scores, length, 0.f);
    std::transform(chosen.begin(), chosen.end(), scores, [](const Choice& k) { return k.score; });
  }
  *c.out(last, Shape{}).mutable_raw<int32_t>() = static_cast<int32_t>(count);
  return {};
}

const Op counted_op =
    RAW_OP(NonMaxSuppressionV4)
        .doc(
            "The numbers of boxes that overlap no better one by more than a threshold, and how "
            "many they are.")
        .inputs("boxes: T, scores: T, max_output_size: I!, iou_threshold: F, score_threshold: F")
        .outputs("selected_indices, valid_outputs")
        .dtypes(DTypes{float32}, "T")
        .dtypes(DTypes{int32}, "I")
        .dtypes(DTypes{float32}, "F")
        .attr("pad_to_max_output_size", false)
        .attrs<&PadAttrs::pad_to_max_output_size>()
        .infer(infer_counted)
        .kernel("reference", run_counted)
        .on_host()
        .no_gradient();

const Op scored_op =
    RAW_OP(NonMaxSuppressionV5)
        .doc(
            "The numbers of the best boxes, their scores and how many they are. Where "
            "`soft_nms_sigma` is above 0, overlaps lower scores and forbid nothing.")
        .inputs(
            "boxes: T, scores: T, max_output_size: I!, iou_threshold: T, score_threshold: T, "
            "soft_nms_sigma: T")
        .outputs("selected_indices, selected_scores, valid_outputs")
        .dtypes(DTypes{float32}, "T")
        .dtypes(DTypes{int32}, "I")
        .attr("pad_to_max_output_size", false)
        .attrs<&PadAttrs::pad_to_max_output_size>()
        .infer(infer_scored)
        .kernel("reference", run_counted)
        .on_host()
        .no_gradient();

// -- overlaps that the program worked out

void infer_overlaps(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  need_scalars(s, 2);
  const Shape &overlaps = s.shape(0), &scores = s.shape(1);
  if (overlaps.has_rank() && overlaps[0] >= 0 && overlaps[1] >= 0 && overlaps[0] != overlaps[1])
    s.bad_shape(0, "as many columns as rows");
  if (overlaps.has_rank() && scores.has_rank() && overlaps[0] >= 0 && scores[0] >= 0 &&
      overlaps[0] != scores[0])
    s.bad_shape(1, cat("a score for each of ", overlaps[0], " boxes"));
  known_limit(s, 2, "max_output_size", 0);
  s.output(int32, Shape{kUnknown});
}

Status run_overlaps(Call& c) {
  Limits limits = limits_of(c);
  int64_t n = c.in(1).size();
  if (c.in(0).dim(0) != n || c.in(0).dim(1) != n)
    return {Code::E1102, cat(c.op.name, ": overlaps of ", c.in(0).shape().text(), " and ", n,
                             " scores don't belong together")};
  const auto *overlaps = c.in(0).raw<float>(), *scores = c.in(1).raw<float>();
  auto chosen = choose(
      n, limits, [&](int64_t i) { return scores[i]; },
      [&](int32_t i, int32_t k) { return overlaps[i * n + k]; });
  auto count = static_cast<int64_t>(chosen.size());
  write_numbers(chosen, count, c.out(0, Shape{count}));
  return {};
}

const Op overlaps_op =
    RAW_OP(NonMaxSuppressionWithOverlaps)
        .doc(
            "The numbers of boxes that overlap no better one by more than a threshold, where "
            "`overlaps` says how much each two do.")
        .inputs(
            "overlaps: T, scores: T, max_output_size: I!, overlap_threshold: T, "
            "score_threshold: T")
        .outputs("selected_indices")
        .dtypes(DTypes{float32}, "T")
        .dtypes(DTypes{int32}, "I")
        .infer(infer_overlaps)
        .kernel("reference", run_overlaps)
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
  return suppression_op({float_of_in(boxes), float_of_in(scores),
                         count_limit("non_max_suppression", "max_output_size", max_output_size),
                         float_of_in(o.iou_threshold), score_limit(o.score_threshold)});
}

REGISTER(
    FUNCTION(&non_max_suppression_with_scores)
        .args("boxes, scores: S, max_output_size")
        .options<&NonMaxSuppressionWithScoresOptions::iou_threshold,
                 &NonMaxSuppressionWithScoresOptions::score_threshold,
                 &NonMaxSuppressionWithScoresOptions::soft_nms_sigma>(
            "iou_threshold, score_threshold, soft_nms_sigma")
        .python("image.non_max_suppression_with_scores")
        .returns("selected_indices, selected_scores")
        .doc("The numbers of the best boxes, and their scores. Where `soft_nms_sigma` is above "
             "0, an overlap lowers the score of the worse box and forbids nothing."));
std::tuple<Tensor, Tensor> non_max_suppression_with_scores(
    const In& boxes, const In& scores, const Sizes& max_output_size,
    const NonMaxSuppressionWithScoresOptions& o) {
  Tensor given = scores.tensor(float32);
  Tensors out = scored_op.many(
      {float_of_in(boxes), cast(given, float32),
       count_limit("non_max_suppression_with_scores", "max_output_size", max_output_size),
       float_of_in(o.iou_threshold), score_limit(o.score_threshold),
       float_of_in(o.soft_nms_sigma)});
  return {out[0], cast(out[1], given.dtype())};
}

REGISTER(FUNCTION(&non_max_suppression_overlaps)
             .args("overlaps, scores: S, max_output_size")
             .options<&NonMaxSuppressionOverlapsOptions::overlap_threshold,
                      &NonMaxSuppressionOverlapsOptions::score_threshold>(
                 "overlap_threshold, score_threshold")
             .python("image.non_max_suppression_overlaps")
             .doc("The numbers of boxes that overlap no better one by more than a threshold, where "
                  "`overlaps[i, k]` says how much boxes `i` and `k` do."));
Tensor non_max_suppression_overlaps(const In& overlaps, const In& scores,
                                    const Sizes& max_output_size,
                                    const NonMaxSuppressionOverlapsOptions& o) {
  return overlaps_op(
      {float_of_in(overlaps), float_of_in(scores),
       count_limit("non_max_suppression_overlaps", "max_output_size", max_output_size),
       float_of_in(o.overlap_threshold), score_limit(o.score_threshold)});
}

}  // namespace holdfast::image
