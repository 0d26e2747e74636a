// Functions of matrices: exponential, square root, logarithm.
#include <algorithm>
#include <cmath>
#include <limits>

#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/cpu/gemm.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

using lapack::each;
template <class T>
using Square = lapack::Work<T>;  // n x n; by rows or by columns, as said

template <class T>
Square<T> product(const Square<T>& a, const Square<T>& b, int64_t n) {
  Square<T> c(a.size());
  Status s = gemm::multiply({dtype_of<T>, n, n, n, {}, {}}, {}, a.data(), b.data(), c.data());
  return s.ok() ? c : Square<T>();
}

// Higham, "The scaling and squaring method for the matrix exponential revisited" (2005): the Pade
// approximant of degree 13 of a matrix of norm at most 5.4, squared as often as it was halved.
template <class T>
void exponential(const T* from, int64_t n, T* to) {
  using R = lapack::real_t<T>;
  constexpr double c[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
  size_t count = static_cast<size_t>(n * n);
  double most = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::abs(from[i * n + j]);
    if (!(sum <= std::numeric_limits<double>::max())) {
      std::fill_n(to, count, T(std::numeric_limits<R>::quiet_NaN()));
      return;
    }
    most = std::max(most, sum);
  }
  // A product past this many squarings is infinite anyway.
  int squarings =
      most > 5.37 ? std::min(1100, static_cast<int>(std::ceil(std::log2(most / 5.37)))) : 0;
  Square<T> a(from, from + count);
  for (T& x : a) x *= static_cast<R>(std::ldexp(1.0, -squarings));
  auto a2 = product(a, a, n), a4 = product(a2, a2, n), a6 = product(a4, a2, n);
  auto combine = [&](double c6, double c4, double c2, double c0) {
    Square<T> out(count);
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<R>(c6) * a6[i] + static_cast<R>(c4) * a4[i] + static_cast<R>(c2) * a2[i];
    for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(i * n + i)] += static_cast<R>(c0);
    return out;
  };
  auto high_u = product(a6, combine(c[13], c[11], c[9], 0), n),
       low_u = combine(c[7], c[5], c[3], c[1]);
  auto high_v = product(a6, combine(c[12], c[10], c[8], 0), n), v = combine(c[6], c[4], c[2], c[0]);
  for (size_t i = 0; i < count; ++i) {
    low_u[i] += high_u[i];
    v[i] += high_v[i];
  }
  auto u = product(a, low_u, n);
  // (v - u) x = v + u
  Square<T> left(count), right(count);
  for (size_t i = 0; i < count; ++i) {
    left[i] = v[i] - u[i];
    right[i] = v[i] + u[i];
  }
  auto lu = lapack::by_columns(left.data(), n, n), x = lapack::by_columns(right.data(), n, n);
  std::vector<int> pivots(static_cast<size_t>(n));
  lapack::getrf<T>(static_cast<int>(n), static_cast<int>(n), lu.data(), pivots.data());
  lapack::getrs<T>('N', static_cast<int>(n), static_cast<int>(n), lu.data(), pivots.data(),
                   x.data());
  for (int i = 0; i < squarings; ++i) x = product(x, x, n);  // of the transposed, which is as good
  lapack::transpose_into(x.data(), n, n, to);
}

Status run_expm(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = x.dim(-1);
  if (y.size() == 0) return {};
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      exponential(x.raw<T>() + i * n * n, n, y.mutable_raw<T>() + i * n * n);
      return {};
    });
  });
  return status;
}

// Square root of an upper triangular matrix that lies by columns: Bjorck, Hammarling (1983).
template <class C>
Square<C> triangular_root(const Square<C>& t, int64_t n) {
  Square<C> r(t.size());
  for (int64_t j = 0; j < n; ++j) {
    r[static_cast<size_t>(j * n + j)] = std::sqrt(t[static_cast<size_t>(j * n + j)]);
    for (int64_t i = j - 1; i >= 0; --i) {
      C sum = t[static_cast<size_t>(j * n + i)];
      for (int64_t k = i + 1; k < j; ++k)
        sum -= r[static_cast<size_t>(k * n + i)] * r[static_cast<size_t>(j * n + k)];
      r[static_cast<size_t>(j * n + i)] =
          sum / (r[static_cast<size_t>(i * n + i)] + r[static_cast<size_t>(j * n + j)]);
    }
  }
  return r;
}

