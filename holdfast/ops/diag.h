// Diagonals and bands of matrices.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

/// A tensor of twice the rank with `diagonal` on its diagonal.
HOLDFAST_API Tensor tensor_diag(const In& diagonal);
/// The diagonal of a tensor whose shape is some shape twice over.
HOLDFAST_API Tensor tensor_diag_part(const In& input);

namespace linalg {

struct DiagOptions {
  Sizes k = 0;
  Sizes num_rows = -1, num_cols = -1;  // -1: as small as can be
  MaybeIn padding_value = {};          // zero where none is given
  std::string align = "RIGHT_LEFT";
};
/// Matrices with given diagonals `k` (one number, or the lowest and the highest).
HOLDFAST_API Tensor diag(const In& diagonal, const DiagOptions& = {});
struct DiagPartOptions {
  Sizes k = 0;
  MaybeIn padding_value = {};
  std::string align = "RIGHT_LEFT";
};
/// The diagonals `k` of matrices.
HOLDFAST_API Tensor diag_part(const In& input, const DiagPartOptions& = {});
struct SetDiagOptions {
  Sizes k = 0;
  std::string align = "RIGHT_LEFT";
};
/// Matrices with other diagonals.
HOLDFAST_API Tensor set_diag(const In& input, const In& diagonal, const SetDiagOptions& = {});
/// Matrices that are zero outside a band; a negative number keeps that whole triangle.
HOLDFAST_API Tensor band_part(const In& input, const Sizes& num_lower, const Sizes& num_upper);

}  // namespace linalg
}  // namespace holdfast
