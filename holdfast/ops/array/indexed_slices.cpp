#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {

Tensor to_dense(const IndexedSlices& s) {
  if (s.dense_shape.is_symbolic())
    return unsorted_segment_sum(
        s.values, s.indices, Sizes(index(s.dense_shape, {{.kind = IndexItem::kInt, .start = 0}})));
  Dims shape = Sizes(s.dense_shape).ints();
  if (shape.empty())
    fail(Code::E1102, "IndexedSlices: dense_shape is empty, expected one dimension or more");
  return unsorted_segment_sum(s.values, s.indices, shape[0]);
}

IndexedSlices concat_slices(const std::vector<IndexedSlices>& list) {
  if (list.size() == 1) return list[0];
  std::vector<Tensor> values, indices;
  for (auto& s : list) {
    values.push_back(s.values);
    indices.push_back(s.indices);
  }
  return {concat(values, 0), concat(indices, 0), list[0].dense_shape};
}

}  // namespace holdfast
