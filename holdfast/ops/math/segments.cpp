#include "holdfast/ops/math/segments.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

constexpr int64_t kPiece = 1 << 18;  // elements that are worth a thread

template <class T>
using wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

template <class T>
T identity_of(SegmentFold f) {
  using Limits = std::numeric_limits<T>;
  if (f == SegmentFold::kProd) return T(float_of<T>(1));
  if constexpr (!is_complex_v<T>) {
    // TensorFlow's: the lowest finite number, not minus infinity.
    constexpr bool is_half = std::is_same_v<T, half>, is_bfloat = std::is_same_v<T, bfloat>;
    if constexpr (is_half || is_bfloat) {
      uint16_t top = is_half ? 0x7bff : 0x7f7f;
      if (f == SegmentFold::kMax) return T::from_bits(top | 0x8000);
      if (f == SegmentFold::kMin) return T::from_bits(top);
    } else {
      if (f == SegmentFold::kMax) return Limits::lowest();
      if (f == SegmentFold::kMin) return Limits::max();
    }
  }
  return T(float_of<T>(0));
}

// Signed arithmetic on W would be undefined where it overflows.
template <class W>
W joined(SegmentFold f, W a, W b) {
  using U = wrapping<W>;
  if constexpr (!is_complex_v<W>) {
    if (f == SegmentFold::kMax) return a != a ? a : a > b ? a : b;
    if (f == SegmentFold::kMin) return a != a ? a : a < b ? a : b;
  }
  if (f != SegmentFold::kProd) return static_cast<W>(static_cast<U>(a) + static_cast<U>(b));
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(1u * static_cast<U>(a) * static_cast<U>(b));
  else
    return a * b;
}

template <SegmentFold F, class T>
void fold_columns(const T* data, const std::vector<int64_t>& ids, int64_t width, int64_t from,
                  int64_t to, float_of<T>* cells) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) continue;
    const T* row = data + static_cast<int64_t>(i) * width;
    auto* cell = cells + ids[i] * width;
    for (int64_t k = from; k < to; ++k)
      cell[k] = joined(F, cell[k], static_cast<float_of<T>>(row[k]));
  }
}

template <class T>
void fold_columns(SegmentFold f, const T* data, const std::vector<int64_t>& ids, int64_t width,
                  int64_t from, int64_t to, float_of<T>* cells) {
  switch (f) {
    case SegmentFold::kProd:
      return fold_columns<SegmentFold::kProd>(data, ids, width, from, to, cells);
    case SegmentFold::kMax:
      return fold_columns<SegmentFold::kMax>(data, ids, width, from, to, cells);
    case SegmentFold::kMin:
      return fold_columns<SegmentFold::kMin>(data, ids, width, from, to, cells);
    default: return fold_columns<SegmentFold::kSum>(data, ids, width, from, to, cells);
  }
}

}  // namespace

Status fold_segments(const char* op, SegmentFold f, EmptySegment empties, const Tensor& data,
                     const Tensor& ids, const Tensor& out) {
  int64_t rows = out.dim(0), count = ids.size(), width = 1;
  for (int i = 1; i < out.rank(); ++i) width *= out.dim(i);
  std::vector<int64_t> at(static_cast<size_t>(count));
  // Without elements there may be more rows than memory holds numbers for.
  bool hollow_result = out.size() == 0;
  std::vector<int64_t> members(hollow_result ? 0 : static_cast<size_t>(rows), 0);
  Status status;
  visit_indices(ids.dtype(), [&]<class I>(I) {
    for (int64_t i = 0; i < count && status.ok(); ++i) {
      auto row = static_cast<int64_t>(ids.raw<I>()[i]);
      if (row >= rows)
        status = {Code::E1103, cat(op, ": `segment_ids` holds ", row, " at position ", i,
                                   ", expected less than ", rows)};
      else if (row >= 0 && !hollow_result)
        ++members[static_cast<size_t>(row)];
      at[static_cast<size_t>(i)] = row;
    }
  });
  if (!status.ok() || hollow_result) return status;
  visit_plain(data.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) {
      using W = float_of<T>;
      constexpr bool direct = std::is_same_v<T, W>;
      Tensor wide = direct ? out : empty(dtype_of<W>, out.shape(), cpu());
      auto* cells = wide.template mutable_raw<W>();
      std::fill_n(cells, out.size(), identity_of<W>(f));
      if (data.size()) {
        // Threads share out columns, never rows: each sum has one order. Narrow pieces would read
        // and write a few lines of each row at a time.
        int64_t grain = std::max<int64_t>(64, kPiece / std::max<int64_t>(1, count));
        parallel_for(width, grain, [&](int64_t from, int64_t to) {
          fold_columns(f, data.raw<T>(), at, width, from, to, cells);
        });
      }
      auto* to = out.mutable_raw<T>();
      for (int64_t r = 0; r < rows; ++r) {
        int64_t n = members[static_cast<size_t>(r)];
        bool hollow = n == 0 && empties == EmptySegment::kZero && f != SegmentFold::kProd,
             filled = n == 0 && (!hollow || identity_of<W>(f) == W(0));
        if (direct && (filled || (n > 0 && f != SegmentFold::kMean))) continue;
        for (int64_t k = r * width; k < (r + 1) * width; ++k) {
          W v = cells[k];
          if (hollow)
            v = W(0);
          else if (n == 0)
            v = W(identity_of<T>(f));
          else if (f == SegmentFold::kMean) {
            if constexpr (is_complex_v<W>)
              v /= static_cast<typename W::value_type>(n);
            else
              v = static_cast<W>(v / static_cast<W>(n));
          }
          to[k] = static_cast<T>(v);
        }
      }
    }
  });
  return {};
}

Tensor SegmentGradient::rows_of(const Tensor& t) const {
  Tensor zero = zeros_like(ids);
  Tensor rows = gather(t, maximum(ids, zero));
  Tensor kept = greater_equal(ids, zero);
  for (int i = ids.rank(); i < data.rank(); ++i) kept = expand_dims(kept, -1);
  return where(kept, rows, zeros_like(rows));
}

Tensor SegmentGradient::mean(const Tensor& dy) const {
  Tensor count = fold(SegmentFold::kSum, cast(ones_like(ids), dy.dtype()), ids, out);
  for (int i = 1; i < dy.rank(); ++i) count = expand_dims(count, -1);
  return rows_of(divide_no_nan(dy, count));
}

// The product of the others: with no zero among them, the product over this one; with one, that one
// alone has a gradient; with more, none has.
Tensor SegmentGradient::prod(const Tensor& dy) const {
  Tensor zero = equal(data, zeros_like(data)), one = ones_like(data);
  Tensor zeros = fold(SegmentFold::kSum, cast(zero, dy.dtype()), ids, out);
  Tensor live =
      where(equal(zeros, zeros_like(zeros)) | equal(zeros, ones_like(zeros)), dy, zeros_like(dy));
  Tensor nonzero = where(zero, one, data);
  Tensor others = rows_of(fold(SegmentFold::kProd, nonzero, ids, out));
  Tensor alone = equal(rows_of(zeros), zeros_like(data));  // no zero in the segment
  Tensor factor = where(zero, others, where(alone, others / nonzero, zeros_like(data)));
  if (is_complex(factor.dtype())) factor = conj(factor);
  return factor * rows_of(live);
}

Tensor SegmentGradient::extreme(const Tensor& dy) const {
  Tensor hits = cast(equal(data, rows_of(out)), dy.dtype());
  Tensor share = divide_no_nan(dy, fold(SegmentFold::kSum, hits, ids, out));
  return hits * rows_of(share);
}

}  // namespace holdfast
