// Singular values, and what follows from them: pseudo-inverse and rank.
#include <algorithm>
#include <limits>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct SvdAttrs {
  Attr<bool> compute_uv;
  Attr<bool> full_matrices;
};

using lapack::each;

void infer_svd(Infer& s) {
  auto a = s.attrs<SvdAttrs>();
  s.need_rank(0, 2);
  bool uv = a.compute_uv(), full = a.full_matrices();
  if (!s.shape().has_rank()) {
    for (int i = 0; i < 3; ++i) s.output(s.dtype(), Shape::unknown());
    return;
  }
  int64_t m = s.shape()[-2], n = s.shape()[-1], k = m < 0 || n < 0 ? -1 : std::min(m, n);
  s.output(s.dtype(), lapack::leading(s, 0, {k}));
  s.output(s.dtype(), uv ? lapack::leading(s, 0, {m, full ? m : k}) : Shape{0});
  s.output(s.dtype(), uv ? lapack::leading(s, 0, {n, full ? n : k}) : Shape{0});
}

Status run_svd(Call& c) {
  auto attrs = c.attrs<SvdAttrs>();
  const Tensor& x = c.in();
  bool uv = attrs.compute_uv(), full = attrs.full_matrices();
  Tensor &s = c.out(0), &u = c.out(1), &v = c.out(2);
  int64_t m = x.dim(-2), n = x.dim(-1), k = std::min(m, n), wide_u = full ? m : k,
          wide_v = full ? n : k;
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    using R = lapack::real_t<T>;
    const T nan(std::numeric_limits<R>::quiet_NaN());
    status = each(lapack::batch_of(x), std::max(m, n), [&](int64_t i) -> Status {
      const T* from = x.raw<T>() + i * m * n;
      T *to_s = s.mutable_raw<T>() + i * k, *to_u = u.mutable_raw<T>() + (uv ? i * m * wide_u : 0),
        *to_v = v.mutable_raw<T>() + (uv ? i * n * wide_v : 0);
      if (k == 0) {
        for (int64_t j = 0; uv && j < m * wide_u; ++j) to_u[j] = T(j % (wide_u + 1) == 0 ? 1 : 0);
        for (int64_t j = 0; uv && j < n * wide_v; ++j) to_v[j] = T(j % (wide_v + 1) == 0 ? 1 : 0);
        return {};
      }
      bool good = lapack::all_finite(from, m * n);
      lapack::Work<R> values(static_cast<size_t>(k));
      lapack::Work<T> left(static_cast<size_t>(uv ? m * wide_u : 1)),
          right(static_cast<size_t>(uv ? n * wide_v : 1));
      if (good) {
        auto a = lapack::by_columns(from, m, n);
        good = lapack::gesdd<T>(uv ? (full ? 'A' : 'S') : 'N', static_cast<int>(m),
                                static_cast<int>(n), a.data(), values.data(), left.data(),
                                right.data()) == 0;
      }
      for (int64_t j = 0; j < k; ++j) to_s[j] = good ? T(values[static_cast<size_t>(j)]) : nan;
      if (!uv) return {};
      if (!good) {
        std::fill_n(to_u, m * wide_u, nan);
        std::fill_n(to_v, n * wide_v, nan);
        return {};
      }
      lapack::transpose_into(left.data(), wide_u, m, to_u);
      // LAPACK's V^H by columns is conj(V) by rows.
      for (int64_t j = 0; j < n * wide_v; ++j)
        to_v[j] = lapack::conj_of(right[static_cast<size_t>(j)]);
      return {};
    });
  });
  return status;
}

// Singular values are real, whatever their dtype: only this part of what arrives moves them.
Tensor real_part(const Tensor& t) { return is_complex(t.dtype()) ? cast(real(t), t.dtype()) : t; }
Tensor last(const Tensor& t) { return expand_dims(t, -1); }
Tensor second_last(const Tensor& t) { return expand_dims(t, -2); }
// 1 / x, and 0 where x is 0: equal singular values have no direction of their own.
Tensor safe_inverse(const Tensor& x) { return x / (square(x) + 1e-20); }

