// Eigenvalues of self-adjoint tridiagonal matrices, all of them or a range.
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

using linalg::EighTridiagonalOptions;

void check(const Tensor& a, const Tensor& b, const EighTridiagonalOptions& o) {
  auto refuse = [](Code code, const std::string& what) {
    fail(code, cat("eigh_tridiagonal: ", what));
  };
  if (o.select != "a" && o.select != "i" && o.select != "v")
    refuse(Code::E1103, cat("`select` is '", o.select, "', expected 'a', 'i' or 'v'"));
  if (o.select != "a" && !o.select_range.given())
    refuse(Code::E1104, cat("`select_range` is missing, and `select` is '", o.select, "'"));
  for (const Tensor* t : {&a, &b})
    if (t->shape().has_rank() && t->rank() != 1)
      refuse(Code::E1102, cat("a diagonal is of shape ", t->shape().text(), ", expected a vector"));
  if (a.shape().is_full() && b.shape().is_full() && a.dim(0) != b.dim(0) + 1)
    refuse(Code::E1102, cat("`beta` has ", b.dim(0), " elements, expected ", a.dim(0) - 1,
                            ", one less than `alpha`"));
}

// The matrix itself. Beside a diagonal of one element stand two of none, which `diag` has no place
// for.
Tensor filled(const Tensor& a, const Tensor& b) {
  Tensor above = pad(linalg::diag(b), Tensor::of<int32_t>({0, 1, 1, 0}, {2, 2}));
  Tensor below = pad(linalg::diag(conj(b)), Tensor::of<int32_t>({1, 0, 0, 1}, {2, 2}));
  return linalg::diag(a) + above + below;
}

// Which eigenvalues lie between two numbers. What rounding moved beyond them counts too.
Tensor between(const Tensor& values, const Tensor& range) {
  DType d = values.dtype();
  double unit =
      d == float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  Tensor slack = reduce_max(abs(values)) * Tensor::scalar(4 * unit, d);
  Tensor low = gather(range, 0) - slack, high = gather(range, 1) + slack;
  return logical_and(greater_equal(values, low), less_equal(values, high));
}

}  // namespace

REGISTER(FUNCTION(&linalg::eigh_tridiagonal)
             .args("alpha, beta")
             .options<&EighTridiagonalOptions::eigvals_only, &EighTridiagonalOptions::select,
                      &EighTridiagonalOptions::select_range, &EighTridiagonalOptions::tol>(
                 "eigvals_only, select, select_range: R, tol: R")
             .python("linalg.eigh_tridiagonal")
             .doc("Eigenvalues, smallest first, and on demand eigenvectors of the self-adjoint "
                  "matrix with `alpha` on its diagonal and `beta` above it.")
             .samples("uniform(4), uniform(3)",
                      "uniform(4), uniform(3), select='i', "
                      "select_range=[1, 2]")
             .reference("[scipy.linalg.eigh_tridiagonal(alpha, beta, True, select, select_range)]")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
TensorTuple<2> linalg::eigh_tridiagonal(const In& alpha, const In& beta,
                                        const EighTridiagonalOptions& o) {
  Tensor a = alpha, b = beta.tensor(a.dtype());
  check(a, b, o);
  // Found in twice the precision, vectors are orthogonal to the last bit.
  const DType given = a.dtype();
  DType inside = given == float32             ? float64
                 : given == DType::kComplex64 ? DType::kComplex128
                                              : given;
  Tensor matrix = filled(cast(a, inside), cast(b, inside));
  Tensor values, vectors;
  if (o.eigvals_only)
    values = eigvalsh(matrix);
  else
    std::tie(values, vectors) = eigh(matrix);
  values = real(cast(values, given));
  if (vectors.defined()) vectors = cast(vectors, given);
  if (o.select == "i") {
    Tensor range = o.select_range.tensor(int32);
    if (!kIndices.has(range.dtype()))
      fail(Code::E1101, cat("eigh_tridiagonal: `select_range` is ", name(range.dtype()),
                            ", expected two integers"));
    Tensor first = gather(range, 0), count = gather(range, 1) - first + 1;
    values = slice(values, Sizes(reshape(first, {1})), Sizes(reshape(count, {1})));
    if (vectors.defined()) {
      Tensor none = zeros_like(first), all = none - 1;
      vectors = slice(vectors, Sizes(stack({none, first})), Sizes(stack({all, count})));
    }
  } else if (o.select == "v") {
    Tensor kept =
        between(values, cast(real(o.select_range.tensor(values.dtype())), values.dtype()));
    values = boolean_mask(values, kept);
    if (vectors.defined()) vectors = boolean_mask(vectors, kept, {.axis = 1});
  }
  return vectors.defined() ? Tensors{values, vectors} : Tensors{values};
}

}  // namespace holdfast
