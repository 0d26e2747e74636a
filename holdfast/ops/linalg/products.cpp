// Products and rearrangements that are written with other ops, and the cross product.
#include "holdfast/base/text.h"
#include "holdfast/op/deferred.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_cross(Infer& s) {
  s.need_rank(0, 1);
  auto shape = s.shape(0).merged(s.shape(1));
  if (!shape) s.bad_shape(1, cat("the shape of `a`, ", s.shape(0).text()));
  if (shape->has_rank() && (*shape)[-1] >= 0 && (*shape)[-1] != 3)
    s.bad_shape(0, "3 elements in the last axis");
  s.output(s.dtype(), *shape);
}

Status run_cross(Call& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  Tensor& y = c.out();
  visit_plain(a.dtype(), [&]<class T>(T) {
    // Unsigned arithmetic wraps where signed arithmetic would be undefined.
    using F = float_of<T>;
    using W = std::conditional_t<std::is_integral_v<T>, uint64_t, F>;
    const T *pa = a.raw<T>(), *pb = b.raw<T>();
    T* to = y.mutable_raw<T>();
    for (int64_t i = 0, n = y.size(); i + 2 < n; i += 3)
      for (int k = 0; k < 3; ++k) {
        int64_t u = i + (k + 1) % 3, v = i + (k + 2) % 3;
        to[i + k] = static_cast<T>(static_cast<W>(pa[u]) * static_cast<W>(pb[v]) -
                                   static_cast<W>(pa[v]) * static_cast<W>(pb[u]));
      }
  });
  return {};
}

// 0, 1, ... with the last two exchanged.
Dims exchanged(const Tensor& t) {
  Dims perm;
  for (int i = 0; i < t.rank(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return perm;
}

}  // namespace

static const Op cross_op =
    OP(Cross, &linalg::cross)
        .args("a, b")
        .python("linalg.cross")
        .dtypes(kReals)
        .outputs("product")
        .doc("Cross product of vectors of three in the last axis.")
        .infer(infer_cross)
        .kernel("reference", run_cross)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? linalg::cross(g.x(1), g.dy()) : Tensor(),
                  g.wants(1) ? linalg::cross(g.dy(), g.x(0)) : Tensor()};
        })
        .keeps("a, b")
        .samples("uniform(3), uniform(3)", "uniform(2, 4, 3), uniform(2, 4, 3)",
                 "ints(2, 3), ints(2, 3)")
        .reference("np.cross(a, b)");
Tensor linalg::cross(const In& a, const In& b) { return cross_op(a, b); }

REGISTER(
    FUNCTION(&linalg::matrix_transpose)
        .args("a")
        .options<&linalg::MatrixTransposeOptions::conjugate>("conjugate")
        .python("linalg.matrix_transpose")
        .doc("The last two axes exchanged.")
        .samples("uniform(3, 4)", "uniform(2, 3, 4)", "complexes(2, 3), conjugate=True")
        .reference("np.conj(np.swapaxes(a, -1, -2)) if conjugate else np.swapaxes(a, -1, -2)"));
static const Composition transposed_later(
    "matrix_transpose", 1, +[](std::span<const Tensor> in, bool conjugate) {
      return linalg::matrix_transpose(in[0], {.conjugate = conjugate});
    });
Tensor linalg::matrix_transpose(const In& a, const MatrixTransposeOptions& o) {
  Tensor t = a;
  if (t.shape().has_rank() && t.rank() < 2)
    fail(Code::E1102,
         cat("matrix_transpose: `a` is of shape ", t.shape().text(), ", expected rank 2 or more"));
  if (!t.shape().has_rank()) return transposed_later({t}, t.dtype(), Shape::unknown(), o.conjugate);
  return transpose(t, {.perm = Sizes(exchanged(t)), .conjugate = o.conjugate});
}

REGISTER(FUNCTION(&linalg::adjoint)
             .args("matrix")
             .python("linalg.adjoint")
             .doc("The last two axes exchanged, conjugated.")
             .samples("uniform(3, 4)", "complexes(2, 3, 4)")
             .reference("np.conj(np.swapaxes(matrix, -1, -2))"));
Tensor linalg::adjoint(const In& matrix) {
  Tensor t = matrix;
  return matrix_transpose(t, {.conjugate = is_complex(t.dtype())});
}

REGISTER(FUNCTION(&linalg::trace)
             .args("x")
             .python("linalg.trace")
             .doc("Sum of the diagonal of each matrix.")
             .samples("uniform(3, 3)", "uniform(2, 3, 4)")
             .reference("np.trace(x, axis1=-2, axis2=-1)"));
Tensor linalg::trace(const In& x) { return reduce_sum(diag_part(x), {.axis = Sizes(-1)}); }

REGISTER(FUNCTION(&linalg::matvec)
             .args("a, b")
             .options<&linalg::MatVecOptions::transpose_a, &linalg::MatVecOptions::adjoint_a,
                      &linalg::MatVecOptions::a_is_sparse, &linalg::MatVecOptions::b_is_sparse>(
                 "transpose_a, adjoint_a, a_is_sparse, b_is_sparse")
             .python("linalg.matvec")
             .doc("Matrix times vector; leading axes are batches and broadcast.")
             .samples("uniform(3, 4), uniform(4)", "uniform(2, 4, 3), uniform(4), transpose_a=True",
                      "uniform(3, 4), uniform(2, 4)")
             .reference("((np.swapaxes(a, -1, -2) if transpose_a or adjoint_a else a) @ b[..., "
                        "None])[..., 0]"));
Tensor linalg::matvec(const In& a, const In& b, const MatVecOptions& o) {
  Tensor x = a.weak() ? a.tensor(b.dtype()) : a.tensor(), v = b.tensor(x.dtype());
  if (v.shape().has_rank() && v.rank() < 1)
    fail(Code::E1102, "matvec: `b` is a scalar, expected rank 1 or more");
  Tensor y = matmul(x, expand_dims(v, -1),
                    {.transpose_a = o.transpose_a,
                     .adjoint_a = o.adjoint_a,
                     .a_is_sparse = o.a_is_sparse,
                     .b_is_sparse = o.b_is_sparse});
  return squeeze(y, {.axis = Sizes(-1)});
}

}  // namespace holdfast