// Townsend, "Differentiating the singular value decomposition" (2016); complex numbers as in Wan,
// Zhang (2019).
Tensor svd_gradient(const Tensor& s, const Tensor& u, const Tensor& v, const Tensor& ds,
                    const Tensor& du, const Tensor& dv, int64_t m, int64_t n) {
  int64_t k = std::min(m, n);
  Tensor f = safe_inverse((second_last(s) - last(s)) * (second_last(s) + last(s)));
  Tensor udu = matmul(u, du, {.adjoint_a = true}), vdv = matmul(v, dv, {.adjoint_a = true});
  Tensor inner = (udu - linalg::adjoint(udu)) * f * second_last(s) +
                 last(s) * ((vdv - linalg::adjoint(vdv)) * f) + linalg::diag(ds);
  Tensor inverse = safe_inverse(s);
  if (is_complex(s.dtype())) {
    Tensor d = linalg::diag_part(udu);
    inner = inner + linalg::diag((d - cast(real(d), d.dtype())) * inverse);
  }
  Tensor da = matmul(matmul(u, inner), v, {.adjoint_b = true});
  if (m > k) da = da + matmul((du - matmul(u, udu)) * second_last(inverse), v, {.adjoint_b = true});
  if (n > k) da = da + matmul(u * second_last(inverse), dv - matmul(v, vdv), {.adjoint_b = true});
  return da;
}

double epsilon(DType d) {
  return real_of(d) == float64 ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
}
// Whether the sizes of each matrix are known.
bool matrix_known(const Tensor& t) {
  return t.shape().has_rank() && (t.rank() < 2 || (t.dim(-1) >= 0 && t.dim(-2) >= 0));
}

int64_t longer_side(const Tensor& t, const char* function) {
  if (t.shape().has_rank() && t.rank() < 2)
    fail(Code::E1102,
         cat(function, ": `a` is of shape ", t.shape().text(), ", expected rank 2 or more"));
  if (!kFloats.has(t.dtype()))
    fail(Code::E1101, cat(function, ": `a` is ", name(t.dtype()), ", expected a float dtype"));
  return std::max(t.dim(-1), t.dim(-2));
}

}  // namespace

static const Op svd_op =
    RAW_OP(Svd)
        .inputs("input")
        .attr("compute_uv", true)
        .attr("full_matrices", false)
        .attrs<&SvdAttrs::compute_uv, &SvdAttrs::full_matrices>()
        .outputs("s, u, v")
        .dtypes(lapack::kTypes)
        .doc("Singular values, largest first, and vectors: u diag(s) adjoint(v) = input.")
        .infer(infer_svd)
        .kernel("lapack", run_svd, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors {
          int64_t m = g.x().dim(-2), n = g.x().dim(-1);
          if (m < 0 || n < 0) throw NotKnownYet{};
          if (!g.attrs<SvdAttrs>().compute_uv() || (!g.has_dy(1) && !g.has_dy(2))) {
            bool thin = g.attrs<SvdAttrs>().compute_uv() &&
                        (m == n || !g.attrs<SvdAttrs>().full_matrices());
            Tensors suv = thin ? Tensors{g.y(0), g.y(1), g.y(2)} : linalg::svd(g.x());
            return {matmul(suv[1], second_last(real_part(g.dy(0))) * suv[2], {.adjoint_b = true})};
          }
          if (g.attrs<SvdAttrs>().full_matrices() && m != n)
            fail(Code::E1105,
                 "Svd has no gradient where full_matrices is True and the matrix is not square");
          return {svd_gradient(g.y(0), g.y(1), g.y(2), real_part(g.dy(0)), g.dy(1), g.dy(2), m, n)};
        })
        .keeps("input, s, u, v");

