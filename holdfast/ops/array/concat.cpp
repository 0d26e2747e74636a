#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

// Inputs: the values, then the axis; the raw op takes the axis last, as the list must be.
void infer_concat(Infer& s) {
  auto axes = s.ints(0);
  if (s.inputs() < 2) s.bad_value("values", "no tensor", "one or more");
  int axis = s.axis(axes ? (*axes)[0] : 0, 1);
  Shape out = s.shape(1);
  for (int i = 2; i < s.inputs(); ++i) {
    if (s.shape(i).rank() != out.rank()) s.bad_shape(i, cat("rank ", out.rank(), ", that of the first"));
    for (int k = 0; k < out.rank(); ++k)
      if (k != axis && s.shape(i)[k] != out[k]) s.bad_shape(i, cat("the sizes of the first, ", s.shape(1).text(), ", on all axes but ", axis));
    out.dims()[static_cast<size_t>(axis)] += s.shape(i)[axis];
  }
  s.output(s.dtype(1), out);
}

Status run_concat(Call& c) {
  Tensor& y = c.out();
  int64_t axis = c.ints(0)[0];
  if (axis < 0) axis += y.rank();
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < y.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : y.dim(i);
  visit_cells(y.dtype(), [&]<class T>(T) {
    T* to = y.mutable_data<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int i = 1; i < c.inputs(); ++i) {
        int64_t run = c.in(i).dim(static_cast<int>(axis)) * inner;
        to = std::copy_n(c.in(i).data<T>() + o * run, run, to);
      }
  });
  return {};
}

}  // namespace

static const Op op =
    OP(ConcatV2, &concat).args("values, axis").doc("The values one after another along `axis`.")
        .inputs("axis: Tidx!, values*").infer(infer_concat).kernel("reference", run_concat);
Tensor concat(const Ins& values, int64_t axis) {
  Tensors in = values.tensors();
  in.insert(0, Sizes(axis).tensor());
  return op.list(in)[0];
}

}  // namespace holdfast
