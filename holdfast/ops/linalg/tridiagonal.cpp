// Matrices that are zero but on the diagonal and its two neighbours, stored as three rows: above
// the diagonal (whose last element counts for nothing), the diagonal, and below (its first).
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/linalg/lapack.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/padding.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct TridiagonalAttrs {
  Attr<bool> partial_pivoting;
  Attr<bool> perturb_singular;
};

using linalg::TridiagonalSolveOptions;

void infer_solve(Infer& s) {
  auto a = s.attrs<TridiagonalAttrs>();
  s.need_rank(0, 2);
  s.need_rank(1, 2);
  if (a.perturb_singular() && !a.partial_pivoting())
    s.bad_value("perturb_singular", "true", "false where `partial_pivoting` is false");
  const Shape &diagonals = s.shape(0), &rhs = s.shape(1);
  if (diagonals.has_rank() && diagonals[-2] >= 0 && diagonals[-2] != 3)
    s.bad_shape(0, "3 rows: the diagonals");
  if (!diagonals.has_rank() || !rhs.has_rank()) return s.output(s.dtype(), rhs);
  Shape like = lapack::leading(s, 0, {diagonals[-1], kUnknown});
  auto both = like.merged(rhs);
  if (!both)
    s.bad_shape(1, cat("shape ", like.text(), ", as `diagonals` ", diagonals.text(), " has it"));
  s.output(s.dtype(), *both);
}

// One system: the rows of U as they come out of the elimination, with up to two elements right of
// the diagonal where rows were exchanged.
template <class T>
struct Elimination {
  using Real = lapack::real_t<T>;
  explicit Elimination(int64_t n) : u(static_cast<size_t>(n)) {}
  struct Row {
    T diagonal{}, next{}, second{};
  };
  std::vector<Row> u;

  // Eliminates below the diagonal, in `x` too; false where a pivot is 0.
  bool forward(const T* diagonals, T* x, int64_t n, int64_t k, bool pivoting) {
    const T *above = diagonals, *on = diagonals + n, *below = diagonals + 2 * n;
    Row row{on[0], n > 1 ? above[0] : T(0), T(0)};
    bool regular = true;
    for (int64_t i = 0; i + 1 < n; ++i) {
      Row under{below[i + 1], on[i + 1], i + 2 < n ? above[i + 1] : T(0)};
      T *here = x + i * k, *there = here + k;
      if (pivoting && std::abs(under.diagonal) > std::abs(row.diagonal)) {
        std::swap(row, under);
        std::swap_ranges(here, there, there);
      }
      regular = regular && row.diagonal != T(0);
      T factor = under.diagonal == T(0) ? T(0) : under.diagonal / row.diagonal;
      u[static_cast<size_t>(i)] = row;
      row = {under.next - factor * row.next, under.second - factor * row.second, T(0)};
      for (int64_t j = 0; j < k; ++j) there[j] -= factor * here[j];
    }
    u[static_cast<size_t>(n - 1)] = row;
    return regular && row.diagonal != T(0);
  }

  // Moves pivots that are nearly 0 away from it, so that solutions stay finite.
  void perturb() {
    Real most = 0;
    for (const Row& r : u)
      most = std::max({most, std::abs(r.diagonal), std::abs(r.next), std::abs(r.second)});
    Real least =
        std::max(std::numeric_limits<Real>::epsilon() * most, std::numeric_limits<Real>::min());
    for (Row& r : u)
      if (std::abs(r.diagonal) < least) {
        if constexpr (lapack::kComplex<T>)
          r.diagonal = T(least);
        else
          r.diagonal = std::copysign(least, r.diagonal);
      }
  }

  void backward(T* x, int64_t n, int64_t k) const {
    for (int64_t i = n - 1; i >= 0; --i) {
      const Row& r = u[static_cast<size_t>(i)];
      for (int64_t j = 0; j < k; ++j) {
        T v = x[i * k + j];
        if (i + 1 < n) v -= r.next * x[(i + 1) * k + j];
        if (i + 2 < n) v -= r.second * x[(i + 2) * k + j];
        x[i * k + j] = v / r.diagonal;
      }
    }
  }
};

