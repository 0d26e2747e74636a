#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

void infer_unravel(Infer& s) {
  s.need_rank(0, 0, 1);
  s.need_rank(1, 1, 1);
  auto dims = s.ints(1);
  if (dims) {
    for (int64_t d : *dims)
      if (d < 0) s.bad_value("dims", sizes_text(*dims), "sizes of 0 or more");
    if (!Shape(*dims).elements())
      s.bad_value("dims", sizes_text(*dims), "a product that can be counted");
  }
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  Dims out{s.shape(1).has_rank() ? s.shape(1)[0] : kUnknown};
  out.append(s.shape().begin(), s.shape().end());
  s.output(s.dtype(), Shape(out));
}

Status run_unravel(Call& c) {
  const Tensor& ids = c.in();
  Shape dims(c.ints(1));
  if (Status s = check_indices("UnravelIndex", ids, dims.elements().value_or(0)); !s.ok()) return s;
  Tensor& y = c.out();
  visit_indices(y.dtype(), [&]<class I>(I) {
    int64_t n = ids.size();
    for (int64_t i = 0; i < n; ++i) {
      auto left = static_cast<int64_t>(ids.raw<I>()[i]);
      for (int k = dims.rank() - 1; k >= 0; --k) {
        y.mutable_raw<I>()[k * n + i] = static_cast<I>(left % dims[k]);
        left /= dims[k];
      }
    }
  });
  return {};
}

}  // namespace

static const Op op =
    OP(UnravelIndex, &unravel_index)
        .args("indices, dims")
        .doc("Coordinates of flat positions in a tensor of shape `dims`, one coordinate a row.")
        .inputs("indices, dims: T!")
        .dtypes(kIndices)
        .no_gradient()
        .infer(infer_unravel)
        .kernel("reference", run_unravel)
        .samples("[2, 5, 7], [3, 3]", "4, [2, 3]")
        .reference("np.array(np.unravel_index(np.asarray(indices), tuple(dims)))");
Tensor unravel_index(const In& indices, const In& dims) { return op({indices, dims}); }

}  // namespace holdfast
