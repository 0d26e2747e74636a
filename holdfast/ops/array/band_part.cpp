#include <algorithm>

// Bands of matrices, and diagonals of tensors of any rank.
#include <algorithm>

#include "holdfast/base/parallel.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/diag.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

void infer_band(Infer& s) {
  s.need_rank(0, 2);
  for (int i : {1, 2}) {
    if (s.shape(i).elements().value_or(1) != 1) s.bad_shape(i, "one number");
    auto v = s.ints(i);
    int64_t most = s.shape().has_rank() ? s.shape()[i == 1 ? -2 : -1] : kUnknown;
    if (v && most >= 0 && only(*v) > most)
      s.bad_value(i == 1 ? "num_lower" : "num_upper", cat(only(*v)),
                  cat("negative, for all, or at most ", most));
  }
  s.output(s.dtype(), s.shape());
}

Status run_band(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  fill_zeros(y);
  if (!y.size()) return {};
  int64_t m = x.dim(-2), n = x.dim(-1), lower = only(c.ints(1)), upper = only(c.ints(2));
  visit_cells(x.dtype(), [&]<class T>(T) {
    parallel_for(x.size() / n, std::max<int64_t>(1, 16384 / n), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        int64_t r = row % m;
        int64_t begin = lower < 0 ? 0 : std::clamp<int64_t>(r - lower, 0, n),
                end = upper < 0 || upper >= n ? n : std::clamp<int64_t>(r + upper + 1, 0, n);
        if (begin < end)
          std::copy_n(x.raw<T>() + row * n + begin, end - begin,
                      y.mutable_raw<T>() + row * n + begin);
      }
    });
  });
  return {};
}

void infer_tensor_diag(Infer& s) {
  s.need_rank(0, 1, kMaxRank / 2);
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  Dims out = s.shape().dims();
  out.append(s.shape().begin(), s.shape().end());
  s.output(s.dtype(), Shape(out));
}

void infer_tensor_part(Infer& s) {
  s.need_rank(0, 2);
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  int half_rank = s.shape().rank() / 2;
  bool fits = s.shape().rank() % 2 == 0;
  Dims out;
  for (int i = 0; fits && i < half_rank; ++i) {
    int64_t a = s.shape()[i], b = s.shape()[i + half_rank];
    fits = a < 0 || b < 0 || a == b;
    out.push_back(std::max(a, b));
  }
  if (!fits) s.bad_shape(0, "some shape twice over, as [2,3,2,3]");
  s.output(s.dtype(), Shape(out));
}

}  // namespace

static const Op band_op =
    OP(MatrixBandPart, &linalg::band_part)
        .args("input, num_lower, num_upper")
        .python("linalg.band_part")
        .doc("Matrices that are zero outside a band; a negative number keeps that whole triangle.")
        .inputs("input, num_lower: Tindex!, num_upper: Tindex!")
        .infer(infer_band)
        .kernel("reference", run_band)
        .gradient(+[](Grad& g) -> Tensors {
          return {linalg::band_part(g.dy(), g.x(1), g.x(2)), Tensor(), Tensor()};
        })
        .keeps("num_lower, num_upper")
        .samples("uniform(4, 5), 1, 2", "uniform(2, 3, 3), -1, 0", "uniform(3, 4), 0, -1")
        .reference(
            "np.triu(np.tril(input, np.shape(input)[-1] if num_upper < 0 else num_upper), "
            "-np.shape(input)[-2] if num_lower < 0 else -num_lower)");
Tensor linalg::band_part(const In& x, const Sizes& lower, const Sizes& upper) {
  return band_op({x, lower.tensor(), upper.tensor()});
}

static const Op diag_op =
    OP(Diag, &tensor_diag)
        .args("diagonal")
        .python("linalg.tensor_diag")
        .doc("A tensor of twice the rank with `diagonal` on its diagonal.")
        .infer(infer_tensor_diag)
        .kernel(
            "strided",
            +[](Call& c) -> Status {
              Tensor& y = c.out();
              int64_t n = c.in().size();
              fill_zeros(y);
              copy_strided(y.dtype(), {{n, 1, n + 1}}, c.in().raw(), y.mutable_raw());
              return {};
            })
        .gradient(+[](Grad& g) -> Tensors { return {tensor_diag_part(g.dy())}; })
        .keeps("")
        .samples("uniform(3)", "uniform(2, 3)")
        .reference("np.diag(diagonal.ravel()).reshape(diagonal.shape * 2)");
Tensor tensor_diag(const In& x) { return diag_op(x); }

static const Op part_op =
    OP(DiagPart, &tensor_diag_part)
        .args("input")
        .python("linalg.tensor_diag_part")
        .doc("The diagonal of a tensor whose shape is some shape twice over.")
        .infer(infer_tensor_part)
        .kernel(
            "strided",
            +[](Call& c) -> Status {
              Tensor& y = c.out();
              int64_t n = y.size();
              copy_strided(y.dtype(), {{n, n + 1, 1}}, c.in().raw(), y.mutable_raw());
              return {};
            })
        .gradient(+[](Grad& g) -> Tensors { return {tensor_diag(g.dy())}; })
        .keeps("")
        .samples("uniform(3, 3)", "uniform(2, 3, 2, 3)")
        .reference(
            "(lambda n: input.reshape(n, n).diagonal().reshape(input.shape[:input.ndim // "
            "2]))(int(np.sqrt(input.size)))");
Tensor tensor_diag_part(const In& x) { return part_op(x); }

}  // namespace holdfast
