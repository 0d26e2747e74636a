// What traced code keeps between its calls, besides Variables.
#pragma once

#include <span>

#include "holdfast/tensor/tensor.h"

namespace holdfast {

/// What a trace reads from around it at each call, and what each call leaves behind there.
class HOLDFAST_API TraceState : public RefCounted {
 public:
  /// Puts what the places hold now over what was captured there. False where one of them holds
  /// nothing that the trace was made for.
  virtual bool read(std::span<Tensor> captured) const = 0;
  /// Does with the outputs of a call what the code did with symbols, and takes off those that only
  /// served for that.
  virtual void perform(Tensors& outputs) const = 0;
};

}  // namespace holdfast
