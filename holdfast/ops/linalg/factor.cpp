// LU and QR factorisations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct QrAttrs {
  Attr<bool> full_matrices;
};
struct LuAttrs {
  Attr<DType> output_idx_type;
};

using lapack::each;

Status run_lu(Call& c) {
  const Tensor& x = c.in();
  Tensor &y = c.out(0), &p = c.out(1);
  int64_t n = x.dim(-1);
  if (y.size() == 0) return {};
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      auto lu = lapack::by_columns(x.raw<T>() + i * n * n, n, n);
      std::vector<int> pivots(static_cast<size_t>(n));
      lapack::getrf<T>(static_cast<int>(n), static_cast<int>(n), lu.data(), pivots.data());
      for (int64_t j = 0; j < n; ++j)
        if (!(std::abs(lu[static_cast<size_t>(j * n + j)]) > 0)) return lapack::not_invertible();
      lapack::transpose_into(lu.data(), n, n, y.mutable_raw<T>() + i * n * n);
      std::vector<int64_t> order(static_cast<size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      for (size_t j = 0; j < order.size(); ++j)
        std::swap(order[j], order[static_cast<size_t>(pivots[j] - 1)]);
      visit_indices(p.dtype(), [&]<class I>(I) {
        for (int64_t j = 0; j < n; ++j)
          p.mutable_raw<I>()[i * n + j] = static_cast<I>(order[static_cast<size_t>(j)]);
      });
      return {};
    });
  });
  return status;
}

void infer_qr(Infer& s) {
  s.need_rank(0, 2);
  if (!s.shape().has_rank()) {
    s.output(s.dtype(), Shape::unknown());
    return s.output(s.dtype(), Shape::unknown());
  }
  int64_t m = s.shape()[-2], n = s.shape()[-1];
  int64_t inner = s.attrs<QrAttrs>().full_matrices() ? m : m < 0 || n < 0 ? -1 : std::min(m, n);
  s.output(s.dtype(), lapack::leading(s, 0, {m, inner}));
  s.output(s.dtype(), lapack::leading(s, 0, {inner, n}));
}

Status run_qr(Call& c) {
  const Tensor& x = c.in();
  Tensor &q = c.out(0), &r = c.out(1);
  int64_t m = x.dim(-2), n = x.dim(-1), inner = q.dim(-1), k = std::min(m, n);
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    status = each(lapack::batch_of(x), std::max(m, n), [&](int64_t i) -> Status {
      // The reflectors need the room of Q where that is wider than the input.
      lapack::Work<T> a(static_cast<size_t>(m * std::max(n, inner))),
          tau(static_cast<size_t>(std::max<int64_t>(1, k)));
      T *to_q = q.mutable_raw<T>() + i * m * inner, *to_r = r.mutable_raw<T>() + i * inner * n;
      if (!lapack::all_finite(x.raw<T>() + i * m * n, m * n)) {  // reflectors would hide it
        const T nan(std::numeric_limits<lapack::real_t<T>>::quiet_NaN());
        std::fill_n(to_q, m * inner, nan);
        for (int64_t row = 0; row < inner; ++row)
          for (int64_t column = 0; column < n; ++column)
            to_r[row * n + column] = row <= column ? nan : T(0);
        return {};
      }
      lapack::transpose_into(x.raw<T>() + i * m * n, m, n, a.data());
      if (k > 0) lapack::geqrf<T>(static_cast<int>(m), static_cast<int>(n), a.data(), tau.data());
      for (int64_t row = 0; row < inner; ++row)
        for (int64_t column = 0; column < n; ++column)
          to_r[row * n + column] =
              row <= column && row < m ? a[static_cast<size_t>(column * m + row)] : T(0);
      if (k > 0)
        lapack::orgqr<T>(static_cast<int>(m), static_cast<int>(inner), static_cast<int>(k),
                         a.data(), tau.data());
      else
        for (int64_t j = 0; j < inner; ++j) a[static_cast<size_t>(j * m + j)] = T(1);
      lapack::transpose_into(a.data(), inner, m, to_q);
      return {};
    });
  });
  return status;
}

// x r^-H
Tensor over_adjoint(const Tensor& x, const Tensor& r) {
  return linalg::adjoint(linalg::triangular_solve(r, linalg::adjoint(x), {.lower = false}));
}