// Logarithm of an upper triangular matrix that lies by columns: square roots until it is near the
// identity, then log(I + X) as the integral of X (I + s X)^-1 by Gauss-Legendre quadrature, which
// is its Pade approximant.
template <class C>
Square<C> triangular_log(Square<C> t, int64_t n) {
  constexpr double at[] = {0.0198550717512319, 0.1016667612931866, 0.2372337950418355,
                           0.4082826787521751, 0.5917173212478249, 0.7627662049581645,
                           0.8983332387068134, 0.9801449282487681};
  constexpr double weight[] = {0.0506142681451881, 0.1111905172266872, 0.1568533229389436,
                               0.1813418916891810, 0.1813418916891810, 0.1568533229389436,
                               0.1111905172266872, 0.0506142681451881};
  int roots = 0;
  auto distance = [&] {
    double most = 0;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i <= j; ++i)
        sum += std::abs(t[static_cast<size_t>(j * n + i)] - C(i == j ? 1 : 0));
      most = std::max(most, sum);
    }
    return most;
  };
  while (roots < 100 && distance() > 0.25) {
    t = triangular_root(t, n);
    ++roots;
  }
  Square<C> out(t.size());
  for (int q = 0; q < 8; ++q) {
    // Column by column: (I + s X) y = X, by substitution from below.
    using R = typename C::value_type;
    auto s = static_cast<R>(at[q]), w = static_cast<R>(std::ldexp(weight[q], roots));
    auto x = [&](int64_t i, int64_t j) {
      return t[static_cast<size_t>(j * n + i)] - C(i == j ? 1 : 0);
    };
    for (int64_t j = 0; j < n; ++j) {
      std::vector<C> y(static_cast<size_t>(j + 1));
      for (int64_t i = j; i >= 0; --i) {
        C sum = x(i, j);
        for (int64_t k = i + 1; k <= j; ++k) sum -= s * x(i, k) * y[static_cast<size_t>(k)];
        y[static_cast<size_t>(i)] = sum / (C(1) + s * x(i, i));
        out[static_cast<size_t>(j * n + i)] += w * y[static_cast<size_t>(i)];
      }
    }
  }
  return out;
}

// f of each matrix through its complex Schur form; where the input is real, so is the result.
template <class F>
Status through_schur(Call& c, F&& f) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  int64_t n = x.dim(-1);
  if (y.size() == 0) return {};
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    using R = lapack::real_t<T>;
    using C = std::complex<R>;
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      const T* from = x.raw<T>() + i * n * n;
      T* to = y.mutable_raw<T>() + i * n * n;
      Square<C> t(static_cast<size_t>(n * n)), z(t.size());
      lapack::Work<C> w(static_cast<size_t>(n));
      for (int64_t r = 0; r < n; ++r)
        for (int64_t k = 0; k < n; ++k) t[static_cast<size_t>(k * n + r)] = C(from[r * n + k]);
      if (!lapack::all_finite(from, n * n) ||
          lapack::gees<C>(static_cast<int>(n), t.data(), w.data(), z.data()) != 0) {
        std::fill_n(to, n * n, T(std::numeric_limits<R>::quiet_NaN()));
        return {};
      }
      Square<C> g = f(t, n);
      // z g z^H, all by columns
      Square<C> zg(t.size());
      for (int64_t j = 0; j < n; ++j)
        for (int64_t k = 0; k <= j; ++k)
          for (int64_t r = 0; r < n; ++r)
            zg[static_cast<size_t>(j * n + r)] +=
                z[static_cast<size_t>(k * n + r)] * g[static_cast<size_t>(j * n + k)];
      for (int64_t r = 0; r < n; ++r)
        for (int64_t k = 0; k < n; ++k) {
          C sum = 0;
          for (int64_t j = 0; j < n; ++j)
            sum +=
                zg[static_cast<size_t>(j * n + r)] * std::conj(z[static_cast<size_t>(j * n + k)]);
          if constexpr (lapack::kComplex<T>)
            to[r * n + k] = sum;
          else
            to[r * n + k] = sum.real();
        }
      return {};
    });
  });
  return status;
}

Status run_sqrtm(Call& c) {
  return through_schur(c, [](const auto& t, int64_t n) { return triangular_root(t, n); });
}
Status run_logm(Call& c) {
  return through_schur(c, [](const auto& t, int64_t n) { return triangular_log(t, n); });
}

