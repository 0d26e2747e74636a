// Inverse and determinants, from the LU factorisation.
#include <algorithm>
#include <cmath>

#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

struct InverseAttrs {
  Attr<bool> adjoint;
};

using lapack::each;

template <class T>
bool has_zero_pivot(const T* lu, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (!(std::abs(lu[i * n + i]) > 0)) return true;  // NaN is no pivot either
  return false;
}

Status run_inverse(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = x.dim(-1), count = lapack::batch_of(x);
  bool adjoint = c.attrs<InverseAttrs>().adjoint();
  Status status;
  if (y.size() == 0) return {};
  lapack::visit(x.dtype(), [&]<class T>(T) {
    status = each(count, n, [&](int64_t i) -> Status {
      const T* from = x.raw<T>() + i * n * n;
      T* to = y.mutable_raw<T>() + i * n * n;
      // By columns it is the transposed matrix that is inverted, and by rows its inverse is
      // transposed back.
      auto a = adjoint ? lapack::by_columns(from, n, n, true) : lapack::Work<T>(from, from + n * n);
      std::vector<int> pivots(static_cast<size_t>(n));
      lapack::getrf<T>(static_cast<int>(n), static_cast<int>(n), a.data(), pivots.data());
      if (has_zero_pivot(a.data(), n)) return lapack::not_invertible();
      lapack::getri<T>(static_cast<int>(n), a.data(), pivots.data());
      std::copy(a.begin(), a.end(), to);
      return {};
    });
  });
  return status;
}

// Sign (or phase) and logarithm of the absolute value of a determinant.
template <class T>
struct Determinant {
  T sign{1};
  lapack::real_t<T> log{0};
};
// u / |u|. An infinite real number still has a sign.
template <class T>
T phase(T u, lapack::real_t<T> size) {
  if (size == 0) return T(0);
  if constexpr (!lapack::kComplex<T>)
    if (std::isinf(u)) return std::copysign(T(1), u);
  return u / size;
}
// P A = L U as LAPACK numbers the pivots. Its own recursion multiplies by the inverse of an
// infinite pivot, and a 0 that comes of it with infinities: NaN where the quotient is 0.
template <class T>
void eliminate(T* a, int64_t n, int* pivots) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    pivots[k] = static_cast<int>(best + 1);
    if (best != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + best * n);
    for (int64_t i = k + 1; i < n; ++i) {
      T factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
}

template <class T>
Determinant<T> determinant(const T* matrix, int64_t n) {
  lapack::Work<T> lu(matrix, matrix + n * n);  // the transposed matrix has the same determinant
  std::vector<int> pivots(static_cast<size_t>(n));
  if (!lapack::all_finite(matrix, n * n))
    eliminate(lu.data(), n, pivots.data());
  else if (n)
    lapack::getrf<T>(static_cast<int>(n), static_cast<int>(n), lu.data(), pivots.data());
  Determinant<T> d;
  for (int64_t i = 0; i < n; ++i) {
    T u = lu[static_cast<size_t>(i * n + i)];
    auto size = std::abs(u);
    if (pivots[static_cast<size_t>(i)] != i + 1) d.sign = -d.sign;
    d.sign = d.sign * phase(u, size);
    d.log += std::log(size);
  }
  return d;
}

Status run_determinant(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = x.dim(-1);
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      auto d = determinant(x.raw<T>() + i * n * n, n);
      y.mutable_raw<T>()[i] = d.sign * std::exp(d.log);
      return {};
    });
  });
  return status;
}

Status run_log_determinant(Call& c) {
  const Tensor& x = c.in();
  Tensor &sign = c.out(0), &log = c.out(1);
  int64_t n = x.dim(-1);
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      auto d = determinant(x.raw<T>() + i * n * n, n);
      sign.mutable_raw<T>()[i] = d.sign;
      log.mutable_raw<T>()[i] = T(d.log);
      return {};
    });
  });
  return status;
}

// A gradient of one number a matrix, times the adjoint inverse of each.
Tensor times_inverse(const Tensor& numbers, const Tensor& matrix) {
  return expand_dims(expand_dims(numbers, -1), -1) * linalg::inv(matrix, {.adjoint = true});
}

// A real sign stands still; a complex one turns as the logarithm's imaginary part does.
Tensors log_determinant_gradient(Grad& g) {
  Tensor numbers = g.dy(1);
  if (is_complex(numbers.dtype())) numbers = complex(real(numbers), imag(g.dy(0) * conj(g.y(0))));
  return {times_inverse(numbers, g.x())};
}

}  // namespace