Status run_solve(Call& c) {
  auto a = c.attrs<TridiagonalAttrs>();
  const Tensor &diagonals = c.in(0), &rhs = c.in(1);
  Tensor& y = c.out();
  bool pivoting = a.partial_pivoting(), perturb = a.perturb_singular();
  int64_t n = rhs.dim(-2), k = rhs.dim(-1);
  if (y.size() == 0) return {};
  lapack::visit(y.dtype(), [&]<class T>(T) {
    (void)lapack::each(lapack::batch_of(y), n, [&](int64_t i) -> Status {
      T* x = y.mutable_raw<T>() + i * n * k;
      std::copy_n(rhs.raw<T>() + i * n * k, n * k, x);
      Elimination<T> e(n);
      bool regular = e.forward(diagonals.raw<T>() + i * 3 * n, x, n, k, pivoting);
      if (perturb) e.perturb();
      if (regular || perturb)
        e.backward(x, n, k);
      else
        std::fill_n(x, n * k, T(std::numeric_limits<lapack::real_t<T>>::quiet_NaN()));
      return {};
    });
  });
  return {};
}

void infer_matmul(Infer& s) {
  const Shape& rhs = s.shape(3);
  s.need_rank(3, 2);
  for (int i = 0; i < 3; ++i) {
    s.need_rank(i, 2);
    if (!rhs.has_rank() || !s.shape(i).has_rank()) continue;
    Dims want = rhs.dims();
    want[want.size() - 1] = want[want.size() - 2];
    want[want.size() - 2] = 1;
    if (!Shape(want).compatible(s.shape(i)))
      s.bad_shape(i, cat("shape ", Shape(want).text(), ": a row as long as `rhs` ", rhs.text(),
                         " has rows"));
  }
  s.output(s.dtype(), rhs);
}

Status run_matmul(Call& c) {
  const Tensor& rhs = c.in(3);
  Tensor& y = c.out();
  int64_t n = rhs.dim(-2), k = rhs.dim(-1);
  if (y.size() == 0) return {};
  lapack::visit(y.dtype(), [&]<class T>(T) {
    (void)lapack::each(lapack::batch_of(y), n, [&](int64_t b) -> Status {
      const T *above = c.in(0).raw<T>() + b * n, *on = c.in(1).raw<T>() + b * n,
              *below = c.in(2).raw<T>() + b * n, *x = rhs.raw<T>() + b * n * k;
      T* to = y.mutable_raw<T>() + b * n * k;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < k; ++j) {
          T v = on[i] * x[i * k + j];
          if (i > 0) v += below[i] * x[(i - 1) * k + j];
          if (i + 1 < n) v += above[i] * x[(i + 1) * k + j];
          to[i * k + j] = v;
        }
      return {};
    });
  });
  return {};
}

Tensor row(const Tensor& diagonals, int64_t i) {
  return gather(diagonals, Tensor::scalar(i), {.axis = Sizes(-2)});
}

// Ones, and a 0 at the end (or the beginning) of the axis of `t` that counts rows.
Tensor inside(const Tensor& t, bool last) {
  Tensor n = gather(shape(t), Tensor::scalar(-2) + size(shape(t)));
  Tensor at = range(n);
  return cast(last ? less(at, n - 1) : greater(at, 0), t.dtype());
}
// Row i becomes row i + 1 (or i - 1) of `t`: the one that falls off comes in at the other end.
Tensor up(const Tensor& t) { return roll(t, -1, -2); }
Tensor down(const Tensor& t) { return roll(t, 1, -2); }

Tensor sum_columns(const Tensor& t) { return reduce_sum(t, {.axis = Sizes(-1)}); }

