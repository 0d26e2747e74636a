// Least squares.
#include <algorithm>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

struct LeastSquaresAttrs {
  Attr<bool> fast;
};

void infer_lstsq(Infer& s) {
  s.need_rank(0, 2);
  s.need_rank(1, 2);
  s.need_rank(2, 0, 0);
  if (!s.shape(0).has_rank() || !s.shape(1).has_rank())
    return s.output(s.dtype(), Shape::unknown());
  int64_t m = s.shape(0)[-2], rows = s.shape(1)[-2];
  if (m >= 0 && rows >= 0 && m != rows)
    s.bad_shape(1, cat(m, " rows, as many as `matrix` ", s.shape(0).text(), " has"));
  Shape a = lapack::leading(s, 0, {}), b = lapack::leading(s, 1, {});
  auto both = a.merged(b);
  if (!both) s.bad_shape(1, cat("leading axes equal to those of ", s.shape(0).text()));
  Dims dims = both->dims();
  dims.push_back(s.shape(0)[-1]);
  dims.push_back(s.shape(1)[-1]);
  s.output(s.dtype(), Shape(dims));
}

// By an orthogonal factorisation, as `fast=False` asks; the fast way is written with ops below.
Status run_lstsq(Call& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor& y = c.out();
  int64_t m = a.dim(-2), n = a.dim(-1), k = b.dim(-1), rows = std::max(m, n);
  if (y.size() == 0) return {};
  Status status;
  lapack::visit(a.dtype(), [&]<class T>(T) {
    status = lapack::each(lapack::batch_of(a), rows, [&](int64_t i) -> Status {
      T* to = y.mutable_raw<T>() + i * n * k;
      const T *from = a.raw<T>() + i * m * n, *right = b.raw<T>() + i * m * k;
      if (m == 0 || !lapack::all_finite(from, m * n) || !lapack::all_finite(right, m * k)) {
        std::fill_n(to, n * k,
                    m == 0 ? T(0) : T(std::numeric_limits<lapack::real_t<T>>::quiet_NaN()));
        return {};
      }
      auto matrix = lapack::by_columns(from, m, n);
      lapack::Work<T> x(static_cast<size_t>(rows * k));
      for (int64_t r = 0; r < m; ++r)
        for (int64_t j = 0; j < k; ++j) x[static_cast<size_t>(j * rows + r)] = right[r * k + j];
      if (lapack::gelsy<T>(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                           matrix.data(), x.data()) != 0)
        return Status(Code::E1599, "LAPACK's gelsy refused its arguments");
      for (int64_t r = 0; r < n; ++r)
        for (int64_t j = 0; j < k; ++j) to[r * k + j] = x[static_cast<size_t>(j * rows + r)];
      return {};
    });
  });
  return status;
}

// (A^H A + l I)^-1 A^H b, or for wide matrices A^H (A A^H + l I)^-1 b.
Tensor by_normal_equations(const Tensor& a, const Tensor& b, const Tensor& regularizer);
const Composition normal_later(
    "lstsq", 3,
    +[](std::span<const Tensor> in) { return by_normal_equations(in[0], in[1], in[2]); });

Tensor by_normal_equations(const Tensor& a, const Tensor& b, const Tensor& regularizer) {
  if (!ranks_known({a, b}) || a.dim(-1) < 0 || a.dim(-2) < 0) {
    Shape shape = Shape::unknown();
    if (ranks_known({a, b}) && a.rank() >= 2 && b.rank() == a.rank()) {
      shape = b.shape();
      shape.dims()[shape.dims().size() - 2] = a.dim(-1);
    }
    return normal_later({a, b, regularizer}, a.dtype(), shape);
  }
  bool tall = a.dim(-2) >= a.dim(-1);
  Tensor gram = matmul(a, a, {.adjoint_a = tall, .adjoint_b = !tall});
  gram = linalg::set_diag(gram, linalg::diag_part(gram) + cast(regularizer, a.dtype()));
  Tensor chol = linalg::cholesky(gram);
  if (tall) return linalg::cholesky_solve(chol, matmul(a, b, {.adjoint_a = true}));
  return matmul(a, linalg::cholesky_solve(chol, b), {.adjoint_a = true});
}

}  // namespace

static const Op lstsq_op =
    RAW_OP(MatrixSolveLs)
        .inputs("matrix, rhs, l2_regularizer: Tl")
        .attr("fast", true)
        .attrs<&LeastSquaresAttrs::fast>()
        .dtypes(lapack::kTypes)
        .dtypes({float64}, "Tl")
        .doc("x for which matrix x is nearest to rhs; `fast` takes the normal equations.")
        .infer(infer_lstsq)
        .kernel(
            "lapack", run_lstsq, kAll,
            +[](const Types& t) -> const char* {
              return t.attrs<LeastSquaresAttrs>().fast()
                         ? "fast=True is written with other ops, in `linalg.lstsq`"
                         : lapack::missing(t);
            })
        .gradient(+[](Grad&) -> Tensors {
          fail(Code::E1105, "MatrixSolveLs has no gradient where fast is False");
        })
        .keeps("");

REGISTER(FUNCTION(&linalg::lstsq)
             .args("matrix, rhs")
             .options<&linalg::LstsqOptions::l2_regularizer, &linalg::LstsqOptions::fast>(
                 "l2_regularizer, fast")
             .python("linalg.lstsq")
             .doc("x for which matrix x is nearest to rhs, by the normal equations or "
                  "(`fast=False`) by an orthogonal factorisation.")
             .samples("uniform(5, 3), uniform(5, 2)", "uniform(2, 6, 3), uniform(2, 6, 2)")
             .reference("np.linalg.pinv(matrix) @ rhs")
             .checks({.rtol = 2e-3, .atol = 1e-3}));
Tensor linalg::lstsq(const In& matrix, const In& rhs, const LstsqOptions& o) {
  Tensor a = matrix.weak() ? matrix.tensor(rhs.dtype()) : matrix.tensor(),
         b = rhs.tensor(a.dtype());
  Tensor l2 = Tensor::scalar(o.l2_regularizer);
  if (!o.fast) return lstsq_op({a, b, l2}, {false});
  return by_normal_equations(a, b, l2);
}

}  // namespace holdfast