static const Op inverse_op =
    OP(MatrixInverse, &linalg::inv)
        .args("input")
        .options<&linalg::AdjointOptions::adjoint>("adjoint")
        .python("linalg.inv")
        .doc("Inverse of each matrix in the last two axes, or of its adjoint.")
        .dtypes(lapack::kTypes)
        .attrs<&InverseAttrs::adjoint>()
        .infer(+[](Infer& s) {
          lapack::need_square(s);
          s.output(s.dtype(), s.shape());
        })
        .kernel("lapack", run_inverse, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors {
          bool adjoint = g.attrs<InverseAttrs>().adjoint();
          Tensor inner = matmul(g.dy(), g.y(), {.adjoint_a = adjoint, .adjoint_b = !adjoint});
          return {-matmul(g.y(), inner, {.adjoint_a = !adjoint})};
        })
        .keeps("output")
        .samples("uniform(3, 3) + 3 * np.eye(3)", "uniform(2, 4, 4) + 3 * np.eye(4), adjoint=True",
                 "complexes(3, 3) + 3 * np.eye(3), adjoint=True")
        .reference("np.linalg.inv(np.conj(np.swapaxes(input, -1, -2)) if adjoint else input)")
        .checks({.rtol = 1e-4, .atol = 1e-5});
Tensor linalg::inv(const In& input, const AdjointOptions& o) {
  Tensor x = input;
  if (lapack::is_short(x)) return cast(inv(cast(x, float32), o), x.dtype());
  return inverse_op({x}, {o.adjoint});
}

static const Op determinant_op =
    OP(MatrixDeterminant, &linalg::det)
        .args("input")
        .python("linalg.det")
        .dtypes(lapack::kTypes)
        .doc("Determinant of each matrix in the last two axes.")
        .infer(+[](Infer& s) {
          lapack::need_square(s);
          s.output(s.dtype(), lapack::leading(s, 0, {}));
        })
        .kernel("lapack", run_determinant, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors { return {times_inverse(g.dy() * conj(g.y()), g.x())}; })
        .keeps("input, output")
        .samples("uniform(3, 3) + 2 * np.eye(3)", "uniform(2, 4, 4) + 2 * np.eye(4)")
        .reference("np.linalg.det(input)")
        .checks({.rtol = 1e-4, .atol = 1e-5});
Tensor linalg::det(const In& input) {
  Tensor x = input;
  return lapack::is_short(x) ? cast(det(cast(x, float32)), x.dtype()) : determinant_op(x);
}

static const Op log_determinant_op =
    OP(LogMatrixDeterminant, &linalg::slogdet)
        .args("input")
        .python("linalg.slogdet")
        .dtypes(lapack::kTypes)
        .doc("Sign and logarithm of the absolute value of each matrix's determinant.")
        .outputs("sign, log_abs_determinant")
        .returns("sign, log_abs_determinant")
        .infer(+[](Infer& s) {
          lapack::need_square(s);
          s.output(s.dtype(), lapack::leading(s, 0, {}));
          s.output(s.dtype(), lapack::leading(s, 0, {}));
        })
        .kernel("lapack", run_log_determinant, kAll, lapack::missing)
        .gradient(log_determinant_gradient)
        .keeps("input, sign")
        .samples("uniform(3, 3) + 2 * np.eye(3)", "uniform(2, 4, 4) - 2 * np.eye(4)",
                 "complexes(2, 3, 3)")
        .reference("np.linalg.slogdet(input)")
        .checks({.rtol = 1e-4, .atol = 1e-5});
std::tuple<Tensor, Tensor> linalg::slogdet(const In& x) {
  Tensors y = log_determinant_op.many({x});
  return {y[0], y[1]};
}

REGISTER(FUNCTION(&linalg::logdet)
             .args("matrix")
             .python("linalg.logdet")
             .doc("Logarithm of the determinant of each self-adjoint positive definite matrix.")
             .samples("uniform(3, 3) * 0.2 + np.eye(3)", "positive(2, 3, 3) * 0.2 + np.eye(3)")
             .checks({.gradient = false}));
Tensor linalg::logdet(const In& matrix) {
  return 2 *
         reduce_sum(log(real(linalg::diag_part(linalg::cholesky(matrix)))), {.axis = Sizes(-1)});
}

}  // namespace holdfast