// What the three diagonals of dy adjoint(x) are: what arrives for those of a matrix that x was
// multiplied with.
Tensors outer_diagonals(const Tensor& dy, const Tensor& x) {
  Tensor across = conj(x);
  return {sum_columns(dy * up(across)) * inside(x, true), sum_columns(dy * across),
          sum_columns(dy * down(across)) * inside(x, false)};
}

Tensors solve_gradient(Grad& g) {
  const Tensor& d = g.x(0);
  // The neighbours change places, each moved by one; what falls off counts for nothing.
  Tensor adjoint =
      conj(stack({roll(row(d, 2), -1, -1), row(d, 1), roll(row(d, 0), 1, -1)}, {.axis = -2}));
  Tensor drhs = Op(&g.op)({adjoint, g.dy()}, g.attrs());
  if (!g.wants(0)) return {Tensor(), drhs};
  return {-stack(outer_diagonals(drhs, g.y()), {.axis = -2}), drhs};
}

Tensors matmul_gradient(Grad& g) {
  Tensor dy = g.dy(), drhs;
  auto column = [](const Tensor& diagonal) { return linalg::adjoint(diagonal); };
  if (g.wants(3)) {
    Tensor first = expand_dims(inside(dy, true), -1), last = expand_dims(inside(dy, false), -1);
    drhs = down(column(g.x(0)) * dy * first) + column(g.x(1)) * dy + up(column(g.x(2)) * dy * last);
  }
  Tensors out = outer_diagonals(dy, g.x(3));
  for (Tensor& t : out) t = expand_dims(t, -2);
  out.push_back(drhs);
  return out;
}

// A neighbour of the diagonal with the element that counts for nothing, which may be left out.
Tensor whole(const char* function, const Tensor& t, int64_t length, bool above) {
  int64_t have = t.shape().has_rank() ? t.dim(-1) : kUnknown;
  if (have < 0 || length < 0 || have == length) return t;
  if (have != length - 1)
    fail(Code::E1102, cat(function, ": the diagonal ", above ? "above" : "below", " has ", have,
                          " elements, expected ", length - 1, " or ", length));
  Ints amounts(static_cast<size_t>(t.rank() * 2), 0);
  amounts[amounts.size() - (above ? 1 : 2)] = 1;
  return pad(t, reshape(Sizes(Dims(amounts.begin(), amounts.end())).tensor(), {-1, 2}));
}

// The operands, the right side last, of a call that is written as one node: ranks are not known
// yet, or the lengths that say whether elements were left out. None where it can be written out.
Tensors operands_of_late(const Ins& diagonals, const In& rhs, const std::string& format) {
  Tensors all = diagonals.tensors();
  if (all.empty()) return {};
  bool known = format != "sequence" || sizes_known(all);
  all.push_back(rhs.tensor(all[0].dtype()));
  return known && ranks_known(all) ? Tensors() : all;
}

const Composition solve_later(
    "tridiagonal_solve", 1,
    +[](std::span<const Tensor> in, const std::string& format, bool transpose, bool conjugate,
        bool pivoting, bool perturb) {
      return linalg::tridiagonal_solve(Tensors(in.first(in.size() - 1)), in.back(),
                                       {.diagonals_format = format,
                                        .transpose_rhs = transpose,
                                        .conjugate_rhs = conjugate,
                                        .partial_pivoting = pivoting,
                                        .perturb_singular = perturb});
    });
const Composition matmul_later(
    "tridiagonal_matmul", 1, +[](std::span<const Tensor> in, const std::string& format) {
      return linalg::tridiagonal_matmul(Tensors(in.first(in.size() - 1)), in.back(),
                                        {.diagonals_format = format});
    });