void infer_square(Infer& s) {
  lapack::need_square(s);
  s.output(s.dtype(), s.shape());
}

}  // namespace

static const Op expm_op =
    OP(MatrixExponential, &linalg::expm)
        .args("input")
        .python("linalg.expm")
        .dtypes(lapack::kTypes)
        .doc("Exponential of each matrix.")
        .infer(infer_square)
        .kernel("pade", run_expm, kAll, lapack::missing)
        // The derivative in direction E is a corner of exp([[A, E], [0, A]]);
        // its adjoint takes adjoint(A). It is linear in E, which is made no larger than A: each
        // halving of the whole costs a digit of two.
        .gradient(+[](Grad& g) -> Tensors {
          Tensor a = linalg::adjoint(g.x()), zero = zeros_like(a), dy = g.dy();
          auto most = [](const Tensor& t) {
            return reduce_max(abs(t), {.axis = {-2, -1}, .keepdims = true});
          };
          Tensor size_of_dy = most(dy), ratio = size_of_dy / maximum(most(a), 1);
          Tensor by = stop_gradient(
              cast(where(greater(size_of_dy, 0), ratio, ones_like(ratio)), a.dtype()));
          Tensor block = concat({concat({a, dy / by}, -1), concat({zero, a}, -1)}, -2);
          int64_t n = a.dim(-1);
          if (n < 0) throw NotKnownYet{};
          Dims from(static_cast<size_t>(a.rank()), 0), size(static_cast<size_t>(a.rank()), -1);
          from[from.size() - 1] = n;
          size[size.size() - 2] = size[size.size() - 1] = n;
          return {slice(linalg::expm(block), Sizes(from), Sizes(size)) * by};
        })
        .keeps("input")
        .samples("uniform(3, 3)", "uniform(2, 4, 4) * 3")
        .reference("scipy.linalg.expm(input)")
        .checks({.rtol = 1e-4, .atol = 1e-4});
Tensor linalg::expm(const In& x) { return expm_op(x); }

static const Op sqrtm_op =
    OP(MatrixSquareRoot, &linalg::sqrtm)
        .args("input")
        .python("linalg.sqrtm")
        .dtypes(lapack::kTypes)
        .doc("Principal square root of each matrix.")
        .infer(infer_square)
        .kernel("schur", run_sqrtm, kAll, lapack::missing)
        // S dS + dS S = dA: a Sylvester equation, solved as one system of n * n unknowns.
        .gradient(+[](Grad& g) -> Tensors {
          Tensor s = g.y();
          int64_t n = s.dim(-1);
          if (n < 0 || !s.shape().is_full()) throw NotKnownYet{};
          Tensor one = eye(n, {.dtype = s.dtype()}), sh = linalg::adjoint(s);
          Dims big(s.shape().begin(), s.shape().end() - 2), column = big;
          big.push_back(n * n);
          big.push_back(n * n);
          column.push_back(n * n);
          column.push_back(1);
          // Rows (i, k), columns (j, l): S^H (x) I + I (x) S^T^H, for unknowns laid out by rows.
          Tensor system =
              einsum("...ij,kl->...ikjl", {sh, one}) + einsum("ij,...lk->...ikjl", {one, sh});
          return {
              reshape(linalg::solve(reshape(system, Sizes(big)), reshape(g.dy(), Sizes(column))),
                      s.shape())};
        })
        .keeps("output")
        .samples("uniform(3, 3) * 0.3 + 2 * np.eye(3)")
        .reference("scipy.linalg.sqrtm(input)")
        .checks({.rtol = 1e-4, .atol = 1e-5});
Tensor linalg::sqrtm(const In& x) { return sqrtm_op(x); }

static const Op logm_op = OP(MatrixLogarithm, &linalg::logm)
                              .args("input")
                              .python("linalg.logm")
                              .dtypes(kComplexes)
                              .doc("Principal logarithm of each complex matrix.")
                              .infer(infer_square)
                              .kernel("schur", run_logm, kAll, lapack::missing)
                              .no_gradient()
                              .samples("complexes(3, 3) * 0.3 + 2 * np.eye(3)")
                              .reference("scipy.linalg.logm(input)")
                              .checks({.rtol = 1e-4, .atol = 1e-5, .gradient = false});
Tensor linalg::logm(const In& x) { return logm_op(x); }

}  // namespace holdfast
