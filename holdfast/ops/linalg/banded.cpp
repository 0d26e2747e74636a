// Triangular systems of which only a few diagonals are stored.
#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct BandedAttrs {
  Attr<bool> lower;
  Attr<bool> adjoint;
};

void infer_banded(Infer& s) {
  s.need_rank(0, 2);
  s.need_rank(1, 2);
  const Shape &bands = s.shape(0), &rhs = s.shape(1);
  if (bands.has_rank() && bands[-2] >= 0 &&
      (bands[-2] < 1 || (bands[-1] >= 0 && bands[-2] > bands[-1])) && bands[-1] != 0)
    s.bad_shape(0, "at least one band, and no more than a row has elements");
  if (!bands.has_rank() || !rhs.has_rank()) return s.output(s.dtype(), Shape::unknown());
  int64_t n = bands[-1], rows = rhs[-2];
  if (n >= 0 && rows >= 0 && n != rows)
    s.bad_shape(1, cat(n, " rows, as many as a band of `matrix` ", bands.text(), " has elements"));
  auto both = broadcast(lapack::leading(s, 0, {}), lapack::leading(s, 1, {}));
  if (!both) s.bad_shape(1, cat("leading axes that broadcast with those of ", bands.text()));
  Dims dims = both->dims();
  dims.push_back(rows >= 0 ? rows : n);
  dims.push_back(rhs[-1]);
  s.output(s.dtype(), Shape(dims));
}

// The matrix by its bands, as it is solved with: itself or its adjoint.
template <class T>
struct Bands {
  const T* data;
  int64_t count, n;
  bool lower, adjoint;

  bool from_top() const { return lower != adjoint; }
  // The element `far` places from the diagonal in row `i`, on the side of the triangle.
  T at(int64_t i, int64_t far) const {
    int64_t band = lower ? far : count - 1 - far;
    if (!adjoint) return data[band * n + i];
    int64_t row = lower ? i + far : i - far;  // that of the stored matrix
    return lapack::conj_of(data[band * n + row]);
  }
};

template <class T>
void substitute(const Bands<T>& a, T* x, int64_t k) {
  for (int64_t step = 0; step < a.n; ++step) {
    int64_t i = a.from_top() ? step : a.n - 1 - step;
    T* row = x + i * k;
    for (int64_t far = 1; far < a.count && far <= step; ++far) {
      T factor = a.at(i, far);
      const T* solved = x + (a.from_top() ? i - far : i + far) * k;
      for (int64_t j = 0; j < k; ++j) row[j] -= factor * solved[j];
    }
    T pivot = a.at(i, 0);
    for (int64_t j = 0; j < k; ++j) row[j] /= pivot;
  }
}

Status run_banded(Call& c) {
  auto attrs = c.attrs<BandedAttrs>();
  const Tensor &bands = c.in(0), &rhs = c.in(1);
  Tensor& y = c.out();
  int64_t count = bands.dim(-2), n = bands.dim(-1), k = rhs.dim(-1);
  bool lower = attrs.lower(), adjoint = attrs.adjoint();
  if (y.size() == 0) return {};
  Status status;
  lapack::visit(y.dtype(), [&]<class T>(T) {
    status = lapack::each(lapack::batch_of(y), n, [&](int64_t i) -> Status {
      T* x = y.mutable_raw<T>() + i * n * k;
      std::copy_n(rhs.raw<T>() + lapack::place(rhs, y, i) * n * k, n * k, x);
      Bands<T> a{bands.raw<T>() + lapack::place(bands, y, i) * count * n, count, n, lower, adjoint};
      const T* main = a.data + (lower ? 0 : count - 1) * n;
      if (std::any_of(main, main + n, [](T v) { return v == T(0); }))
        return lapack::not_invertible();
      substitute(a, x, k);
      return {};
    });
  });
  return status;
}

Tensors banded_gradient(Grad& g) {
  auto a = g.attrs<BandedAttrs>();
  bool lower = a.lower(), adjoint = a.adjoint();
  const Tensor& bands = g.x(0);
  Tensor db = linalg::banded_triangular_solve(bands, g.dy(), {lower, !adjoint}), da;
  if (g.wants(0) && bands.shape().is_full() && bands.size() == 0) {
    da = zeros_like(bands);
  } else if (g.wants(0)) {
    da =
        adjoint ? -matmul(g.y(), db, {.adjoint_b = true}) : -matmul(db, g.y(), {.adjoint_b = true});
    Tensor sizes = shape(bands);
    Tensor outermost = gather(sizes, size(sizes) - 2) - 1, none = zeros_like(outermost);
    Sizes k(lower ? stack({-outermost, none}) : stack({none, outermost}));
    Tensor parts = linalg::diag_part(da, {.k = k, .align = "LEFT_RIGHT"});
    // One diagonal comes without an axis that counts them.
    Tensor counted = concat({slice(shape(da), {0}, Sizes(reshape(size(shape(da)) - 2, {1}))),
                             slice(sizes, Sizes(reshape(size(sizes) - 2, {1})), {2})},
                            0);
    da = sum_to(reshape(parts, Sizes(counted)), bands);
  }
  return {da, g.wants(1) ? sum_to(db, g.x(1)) : Tensor()};
}

}  // namespace

static const Op banded_op =
    OP(BandedTriangularSolve, &linalg::banded_triangular_solve)
        .args("bands, rhs")
        .options<&linalg::TriangularSolveOptions::lower, &linalg::TriangularSolveOptions::adjoint>(
            "lower, adjoint")
        .python("linalg.banded_triangular_solve")
        .inputs("matrix, rhs")
        .attr("lower", true)
        .attr("adjoint", false)
        .attrs<&BandedAttrs::lower, &BandedAttrs::adjoint>()
        .dtypes(lapack::kTypes)
        .doc(
            "x of matrix x = rhs for triangular matrices given by their diagonals; batches "
            "broadcast.")
        .infer(infer_banded)
        .kernel("substitution", run_banded)
        .gradient(banded_gradient)
        .keeps("matrix, output")
        .samples("positive(2, 4), uniform(4, 3)",
                 "positive(2, 1, 3), uniform(2, 3, 1), lower=False",
                 "positive(3, 5, low=2, high=3), uniform(2, 5, 2), adjoint=True",
                 "positive(2, 4), uniform(4, 1), lower=False, adjoint=True")
        .reference(
            "(lambda a: np.linalg.solve(np.conj(np.swapaxes(a, -1, -2)) if adjoint else a, "
            "np.broadcast_to(rhs, np.broadcast_shapes(a.shape[:-2], rhs.shape[:-2]) + "
            "rhs.shape[-2:])))("
            "np.vectorize(lambda b: sum(np.diag(b[i, i:], -i) if lower else "
            "np.diag(b[len(b) - 1 - i, :b.shape[1] - i], i) for i in range(len(b))), "
            "signature='(k,n)->(n,n)')(bands))")
        .checks({.rtol = 1e-4, .atol = 1e-5});
Tensor linalg::banded_triangular_solve(const In& bands, const In& rhs,
                                       const TriangularSolveOptions& o) {
  return banded_op({bands, rhs}, {o.lower, o.adjoint});
}

}  // namespace holdfast
