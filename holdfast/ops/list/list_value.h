// What a tensor of dtype variant holds.
#pragma once

#include <vector>

#include "holdfast/base/refcount.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

class ListValue final : public RefCounted {
 public:
  std::vector<Tensor> items;       // an empty Tensor is an element that is not set
  Shape shape = Shape::unknown();  // what is known of every element
  int64_t most = -1;               // how many it may have; -1: any number
  std::string text() const override {
    return "a list of " + std::to_string(items.size()) + " tensors";
  }
};

inline ListValue& list_value(const Tensor& t) {
  auto* value = dynamic_cast<ListValue*>(t.rep()->beyond.get());
  if (!value) bug("a tensor of dtype variant that holds no list");
  return *value;
}

/// A tensor that is a list.
inline Tensor make_list(std::vector<Tensor> items) {
  auto value = make_ref<ListValue>();
  value->items = std::move(items);
  auto rep = make_ref<TensorRep>(DType::kVariant, Shape{}, nullptr);
  rep->beyond = std::move(value);
  return Tensor(std::move(rep));
}

/// The elements of a list that is about to be changed: taken from a list that nobody else holds,
/// else copied.
inline std::vector<Tensor> items_to_change(const Tensor& t) {
  ListValue& value = list_value(t);
  if (t.rep()->unique() && value.unique()) return std::move(value.items);
  return value.items;
}

}  // namespace holdfast
