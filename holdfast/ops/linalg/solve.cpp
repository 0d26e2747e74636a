// Linear systems: general, triangular, from a Cholesky factor; and the Cholesky factor itself.
#include <algorithm>
#include <cmath>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

struct SolveAttrs {
  Attr<bool> adjoint;
};
struct TriangularAttrs {
  Attr<bool> lower;
  Attr<bool> adjoint;
};

using lapack::each;

// Rows of `matrix` and `rhs` must agree; answers the shape of both batches, which must be equal or
// (where allowed) broadcast.
Shape infer_system(Infer& s, bool broadcasts) {
  int64_t n = lapack::need_square(s, 0);
  s.need_rank(1, 2);
  if (!s.shape(0).has_rank() || !s.shape(1).has_rank()) return Shape::unknown();
  int64_t rows = s.shape(1)[-2];
  if (n >= 0 && rows >= 0 && n != rows)
    s.bad_shape(1, cat(n, " rows, as many as `matrix` ", s.shape(0).text(), " has"));
  Shape a = lapack::leading(s, 0, {}), b = lapack::leading(s, 1, {});
  auto both = broadcasts ? broadcast(a, b) : a.merged(b);
  if (!both)
    s.bad_shape(1, cat("leading axes ", broadcasts ? "that broadcast with" : "equal to",
                       " those of ", s.shape(0).text()));
  Dims dims = both->dims();
  dims.push_back(rows >= 0 ? rows : n);
  dims.push_back(s.shape(1)[-1]);
  return Shape(dims);
}

Status run_solve(Call& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor& y = c.out();
  int64_t n = a.dim(-1), k = b.dim(-1);
  bool adjoint = c.attrs<SolveAttrs>().adjoint();
  Status status;
  if (y.size() == 0) return {};
  lapack::visit(a.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(a), n, [&](int64_t i) -> Status {
      auto lu = lapack::by_columns(a.raw<T>() + i * n * n, n, n);
      auto x = lapack::by_columns(b.raw<T>() + i * n * k, n, k);
      std::vector<int> pivots(static_cast<size_t>(n));
      int in = static_cast<int>(n);
      lapack::getrf<T>(in, in, lu.data(), pivots.data());
      for (int64_t j = 0; j < n; ++j)
        if (!(std::abs(lu[static_cast<size_t>(j * n + j)]) > 0)) return lapack::not_invertible();
      lapack::getrs<T>(adjoint ? 'C' : 'N', in, static_cast<int>(k), lu.data(), pivots.data(),
                       x.data());
      lapack::transpose_into(x.data(), k, n, y.mutable_raw<T>() + i * n * k);
      return {};
    });
  });
  return status;
}

Status run_triangular(Call& c) {
  auto attrs = c.attrs<TriangularAttrs>();
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor& y = c.out();
  int64_t n = a.dim(-1), k = b.dim(-1);
  bool lower = attrs.lower(), adjoint = attrs.adjoint();
  if (y.size() == 0) return {};
  Status status;
  lapack::visit(a.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(y), n, [&](int64_t i) -> Status {
      T* to = y.mutable_raw<T>() + i * n * k;
      std::copy_n(b.raw<T>() + lapack::place(b, y, i) * n * k, n * k, to);
      lapack::trsm<T>(lower, adjoint ? 'C' : 'N', static_cast<int>(n), static_cast<int>(k),
                      a.raw<T>() + lapack::place(a, y, i) * n * n, to);
      return {};
    });
  });
  return status;
}

Status run_cholesky(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = x.dim(-1);
  if (y.size() == 0) return {};
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      auto l = lapack::by_columns(x.raw<T>() + i * n * n, n, n);
      int info = lapack::potrf<T>(static_cast<int>(n), l.data());
      // As TensorFlow does, a matrix that is not positive definite gives NaN.
      // A pivot that is none may leave the columns behind it as if nothing had been.
      bool bad = info != 0;
      for (int64_t j = 0; j < n; ++j)
        bad = bad || !lapack::finite(l[static_cast<size_t>(j * n + j)]);
      for (int64_t row = 0; row < n; ++row)
        for (int64_t column = 0; column < n; ++column) {
          T v = column > row ? T(0)
                : bad        ? T(std::numeric_limits<lapack::real_t<T>>::quiet_NaN())
                             : l[static_cast<size_t>(column * n + row)];
          y.mutable_raw<T>()[i * n * n + row * n + column] = v;
        }
      return {};
    });
  });
  return status;
}

}  // namespace

static const Op solve_op =
    OP(MatrixSolve, &linalg::solve)
        .args("matrix, rhs")
        .options<&linalg::AdjointOptions::adjoint>("adjoint")
        .python("linalg.solve")
        .doc("x of matrix x = rhs, or of adjoint(matrix) x = rhs, for each matrix of the batch.")
        .dtypes(lapack::kTypes)
        .attrs<&SolveAttrs::adjoint>()
        .infer(+[](Infer& s) { s.output(s.dtype(), infer_system(s, false)); })
        .kernel("lapack", run_solve, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors {
          bool adjoint = g.attrs<SolveAttrs>().adjoint();
          Tensor db = linalg::solve(g.x(0), g.dy(), {.adjoint = !adjoint}), da;
          if (g.wants(0))
            da = adjoint ? -matmul(g.y(), db, {.adjoint_b = true})
                         : -matmul(db, g.y(), {.adjoint_b = true});
          return {da, db};
        })
        .keeps("matrix, output")
        .samples(
            "uniform(3, 3) + 3 * np.eye(3, dtype='float32'), uniform(3, 2)",
            "uniform(2, 3, 3) + 3 * np.eye(3, dtype='float32'), uniform(2, 3, 1), adjoint=True",
            "complexes(3, 3) + 3 * np.eye(3, dtype='float32'), complexes(3, 2), adjoint=True")
        .reference(
            "np.linalg.solve(np.conj(np.swapaxes(matrix, -1, -2)) if adjoint else matrix, rhs)")
        .checks({.rtol = 1e-4, .atol = 1e-5});
