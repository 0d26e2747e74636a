#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_segment(Infer& s) {
  if (s.shape(1).rank() > s.shape(0).rank()) s.bad_shape(1, "a shape that `data`'s begins with");
  for (int i = 0; i < s.shape(1).rank(); ++i)
    if (s.shape(1)[i] != s.shape(0)[i]) s.bad_shape(1, cat("a shape that `data`'s ", s.shape(0).text(), " begins with"));
  auto n = s.ints(2);
  if (n && (n->size() != 1 || (*n)[0] < 0)) s.bad_value("num_segments", Shape(*n).text(), "one number of 0 or more");
  Dims out{n ? (*n)[0] : kUnknown};
  for (int i = s.shape(1).rank(); i < s.shape(0).rank(); ++i) out.push_back(s.shape(0)[i]);
  s.output(s.dtype(), Shape(out));
}

Status run_segment_sum(Call& c) {
  const Tensor &x = c.in(0), &ids = c.in(1);
  Tensor& y = c.out();
  int64_t count = ids.size(), rows = y.dim(0), width = count ? x.size() / count : 0;
  Status status;
  visit_plain(x.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) {
      T* to = y.mutable_data<T>();
      std::fill_n(to, y.size(), T{});
      visit_indices(ids.dtype(), [&]<class I>(I) {
        for (int64_t i = 0; i < count; ++i) {
          auto row = static_cast<int64_t>(ids.data<I>()[i]);
          if (row < 0) continue;  // as in TensorFlow: a negative id drops the row
          if (row >= rows) {
            status = {Code::E1103, cat("UnsortedSegmentSum: `segment_ids` holds ", row, " at ", i, ", expected less than ", rows)};
            return;
          }
          for (int64_t k = 0; k < width; ++k) {
            T& sum = to[row * width + k];
            sum = static_cast<T>(static_cast<float_of<T>>(sum) + static_cast<float_of<T>>(x.data<T>()[i * width + k]));
          }
        }
      });
    }
  });
  return status;
}

}  // namespace

static const Op op =
    OP(UnsortedSegmentSum, &unsorted_segment_sum).args("data, segment_ids: I, num_segments")
        .python("math.unsorted_segment_sum")
        .doc("Row `i` of the result is the sum of the rows of `data` whose segment id is `i`.")
        .inputs("data, segment_ids: I, num_segments: N!").dtypes(kNumbers).dtypes(kIndices, "I")
        .infer(infer_segment).kernel("reference", run_segment_sum);
Tensor unsorted_segment_sum(const In& data, const In& ids, const Sizes& n) { return op({data, ids, n.tensor()}); }

}  // namespace holdfast
