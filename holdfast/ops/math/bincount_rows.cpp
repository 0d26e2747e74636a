// Counts for each row of what is not dense: the elements of a sparse tensor, rows of any length.
#include <algorithm>
#include <type_traits>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math/counters.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

struct RowsAttrs {
  Attr<bool> binary_output;
};

// The number of counts in a row, if it is known.
int64_t counts_in(const Infer& s, int i) {
  s.need_rank(i, 0, 0);
  return one_size(s, i, "size").value_or(kUnknown);
}

void need_weights(const Infer& s, int values, int weights) {
  const Shape &x = s.shape(values), &w = s.shape(weights);
  if (w.has_rank() && w.elements() == 0) return;
  auto have = w.elements(), want = x.elements();
  if (have && want ? *have != *want : !w.compatible(x))
    s.bad_shape(weights, cat("the shape of `values`, ", x.text(), ", or no element"));
}

// Inputs: indices [n, rank], values [n], dense_shape [rank], size, weights [n] or none.
void infer_sparse(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 1, 1);
  s.need_rank(2, 1, 1);
  int64_t size = counts_in(s, 3);
  need_weights(s, 1, 4);
  const Shape &indices = s.shape(0), &values = s.shape(1), &axes = s.shape(2);
  bool ranked = indices.has_rank();
  if (ranked && values.has_rank() && indices[0] >= 0 && values[0] >= 0 && indices[0] != values[0])
    s.bad_shape(1, cat(indices[0], " values, one for each row of `indices`"));
  int64_t rank = axes.has_rank() && axes[0] >= 0 ? axes[0] : ranked ? indices[1] : kUnknown;
  if (ranked && indices[1] >= 0 && rank >= 0 && indices[1] != rank)
    s.bad_shape(2, cat(indices[1], " sizes, as many as `indices` has columns"));
  if (rank == 0) s.bad_shape(2, "one size or more");
  auto sizes = s.ints(2);
  if (sizes)
    for (int64_t n : *sizes)
      if (n < 0) s.bad_value("dense_shape", Shape(*sizes).text(), "no negative size");
  if (rank < 0) return s.output(s.dtype(4), Shape::unknown());
  s.output(s.dtype(4), rank == 1 ? Shape{size} : Shape{sizes ? (*sizes)[0] : kUnknown, size});
}

// Inputs: splits [rows + 1], values [n], size, weights [n] or none.
void infer_ragged(Infer& s) {
  s.need_rank(0, 1, 1);
  s.need_rank(1, 1, 1);
  int64_t size = counts_in(s, 2);
  need_weights(s, 1, 3);
  int64_t ends = s.shape(0).has_rank() ? s.shape(0)[0] : kUnknown;
  if (ends == 0) s.bad_shape(0, "one split or more");
  s.output(s.dtype(3), Shape{ends < 0 ? kUnknown : ends - 1, size});
}

// Adds one value after the other to the counts of its row.
template <class T>
class Counts {
 public:
  Counts(Call& c, const Tensor& values, const Tensor& weights)
      : call_(c), values_(values), weights_(weights), size_(c.out().dim(-1)) {
    binary_ = c.attrs<RowsAttrs>().binary_output();
    std::fill_n(c.out().mutable_raw<T>(), c.out().size(), T(0));
  }

  template <class I>
  Status add(int64_t row, int64_t i) {
    auto v = static_cast<int64_t>(values_.raw<I>()[i]);
    if (v < 0)
      return {Code::E1103, cat(call_.op.name, ": `values` holds ", v, " at position ", i,
                               ", expected 0 or more")};
    if (v >= size_) return {};
    T& cell = call_.out().mutable_raw<T>()[row * size_ + v];
    T more = weights_.size() > 0 ? weights_.raw<T>()[i] : T(1);
    if (binary_)
      cell = T(1);
    else if constexpr (std::is_integral_v<T>)
      cell = static_cast<T>(static_cast<std::make_unsigned_t<T>>(cell) +
                            static_cast<std::make_unsigned_t<T>>(more));
    else
      cell += more;
    return {};
  }

 private:
  Call& call_;
  const Tensor &values_, &weights_;
  int64_t size_;
  bool binary_ = false;
};

Status run_sparse(Call& c) {
  const Tensor &indices = c.in(0), &values = c.in(1);
  int64_t rank = indices.dim(1);
  auto sizes = c.ints(2);
  Status status;
  visit_counters(c.out().dtype(), [&]<class T>(T) {
    Counts<T> counts(c, values, c.in(4));
    visit_indices(values.dtype(), [&]<class I>(I) {
      for (int64_t i = 0, n = values.size(); i < n && status.ok(); ++i) {
        const int64_t* at = indices.raw<int64_t>() + i * rank;
        for (int64_t axis = 0; axis < rank; ++axis)
          if (at[axis] < 0 || at[axis] >= sizes[static_cast<size_t>(axis)])
            status = {Code::E1103, cat("SparseBincount: `indices` holds ", at[axis], " along axis ",
                                       axis, " at position ", i, ", expected 0 to ",
                                       sizes[static_cast<size_t>(axis)] - 1)};
        if (status.ok()) status = counts.template add<I>(rank > 1 ? at[0] : 0, i);
      }
    });
  });
  return status;
}

Status run_ragged(Call& c) {
  const Tensor &splits = c.in(0), &values = c.in(1);
  const int64_t* ends = splits.raw<int64_t>();
  int64_t rows = splits.size() - 1, count = values.size();
  if (ends[0] != 0 || ends[rows] != count || !std::is_sorted(ends, ends + rows + 1))
    return {Code::E1103,
            cat("RaggedBincount: `splits` must rise from 0 to the number of `values`, ", count)};
  Status status;
  visit_counters(c.out().dtype(), [&]<class T>(T) {
    Counts<T> counts(c, values, c.in(3));
    visit_indices(values.dtype(), [&]<class I>(I) {
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = ends[row]; i < ends[row + 1] && status.ok(); ++i)
          status = counts.template add<I>(row, i);
    });
  });
  return status;
}

}  // namespace

static const Op sparse_bincount_op =
    RAW_OP(SparseBincount)
        .inputs("indices: I, values: Tidx, dense_shape: S!, size: Tsize!, weights")
        .attr("binary_output", false)
        .attrs<&RowsAttrs::binary_output>()
        .dtypes({int64}, "I")
        .dtypes({int64}, "S")
        .dtypes(kIndices, "Tidx")
        .dtypes(kCounters)
        .no_gradient()
        .doc("How often each of 0 ... size - 1 occurs in each row of a sparse tensor.")
        .infer(infer_sparse)
        .kernel("reference", run_sparse);

static const Op ragged_bincount_op =
    RAW_OP(RaggedBincount)
        .inputs("splits: I, values: Tidx, size: Tsize!, weights")
        .attr("binary_output", false)
        .attrs<&RowsAttrs::binary_output>()
        .dtypes({int64}, "I")
        .dtypes(kIndices, "Tidx")
        .dtypes(kCounters)
        .no_gradient()
        .doc("How often each of 0 ... size - 1 occurs in each row of any length.")
        .infer(infer_ragged)
        .kernel("reference", run_ragged);

}  // namespace holdfast
