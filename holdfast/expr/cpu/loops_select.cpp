// Choosing between two operands, element by element.
#include <complex>

#include "holdfast/expr/cpu/select_table.h"

namespace holdfast::HOLDFAST_ISA {
namespace {

// Both are loaded, so that the choice is a blend and not a branch.
template <class T>
void loop(const void* const* in, void* out, int64_t n) {
  auto* which = static_cast<const uint8_t*>(in[0]);
  auto *a = static_cast<const T*>(in[1]), *b = static_cast<const T*>(in[2]);
  auto* o = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    T x = a[i], y = b[i];
    o[i] = which[i] ? x : y;
  }
}

}  // namespace

void add_select_loops(SelectTable& t) {
  t.loops[1] = &loop<uint8_t>;
  t.loops[2] = &loop<uint16_t>;
  t.loops[4] = &loop<uint32_t>;
  t.loops[8] = &loop<uint64_t>;
  t.loops[16] = &loop<std::complex<double>>;
}

}  // namespace holdfast::HOLDFAST_ISA
