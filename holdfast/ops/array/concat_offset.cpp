// Where each part begins in what they are joined to.
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_offset(Infer& s) {
  s.need_rank(0, 0, 0);
  if (s.inputs() < 2) s.bad_value("shape", "no shapes", "one or more");
  for (int i = 1; i < s.inputs(); ++i) {
    s.need_rank(i, 1, 1);
    const Shape &first = s.shape(1), &here = s.shape(i);
    if (first.has_rank() && here.has_rank() && first[0] >= 0 && here[0] >= 0 && here[0] != first[0])
      s.bad_shape(i, cat(first[0], " sizes, as many as the first shape has"));
    s.output(s.dtype(i), here);
  }
}

Status run_offset(Call& c) {
  int64_t axis = only(c.ints(0)), at = 0;
  Dims first = c.ints(1);
  auto rank = static_cast<int64_t>(first.size());
  if (axis < -rank || axis >= rank)
    return outside("ConcatOffset: `concat_dim` is", axis, -rank, rank);
  auto along = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  for (int i = 1; i < c.inputs(); ++i) {
    Dims here = c.ints(i);
    for (size_t k = 0; k < here.size(); ++k)
      if (k != along && here[k] != first[k])
        return {Code::E1102, cat("ConcatOffset: shape ", i - 1, " is ", sizes_text(here),
                                 ", expected ", sizes_text(first), " but for axis ", along)};
    Tensor& y = c.out(i - 1);
    visit_indices(y.dtype(), [&]<class I>(I) {
      for (size_t k = 0; k < here.size(); ++k)
        y.mutable_raw<I>()[k] = static_cast<I>(k == along ? at : 0);
    });
    if (__builtin_add_overflow(at, here[along], &at))
      return {Code::E1103, "ConcatOffset: the sizes add up to more than can be counted"};
  }
  return {};
}

}  // namespace

static const Op offset_op =
    RAW_OP(ConcatOffset)
        .inputs("concat_dim: D!, shape: T!*")
        .outputs("offset")
        .no_gradient()
        .on_host()
        .doc("For parts of the given shapes that are joined along an axis, where each begins.")
        .infer(infer_offset)
        .kernel("reference", run_offset);

}  // namespace holdfast
