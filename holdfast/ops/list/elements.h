// What the ops on lists share.
#pragma once

#include "holdfast/op/op.h"
#include "holdfast/ops/list.h"
#include "holdfast/ops/list/list_value.h"

namespace holdfast {

/// Attributes that say what a list is made of.
struct ElementAttrs {
  Attr<DType> element_dtype;
  Attr<Shape> element_shape;
};
struct ElementTypeAttrs {
  Attr<DType> element_dtype;
};
struct ElementShapeAttrs {
  Attr<Shape> element_shape;
};

/// Refuses an index that is none of a list's `length` elements, named as the line has it.
Status outside_list(const Call&, int64_t i, size_t length,
                    std::string why = "an index counts from 0, and stays below the length");
Tensor zeros_on(Device* device, DType dtype, const Shape& shape);
/// Element `i`, or zeros where it is not set and its shape can be told.
Status list_element(const Call&, const ElementType&, const ListValue&, int64_t i, Tensor& out);
/// Gives output 0: elements along a new axis, or joined along their first.
Status join_elements(Call&, const ElementType&, std::span<const Tensor> items, bool along_first);

}  // namespace holdfast
