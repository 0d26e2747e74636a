// Eigenvalues and eigenvectors.
#include <algorithm>

#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace {

struct EighAttrs {
  Attr<bool> compute_v;
};
struct EigAttrs {
  Attr<DType> Tout;
  Attr<bool> compute_v;
};

using lapack::each;

Status not_finite() {
  return Status(Code::E1103, "a matrix has no eigenvalues", "it holds an infinity or a NaN");
}

Status not_found() {
  return Status(Code::E1103, "the eigenvalues of a matrix were not found",
                "the iteration did not converge");
}

Status run_eigh(Call& c) {
  const Tensor& x = c.in();
  bool vectors = c.attrs<EighAttrs>().compute_v();
  Tensor &e = c.out(0), &v = c.out(1);
  int64_t n = x.dim(-1);
  if (x.size() == 0) return {};
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    using R = lapack::real_t<T>;
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      const T* from = x.raw<T>() + i * n * n;
      for (int64_t row = 0; row < n; ++row)
        if (!lapack::all_finite(from + row * n, row + 1)) return not_finite();
      auto a = lapack::by_columns(from, n, n);
      lapack::Work<R> w(static_cast<size_t>(n));
      if (lapack::heevd<T>(vectors, static_cast<int>(n), a.data(), w.data()) != 0)
        return not_found();
      for (int64_t j = 0; j < n; ++j) e.mutable_raw<T>()[i * n + j] = T(w[static_cast<size_t>(j)]);
      if (vectors) lapack::transpose_into(a.data(), n, n, v.mutable_raw<T>() + i * n * n);
      return {};
    });
  });
  return status;
}

Status run_eig(Call& c) {
  const Tensor& x = c.in();
  bool vectors = c.attrs<EigAttrs>().compute_v();
  Tensor &e = c.out(0), &v = c.out(1);
  int64_t n = x.dim(-1);
  if (x.size() == 0) return {};
  Status status;
  lapack::visit(x.dtype(), [&]<class T>(T) {
    using C = std::complex<lapack::real_t<T>>;
    status = each(lapack::batch_of(x), n, [&](int64_t i) -> Status {
      const T* from = x.raw<T>() + i * n * n;
      if (!lapack::all_finite(from, n * n)) return not_finite();  // geev may loop for ever on NaN
      auto a = lapack::by_columns(from, n, n);
      lapack::Work<C> right(static_cast<size_t>(vectors ? n * n : 1)),
          values(static_cast<size_t>(n));
      if (lapack::geev<T>(vectors, static_cast<int>(n), a.data(), values.data(), right.data()) != 0)
        return not_found();
      std::copy(values.begin(), values.end(), e.mutable_raw<C>() + i * n);
      if (vectors) lapack::transpose_into(right.data(), n, n, v.mutable_raw<C>() + i * n * n);
      return {};
    });
  });
  return status;
}

void infer_eigen(Infer& s, DType out, bool vectors) {
  int64_t n = lapack::need_square(s);
  s.output(out, lapack::leading(s, 0, {n}));
  s.output(out, vectors ? s.shape() : Shape{0});
}

DType complex_of(DType d) { return real_of(d) == float64 ? DType::kComplex128 : DType::kComplex64; }

// 1 / (e_j - e_i), and 0 where they are equal.
Tensor inverse_gaps(const Tensor& e) {
  Tensor gap = expand_dims(e, -2) - expand_dims(e, -1);
  return gap / (square(gap) + 1e-20);
}

}  // namespace

static const Op eigh_op =
    RAW_OP(SelfAdjointEigV2)
        .inputs("input")
        .attr("compute_v", true)
        .attrs<&EighAttrs::compute_v>()
        .outputs("e, v")
        .dtypes(lapack::kTypes)
        .doc(
            "Eigenvalues, smallest first, and eigenvectors of self-adjoint "
            "matrices, of which the lower triangle is read.")
        .infer(+[](Infer& s) { infer_eigen(s, s.dtype(), s.attrs<EighAttrs>().compute_v()); })
        .kernel("lapack", run_eigh, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor e = g.y(0), v = g.y(1);
          if (!g.attrs<EighAttrs>().compute_v()) std::tie(e, v) = linalg::eigh(g.x());
          Tensor inner = linalg::diag(g.dy(0));
          if (g.attrs<EighAttrs>().compute_v() && g.has_dy(1))
            inner = inner + inverse_gaps(e) * matmul(v, g.dy(1), {.adjoint_a = true});
          Tensor da = matmul(v, matmul(inner, v, {.adjoint_b = true}));
          // Only the lower triangle was read: what belongs to the upper one counts there.
          da = linalg::band_part(da + linalg::adjoint(da), -1, 0);
          return {linalg::set_diag(da, linalg::diag_part(da) * 0.5)};
        })
        .keeps("input, e, v");

