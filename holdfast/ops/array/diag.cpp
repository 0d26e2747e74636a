// Matrices from diagonals, diagonals of matrices, and matrices with other diagonals.
//
// Diagonal d of an m x n matrix holds elements (r, r + d). Several of them, k[1] down to k[0], are
// the rows of a table as wide as the longest; `align` says at which end shorter ones are padded,
// those above the main one first.
#include "holdfast/ops/diag.h"

#include <algorithm>

#include "holdfast/ops/array.h"
#include "holdfast/ops/array/strided_copy.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

struct DiagonalAttrs {
  Attr<std::string> align;
};

struct Band {
  int64_t low = 0, high = 0;
  bool left_upper = false,
       left_lower = true;  // RIGHT_LEFT: upper ones to the right, lower ones to the left

  int64_t count() const { return high - low + 1; }
  static int64_t length(int64_t d, int64_t m, int64_t n) {
    return std::min(m + std::min<int64_t>(d, 0), n - std::max<int64_t>(d, 0));
  }
  int64_t longest(int64_t m, int64_t n) const {
    return std::min(m + std::min<int64_t>(high, 0), n - std::max<int64_t>(low, 0));
  }
  // Where the first element of diagonal d is in its row of the table.
  int64_t start(int64_t d, int64_t m, int64_t n) const {
    bool left = d >= 0 ? left_upper : left_lower;
    return left ? 0 : longest(m, n) - length(d, m, n);
  }
};

Band band_of(const Dims& k, const std::string& align) {
  Band b;
  b.low = k[0];
  b.high = k.size() > 1 ? k[1] : k[0];
  b.left_upper = align == "LEFT_LEFT" || align == "LEFT_RIGHT";
  b.left_lower = align == "LEFT_LEFT" || align == "RIGHT_LEFT";
  return b;
}

// Input `k` and attribute `align`, checked.
std::optional<Band> checked_band(const Infer& s, int k_input) {
  const std::string& align = s.attrs<DiagonalAttrs>().align();
  if (align != "RIGHT_LEFT" && align != "LEFT_RIGHT" && align != "LEFT_LEFT" &&
      align != "RIGHT_RIGHT")
    s.bad_value("align", cat("'", align, "'"),
                "'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'");
  s.need_rank(k_input, 0, 1);
  auto k = s.ints(k_input);
  if (!k) return std::nullopt;
  if (k->empty() || k->size() > 2) s.bad_value("k", sizes_text(*k), "one or two numbers");
  Band b = band_of(*k, align);
  if (b.low > b.high) s.bad_value("k", sizes_text(*k), "the lower diagonal first");
  constexpr int64_t kFar = int64_t{1} << 40;  // beyond any matrix; keeps sums small
  if (b.low < -kFar || b.high > kFar)
    s.bad_value("k", sizes_text(*k), "diagonals that a matrix can have");
  return b;
}

void need_inside(const Infer& s, const Band& b, int64_t m, int64_t n) {
  auto inside = [&](int64_t d) { return (d > -m && d < n) || d == 0; };
  if (m >= 0 && n >= 0 && (!inside(b.low) || !inside(b.high)))
    s.bad_value("k", b.low == b.high ? cat(b.low) : cat("[", b.low, ",", b.high, "]"),
                cat("diagonals in (", -m, ", ", n, ") of a ", m, " x ", n, " matrix"));
}

// Calls f(row of the table, diagonal) from the highest to the lowest.
template <class F>
void each_diagonal(const Band& b, F&& f) {
  for (int64_t d = b.high; d >= b.low; --d) f(b.high - d, d);
}

Shape table_shape(const Shape& matrix, const Band& b) {
  Dims out(matrix.begin(), matrix.end() - 2);
  if (b.count() > 1) out.push_back(b.count());
  bool known = matrix[-1] >= 0 && matrix[-2] >= 0;
  out.push_back(known ? std::max<int64_t>(b.longest(matrix[-2], matrix[-1]), 0) : kUnknown);
  return Shape(out);
}

int64_t batches(const Shape& s, int inner) {
  int64_t n = 1;
  for (int i = 0; i + inner < s.rank(); ++i) n *= s[i];
  return n;
}

// Copies diagonals of matrices to tables, or back.
template <class T>
void copy_diagonals(const Band& b, int64_t batch, int64_t m, int64_t n, T* matrix, T* table,
                    bool to_table) {
  int64_t width = b.longest(m, n), rows = b.count();
  for (int64_t i = 0; i < batch; ++i)
    each_diagonal(b, [&](int64_t row, int64_t d) {
      if (Band::length(d, m, n) <= 0) return;  // beyond the matrix
      T* from = matrix + i * m * n + (d >= 0 ? d : -d * n);
      T* to = table + (i * rows + row) * width + b.start(d, m, n);
      for (int64_t k = 0, length = Band::length(d, m, n); k < length; ++k) {
        if (to_table)
          to[k] = from[k * (n + 1)];
        else
          from[k * (n + 1)] = to[k];
      }
    });
}

