// Changing a part of a variable.
#pragma once

#include "holdfast/device/device.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/state/held.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {

/// Calls `write` on memory that holds the variable's value and that nobody else sees: its own where
/// no reader holds it, else a copy. `write` checks its arguments before it changes anything.
template <class F>
Status write_variable(VariableState* v, F&& write) {
  return v->update([&](Tensor& value) -> Status {
    if (!value.defined()) return no_value(*v);
    const TensorRep* rep = value.rep();
    Device* device = value.device();
    bool here = device->kind() == DeviceKind::kCpu;
    if (here && rep->unique() && rep->buffer->unique() && rep->buffer->writable())
      return write(value);
    Tensor copy;
    if (here) {
      copy = empty(value.dtype(), value.shape(), device);
      copy_run(copy.dtype(), copy.size(), value.raw(), copy.mutable_raw());
    } else {
      copy = copy_to(value, cpu());
    }
    Status s = write(copy);
    if (s.ok()) value = copy_to(copy, device);
    return s;
  });
}

}  // namespace holdfast
