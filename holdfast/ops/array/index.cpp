// From what stands between brackets to a strided slice.
#include "holdfast/op/op.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

constexpr DTypes kIndexDTypes{int16, int32, int64};

// A number that is known now, or a scalar tensor that will be.
struct Number {
  int64_t value = 0;
  Tensor tensor;
};

Number number_of(const Tensor& t) {
  if (!t.defined()) fail(Code::E1104, "an index is an empty tensor handle");
  if (!kIndexDTypes.has(t.dtype()) || t.rank() > 0) {
    std::vector<Fix> fixes;
    if (is_bool(t.dtype()))
      fixes.push_back(manual_fix(
          "take the elements at which a mask is true with `boolean_mask(tensor, mask)`"));
    else if (t.rank() > 0)
      fixes.push_back(manual_fix("take several rows by number with `gather(tensor, indices)`"));
    fail(Code::E1104,
         cat("an index is ", name(t.dtype()), t.shape().text(),
             ", expected an integer, a slice, `...`, newaxis or a scalar integer tensor"),
         "brackets take NumPy's basic slicing; lists, masks and index arrays have functions of "
         "their own",
         std::move(fixes));
  }
  if (t.is_symbolic()) return {0, t};
  return {t.to_int(), {}};
}

class Spec {
 public:
  explicit Spec(std::span<const IndexItem> items) {
    for (const IndexItem& item : items) add(item);
    for (auto* list : {&begin_, &end_, &strides_})
      for (const Number& n : *list)
        wide_ = wide_ || (n.tensor.defined() ? n.tensor.dtype() == int64
                                             : n.value != static_cast<int32_t>(n.value));
  }
  Tensor begin() const { return tensor(begin_); }
  Tensor end() const { return tensor(end_); }
  Tensor strides() const { return tensor(strides_); }
  Attrs masks() const {
    return {begin_mask_, end_mask_, ellipsis_mask_, new_axis_mask_, shrink_mask_};
  }

 private:
  void add(const IndexItem& item) {
    if (begin_.size() >= 62) fail(Code::E1103, "an index has more than 62 items");
    int64_t bit = int64_t{1} << begin_.size();
    switch (item.kind) {
      case IndexItem::kEllipsis: ellipsis_mask_ |= bit; return push({0, {}}, {0, {}}, {1, {}});
      case IndexItem::kNewAxis: new_axis_mask_ |= bit; return push({0, {}}, {0, {}}, {1, {}});
      case IndexItem::kInt:
        shrink_mask_ |= bit;
        return push({item.start.value_or(0), {}}, {0, {}}, {1, {}});
      case IndexItem::kTensor:
        shrink_mask_ |= bit;
        return push(number_of(item.tensor), {0, {}}, {1, {}});
      case IndexItem::kSlice: break;
    }
    auto part = [&](size_t i, const std::optional<int64_t>& given, int64_t missing) {
      return item.bounds[i].defined() ? number_of(item.bounds[i])
                                      : Number{given.value_or(missing), {}};
    };
    if (!item.start && !item.bounds[0].defined()) begin_mask_ |= bit;
    if (!item.stop && !item.bounds[1].defined()) end_mask_ |= bit;
    push(part(0, item.start, 0), part(1, item.stop, 0), part(2, item.step, 1));
  }

  void push(Number b, Number e, Number s) {
    begin_.push_back(std::move(b));
    end_.push_back(std::move(e));
    strides_.push_back(std::move(s));
  }

  // One dtype for all three vectors; numbers of a trace are stacked.
  Tensor tensor(const std::vector<Number>& list) const {
    DType d = wide_ ? int64 : int32;
    bool symbolic = false;
    Dims values;
    for (const Number& n : list) {
      symbolic = symbolic || n.tensor.defined();
      values.push_back(n.value);
    }
    if (!symbolic) return host_ints(d, values, Shape{static_cast<int64_t>(values.size())});
    std::vector<Tensor> parts;
    for (const Number& n : list)
      parts.push_back(n.tensor.defined() ? n.tensor : host_ints(d, {n.value}, Shape{}));
    return stack(parts);
  }

  std::vector<Number> begin_, end_, strides_;
  int64_t begin_mask_ = 0, end_mask_ = 0, ellipsis_mask_ = 0, new_axis_mask_ = 0, shrink_mask_ = 0;
  bool wide_ = false;
};

const OpDef& op_named(const char* name) {
  const OpDef* op = find_op(name);
  if (!op) bug(cat("op ", name, " is not registered"));
  return *op;
}

}  // namespace

Tensor index(const In& t, std::span<const IndexItem> items) {
  // A mask alone takes the elements at which it is true, as TensorFlow has it.
  if (items.size() == 1 && items[0].kind == IndexItem::kTensor && is_bool(items[0].tensor.dtype()))
    return boolean_mask(t, items[0].tensor);
  static const Op op(&op_named("StridedSlice"));
  Spec spec(items);
  return op({t, spec.begin(), spec.end(), spec.strides()}, spec.masks());
}

Tensor index_update(const In& t, std::span<const IndexItem> items, const In& value) {
  static const Op op(&op_named("TensorStridedSliceUpdate"));
  Spec spec(items);
  return op({t, spec.begin(), spec.end(), spec.strides(), value}, spec.masks());
}

void index_assign(const Variable& v, std::span<const IndexItem> items, const In& value) {
  static const Op op(&op_named("ResourceStridedSliceAssign"));
  Spec spec(items);
  op.many({v.handle(), spec.begin(), spec.end(), spec.strides(), value.tensor(v.dtype())},
          spec.masks());
}

}  // namespace holdfast
