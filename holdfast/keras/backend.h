// Numbers that hold for the whole program: the small number that keeps formulas finite, and the
// dtype of what says none.
#pragma once

#include <string>

#include "holdfast/base/api.h"
#include "holdfast/tensor/dtype.h"

namespace holdfast::keras {

/// What is added to divisors and kept off the ends of probabilities; 1e-7 at first.
HOLDFAST_API double epsilon();
/// Must be above 0.
HOLDFAST_API void set_epsilon(double value);
/// The dtype of losses, metrics and optimizers that are given none; float32 at first.
HOLDFAST_API DType floatx();
/// float16, bfloat16, float32 or float64.
HOLDFAST_API void set_floatx(DType dtype);

/// Refuses `what`, which would need the values of other replicas, where a replica of several is
/// speaking. Strategies are another language's, whose binding sets how they are asked.
HOLDFAST_API void need_one_replica(const std::string& what);
using ReplicaCheck = void (*)(const std::string& what);
HOLDFAST_API void set_replica_check(ReplicaCheck check);

}  // namespace holdfast::keras
