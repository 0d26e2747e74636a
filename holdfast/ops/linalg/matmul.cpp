#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_matmul(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 2, 2);
  bool ta = s.attr(0).b(), tb = s.attr(1).b();
  int64_t m = s.shape(0)[ta ? 1 : 0], k = s.shape(0)[ta ? 0 : 1], k2 = s.shape(1)[tb ? 1 : 0], n = s.shape(1)[tb ? 0 : 1];
  if (k >= 0 && k2 >= 0 && k != k2) {
    std::vector<Fix> fixes;
    if (s.shape(1)[tb ? 0 : 1] == k) fixes.push_back(manual_fix(cat("`transpose_b=", tb ? "False" : "True", "`: then the inner sizes are equal")));
    s.bad_shape(1, cat("an inner size of ", k, " to match `a` ", s.shape(0).text(), ta ? " transposed" : ""), std::move(fixes));
  }
  s.output(s.dtype(), Shape{m, n});
}

Status run_matmul(Call& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  bool ta = c.attr(0).b(), tb = c.attr(1).b();
  Tensor& y = c.out();
  int64_t m = y.dim(0), n = y.dim(1), k = a.dim(ta ? 0 : 1);
  visit_plain(a.dtype(), [&]<class T>(T) {
    using W = std::conditional_t<std::is_same_v<T, bool>, int, float_of<T>>;
    const T *pa = a.data<T>(), *pb = b.data<T>();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        W sum(0);
        for (int64_t l = 0; l < k; ++l)
          sum += static_cast<W>(pa[ta ? l * m + i : i * k + l]) * static_cast<W>(pb[tb ? j * k + l : l * n + j]);
        y.mutable_data<T>()[i * n + j] = static_cast<T>(sum);
      }
  });
  return {};
}

}  // namespace

static const Op op =
    OP(MatMul, &matmul).args("a, b").options<&MatMulOptions::transpose_a, &MatMulOptions::transpose_b>("transpose_a, transpose_b")
        .python("matmul, linalg.matmul").dtypes(kNumbers)
        .doc("Matrix product.")
        .infer(infer_matmul).kernel("reference", run_matmul)
        .gradient(+[](Grad& g) -> Tensors {
          bool ta = g.attr(0).b(), tb = g.attr(1).b();
          Tensor dy = g.dy(), a = g.x(0), b = g.x(1);
          return {!g.wants(0) ? Tensor() : ta ? matmul(b, dy, {tb, true}) : matmul(dy, b, {false, !tb}),
                  !g.wants(1) ? Tensor() : tb ? matmul(dy, a, {true, ta}) : matmul(a, dy, {!ta, false})};
        })
        .samples("uniform(3, 4), uniform(4, 5)", "uniform(4, 3), uniform(5, 4), transpose_a=True, transpose_b=True")
        .reference("(a.T if transpose_a else a) @ (b.T if transpose_b else b)");
Tensor matmul(const In& a, const In& b, const MatMulOptions& o) { return op({a, b}, {o.transpose_a, o.transpose_b}); }

}  // namespace holdfast
