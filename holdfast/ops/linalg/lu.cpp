// Systems and inverses by an LU factorisation that is at hand.
#include "holdfast/ops/lu.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/ops/sort.h"

namespace holdfast {
namespace {

// Refuses factors that are not square, and a permutation of another length. Ranks are known.
void need_factors(const char* function, const Tensor& lu, const Tensor& perm) {
  Shape want = lu.shape();
  if (want.rank() >= 2 && Shape{want[-1]}.compatible(Shape{want[-2]})) {
    want.dims().pop_back();
    if (want.compatible(perm.shape())) return;
    fail(Code::E1102, cat("`", function, "`: `perm` has shape ", perm.shape().text(), ", expected ",
                          want.text(), " for ", lu.shape().text()));
  }
  fail(Code::E1102, cat("`", function, "`: `lower_upper` has shape ", want.text(),
                        ", expected square matrices"));
}

Tensor with_ones(const Tensor& lu) {
  return linalg::set_diag(lu, ones_like(linalg::diag_part(lu)));
}

// Rows of each matrix of a batch of that many axes, by number.
Tensor rows(const Tensor& x, const Tensor& numbers, int batch) {
  return gather(x, numbers, {.axis = batch, .batch_dims = batch});
}

// `t`, of which the last `inner` axes stay, with the leading axes of `batch`.
Tensor batched(const Tensor& t, const Tensor& batch, int inner) {
  if (t.rank() - inner == 0 && batch.rank() == 0) return t;
  Tensor own = shape(t);
  int leading = t.rank() - inner;
  Tensor outer = broadcast_dynamic_shape(slice(own, Sizes({0}), Sizes({leading})), batch);
  return broadcast_to(t, concat({outer, slice(own, Sizes({leading}), Sizes({inner}))}, 0));
}

Tensor leading_axes(const Tensor& t, int inner) {
  return slice(shape(t), Sizes({0}), Sizes({t.rank() - inner}));
}

}  // namespace

REGISTER(FUNCTION(&linalg::lu_reconstruct)
             .args("lower_upper, perm: Index")
             .options<&linalg::LuSolveOptions::validate_args>("validate_args")
             .python("linalg.lu_reconstruct")
             .doc("The matrix that `lu` factored.")
             .samples("uniform(3, 3), np.array([1, 2, 0], 'int32')",
                      "uniform(2, 2, 2), np.array([[1, 0], [0, 1]], 'int32')")
             .reference("np.take_along_axis((np.tril(lower_upper, -1) + "
                        "np.eye(lower_upper.shape[-1], dtype='float32')) @ np.triu(lower_upper), "
                        "np.argsort(perm, -1)[..., None], -2)"));
static const Composition reconstruct_later(
    "lu_reconstruct", 2, +[](std::span<const Tensor> in, bool validate) {
      return linalg::lu_reconstruct(in[0], in[1], {.validate_args = validate});
    });
Tensor linalg::lu_reconstruct(const In& lower_upper, const In& perm, const LuSolveOptions& o) {
  Tensor lu = lower_upper, p = perm;
  if (!ranks_known({lu, p}))
    return reconstruct_later({lu, p}, lu.dtype(), lu.shape(), o.validate_args);
  need_factors("lu_reconstruct", lu, p);
  Tensor lower = with_ones(band_part(lu, -1, 0));
  return rows(matmul(lower, band_part(lu, 0, -1)), argsort(p), lu.rank() - 2);
}

REGISTER(FUNCTION(&linalg::lu_solve)
             .args("lower_upper, perm: Index, rhs")
             .options<&linalg::LuSolveOptions::validate_args>("validate_args")
             .python("linalg.lu_solve")
             .doc("x of A x = rhs, given what `lu` makes of A; batches broadcast.")
             .samples("uniform(3, 3) + 3 * np.eye(3, dtype='float32'), np.array([1, 2, 0], "
                      "'int32'), uniform(3, 2)",
                      "uniform(2, 2, 2) + 3 * np.eye(2, dtype='float32'), np.array([[1, 0], [0, "
                      "1]], 'int32'), uniform(2, 1)")
             .reference("np.linalg.solve(np.take_along_axis((np.tril(lower_upper, -1) + "
                        "np.eye(lower_upper.shape[-1], dtype='float32')) "
                        "@ np.triu(lower_upper), np.argsort(perm, -1)[..., None], -2), rhs)")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
static const Composition solve_later(
    "lu_solve", 3, +[](std::span<const Tensor> in, bool validate) {
      return linalg::lu_solve(in[0], in[1], in[2], {.validate_args = validate});
    });
Tensor linalg::lu_solve(const In& lower_upper, const In& perm, const In& rhs,
                        const LuSolveOptions& o) {
  Tensor lu = lower_upper, p = perm, b = rhs.tensor(lu.dtype());
  if (!ranks_known({lu, p, b}))
    return solve_later({lu, p, b}, lu.dtype(), Shape::unknown(), o.validate_args);
  need_factors("lu_solve", lu, p);
  if (b.rank() < 2)
    fail(Code::E1102, cat("`lu_solve`: `rhs` has shape ", b.shape().text(),
                          ", expected matrices, whose columns are solved for"));
  int batch = std::max(lu.rank(), b.rank()) -
              2;  // what is broadcast to a computed shape may not say its rank
  if (batch > 0) {
    Tensor outer = leading_axes(lu, 2);
    p = batched(p, leading_axes(b, 2), 1);
    b = batched(b, outer, 2);
  }
  return triangular_solve(lu, triangular_solve(with_ones(lu), rows(b, p, batch)), {.lower = false});
}

REGISTER(
    FUNCTION(&linalg::lu_matrix_inverse)
        .args("lower_upper, perm: Index")
        .options<&linalg::LuSolveOptions::validate_args>("validate_args")
        .python("linalg.lu_matrix_inverse")
        .doc("The inverse of the matrix that `lu` factored.")
        .samples("uniform(3, 3) + 3 * np.eye(3, dtype='float32'), np.array([1, 2, 0], 'int32')")
        .reference("np.linalg.inv(((np.tril(lower_upper, -1) + np.eye(3, dtype='float32')) @ "
                   "np.triu(lower_upper))[np.argsort(perm)])")
        .checks({.rtol = 1e-4, .atol = 1e-5}));
static const Composition inverse_later(
    "lu_matrix_inverse", 2, +[](std::span<const Tensor> in, bool validate) {
      return linalg::lu_matrix_inverse(in[0], in[1], {.validate_args = validate});
    });
Tensor linalg::lu_matrix_inverse(const In& lower_upper, const In& perm, const LuSolveOptions& o) {
  Tensor lu = lower_upper, p = perm;
  if (!ranks_known({lu, p})) return inverse_later({lu, p}, lu.dtype(), lu.shape(), o.validate_args);
  need_factors("lu_matrix_inverse", lu, p);
  Tensor n = slice(shape(lu), Sizes({lu.rank() - 1}), Sizes({1}));
  return lu_solve(lu, p, eye(Sizes(reshape(n, Sizes({}))), {.dtype = lu.dtype()}), o);
}

}  // namespace holdfast