// The three rows, from what the format says.
Tensor compact(const char* function, const Ins& given, const std::string& format) {
  Tensors t = given.tensors();
  if (format == "sequence") {
    if (t.size() != 3)
      fail(Code::E1103, cat(function, ": `diagonals` is a list of ", t.size(),
                            ", expected 3 tensors where `diagonals_format` is 'sequence'"));
    int64_t n = t[1].shape().has_rank() && t[1].rank() ? t[1].dim(-1) : kUnknown;
    return stack({whole(function, t[0], n, true), t[1], whole(function, t[2], n, false)},
                 {.axis = -2});
  }
  if (t.size() != 1)
    fail(Code::E1103, cat(function, ": `diagonals` is a list of ", t.size(),
                          ", expected one tensor where `diagonals_format` is '", format, "'"));
  if (format == "compact") return t[0];
  if (format != "matrix")
    fail(Code::E1103, cat(function, ": `diagonals_format` is '", format,
                          "', expected 'compact', 'sequence' or 'matrix'"));
  const Shape& s = t[0].shape();
  if (s.has_rank() && (s.rank() < 2 || (s[-1] >= 0 && s[-2] >= 0 && s[-1] != s[-2])))
    fail(Code::E1102, cat(function, ": `diagonals` is ", s.text(), ", expected square matrices"));
  return linalg::diag_part(t[0], {.k = {-1, 1}, .align = "LEFT_RIGHT"});
}

}  // namespace

static const Op solve_op =
    RAW_OP(TridiagonalSolve)
        .inputs("diagonals, rhs")
        .attr("partial_pivoting", true)
        .attr("perturb_singular", false)
        .attrs<&TridiagonalAttrs::partial_pivoting, &TridiagonalAttrs::perturb_singular>()
        .dtypes(lapack::kTypes)
        .doc("x of A x = rhs for matrices given by three diagonals; NaN where one is singular.")
        .infer(infer_solve)
        .kernel("elimination", run_solve)
        .gradient(solve_gradient)
        .keeps("diagonals, output");

