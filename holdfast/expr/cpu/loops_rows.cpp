// One operand with a single element for each row: it stays in a register, where writing it out
// along the row would cost as much as the op. For the ops that normalise; others read it written
// out.
#include "holdfast/expr/cpu/make_loops.h"
#include "holdfast/expr/cpu/row_table.h"
#include "holdfast/tensor/complex.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

template <class Fn, class T, int kSingle>
void row_loop(const void* const* in, void* out, int64_t rows, int64_t n) {
  auto* x = static_cast<const T*>(in[1 - kSingle]);
  auto* single = static_cast<const T*>(in[kSingle]);
  auto* o = static_cast<T*>(out);
  for (int64_t r = 0; r < rows; ++r, x += n, o += n) {
    const T y = single[r];
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kSingle == 1)
        o[i] = Fn::template f<T>(x[i], y);
      else
        o[i] = Fn::template f<T>(y, x[i]);
    }
  }
}

template <class T>
void spread(const void* const* in, void* out, int64_t rows, int64_t n) {
  auto* single = static_cast<const T*>(in[0]);
  auto* o = static_cast<T*>(out);
  for (int64_t r = 0; r < rows; ++r, o += n) {
    const T y = single[r];
    for (int64_t i = 0; i < n; ++i) o[i] = y;
  }
}

template <class Fn>
void fill_row(RowTable& t, Scalar s) {
  auto one = [&]<class T>(T) {
    auto& both = t.loops[static_cast<int>(s)][static_cast<int>(dtype_of<T>)];
    both[0] = &row_loop<Fn, T, 0>;
    both[1] = &row_loop<Fn, T, 1>;
  };
  one(float{}), one(double{});
}

}  // namespace

void add_row_loops(RowTable& t) {
  fill_row<FnAdd>(t, Scalar::kAdd);
  fill_row<FnSub>(t, Scalar::kSub);
  fill_row<FnMul>(t, Scalar::kMul);
  fill_row<FnDiv>(t, Scalar::kDiv);
  fill_row<FnMaximum>(t, Scalar::kMaximum);
  fill_row<FnMinimum>(t, Scalar::kMinimum);
  fill_row<FnSquaredDifference>(t, Scalar::kSquaredDifference);
  t.spreads[1] = &spread<uint8_t>;
  t.spreads[2] = &spread<uint16_t>;
  t.spreads[4] = &spread<uint32_t>;
  t.spreads[8] = &spread<uint64_t>;
  t.spreads[16] = &spread<complex128>;
}

}  // namespace holdfast::HOLDFAST_ISA
