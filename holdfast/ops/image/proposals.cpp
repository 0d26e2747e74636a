// Boxes that a network proposes: anchors, moved and stretched as it says.
#include <cmath>
#include <numeric>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/image.h"
#include "holdfast/ops/image/box.h"
#include "holdfast/ops/image/suppression.h"
#include "holdfast/ops/math.h"

namespace holdfast::image {
namespace {

struct ProposalAttrs {
  Attr<int64_t> post_nms_topn;
};

// No box gets larger than its anchor by more than this factor.
constexpr float kMostGrowth = 1000.f / 16.f;

void infer_proposals(Infer& s) {
  s.need_rank(0, 4, 4);
  s.need_rank(1, 4, 4);
  s.need_rank(2, 2, 2);
  s.need_rank(3, 3, 3);
  need_scalars(s, 4);
  Shape scores = s.shape(0).has_rank() ? s.shape(0) : Shape::of_rank(4);
  int64_t sides = scores[3] < 0 ? kUnknown : scores[3] * 4;
  if (!s.shape(1).compatible(Shape{scores[0], scores[1], scores[2], sides}))
    s.bad_shape(1, cat("four numbers for each of the scores of ", scores.text()));
  if (!s.shape(2).compatible(Shape{scores[0], 5})) s.bad_shape(2, "five numbers for each image");
  if (!s.shape(3).compatible(Shape{scores[1], scores[2], sides}))
    s.bad_shape(3, cat("four numbers for each of the anchors of ", scores.text()));
  int64_t most = s.attrs<ProposalAttrs>().post_nms_topn();
  if (most < 1) s.bad_value("post_nms_topn", cat(most), "1 or more");
  known_limit(s, 5, "pre_nms_topn", 1);
  s.output(float32, Shape{scores[0], most, 4});
  s.output(float32, Shape{scores[0], most});
}

// One side of a box: where it begins and ends.
struct Side {
  float begin, end;
};
Side moved(float begin, float end, float shift, float growth, float limit) {
  float size = end - begin, middle = begin + 0.5f * size + size * shift;
  float half = 0.5f * size * std::exp(std::min(growth, std::log(kMostGrowth)));
  auto inside = [&](float at) { return std::max(std::min(at, limit), 0.f); };
  return {inside(middle - half), inside(middle + half)};
}

Status run_proposals(Call& c) {
  const Tensor &scores = c.in(0), &deltas = c.in(1), &info = c.in(2), &anchors = c.in(3);
  float allowed = *c.in(4).raw<float>(), smallest = *c.in(6).raw<float>();
  if (Status bad = need_share(c, "nms_threshold", allowed); !bad.ok()) return bad;
  int64_t best = c.ints(5)[0], images = scores.dim(0),
          most = c.attrs<ProposalAttrs>().post_nms_topn(),
          places = images ? scores.size() / images : 0;
  if (best < 1)
    return {Code::E1103, cat(c.op.name, ": `pre_nms_topn` is ", best, ", expected 1 or more")};
  if (deltas.size() != scores.size() * 4 || info.size() != images * 5 ||
      (images && anchors.size() != places * 4))
    return {Code::E1102,
            cat(c.op.name, ": scores of ", scores.shape().text(), ", deltas of ",
                deltas.shape().text(), ", anchors of ", anchors.shape().text(),
                " and `image_info` of ", info.shape().text(), " don't belong together")};
  Tensor &rois = c.out(0, Shape{images, most, 4}), &found = c.out(1, Shape{images, most});
  std::fill_n(rois.mutable_raw<float>(), rois.size(), 0.f);
  std::fill_n(found.mutable_raw<float>(), found.size(), 0.f);
  parallel_for(images, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const float *score = scores.raw<float>() + i * places, *size = info.raw<float>() + i * 5;
      std::vector<int64_t> order(static_cast<size_t>(places));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return score[a] > score[b]; });
      order.resize(static_cast<size_t>(std::min(best, places)));
      std::vector<float> boxes, goodness;
      for (int64_t at : order) {
        const float *anchor = anchors.raw<float>() + at * 4,
                    *delta = deltas.raw<float>() + (i * places + at) * 4;
        Side y = moved(anchor[0], anchor[2], delta[0], delta[2], size[0]),
             x = moved(anchor[1], anchor[3], delta[1], delta[3], size[1]);
        if (!(std::min(y.end - y.begin, x.end - x.begin) >= smallest * size[2])) continue;
        boxes.insert(boxes.end(), {y.begin, x.begin, y.end, x.end});
        goodness.push_back(score[at]);
      }
      // They stand in the order in which they are to be chosen, whatever their scores.
      auto count = static_cast<int64_t>(goodness.size());
      auto chosen = choose(
          count, {.most = most, .least = -static_cast<float>(count) - 1, .allowed = allowed},
          [](int64_t k) { return -static_cast<float>(k); },
          [&](int32_t a, int32_t b) {
            return overlap(Box(&boxes[static_cast<size_t>(a) * 4]),
                           Box(&boxes[static_cast<size_t>(b) * 4]));
          });
      for (size_t k = 0; k < chosen.size(); ++k) {
        auto number = static_cast<size_t>(chosen[k].number);
        int64_t to = i * most + static_cast<int64_t>(k);
        std::copy_n(&boxes[number * 4], 4, rois.mutable_raw<float>() + to * 4);
        found.mutable_raw<float>()[to] = goodness[number];
      }
    }
  });
  return {};
}

const Op proposals_op =
    RAW_OP(GenerateBoundingBoxProposals)
        .doc("The best boxes that a network proposes, and their scores.")
        .inputs(
            "scores: T, bbox_deltas: T, image_info: T, anchors: T, nms_threshold: T, "
            "pre_nms_topn: I!, min_size: T")
        .outputs("rois, roi_probabilities")
        .dtypes(DTypes{float32}, "T")
        .dtypes(DTypes{int32}, "I")
        .attr("post_nms_topn", 300)
        .attrs<&ProposalAttrs::post_nms_topn>()
        .infer(infer_proposals)
        .kernel("reference", run_proposals)
        .on_host()
        .no_gradient();

}  // namespace

REGISTER(FUNCTION(&generate_bounding_box_proposals)
             .args("scores, bbox_deltas: D, image_info: I, anchors: A")
             .options<&BoxProposalOptions::nms_threshold, &BoxProposalOptions::pre_nms_topn,
                      &BoxProposalOptions::min_size, &BoxProposalOptions::post_nms_topn>(
                 "nms_threshold, pre_nms_topn, min_size, post_nms_topn")
             .python("image.generate_bounding_box_proposals")
             .returns("rois, roi_probabilities")
             .doc("The best boxes that a network proposes, and their scores: `anchors`, [height, "
                  "width, 4 * number], moved and stretched by `bbox_deltas`, cut off at the edges "
                  "of images. `image_info` has height, width and scale of each image among its "
                  "five numbers."));
std::tuple<Tensor, Tensor> generate_bounding_box_proposals(const In& scores, const In& bbox_deltas,
                                                           const In& image_info, const In& anchors,
                                                           const BoxProposalOptions& o) {
  Tensors out = proposals_op.many(
      {float_of_in(scores), float_of_in(bbox_deltas), float_of_in(image_info), float_of_in(anchors),
       float_of_in(o.nms_threshold),
       count_limit("generate_bounding_box_proposals", "pre_nms_topn", o.pre_nms_topn),
       float_of_in(o.min_size)},
      {o.post_nms_topn});
  return {out[0], out[1]};
}

}  // namespace holdfast::image
