// Variables that are made while code is traced: who is told of them.
#pragma once

#include "holdfast/op/variable.h"

namespace holdfast {

/// The part of a trace in making variables; `exec/creations.h` plays it.
class HOLDFAST_API CreationWatcher {
 public:
  virtual ~CreationWatcher() = default;
  /// What a symbol is in the call that is traced: a variable begins with it.
  virtual Tensor starting_value(const Tensor& symbol) = 0;
  /// `v` was made; `given` is its initial value as the program gave it.
  virtual void created(const Variable& v, const Tensor& given) = 0;
  /// `v` was made beside the trace, as layers, metrics and optimizers make theirs.
  virtual void created_aside(const Variable& v) = 0;
};

/// The one in force on this thread; null where no function is traced.
HOLDFAST_API CreationWatcher*& creation_watcher();

}  // namespace holdfast
