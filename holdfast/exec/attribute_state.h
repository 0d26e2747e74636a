// The attributes that a trace reads and assigns, as each of its calls does.
#pragma once

#include <optional>

#include "holdfast/exec/attribute_record.h"
#include "holdfast/exec/bound.h"
#include "holdfast/exec/retracing.h"

namespace holdfast {

class AttributeState final : public TraceState {
 public:
  struct Read {
    TensorAttribute attribute;
    std::optional<Type> like;   // none: it was empty
    size_t capture = SIZE_MAX;  // which one it is, if the code used it
  };
  struct Stored {
    TensorAttribute attribute;
    size_t output;
  };
  struct Bound {
    detail::BoundPlace place;
    Ref<const detail::BoundValue> was;
  };
  std::vector<Read> reads;
  std::vector<Bound> bounds;
  std::vector<Stored> stored;
  size_t results = 0;  // outputs that are the code's own

  bool read(std::span<Tensor> captured) const override;
  void perform(Tensors& outputs) const override;
  /// The first attribute that holds nothing the trace was made for, if there is one.
  std::optional<Retrace> difference() const;
};

}  // namespace holdfast
