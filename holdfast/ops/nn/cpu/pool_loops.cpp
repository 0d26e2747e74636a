#include "holdfast/ops/nn/cpu/pool_loops.h"

#include <string_view>

#include "holdfast/expr/expr.h"

namespace holdfast::nn {

template <class T>
const PoolLoops<T>& pool_loops() {
  static const PoolLoops<T> table = [] {
    PoolLoops<T> t;
    HOLDFAST_BEST_ISA(fill_loops(t));
    return t;
  }();
  return table;
}
#define HOLDFAST_POOL(T) template const PoolLoops<T>& pool_loops();
HOLDFAST_POOL(half)
HOLDFAST_POOL(bfloat)
HOLDFAST_POOL(float)
HOLDFAST_POOL(double)
HOLDFAST_POOL(int8_t)
HOLDFAST_POOL(int16_t)
HOLDFAST_POOL(int32_t)
HOLDFAST_POOL(int64_t)
HOLDFAST_POOL(uint8_t) HOLDFAST_POOL(uint16_t) HOLDFAST_POOL(uint32_t) HOLDFAST_POOL(uint64_t)
#undef HOLDFAST_POOL

}  // namespace holdfast::nn