Tensor linalg::solve(const In& matrix, const In& rhs, const AdjointOptions& o) {
  Tensor a = matrix.weak() ? matrix.tensor(rhs.dtype()) : matrix.tensor(),
         b = rhs.tensor(a.dtype());
  if (lapack::is_short(a) && lapack::is_short(b))
    return cast(solve(cast(a, float32), cast(b, float32), o), a.dtype());
  return solve_op({a, b}, {o.adjoint});
}

static const Op triangular_op =
    OP(MatrixTriangularSolve, &linalg::triangular_solve)
        .args("matrix, rhs")
        .options<&linalg::TriangularSolveOptions::lower, &linalg::TriangularSolveOptions::adjoint>(
            "lower, adjoint")
        .python("linalg.triangular_solve")
        .doc(
            "x of matrix x = rhs, of which only the lower (or upper) triangle of `matrix` is "
            "looked at; batches broadcast.")
        .dtypes(lapack::kTypes)
        .attrs<&TriangularAttrs::lower, &TriangularAttrs::adjoint>()
        .infer(+[](Infer& s) { s.output(s.dtype(), infer_system(s, true)); })
        .kernel("blas", run_triangular, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors {
          auto attrs = g.attrs<TriangularAttrs>();
          bool lower = attrs.lower(), adjoint = attrs.adjoint();
          Tensor db = linalg::triangular_solve(g.x(0), g.dy(), {lower, !adjoint}), da;
          if (g.wants(0)) {
            da = adjoint ? -matmul(g.y(), db, {.adjoint_b = true})
                         : -matmul(db, g.y(), {.adjoint_b = true});
            da =
                sum_to(lower ? linalg::band_part(da, -1, 0) : linalg::band_part(da, 0, -1), g.x(0));
          }
          return {da, g.wants(1) ? sum_to(db, g.x(1)) : Tensor()};
        })
        .keeps("matrix, output")
        .samples("np.tril(uniform(3, 3)) + 3 * np.eye(3, dtype='float32'), uniform(3, 2)",
                 "np.triu(uniform(2, 3, 3)) + 3 * np.eye(3, dtype='float32'), uniform(3, 1), "
                 "lower=False, adjoint=True")
        .reference(
            "np.linalg.solve(np.conj(np.swapaxes(matrix, -1, -2)) if adjoint else matrix, "
            "np.broadcast_to(rhs, matrix.shape[:-2] + rhs.shape[-2:]))")
        .checks({.rtol = 1e-4, .atol = 1e-5});
Tensor linalg::triangular_solve(const In& matrix, const In& rhs, const TriangularSolveOptions& o) {
  Tensor a = matrix.weak() ? matrix.tensor(rhs.dtype()) : matrix.tensor(),
         b = rhs.tensor(a.dtype());
  if (lapack::is_short(a) && lapack::is_short(b))
    return cast(triangular_solve(cast(a, float32), cast(b, float32), o), a.dtype());
  return triangular_op({a, b}, {o.lower, o.adjoint});
}

static const Op cholesky_op =
    OP(Cholesky, &linalg::cholesky)
        .args("input")
        .python("linalg.cholesky")
        .dtypes(lapack::kTypes)
        .doc(
            "Lower triangular L with L adjoint(L) = input, for each self-adjoint positive definite "
            "matrix; NaN for others.")
        .infer(+[](Infer& s) {
          lapack::need_square(s);
          s.output(s.dtype(), s.shape());
        })
        .kernel("lapack", run_cholesky, kAll, lapack::missing)
        // Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10.
        .gradient(+[](Grad& g) -> Tensors {
          Tensor l = g.y(),
                 inner = linalg::band_part(matmul(l, g.dy(), {.adjoint_a = true}), -1, 0);
          inner = inner - linalg::diag(linalg::diag_part(inner)) * 0.5;
          Tensor left = linalg::triangular_solve(l, inner, {.lower = true, .adjoint = true});
          Tensor da = linalg::adjoint(
              linalg::triangular_solve(l, linalg::adjoint(left), {.lower = true, .adjoint = true}));
          return {(da + linalg::adjoint(da)) * 0.5};
        })
        .keeps("output")
        .samples("uniform(3, 3) * 0.2 + np.eye(3)")
        .checks({.gradient = false});
Tensor linalg::cholesky(const In& input) {
  Tensor x = input;
  return lapack::is_short(x) ? cast(cholesky(cast(x, float32)), x.dtype()) : cholesky_op(x);
}

REGISTER(FUNCTION(&linalg::cholesky_solve)
             .args("chol, rhs")
             .python("linalg.cholesky_solve")
             .doc("x of A x = rhs, given the Cholesky factor of A.")
             .samples("np.tril(uniform(3, 3)) + 3 * np.eye(3, dtype='float32'), uniform(3, 2)")
             .reference("np.linalg.solve(chol @ np.conj(np.swapaxes(chol, -1, -2)), rhs)")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor linalg::cholesky_solve(const In& chol, const In& rhs) {
  Tensor l = chol;
  return triangular_solve(l, triangular_solve(l, rhs), {.lower = true, .adjoint = true});
}

}  // namespace holdfast
