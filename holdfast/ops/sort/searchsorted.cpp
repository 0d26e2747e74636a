#include <algorithm>
#include <limits>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/ops/sort.h"
#include "holdfast/ops/sort/order.h"

namespace holdfast {
namespace {

struct BoundAttrs {
  Attr<DType> out_type;
};

// Inputs: sorted_inputs [rows, n], values [rows, m]; attribute 0: out_type.
void infer_bound(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 2, 2);
  DType out = s.attrs<BoundAttrs>().out_type();
  if (!kIndices.has(out)) s.bad_value("out_type", name(out), "int32 or int64");
  const Shape &sorted = s.shape(0), &values = s.shape(1);
  if (sorted.has_rank() && values.has_rank() && sorted[0] >= 0 && values[0] >= 0 &&
      sorted[0] != values[0])
    s.bad_shape(1, cat("as many rows as `sorted_inputs` has, ", sorted[0]));
  if (out == int32 && sorted.has_rank() && sorted[1] > std::numeric_limits<int32_t>::max())
    s.bad_value("out_type", "int32", cat("int64, to count to ", sorted[1]));
  s.output(out, values);
}

template <bool kUpper>
Status run_bound(Call& c) {
  const Tensor &sorted = c.in(0), &values = c.in(1);
  Tensor& y = c.out();
  int64_t n = sorted.dim(1), m = values.dim(1);
  if (y.size() == 0) return {};
  visit_plain(sorted.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      visit_indices(y.dtype(), [&]<class I>(I) {
        parallel_for(y.size(), 4096, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T* row = sorted.raw<T>() + i / m * n;
            const T v = values.raw<T>()[i];
            const T* at = kUpper ? std::upper_bound(row, row + n, v, before<T>)
                                 : std::lower_bound(row, row + n, v, before<T>);
            y.mutable_raw<I>()[i] = static_cast<I>(at - row);
          }
        });
      });
    }
  });
  return {};
}

}  // namespace

#define HOLDFAST_BOUND(Name)           \
  RAW_OP(Name)                         \
      .inputs("sorted_inputs, values") \
      .attr("out_type", int32)         \
      .attrs<&BoundAttrs::out_type>()  \
      .dtypes(kReals | kBools)         \
      .infer(infer_bound)              \
      .no_gradient()
static const Op lower_op =
    HOLDFAST_BOUND(LowerBound)
        .kernel("bisect", run_bound<false>)
        .doc("Per row, the first position whose element is not less than each value.");
static const Op upper_op =
    HOLDFAST_BOUND(UpperBound)
        .kernel("bisect", run_bound<true>)
        .doc("Per row, the first position whose element is greater than each value.");

REGISTER(FUNCTION(&searchsorted)
             .args("sorted_sequence, values")
             .options<&SearchSortedOptions::side, &SearchSortedOptions::out_type>("side, out_type")
             .python("searchsorted")
             .doc("Where each value would be inserted in the sorted rows so that they stay sorted.")
             .samples("[1., 3., 5.], [0., 1., 2., 5., 6.]",
                      "[1., 3., 5.], [0., 1., 2., 5., 6.], side='right'")
             .reference("np.searchsorted(sorted_sequence, values, side=side)"));
Tensor searchsorted(const In& sorted_sequence, const In& values, const SearchSortedOptions& o) {
  if (o.side != "left" && o.side != "right")
    fail(Code::E1103, cat("searchsorted: `side` is '", o.side, "', expected 'left' or 'right'"));
  Tensor sorted = sorted_sequence, v = values.tensor(sorted.dtype());
  if (sorted.rank() == 0 || v.rank() == 0)
    fail(Code::E1102, "searchsorted: got a scalar, expected tensors of rank 1 or more");
  auto rows = [](const Tensor& t) -> Tensor {
    if (t.shape().has_rank() && t.rank() == 2) return t;
    if (t.shape().has_rank() && t.dim(-1) > 0) return reshape(t, {-1, t.dim(-1)});
    // Of rows without elements -1 could be anything.
    Tensor sizes = shape(t), count = reduce_prod(index(sizes, {{.stop = -1}}));
    Tensor length = index(sizes, {{.kind = IndexItem::kInt, .start = -1}});
    return reshape(t, Sizes(stack({count, length})));
  };
  Tensor found = (o.side == "left" ? lower_op : upper_op)({rows(sorted), rows(v)}, {o.out_type});
  return reshape(found, shape_of(v));
}

}  // namespace holdfast