REGISTER(
    FUNCTION(&linalg::tridiagonal_solve)
        .args("diagonals, rhs")
        .options<&TridiagonalSolveOptions::diagonals_format,
                 &TridiagonalSolveOptions::transpose_rhs, &TridiagonalSolveOptions::conjugate_rhs,
                 &TridiagonalSolveOptions::partial_pivoting,
                 &TridiagonalSolveOptions::perturb_singular>(
            "diagonals_format, transpose_rhs, conjugate_rhs, partial_pivoting, perturb_singular")
        .python("linalg.tridiagonal_solve")
        .doc("x of A x = rhs for tridiagonal matrices: three rows of diagonals, three tensors, or "
             "whole matrices.")
        .samples(
            "[uniform(3, 4) + np.array([[0], [3], [0]], 'f')], uniform(4, 2)",
            "[uniform(2, 3, 4) + np.array([[0], [3], [0]], 'f')], uniform(2, 4)",
            "[uniform(4, 4) + 3 * np.eye(4, dtype='f')], uniform(2, 4), diagonals_format='matrix', "
            "transpose_rhs=True, conjugate_rhs=True",
            "[uniform(3), positive(4, low=3, high=4), uniform(3)], uniform(4, 2), "
            "diagonals_format='sequence', partial_pivoting=False")
        .reference(
            "(lambda d, b: np.linalg.solve(d, b) if b.ndim == d.ndim else "
            "np.linalg.solve(d, b[..., None])[..., 0])("
            "(lambda m: np.tril(np.triu(m, -1), 1))(diagonals[0]) if diagonals_format == 'matrix' "
            "else np.diag(diagonals[0], 1) + np.diag(diagonals[1]) + np.diag(diagonals[2], -1) "
            "if diagonals_format == 'sequence' else "
            "np.vectorize(lambda d: np.diag(d[0, :-1], 1) + np.diag(d[1]) + np.diag(d[2, 1:], -1), "
            "signature='(k,n)->(n,n)')(diagonals[0]), "
            "np.conj(np.swapaxes(rhs, -1, -2)) if transpose_rhs else rhs)")
        .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor linalg::tridiagonal_solve(const Ins& diagonals, const In& rhs,
                                 const TridiagonalSolveOptions& o) {
  if (Tensors late = operands_of_late(diagonals, rhs, o.diagonals_format); !late.empty())
    return solve_later(late, late[0].dtype(),
                       o.transpose_rhs ? Shape::unknown() : late.back().shape(), o.diagonals_format,
                       o.transpose_rhs, o.conjugate_rhs, o.partial_pivoting, o.perturb_singular);
  Tensor d = compact("tridiagonal_solve", diagonals, o.diagonals_format);
  Tensor b = rhs.tensor(d.dtype());
  const Shape &ds = d.shape(), &bs = b.shape();
  if (ds.has_rank() && bs.has_rank() && bs.rank() != ds.rank() && bs.rank() != ds.rank() - 1)
    fail(Code::E1102, cat("tridiagonal_solve: `rhs` is ", bs.text(), ", expected rank ",
                          ds.rank() - 1, " or ", ds.rank(), " beside diagonals of ", ds.text()));
  bool vectors = ds.has_rank() && bs.has_rank() && bs.rank() == ds.rank() - 1;
  if (vectors)
    b = expand_dims(o.conjugate_rhs ? conj(b) : b, -1);
  else if (o.transpose_rhs)
    b = linalg::matrix_transpose(b, {.conjugate = o.conjugate_rhs});
  else if (o.conjugate_rhs)
    b = conj(b);
  Tensor x = solve_op({d, b}, {o.partial_pivoting, o.perturb_singular});
  return vectors ? squeeze(x, {.axis = Sizes(-1)}) : x;
}

static const Op matmul_op = RAW_OP(TridiagonalMatMul)
                                .inputs("superdiag, maindiag, subdiag, rhs")
                                .dtypes(lapack::kTypes)
                                .doc("Matrices given by three diagonals, times `rhs`.")
                                .infer(infer_matmul)
                                .kernel("reference", run_matmul)
                                .gradient(matmul_gradient)
                                .keeps("superdiag, maindiag, subdiag, rhs");

REGISTER(
    FUNCTION(&linalg::tridiagonal_matmul)
        .args("diagonals, rhs")
        .options<&linalg::TridiagonalMatMulOptions::diagonals_format>("diagonals_format")
        .python("linalg.tridiagonal_matmul")
        .doc("Tridiagonal matrices, given by three rows of diagonals, three tensors, or as "
             "they are, times `rhs`.")
        .samples("[uniform(3, 4)], uniform(4, 2)", "[uniform(2, 3, 4)], uniform(2, 4, 2)",
                 "[uniform(4, 4)], uniform(4, 2), diagonals_format='matrix'",
                 "[uniform(3), uniform(4), uniform(3)], uniform(4, 2), "
                 "diagonals_format='sequence'")
        .reference("((lambda m: np.tril(np.triu(m, -1), 1))(diagonals[0]) if diagonals_format == "
                   "'matrix' else np.diag(diagonals[0], 1) + np.diag(diagonals[1]) + "
                   "np.diag(diagonals[2], -1) if diagonals_format == 'sequence' else "
                   "np.vectorize(lambda d: np.diag(d[0, :-1], 1) + np.diag(d[1]) + "
                   "np.diag(d[2, 1:], -1), signature='(k,n)->(n,n)')(diagonals[0])) @ rhs")
        .checks({.rtol = 1e-4, .atol = 1e-5}));
Tensor linalg::tridiagonal_matmul(const Ins& diagonals, const In& rhs,
                                  const TridiagonalMatMulOptions& o) {
  if (Tensors late = operands_of_late(diagonals, rhs, o.diagonals_format); !late.empty())
    return matmul_later(late, late[0].dtype(), late.back().shape(), o.diagonals_format);
  Tensor d = compact("tridiagonal_matmul", diagonals, o.diagonals_format);
  auto part = [&](int64_t i) { return expand_dims(row(d, i), -2); };
  return matmul_op({part(0), part(1), part(2), rhs.tensor(d.dtype())});
}

}  // namespace holdfast
