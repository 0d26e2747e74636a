// Segments of rows that are named by number: rows are gathered, and then folded.
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

// Only the rows that `indices` names have a gradient; where it shall have all rows, it goes through
// an op of all rows.
Tensor rows_of(const In& data, const In& indices, const SparseSegmentOptions& o) {
  Tensor t = data;
  return gather(o.sparse_gradient ? t : identity(t), indices);
}

// How many rows each segment has, in the shape of a result, at least 1.
Tensor counts_for(const Tensor& sums, const Tensor& ids, const Axes& segments) {
  Tensor ones = cast(ones_like(ids), sums.dtype());
  Tensor n = segments ? unsorted_segment_sum(ones, ids, *segments) : segment_sum(ones, ids);
  Tensor rest = ones_like(slice(shape(sums), {1}, {-1}));
  return reshape(maximum(n, 1), Sizes(concat({shape(n), rest}, 0)));
}

}  // namespace

#define HOLDFAST_SPARSE_SEGMENT(fn, name, old)                                               \
  FUNCTION(&fn)                                                                              \
      .args("data, indices: I, segment_ids: S")                                              \
      .options<&SparseSegmentOptions::num_segments, &SparseSegmentOptions::sparse_gradient>( \
          "num_segments, sparse_gradient")                                                   \
      .python("sparse." name ", compat.v1." old)                                             \
      .samples("uniform(4, 3), [0, 2, 3, 0], [0, 0, 1, 2]",                                  \
               "uniform(4, 3), [1, 1, 3], [0, 2, 2], num_segments=4")

REGISTER(HOLDFAST_SPARSE_SEGMENT(sparse_segment_sum, "segment_sum", "sparse_segment_sum")
             .doc("Sums of rows named by number, one for each segment; ids never decrease.")
             .reference("np.stack([sum((data[r] for r, k in zip(indices, segment_ids) if k == i), "
                        "np.zeros_like(data[0])) for i in range(num_segments or "
                        "max(segment_ids) + 1)])"));
Tensor sparse_segment_sum(const In& data, const In& indices, const In& segment_ids,
                          const SparseSegmentOptions& o) {
  Tensor rows = rows_of(data, indices, o), ids = segment_ids;
  return o.num_segments ? unsorted_segment_sum(rows, ids, *o.num_segments) : segment_sum(rows, ids);
}

REGISTER(HOLDFAST_SPARSE_SEGMENT(sparse_segment_mean, "segment_mean", "sparse_segment_mean")
             .doc("Means of rows named by number, one for each segment; ids never decrease.")
             .reference("np.stack([sum((data[r] for r, k in zip(indices, segment_ids) if k == i), "
                        "np.zeros_like(data[0])) / max(1, list(segment_ids).count(i)) for i in "
                        "range(num_segments or max(segment_ids) + 1)])"));
Tensor sparse_segment_mean(const In& data, const In& indices, const In& segment_ids,
                           const SparseSegmentOptions& o) {
  Tensor ids = segment_ids, sums = sparse_segment_sum(data, indices, ids, o);
  return sums / counts_for(sums, ids, o.num_segments);
}

REGISTER(HOLDFAST_SPARSE_SEGMENT(sparse_segment_sqrt_n, "segment_sqrt_n", "sparse_segment_sqrt_n")
             .doc("Sums of rows named by number over the square root of how many they are, one for "
                  "each segment; ids never decrease.")
             .reference("np.stack([sum((data[r] for r, k in zip(indices, segment_ids) if k == i), "
                        "np.zeros_like(data[0])) / np.sqrt(max(1, list(segment_ids).count(i))) for "
                        "i in range(num_segments or max(segment_ids) + 1)])"));
Tensor sparse_segment_sqrt_n(const In& data, const In& indices, const In& segment_ids,
                             const SparseSegmentOptions& o) {
  Tensor ids = segment_ids, sums = sparse_segment_sum(data, indices, ids, o);
  return sums / sqrt(counts_for(sums, ids, o.num_segments));
}

}  // namespace holdfast