// Gradient where r is square: Walter, Lehmann, "Algorithmic differentiation of linear algebra
// functions" (2012); the last term is for complex numbers, whose r has a real diagonal only by
// convention.
Tensor qr_gradient(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  Tensor rdr = matmul(r, dr, {.adjoint_b = true}), qdq = matmul(q, dq, {.adjoint_a = true});
  Tensor lower =
      linalg::band_part((rdr - linalg::adjoint(rdr)) + (qdq - linalg::adjoint(qdq)), -1, 0);
  Tensor da = matmul(q, dr + over_adjoint(lower, r)) + over_adjoint(dq - matmul(q, qdq), r);
  if (!is_complex(q.dtype())) return da;
  Tensor d = linalg::diag(linalg::diag_part(rdr - linalg::adjoint(qdq)));
  Tensor correction = d - cast(real(d), d.dtype());
  return da + over_adjoint(matmul(q, linalg::adjoint(correction)), r);
}

// Columns [begin, begin + count) of the last axis, or to its end where count is -1.
Tensor columns(const Tensor& t, int64_t begin, int64_t count) {
  Dims from(static_cast<size_t>(t.rank()), 0), size(static_cast<size_t>(t.rank()), -1);
  from.back() = begin;
  size.back() = count;
  return slice(t, Sizes(from), Sizes(size));
}

}  // namespace

static const Op lu_op =
    OP(Lu, &linalg::lu)
        .args("input")
        .options<&linalg::LuOptions::output_idx_type>("output_idx_type")
        .python("linalg.lu")
        .doc(
            "L and U of each matrix in one (the ones on L's diagonal left out), and the "
            "permutation: input[p] = L U.")
        .inputs("input")
        .attr("output_idx_type", int32)
        .attrs<&LuAttrs::output_idx_type>()
        .outputs("lu, p")
        .returns("lu, p")
        .dtypes(lapack::kTypes)
        .no_gradient()
        .infer(+[](Infer& s) {
          int64_t n = lapack::need_square(s);
          DType d = s.attrs<LuAttrs>().output_idx_type();
          if (!kIndices.has(d)) s.bad_value("output_idx_type", name(d), "int32 or int64");
          s.output(s.dtype(), s.shape());
          s.output(d, lapack::leading(s, 0, {n}));
        })
        .kernel("lapack", run_lu, kAll, lapack::missing)
        .samples("uniform(3, 3) + 2 * np.eye(3)", "uniform(2, 4, 4) + 2 * np.eye(4)")
        .checks({.gradient = false});
std::tuple<Tensor, Tensor> linalg::lu(const In& x, const LuOptions& o) {
  Tensors y = lu_op.many({x}, {o.output_idx_type});
  return {y[0], y[1]};
}

static const Op qr_op =
    OP(Qr, &linalg::qr)
        .args("input")
        .options<&linalg::QrOptions::full_matrices>("full_matrices")
        .python("linalg.qr")
        .doc("Unitary q and upper triangular r with q r = input, thin unless `full_matrices`.")
        .outputs("q, r")
        .returns("q, r")
        .dtypes(lapack::kTypes)
        .attrs<&QrAttrs::full_matrices>()
        .infer(infer_qr)
        .kernel("lapack", run_qr, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors {
          int64_t m = g.x().dim(-2), n = g.x().dim(-1);
          if (m < 0 || n < 0) throw NotKnownYet{};
          if (m > n && g.attrs<QrAttrs>().full_matrices())
            fail(Code::E1105,
                 "Qr has no gradient where full_matrices is True and there are more rows than "
                 "columns");
          if (m >= n) return {qr_gradient(g.y(0), g.y(1), g.dy(0), g.dy(1))};
          Tensor dr = g.dy(1), rest = columns(dr, m, -1);
          Tensor dq = g.dy(0) + matmul(columns(g.x(), m, -1), rest, {.adjoint_b = true});
          return {concat({qr_gradient(g.y(0), columns(g.y(1), 0, m), dq, columns(dr, 0, m)),
                          matmul(g.y(0), rest)},
                         -1)};
        })
        .keeps("input, q, r")
        .samples("uniform(4, 3)", "uniform(2, 3, 3) + np.eye(3)", "uniform(3, 5)",
                 "uniform(4, 3), full_matrices=True")
        .reference("np.linalg.qr(input, mode='complete' if full_matrices else 'reduced')")
        .checks({.rtol = 1e-3, .atol = 1e-4, .gradient = false});
std::tuple<Tensor, Tensor> linalg::qr(const In& x, const QrOptions& o) {
  Tensors y = qr_op.many({x}, {o.full_matrices});
  return {y[0], y[1]};
}

}  // namespace holdfast