void infer_diag(Infer& s) {
  auto band = checked_band(s, 1);
  s.need_rank(0, 1);
  s.need_rank(4, 0, 0);
  auto rows = s.ints(2), cols = s.ints(3);
  if (!s.shape().has_rank()) return s.output(s.dtype(), Shape::unknown());
  if (!band) return s.output(s.dtype(), Shape::unknown());
  bool several = band->count() > 1;
  if (several) s.need_rank(0, 2);
  int64_t width = s.shape()[-1];
  if (several && s.shape()[-2] >= 0 && s.shape()[-2] != band->count())
    s.bad_shape(0, cat("a second last axis of ", band->count(), ", the number of diagonals"));
  Dims out(s.shape().begin(), s.shape().end() - (several ? 2 : 1));
  if (width < 0 || !rows || !cols) {
    for (auto* side : {&rows, &cols})
      out.push_back(*side ? std::max(only(**side), kUnknown) : kUnknown);
    return s.output(s.dtype(), Shape(out));
  }
  int64_t least_rows = width - std::min<int64_t>(band->high, 0),
          least_cols = width + std::max<int64_t>(band->low, 0);
  int64_t m = only(*rows), n = only(*cols);
  if (m == -1 && n == -1)
    m = n = std::max(least_rows, least_cols);
  else if (m == -1)
    m = least_rows;
  else if (n == -1)
    n = least_cols;
  if (m < least_rows) s.bad_value("num_rows", cat(m), cat("at least ", least_rows));
  if (n < least_cols) s.bad_value("num_cols", cat(n), cat("at least ", least_cols));
  if (m != least_rows && n != least_cols)
    s.bad_value("num_rows, num_cols", cat(m, ", ", n),
                cat("num_rows = ", least_rows, " or num_cols = ", least_cols,
                    ", as the diagonals are ", width, " long"));
  // Of a band, some diagonals may lie beyond the matrix: they are padding. One alone may not.
  if (!several) need_inside(s, *band, m, n);
  out.push_back(m);
  out.push_back(n);
  s.output(s.dtype(), Shape(out));
}

Status run_diag(Call& c) {
  Tensor& y = c.out();
  fill_run(y.dtype(), y.size(), c.in(4).raw(), y.mutable_raw());
  if (!y.size() || !c.in().size()) return {};
  Band b = band_of(c.ints(1), c.attrs<DiagonalAttrs>().align());
  visit_cells(y.dtype(), [&]<class T>(T) {
    copy_diagonals(b, batches(y.shape(), 2), y.dim(-2), y.dim(-1), y.mutable_raw<T>(),
                   const_cast<T*>(c.in().raw<T>()), false);
  });
  return {};
}

void infer_part(Infer& s) {
  auto band = checked_band(s, 1);
  s.need_rank(0, 2);
  s.need_rank(2, 0, 0);
  if (!s.shape().has_rank() || !band) return s.output(s.dtype(), Shape::unknown());
  need_inside(s, *band, s.shape()[-2], s.shape()[-1]);
  s.output(s.dtype(), table_shape(s.shape(), *band));
}

Status run_part(Call& c) {
  const Tensor& x = c.in();
  Tensor& y = c.out();
  fill_run(y.dtype(), y.size(), c.in(2).raw(), y.mutable_raw());
  if (!y.size() || !x.size()) return {};
  Band b = band_of(c.ints(1), c.attrs<DiagonalAttrs>().align());
  visit_cells(y.dtype(), [&]<class T>(T) {
    copy_diagonals(b, batches(x.shape(), 2), x.dim(-2), x.dim(-1), const_cast<T*>(x.raw<T>()),
                   y.mutable_raw<T>(), true);
  });
  return {};
}

void infer_set(Infer& s) {
  auto band = checked_band(s, 2);
  s.need_rank(0, 2);
  if (s.shape().has_rank() && band) {
    need_inside(s, *band, s.shape()[-2], s.shape()[-1]);
    Shape want = table_shape(s.shape(), *band);
    if (!want.compatible(s.shape(1)))
      s.bad_shape(1, cat("shape ", want.text(), ", that of the diagonals"));
  }
  s.output(s.dtype(), s.shape());
}

Status run_set(Call& c) {
  Tensor& y = c.out();
  copy_run(y.dtype(), y.size(), c.in().raw(), y.mutable_raw());
  if (!y.size() || !c.in(1).size()) return {};
  Band b = band_of(c.ints(2), c.attrs<DiagonalAttrs>().align());
  visit_cells(y.dtype(), [&]<class T>(T) {
    copy_diagonals(b, batches(y.shape(), 2), y.dim(-2), y.dim(-1), y.mutable_raw<T>(),
                   const_cast<T*>(c.in(1).raw<T>()), false);
  });
  return {};
}