REGISTER(FUNCTION(&linalg::eigh)
             .args("tensor")
             .python("linalg.eigh")
             .returns("e, v")
             .doc("Eigenvalues, smallest first, and eigenvectors of self-adjoint matrices; only "
                  "the lower triangle is read.")
             .samples("uniform(3, 3)", "uniform(2, 4, 4)")
             .checks({.gradient = false}));
std::tuple<Tensor, Tensor> linalg::eigh(const In& x) {
  Tensors y = eigh_op.many({x}, {true});
  return {y[0], y[1]};
}

REGISTER(FUNCTION(&linalg::eigvalsh)
             .args("tensor")
             .python("linalg.eigvalsh")
             .doc("Eigenvalues of self-adjoint matrices, smallest first.")
             .samples("uniform(3, 3)", "uniform(2, 4, 4)")
             .reference("np.linalg.eigvalsh(tensor)")
             .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor linalg::eigvalsh(const In& x) { return eigh_op.many({x}, {false})[0]; }

static const Op eig_op =
    RAW_OP(Eig)
        .inputs("input")
        .attr("Tout")
        .attr("compute_v", true)
        .attrs<&EigAttrs::Tout, &EigAttrs::compute_v>()
        .outputs("e, v")
        .dtypes(lapack::kTypes)
        .doc("Eigenvalues and right eigenvectors, complex.")
        .infer(+[](Infer& s) {
          DType want = complex_of(s.dtype()), got = s.attrs<EigAttrs>().Tout();
          if (got != want) s.bad_value("Tout", name(got), name(want));
          infer_eigen(s, want, s.attrs<EigAttrs>().compute_v());
        })
        .kernel("lapack", run_eig, kAll, lapack::missing)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor e = g.y(0), v = g.y(1);
          if (!g.attrs<EigAttrs>().compute_v()) std::tie(e, v) = linalg::eig(g.x());
          Tensor vh = linalg::adjoint(v), inner = linalg::diag(g.dy(0));
          if (g.attrs<EigAttrs>().compute_v() && g.has_dy(1)) {
            // Eigenvectors have length one: what would change the length is taken out.
            Tensor vdv = matmul(vh, g.dy(1)),
                   lengths = cast(real(linalg::diag_part(vdv)), v.dtype());
            inner =
                inner + conj(inverse_gaps(e)) * (vdv - matmul(vh, v * expand_dims(lengths, -2)));
          }
          Tensor da = linalg::solve(vh, matmul(inner, vh));
          return {is_complex(g.x().dtype()) ? da : real(da)};
        })
        .keeps("input, e, v");

REGISTER(FUNCTION(&linalg::eig)
             .args("tensor")
             .python("linalg.eig, eig")
             .returns("e, v")
             .doc("Eigenvalues and eigenvectors, complex.")
             .samples("uniform(3, 3)")
             .checks({.gradient = false}));
std::tuple<Tensor, Tensor> linalg::eig(const In& x) {
  Tensor t = x;
  Tensors y = eig_op.many({t}, {complex_of(t.dtype()), true});
  return {y[0], y[1]};
}

REGISTER(FUNCTION(&linalg::eigvals)
             .args("tensor")
             .python("linalg.eigvals, eigvals")
             .doc("Eigenvalues, complex.")
             .samples("uniform(3, 3)")
             .checks({.gradient = false}));
Tensor linalg::eigvals(const In& x) {
  Tensor t = x;
  return eig_op.many({t}, {complex_of(t.dtype()), false})[0];
}

}  // namespace holdfast
