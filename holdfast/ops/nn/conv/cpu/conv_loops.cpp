#include "holdfast/ops/nn/conv/cpu/conv_loops.h"

#include <string_view>

#include "holdfast/expr/expr.h"

namespace holdfast::nn {

template <class T>
const ConvLoops<T>& conv_loops() {
  static const ConvLoops<T> table = [] {
    ConvLoops<T> t;
    HOLDFAST_BEST_ISA(fill_loops(t));
    return t;
  }();
  return table;
}
template const ConvLoops<half>& conv_loops();
template const ConvLoops<bfloat>& conv_loops();
template const ConvLoops<float>& conv_loops();
template const ConvLoops<double>& conv_loops();
template const ConvLoops<int32_t>& conv_loops();

ColumnsLoop columns_loop() { return HOLDFAST_BEST_ISA(columns); }

}  // namespace holdfast::nn
