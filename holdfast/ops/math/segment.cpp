// Segments whose ids never decrease: the number of segments follows from the last id.
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math/segments.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_segment(Infer& s) {
  s.need_rank(0, 1);
  s.need_rank(1, 1, 1);
  const Shape &data = s.shape(0), &ids = s.shape(1);
  if (!data.has_rank()) return s.output(s.dtype(), Shape::unknown());
  if (ids.has_rank() && ids[0] >= 0 && data[0] >= 0 && ids[0] != data[0])
    s.bad_shape(1, cat("one id for each of the ", data[0], " rows of `data`"));
  Shape out = data;
  out.dims()[0] = kUnknown;
  s.output(s.dtype(), out);
}

template <SegmentFold F>
Status run_segment(Call& c) {
  const Tensor &data = c.in(0), &ids = c.in(1);
  int64_t rows = 0;
  Status status;
  visit_indices(ids.dtype(), [&]<class I>(I) {
    const I* id = ids.raw<I>();
    for (int64_t i = 0, n = ids.size(); i < n && status.ok(); ++i) {
      if (id[i] < 0)
        status = {Code::E1103, cat(c.op.name, ": `segment_ids` holds ", id[i], " at position ", i,
                                   ", expected 0 or more")};
      else if (i && id[i] < id[i - 1])
        status = {Code::E1103,
                  cat(c.op.name, ": `segment_ids` decreases at position ", i, ", from ", id[i - 1],
                      " to ", id[i]),
                  "the ids of sorted segments never decrease; the unsorted_segment_ functions take "
                  "any order"};
      else if (id[i] == std::numeric_limits<I>::max())
        status = {Code::E1103, cat(c.op.name, ": `segment_ids` holds ", id[i],
                                   ", too large for a number of segments")};
      else
        rows = static_cast<int64_t>(id[i]) + 1;
    }
  });
  if (!status.ok()) return status;
  Shape out = data.shape();
  out.dims()[0] = rows;
  if (!out.elements())
    return {Code::E1102, cat(c.op.name, ": a result of shape ", out.text(), " is too large")};
  return fold_segments(c.op.name.c_str(), F, EmptySegment::kZero, data, ids, c.out(0, out));
}

Tensor fold_again(SegmentFold f, const Tensor& data, const Tensor& ids, const Tensor&) {
  return f == SegmentFold::kProd ? segment_prod(data, ids) : segment_sum(data, ids);
}

template <Tensor (SegmentGradient::*Rule)(const Tensor&) const>
Tensors gradient(Grad& g) {
  SegmentGradient s{g.x(0), g.x(1), g.y(), fold_again};
  return {(s.*Rule)(g.dy()), Tensor()};
}

}  // namespace

#define HOLDFAST_SEGMENT(Name, fn, path)   \
  OP(Name, &fn)                            \
      .args("data, segment_ids: Tindices") \
      .python("math." path)                \
      .dtypes(kIndices, "Tindices")        \
      .infer(infer_segment)                \
      .samples("uniform(5), [0, 0, 1, 1, 1]", "uniform(4, 3), [0, 0, 2, 2]")
#define HOLDFAST_SEGMENT_REFERENCE(f, empty)                               \
  "np.stack([" f                                                           \
  "(data[np.asarray(segment_ids) == i], axis=0) if i in segment_ids else " \
  "np.full_like(data[0], " empty                                           \
  ") "                                                                     \
  "for i in range(segment_ids[-1] + 1)])"

static const Op sum_op = HOLDFAST_SEGMENT(SegmentSum, segment_sum, "segment_sum")
                             .dtypes(kNumbers)
                             .kernel("reference", run_segment<SegmentFold::kSum>)
                             .doc(
                                 "Sum of the rows of each segment; ids never decrease, segments "
                                 "that do not occur are 0.")
                             .gradient(gradient<&SegmentGradient::sum>)
                             .keeps("segment_ids")
                             .reference(HOLDFAST_SEGMENT_REFERENCE("np.sum", "0"));
Tensor segment_sum(const In& data, const In& ids) { return sum_op({data, ids}); }

static const Op mean_op = HOLDFAST_SEGMENT(SegmentMean, segment_mean, "segment_mean")
                              .dtypes(kNumbers)
                              .kernel("reference", run_segment<SegmentFold::kMean>)
                              .doc(
                                  "Mean of the rows of each segment; ids never decrease, segments "
                                  "that do not occur are 0.")
                              .gradient(gradient<&SegmentGradient::mean>)
                              .keeps("segment_ids")
                              .reference(HOLDFAST_SEGMENT_REFERENCE("np.mean", "0"));
Tensor segment_mean(const In& data, const In& ids) { return mean_op({data, ids}); }

static const Op prod_op = HOLDFAST_SEGMENT(SegmentProd, segment_prod, "segment_prod")
                              .dtypes(kNumbers)
                              .kernel("reference", run_segment<SegmentFold::kProd>)
                              .doc(
                                  "Product of the rows of each segment; ids never decrease, "
                                  "segments that do not occur are 1.")
                              .gradient(gradient<&SegmentGradient::prod>)
                              .keeps("data, segment_ids")
                              .reference(HOLDFAST_SEGMENT_REFERENCE("np.prod", "1"));
Tensor segment_prod(const In& data, const In& ids) { return prod_op({data, ids}); }

static const Op max_op = HOLDFAST_SEGMENT(SegmentMax, segment_max, "segment_max")
                             .dtypes(kReals)
                             .kernel("reference", run_segment<SegmentFold::kMax>)
                             .doc(
                                 "Largest of the rows of each segment; ids never decrease, "
                                 "segments that do not occur are 0.")
                             .gradient(gradient<&SegmentGradient::extreme>)
                             .reference(HOLDFAST_SEGMENT_REFERENCE("np.max", "0"));
Tensor segment_max(const In& data, const In& ids) { return max_op({data, ids}); }

static const Op min_op = HOLDFAST_SEGMENT(SegmentMin, segment_min, "segment_min")
                             .dtypes(kReals)
                             .kernel("reference", run_segment<SegmentFold::kMin>)
                             .doc(
                                 "Smallest of the rows of each segment; ids never decrease, "
                                 "segments that do not occur are 0.")
                             .gradient(gradient<&SegmentGradient::extreme>)
                             .reference(HOLDFAST_SEGMENT_REFERENCE("np.min", "0"));
Tensor segment_min(const In& data, const In& ids) { return min_op({data, ids}); }

}  // namespace holdfast