REGISTER(FUNCTION(&linalg::svd)
             .args("tensor")
             .options<&linalg::SvdOptions::full_matrices, &linalg::SvdOptions::compute_uv>(
                 "full_matrices, compute_uv")
             .python("linalg.svd")
             .doc("Singular values s, largest first, with u and v: u diag(s) adjoint(v) = tensor. "
                  "Only s without compute_uv.")
             .samples("uniform(4, 3), compute_uv=False", "uniform(2, 3, 5), compute_uv=False")
             .reference("np.linalg.svd(tensor, compute_uv=False)")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
TensorTuple<3> linalg::svd(const In& tensor, const SvdOptions& o) {
  Tensors suv = svd_op.many({tensor}, {o.compute_uv, o.full_matrices});
  suv[0] = real(suv[0]);  // the op's are of the matrix's dtype
  if (!o.compute_uv) suv.resize(1);
  return suv;
}

REGISTER(FUNCTION(&linalg::pinv)
             .args("a")
             .options<&linalg::PinvOptions::rcond, &linalg::PinvOptions::validate_args>(
                 "rcond, validate_args")
             .python("linalg.pinv")
             .doc("Moore-Penrose pseudo-inverse of each matrix.")
             .samples("uniform(4, 3)", "uniform(2, 3, 4)")
             .reference("np.linalg.pinv(a)")
             .checks({.rtol = 1e-3, .atol = 1e-4}));
static const Composition pinv_later(
    "pinv", 1, +[](std::span<const Tensor> in, bool validate) {
      linalg::PinvOptions o{.validate_args = validate};
      if (in.size() > 1) o.rcond = in[1];
      return linalg::pinv(in[0], o);
    });
Tensor linalg::pinv(const In& a, const PinvOptions& o) {
  Tensor x = a;
  if (!matrix_known(x)) {
    Shape shape = x.shape();
    if (shape.has_rank() && shape.rank() >= 2)
      std::swap(shape.dims()[shape.dims().size() - 1], shape.dims()[shape.dims().size() - 2]);
    Tensors in{x};
    if (o.rcond) in.push_back(o.rcond->tensor(x.dtype()));
    return pinv_later(in, x.dtype(), shape, o.validate_args);
  }
  double cut = 10 * static_cast<double>(longer_side(x, "pinv")) * epsilon(x.dtype());
  Tensor rcond = o.rcond ? o.rcond->tensor(x.dtype()) : Tensor::scalar(cut, x.dtype());
  Tensors suv = svd(x);
  if (x.dim(-1) == 0 || x.dim(-2) == 0) return matrix_transpose(x);
  Tensor bound = last(rcond) * reduce_max(suv[0], {.axis = Sizes(-1), .keepdims = true});
  // Small values become infinite, so that their inverses vanish.
  Tensor infinite =
      fill(shape_of(suv[0]), Tensor::scalar(std::numeric_limits<double>::infinity(), x.dtype()));
  Tensor kept = where(suv[0] > bound, suv[0], infinite);
  return matmul(suv[2] / second_last(kept), suv[1], {.adjoint_b = true});
}

REGISTER(FUNCTION(&linalg::matrix_rank)
             .args("a")
             .options<&linalg::MatrixRankOptions::tol, &linalg::MatrixRankOptions::validate_args>(
                 "tol, validate_args")
             .python("linalg.matrix_rank")
             .doc("Number of singular values above the tolerance, int32.")
             .samples("uniform(4, 3)", "np.ones((2, 3, 4), np.float32)")
             .reference("np.linalg.matrix_rank(a).astype(np.int32)")
             .checks({.gradient = false}));
static const Composition rank_later(
    "matrix_rank", 1, +[](std::span<const Tensor> in, bool validate) {
      linalg::MatrixRankOptions o{.validate_args = validate};
      if (in.size() > 1) o.tol = in[1];
      return linalg::matrix_rank(in[0], o);
    });
Tensor linalg::matrix_rank(const In& a, const MatrixRankOptions& o) {
  Tensor x = a;
  if (!matrix_known(x)) {
    Shape shape = x.shape();
    for (int i = 0; i < 2 && shape.rank() > 0; ++i) shape.dims().pop_back();
    Tensors in{x};
    if (o.tol) in.push_back(o.tol->tensor(x.dtype()));
    return rank_later(in, int32, shape, o.validate_args);
  }
  double share = static_cast<double>(longer_side(x, "matrix_rank")) * epsilon(x.dtype());
  Tensor s = svd(x, {.compute_uv = false})[0];
  if (x.dim(-1) == 0 || x.dim(-2) == 0) return reduce_sum(cast(s, int32), {.axis = Sizes(-1)});
  Tensor tol = o.tol ? o.tol->tensor(x.dtype())
                     : reduce_max(s, {.axis = Sizes(-1), .keepdims = true}) * share;
  return reduce_sum(cast(s > tol, int32), {.axis = Sizes(-1)});
}

}  // namespace holdfast
