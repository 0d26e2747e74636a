// Strings of one segment put together.
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/strings.h"

namespace holdfast {
namespace {

struct SegmentJoinAttrs {
  Attr<std::string> separator;
};

// Inputs: inputs, segment_ids, num_segments.
void infer_join(Infer& s) {
  s.need_rank(2, 0, 0);
  auto n = s.ints(2);
  if (n && (*n)[0] < 0) s.bad_value("num_segments", cat((*n)[0]), "0 or more");
  const Shape &data = s.shape(0), &ids = s.shape(1);
  if (!data.has_rank() || !ids.has_rank()) return s.output(string, Shape::unknown());
  bool begins = ids.rank() <= data.rank();
  for (int i = 0; begins && i < ids.rank(); ++i)
    begins = ids[i] < 0 || data[i] < 0 || ids[i] == data[i];
  if (!begins) s.bad_shape(1, cat("a shape that `inputs`' ", data.text(), " begins with"));
  Dims out{n ? (*n)[0] : kUnknown};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data[i]);
  s.output(string, Shape(out));
}

Status run_join(Call& c) {
  const Tensor &data = c.in(0), &ids = c.in(1);
  const std::string& separator = c.attrs<SegmentJoinAttrs>().separator();
  Tensor& out = c.out();
  int64_t segments = c.ints(2)[0], rows = ids.size();
  int64_t each = rows ? data.size() / rows : 0;
  const auto* from = data.raw<std::string>();
  auto* to = out.mutable_raw<std::string>();
  std::vector<bool> begun(static_cast<size_t>(out.size()), false);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t id = ids.dtype() == int64 ? ids.raw<int64_t>()[row] : ids.raw<int32_t>()[row];
    if (id < 0 || id >= segments)
      return {Code::E1103,
              cat(c.op.name, ": segment id ", id, " at ", row, ", expected 0 to ", segments - 1)};
    for (int64_t i = 0; i < each; ++i) {
      int64_t at = id * each + i;
      if (begun[static_cast<size_t>(at)]) to[at] += separator;
      begun[static_cast<size_t>(at)] = true;
      to[at] += from[row * each + i];
    }
  }
  return {};
}

const Op join_op =
    OP(UnsortedSegmentJoin, &strings::unsorted_segment_join)
        .args("inputs: S, segment_ids: I, num_segments")
        .options<&strings::SegmentJoinOptions::separator>("separator")
        .python("strings.unsorted_segment_join")
        .doc("Element i of the result is the strings put together whose segment id is i.")
        .inputs("inputs: S, segment_ids: I, num_segments: N!")
        .dtypes(kStrings, "S")
        .dtypes(kIndices, "I")
        .dtypes(kIndices, "N")
        .attr("separator", "")
        .attrs<&SegmentJoinAttrs::separator>()
        .infer(infer_join)
        .kernel("reference", run_join)
        .on_host()
        .no_gradient()
        .samples("strings(4), [1, 0, 1, 0], 3, separator='-'", "strings(2, 2), [[0, 1], [1, 0]], 2",
                 "strings(2, 3), [1, 1], 2")
        .reference(
            "(lambda d, s: np.array([[separator.encode().join(d[j, k] for j in range(len(s)) if "
            "s[j] == i) for k in range(d.shape[1])] for i in range(num_segments)], "
            "object).reshape((num_segments,) + "
            "inputs.shape[np.ndim(segment_ids):]))(inputs.reshape(np.size(segment_ids), -1), "
            "np.ravel(segment_ids))");

}  // namespace

Tensor strings::unsorted_segment_join(const In& inputs, const In& segment_ids,
                                      const Sizes& num_segments, const SegmentJoinOptions& o) {
  return join_op({inputs, segment_ids, num_segments.tensor()}, {o.separator});
}

}  // namespace holdfast
