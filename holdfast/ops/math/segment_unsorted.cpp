// Segments in any order; the caller says how many there are.
#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/segments.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

void infer_unsorted(Infer& s) {
  const Shape &data = s.shape(0), &ids = s.shape(1);
  s.need_rank(2, 0, 0);
  auto n = s.ints(2);
  if (n && n->size() != 1) s.bad_value("num_segments", Shape(*n).text(), "one number");
  if (n && (*n)[0] < 0) s.bad_value("num_segments", cat((*n)[0]), "0 or more");
  if (!data.has_rank() || !ids.has_rank()) return s.output(s.dtype(), Shape::unknown());
  bool begins = ids.rank() <= data.rank();
  for (int i = 0; begins && i < ids.rank(); ++i)
    begins = ids[i] < 0 || data[i] < 0 || ids[i] == data[i];
  if (!begins) s.bad_shape(1, cat("a shape that `data`'s ", data.text(), " begins with"));
  Dims out{n ? (*n)[0] : kUnknown};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data[i]);
  s.output(s.dtype(), Shape(out));
}

template <SegmentFold F>
Status run_unsorted(Call& c) {
  return fold_segments(c.op.name.c_str(), F, EmptySegment::kExtreme, c.in(0), c.in(1), c.out());
}

Sizes rows_of(const Tensor& out) {
  return out.shape().has_rank() && out.dim(0) >= 0 ? Sizes(out.dim(0))
                                                   : Sizes(gather(shape(out), 0));
}

Tensor fold_again(SegmentFold f, const Tensor& data, const Tensor& ids, const Tensor& out) {
  return f == SegmentFold::kProd ? unsorted_segment_prod(data, ids, rows_of(out))
                                 : unsorted_segment_sum(data, ids, rows_of(out));
}

template <Tensor (SegmentGradient::*Rule)(const Tensor&) const>
Tensors gradient(Grad& g) {
  SegmentGradient s{g.x(0), g.x(1), g.y(), fold_again};
  return {(s.*Rule)(g.dy()), Tensor(), Tensor()};
}

// Ids of 16 bits count as well as others.
Tensor wide(const In& ids) {
  Tensor t = ids;
  return t.defined() && t.dtype() == int16 ? cast(t, int32) : t;
}

// How many rows each segment has, at least 1, shaped to divide a result.
Tensor members(const Tensor& data, const Tensor& ids, const Sizes& n, DType dtype) {
  Tensor count =
      maximum(unsorted_segment_sum(cast(ones_like(ids), dtype), ids, n), Tensor::scalar(1, dtype));
  for (int i = ids.rank(); i < data.rank(); ++i) count = expand_dims(count, -1);
  return count;
}

}  // namespace

#define HOLDFAST_UNSORTED(Name, fn, path)                                           \
  OP(Name, &fn)                                                                     \
      .args("data, segment_ids: Tindices, num_segments")                            \
      .python("math." path)                                                         \
      .inputs("data, segment_ids: Tindices, num_segments: Tnumsegments!")           \
      .dtypes(kIndices, "Tindices")                                                 \
      .infer(infer_unsorted)                                                        \
      .samples("uniform(5), [2, 0, 2, -1, 0], 3", "uniform(4, 3), [1, 0, 1, 0], 2", \
               "uniform(2, 2, 3), [[0, 1], [1, 0]], 2")
#define HOLDFAST_UNSORTED_REFERENCE(f, empty)                                                 \
  "(lambda d, s: np.stack([" f "(d[s == i], axis=0) if i in s else np.full_like(d[0], " empty \
  ") for i in range(num_segments)]))"                                                         \
  "(data.reshape((-1,) + data.shape[np.ndim(segment_ids):]), np.ravel(segment_ids))"

static const Op sum_op =
    HOLDFAST_UNSORTED(UnsortedSegmentSum, unsorted_segment_sum, "unsorted_segment_sum")
        .dtypes(kNumbers)
        .doc(
            "Row `i` of the result is the sum of the rows of `data` whose segment id is `i`; "
            "negative ids drop rows.")
        .kernel("reference", run_unsorted<SegmentFold::kSum>)
        .gradient(gradient<&SegmentGradient::sum>)
        .keeps("segment_ids")
        .reference(HOLDFAST_UNSORTED_REFERENCE("np.sum", "0"));
Tensor unsorted_segment_sum(const In& data, const In& ids, const Sizes& n) {
  return sum_op({data, wide(ids), wide(n.tensor())});
}

