// Questions that rules ask of constants.
#pragma once

#include <algorithm>

#include "holdfast/passes/rewrite.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

/// Whether a constant has elements and `f` holds for all of them. Complex numbers are left alone:
/// their products mix the parts, so not even 1 is neutral where a part is infinite.
template <class F>
bool every(const Tensor* t, F&& f) {
  if (!t || t->size() == 0 || !kReals.has(t->dtype())) return false;
  bool all = true;
  visit_plain(t->dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      const T* p = t->raw<T>();
      all = std::all_of(p, p + t->size(), [&](T v) { return f(static_cast<double>(v)); });
    }
  });
  return all;
}

/// Whether broadcasting `small` against `x` leaves the shape of x as it is.
inline bool keeps_shape(const Edge& x, const Edge& small) {
  const Shape &a = type_of(x).shape, &b = type_of(small).shape;
  if (!b.is_full()) return false;
  if (b.rank() == 0) return true;
  if (!a.has_rank() || b.rank() > a.rank()) return false;
  for (int i = 1; i <= b.rank(); ++i)
    if (b[-i] != 1 && b[-i] != a[-i]) return false;
  return true;
}

}  // namespace holdfast