Tensor padding(const MaybeIn& given, DType d) {
  if (given) return given->tensor(d);
  return d == DType::kString ? constant("") : Tensor::scalar(0, d);
}

}  // namespace

static const Op diag_op =
    OP(MatrixDiagV3, &linalg::diag)
        .args("diagonal")
        .options<&linalg::DiagOptions::k, &linalg::DiagOptions::num_rows,
                 &linalg::DiagOptions::num_cols, &linalg::DiagOptions::padding_value,
                 &linalg::DiagOptions::align>("k, num_rows, num_cols, padding_value, align")
        .python("linalg.diag")
        .doc("Matrices with given diagonals `k` (one number, or the lowest and the highest).")
        .inputs("diagonal, k: K!, num_rows: K!, num_cols: K!, padding_value")
        .attr("align", "RIGHT_LEFT")
        .attrs<&DiagonalAttrs::align>()
        .infer(infer_diag)
        .kernel("reference", run_diag)
        .gradient(+[](Grad& g) -> Tensors {
          return {
              linalg::diag_part(g.dy(), {.k = g.x(1), .align = g.attrs<DiagonalAttrs>().align()}),
              Tensor(), Tensor(), Tensor(), Tensor()};
        })
        .keeps("k")
        .samples("uniform(3)", "uniform(2, 3)", "uniform(3), k=1", "uniform(3), k=-2")
        .reference(
            "np.apply_along_axis(lambda v: np.diag(v, k), -1, diagonal) if diagonal.ndim == 1 else "
            "np.stack([np.diag(v, k) for v in diagonal])");
Tensor linalg::diag(const In& diagonal, const DiagOptions& o) {
  Tensor t = diagonal;
  return diag_op({t, o.k.tensor(), o.num_rows.tensor(), o.num_cols.tensor(),
                  padding(o.padding_value, t.dtype())},
                 {o.align});
}

static const Op part_op =
    OP(MatrixDiagPartV3, &linalg::diag_part)
        .args("input")
        .options<&linalg::DiagPartOptions::k, &linalg::DiagPartOptions::padding_value,
                 &linalg::DiagPartOptions::align>("k, padding_value, align")
        .python("linalg.diag_part")
        .doc("The diagonals `k` of matrices.")
        .inputs("input, k: K!, padding_value")
        .attr("align", "RIGHT_LEFT")
        .attrs<&DiagonalAttrs::align>()
        .infer(infer_part)
        .kernel("reference", run_part)
        .gradient(+[](Grad& g) -> Tensors {
          const Shape& in = g.x().shape();
          linalg::SetDiagOptions same{.k = g.x(1), .align = g.attrs<DiagonalAttrs>().align()};
          if (in.rank() < 2 || in[-1] < 0 || in[-2] < 0)
            return {linalg::set_diag(zeros_like(g.x()), g.dy(), same), Tensor(), Tensor()};
          return {linalg::diag(
                      g.dy(),
                      {.k = same.k, .num_rows = in[-2], .num_cols = in[-1], .align = same.align}),
                  Tensor(), Tensor()};
        })
        .keeps("k")
        .samples("uniform(3, 4)", "uniform(2, 3, 3)", "uniform(4, 3), k=-1", "uniform(3, 4), k=2")
        .reference("np.diagonal(input, k, -2, -1)");
Tensor linalg::diag_part(const In& input, const DiagPartOptions& o) {
  Tensor t = input;
  return part_op({t, o.k.tensor(), padding(o.padding_value, t.dtype())}, {o.align});
}

static const Op set_op =
    OP(MatrixSetDiagV3, &linalg::set_diag)
        .args("input, diagonal")
        .options<&linalg::SetDiagOptions::k, &linalg::SetDiagOptions::align>("k, align")
        .python("linalg.set_diag")
        .doc("Matrices with other diagonals.")
        .inputs("input, diagonal, k: K!")
        .attr("align", "RIGHT_LEFT")
        .attrs<&DiagonalAttrs::align>()
        .infer(infer_set)
        .kernel("reference", run_set)
        .gradient(+[](Grad& g) -> Tensors {
          linalg::SetDiagOptions same{.k = g.x(2), .align = g.attrs<DiagonalAttrs>().align()};
          return {
              g.wants(0) ? linalg::set_diag(g.dy(), zeros_like(g.x(1)), same) : Tensor(),
              g.wants(1) ? linalg::diag_part(g.dy(), {.k = same.k, .align = same.align}) : Tensor(),
              Tensor()};
        })
        .keeps("k")
        .samples("uniform(3, 3), uniform(3)", "uniform(2, 3, 4), uniform(2, 3)")
        .reference(
            "np.where(np.eye(input.shape[-2], input.shape[-1], dtype=bool), "
            "np.expand_dims(diagonal, -1), input)");
Tensor linalg::set_diag(const In& input, const In& diagonal, const SetDiagOptions& o) {
  return set_op({input, diagonal, o.k.tensor()}, {o.align});
}

}  // namespace holdfast