static const Op prod_op =
    HOLDFAST_UNSORTED(UnsortedSegmentProd, unsorted_segment_prod, "unsorted_segment_prod")
        .dtypes(kNumbers)
        .doc(
            "Row `i` of the result is the product of the rows of `data` whose segment id is `i`, 1 "
            "if there is none.")
        .kernel("reference", run_unsorted<SegmentFold::kProd>)
        .gradient(gradient<&SegmentGradient::prod>)
        .keeps("data, segment_ids")
        .reference(HOLDFAST_UNSORTED_REFERENCE("np.prod", "1"));
Tensor unsorted_segment_prod(const In& data, const In& ids, const Sizes& n) {
  return prod_op({data, wide(ids), wide(n.tensor())});
}

#define HOLDFAST_LIMIT(end) "(np.finfo if data.dtype.kind == 'f' else np.iinfo)(data.dtype)." end
static const Op max_op =
    HOLDFAST_UNSORTED(UnsortedSegmentMax, unsorted_segment_max, "unsorted_segment_max")
        .dtypes(kReals)
        .doc(
            "Row `i` of the result is the largest of the rows of `data` whose segment id is `i`, "
            "the dtype's lowest if there is none.")
        .kernel("reference", run_unsorted<SegmentFold::kMax>)
        .gradient(gradient<&SegmentGradient::extreme>)
        .keeps("data, segment_ids, output")
        .reference(HOLDFAST_UNSORTED_REFERENCE("np.max", HOLDFAST_LIMIT("min")));
Tensor unsorted_segment_max(const In& data, const In& ids, const Sizes& n) {
  return max_op({data, wide(ids), wide(n.tensor())});
}

static const Op min_op =
    HOLDFAST_UNSORTED(UnsortedSegmentMin, unsorted_segment_min, "unsorted_segment_min")
        .dtypes(kReals)
        .doc(
            "Row `i` of the result is the smallest of the rows of `data` whose segment id is `i`, "
            "the dtype's highest if there is none.")
        .kernel("reference", run_unsorted<SegmentFold::kMin>)
        .gradient(gradient<&SegmentGradient::extreme>)
        .keeps("data, segment_ids, output")
        .reference(HOLDFAST_UNSORTED_REFERENCE("np.min", HOLDFAST_LIMIT("max")));
Tensor unsorted_segment_min(const In& data, const In& ids, const Sizes& n) {
  return min_op({data, wide(ids), wide(n.tensor())});
}

REGISTER(FUNCTION(&unsorted_segment_mean)
             .args("data, segment_ids: Tindices, num_segments")
             .python("math.unsorted_segment_mean")
             .doc("Row `i` of the result is the mean of the rows of `data` whose segment id is "
                  "`i`, 0 if there is none.")
             .samples("uniform(5), [2, 0, 2, -1, 0], 3", "uniform(4, 3), [1, 0, 1, 0], 2")
             .reference(HOLDFAST_UNSORTED_REFERENCE("np.mean", "0")));
static const Composition mean_later(
    "unsorted_segment_mean", 3,
    +[](std::span<const Tensor> in) { return unsorted_segment_mean(in[0], in[1], Sizes(in[2])); });
Tensor unsorted_segment_mean(const In& data, const In& segment_ids, const Sizes& n) {
  Tensor x = data, ids = wide(segment_ids);
  if (!ranks_known({x, ids})) return mean_later({x, ids, n.tensor()}, x.dtype(), Shape::unknown());
  return truediv(unsorted_segment_sum(x, ids, n), members(x, ids, n, x.dtype()));
}

REGISTER(FUNCTION(&unsorted_segment_sqrt_n)
             .args("data, segment_ids: Tindices, num_segments")
             .python("math.unsorted_segment_sqrt_n")
             .doc("Row `i` of the result is the sum of the rows of `data` whose segment id is `i`, "
                  "over the square root of their number.")
             .samples("uniform(5), [2, 0, 2, -1, 0], 3", "uniform(4, 3), [1, 0, 1, 0], 2")
             .reference(HOLDFAST_UNSORTED_REFERENCE(
                 "(lambda r, axis: np.sum(r, axis=axis) / np.sqrt(len(r)))", "0")));
static const Composition root_later(
    "unsorted_segment_sqrt_n", 3, +[](std::span<const Tensor> in) {
      return unsorted_segment_sqrt_n(in[0], in[1], Sizes(in[2]));
    });
Tensor unsorted_segment_sqrt_n(const In& data, const In& segment_ids, const Sizes& n) {
  Tensor x = data, ids = wide(segment_ids);
  if (!ranks_known({x, ids})) return root_later({x, ids, n.tensor()}, x.dtype(), Shape::unknown());
  return unsorted_segment_sum(x, ids, n) / sqrt(members(x, ids, n, x.dtype()));
}

}  // namespace holdfast
