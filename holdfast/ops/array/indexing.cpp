#include "holdfast/ops/indexing.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace detail {

IndexItem slice_item(const SliceBound& start, const SliceBound& stop, const SliceBound& step) {
  return {.kind = IndexItem::kSlice,
          .start = start.number,
          .stop = stop.number,
          .step = step.number,
          .bounds = {start.tensor, stop.tensor, step.tensor}};
}

Tensor part_of(const Tensor& t, std::initializer_list<IndexItem> items) {
  std::vector<IndexItem> plain(items.begin(), items.end());
  return index(t, plain);
}

int64_t number_of_rows(const Tensor& t) {
  if (!t.shape().has_rank() || (t.rank() > 0 && t.dim(0) < 0))
    fail(Code::E0202, cat("a loop over the rows of a tensor of shape ", t.shape().text()),
         "how many there are is not known while a function is traced",
         {manual_fix("loop in the graph: `while_loop`, `map_fn`, `vectorized_map`")});
  if (t.rank() == 0)
    fail(Code::E1102, "a loop over the rows of a scalar", "it has no axis to go along");
  return t.dim(0);
}

}  // namespace detail

IndexItem slice(const SliceBound& start, const SliceBound& stop) {
  return detail::slice_item(start, stop, std::nullopt);
}

Tensor VariablePart::tensor() const { return index(variable_, items_); }

const VariablePart& VariablePart::operator=(const In& value) const {
  index_assign(variable_, items_, value);
  return *this;
}
VariablePart& VariablePart::operator=(const VariablePart& value) {
  index_assign(variable_, items_, value.tensor());
  return *this;
}
const VariablePart& VariablePart::operator+=(const In& x) const { return *this = add(tensor(), x); }
const VariablePart& VariablePart::operator-=(const In& x) const {
  return *this = subtract(tensor(), x);
}
const VariablePart& VariablePart::operator*=(const In& x) const {
  return *this = multiply(tensor(), x);
}
const VariablePart& VariablePart::operator/=(const In& x) const {
  return *this = divide(tensor(), x);
}

Tensor RowIterator::operator*() const {
  AtSite loop(where_);
  return index(of_, {{.kind = IndexItem::kInt, .start = at_}});
}

Tensor& operator+=(Tensor& t, const In& x) { return t = add(t, x); }
Tensor& operator-=(Tensor& t, const In& x) { return t = subtract(t, x); }
Tensor& operator*=(Tensor& t, const In& x) { return t = multiply(t, x); }
Tensor& operator/=(Tensor& t, const In& x) { return t = divide(t, x); }

const Variable& operator+=(const Variable& v, const In& x) { return v.assign_add(x); }
const Variable& operator-=(const Variable& v, const In& x) { return v.assign_sub(x); }
const Variable& operator*=(const Variable& v, const In& x) { return v.assign(multiply(v, x)); }
const Variable& operator/=(const Variable& v, const In& x) { return v.assign(divide(v, x)); }

}  // namespace holdfast
