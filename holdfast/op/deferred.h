// Code that can only be written out once ranks and sizes are there: a graph keeps it as one node,
// and runs it on values.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/op/opdef.h"

namespace holdfast {

/// Ops over the inputs, in C++.
using Body = std::function<Tensors(std::span<const Tensor>)>;
/// Dtype and shape of what a body gives, as far as they are known.
using Given = std::vector<std::pair<DType, Shape>>;

/// `body` on the inputs, as one op with a gradient. `name` is what messages call it.
HOLDFAST_API Tensors deferred(std::string name, const Tensors& inputs, Given outputs, Body body);
/// The same for a body of one result.
HOLDFAST_API Tensor deferred(std::string name, const Tensors& inputs, DType dtype, Shape shape,
                             std::function<Tensor(std::span<const Tensor>)> body);

/// Whether all ranks are known, and whether all sizes are.
HOLDFAST_API bool ranks_known(const Tensors&);
HOLDFAST_API bool sizes_known(const Tensors&);

/// Thrown by a gradient formula that reads what a trace does not know yet; the formula is then
/// deferred.
struct NotKnownYet {};

/// What arrives for the results of `body`, turned into what leaves for its inputs (empty for those
/// that are not differentiable). Registered once by autodiff/.
using Pullback = Tensors (*)(const Body& body, std::span<const Tensor> inputs,
                             std::span<const Tensor> upstream);
HOLDFAST_API void set_pullback(Pullback);

}  // namespace holdfast
