#include "holdfast/ops/linalg/extent.h"

#include "holdfast/base/checked.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::linalg {
namespace {

Tensor scalar_of(const Extent& e) {
  return e.known >= 0 ? Tensor::scalar(static_cast<int32_t>(e.known)) : e.later;
}

}  // namespace

Extent extent_of(const Tensor& t, int axis) {
  int64_t d = t.dim(axis);
  if (d >= 0) return {d, {}};
  return {-1, gather(shape(t),
                     Tensor::scalar(static_cast<int32_t>(axis < 0 ? axis + t.rank() : axis)))};
}

Extent operator*(const Extent& a, const Extent& b) {
  if (a.known >= 0 && b.known >= 0) {
    auto product = checked_mul(a.known, b.known);
    if (!product) fail(Code::E1102, "the product of two sizes is too large to be counted");
    return {*product, {}};
  }
  if (a.known == 1) return b;
  if (b.known == 1) return a;
  return {-1, multiply(scalar_of(a), scalar_of(b))};
}

Tensor reshaped(const Tensor& t, const std::vector<Extent>& sizes) {
  Dims dims;
  int unknown = 0, zeros = 0;
  for (const Extent& e : sizes) {
    unknown += e.known < 0;
    zeros += e.known == 0;
    dims.push_back(e.known);
  }
  // One unknown size follows from the others, unless they hold no elements.
  if (unknown == 0 || (unknown == 1 && zeros == 0))
    return t.shape() == Shape(dims) ? t : reshape(t, Sizes(dims));
  Tensors parts;
  for (const Extent& e : sizes) parts.push_back(scalar_of(e));
  return reshape(t, Sizes(stack(Ins(parts))));
}

}  // namespace holdfast::linalg
