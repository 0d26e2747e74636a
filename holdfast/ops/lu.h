// What an LU factorisation is good for.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::linalg {

struct LuSolveOptions {
  bool validate_args = false;  // kept for compatibility: shapes and positions are always checked
};
/// The matrix that `lu` factored.
HOLDFAST_API Tensor lu_reconstruct(const In& lower_upper, const In& perm,
                                   const LuSolveOptions& = {});
/// x of A x = rhs, given what `lu` makes of A; batches broadcast.
HOLDFAST_API Tensor lu_solve(const In& lower_upper, const In& perm, const In& rhs,
                             const LuSolveOptions& = {});
/// The inverse of the matrix that `lu` factored.
HOLDFAST_API Tensor lu_matrix_inverse(const In& lower_upper, const In& perm,
                                      const LuSolveOptions& = {});

}  // namespace holdfast::linalg
