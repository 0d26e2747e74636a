// Matrices: products, contractions, norms, factorisations, systems.
//
// Functions of matrices take batches: matrices lie in the last two axes.
#pragma once

#include <string>
#include <tuple>

#include "holdfast/op/arg.h"
#include "holdfast/op/in.h"

namespace holdfast {

// -- products

struct MatMulOptions {
  bool transpose_a = false, transpose_b = false;
  bool adjoint_a = false, adjoint_b = false;      // transposed and conjugated
  bool a_is_sparse = false, b_is_sparse = false;  // hints; the result is the same
  std::optional<DType> output_type = {};          // int32 for the product of (u)int8 matrices
  bool grad_a = false, grad_b = false;            // hints: an operand is a gradient
};
/// Matrix product of the last two axes; leading axes are batches and broadcast.
HOLDFAST_API Tensor matmul(const In& a, const In& b, const MatMulOptions& = {});
/// Sum of products over the labels that `equation` leaves out: `einsum("ij,jk->ik", {a, b})`.
HOLDFAST_API Tensor einsum(const std::string& equation, const Ins& inputs);
#ifndef HOLDFAST_BUILDING  // our own code registers functions by their address
/// The same without braces: `einsum("ij,jk->ik", a, b)`.
template <ConvertsTo<KeptIn>... More>
Tensor einsum(const std::string& equation, const In& first, const More&... more) {
  Where caller = here();  // the others become operands in this line, not the caller's
  Ins inputs{first, more...};
  set_site(caller);
  return einsum(equation, inputs);
}
#endif
/// Sum of products over axes of both: the last `axes` of `a` and the first of `b`, or two lists of
/// axes.
HOLDFAST_API Tensor tensordot(const In& a, const In& b, const In& axes);

struct NormOptions {
  Arg ord = "euclidean";  // "euclidean", "fro", a positive number or infinity
  Axes axis = {};         // one: of vectors; two: of matrices; none: of all elements
  bool keepdims = false;
};
/// Norm of vectors or matrices.
HOLDFAST_API Tensor norm(const In& tensor, const NormOptions& = {});

namespace linalg {

struct MatVecOptions {
  bool transpose_a = false, adjoint_a = false;
  bool a_is_sparse = false, b_is_sparse = false;
};
/// Matrix times vector; leading axes are batches and broadcast.
HOLDFAST_API Tensor matvec(const In& a, const In& b, const MatVecOptions& = {});
/// Cross product of vectors of three in the last axis.
HOLDFAST_API Tensor cross(const In& a, const In& b);
/// Sum of the diagonal.
HOLDFAST_API Tensor trace(const In& x);
struct MatrixTransposeOptions {
  bool conjugate = false;
};
/// The last two axes exchanged.
HOLDFAST_API Tensor matrix_transpose(const In& a, const MatrixTransposeOptions& = {});
/// Transposed and conjugated.
HOLDFAST_API Tensor adjoint(const In& matrix);
struct NormalizeOptions {
  Arg ord = "euclidean";
  Axes axis = {};
};
/// The tensor over its norm, and the norm.
HOLDFAST_API std::tuple<Tensor, Tensor> normalize(const In& tensor, const NormalizeOptions& = {});

// -- inverses and systems

struct AdjointOptions {
  bool adjoint = false;
};
/// Inverse, or inverse of the adjoint.
HOLDFAST_API Tensor inv(const In& input, const AdjointOptions& = {});
/// Determinant.
HOLDFAST_API Tensor det(const In& input);
/// Logarithm of the determinant of a self-adjoint positive definite matrix.
HOLDFAST_API Tensor logdet(const In& matrix);
/// Sign of the determinant and logarithm of its absolute value.
HOLDFAST_API std::tuple<Tensor, Tensor> slogdet(const In& input);
/// x of matrix x = rhs.
HOLDFAST_API Tensor solve(const In& matrix, const In& rhs, const AdjointOptions& = {});
struct TriangularSolveOptions {
  bool lower = true, adjoint = false;
};
/// x of matrix x = rhs for a triangular matrix; batches broadcast.
HOLDFAST_API Tensor triangular_solve(const In& matrix, const In& rhs,
                                     const TriangularSolveOptions& = {});
/// x of matrix x = rhs for triangular matrices of which `bands` holds the diagonals, [..., K, M]:
/// the main one first and others below it, or the main one last where not `lower`.
HOLDFAST_API Tensor banded_triangular_solve(const In& bands, const In& rhs,
                                            const TriangularSolveOptions& = {});
struct TridiagonalSolveOptions {
  std::string diagonals_format = "compact";  // "compact", "sequence" (three tensors) or "matrix"
  bool transpose_rhs = false, conjugate_rhs = false;
  bool partial_pivoting = true;
  bool perturb_singular = false;  // finite solutions of singular systems
};
/// x of A x = rhs for tridiagonal matrices: `diagonals` is [..., 3, M], or as the format says.
HOLDFAST_API Tensor tridiagonal_solve(const Ins& diagonals, const In& rhs,
                                      const TridiagonalSolveOptions& = {});
struct TridiagonalMatMulOptions {
  std::string diagonals_format = "compact";
};
/// Tridiagonal matrices times `rhs`.
HOLDFAST_API Tensor tridiagonal_matmul(const Ins& diagonals, const In& rhs,
                                       const TridiagonalMatMulOptions& = {});
/// x of A x = rhs, given the Cholesky factor of A.
HOLDFAST_API Tensor cholesky_solve(const In& chol, const In& rhs);
struct LstsqOptions {
  double l2_regularizer = 0;
  bool fast =
      true;  // by normal equations; else by an orthogonal factorisation that stands any rank
};
/// x for which matrix x is nearest to rhs.
HOLDFAST_API Tensor lstsq(const In& matrix, const In& rhs, const LstsqOptions& = {});
struct PinvOptions {
  MaybeIn rcond = {};  // singular values below this share of the largest count as zero
  bool validate_args = false;
};
/// Moore-Penrose pseudo-inverse.
HOLDFAST_API Tensor pinv(const In& a, const PinvOptions& = {});
struct MatrixRankOptions {
  MaybeIn tol = {};  // singular values up to this count as zero
  bool validate_args = false;
};
/// Number of singular values that differ from zero, int32.
HOLDFAST_API Tensor matrix_rank(const In& a, const MatrixRankOptions& = {});

// -- factorisations

/// Lower triangular L with L adjoint(L) = input.
HOLDFAST_API Tensor cholesky(const In& input);
struct LuOptions {
  DType output_idx_type = int32;
};
/// L and U in one matrix (the ones on L's diagonal left out), and the permutation of the rows.
HOLDFAST_API std::tuple<Tensor, Tensor> lu(const In& input, const LuOptions& = {});
struct QrOptions {
  bool full_matrices = false;
};
/// Unitary q and upper triangular r with q r = input.
HOLDFAST_API std::tuple<Tensor, Tensor> qr(const In& input, const QrOptions& = {});
struct SvdOptions {
  bool full_matrices = false, compute_uv = true;
};
/// Singular values s, largest first, with u and v such that u diag(s) adjoint(v) = tensor; only s
/// without compute_uv.
HOLDFAST_API TensorTuple<3> svd(const In& tensor, const SvdOptions& = {});
/// Eigenvalues, smallest first, and eigenvectors of self-adjoint matrices; only the lower triangle
/// is read.
HOLDFAST_API std::tuple<Tensor, Tensor> eigh(const In& tensor);
/// Eigenvalues of self-adjoint matrices, smallest first.
HOLDFAST_API Tensor eigvalsh(const In& tensor);
struct EighTridiagonalOptions {
  bool eigvals_only = true;
  std::string select = "a";             // all, "i" by number, "v" by value
  MaybeIn select_range = std::nullopt;  // first and last
  MaybeIn tol = std::nullopt;           // what errors may be; they are those of rounding
};
/// Eigenvalues of the self-adjoint matrix with `alpha` on its diagonal and `beta` above it; and
/// eigenvectors unless eigvals_only.
HOLDFAST_API TensorTuple<2> eigh_tridiagonal(const In& alpha, const In& beta,
                                             const EighTridiagonalOptions& = {});
/// Eigenvalues and eigenvectors, complex.
HOLDFAST_API std::tuple<Tensor, Tensor> eig(const In& tensor);
/// Eigenvalues, complex.
HOLDFAST_API Tensor eigvals(const In& tensor);

// -- functions of matrices

/// Matrix exponential.
HOLDFAST_API Tensor expm(const In& input);
/// Principal matrix logarithm; complex.
HOLDFAST_API Tensor logm(const In& input);
/// Principal matrix square root.
HOLDFAST_API Tensor sqrtm(const In& input);

}  // namespace linalg
}  // namespace holdfast
