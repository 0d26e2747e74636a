#include "holdfast/ops/nn/cpu/conv_loops.h"

#include <string_view>

#include "holdfast/expr/expr.h"

namespace holdfast::nn {

template <class T>
const ConvLoops<T>& conv_loops() {
  static const ConvLoops<T> table = [] {
    ConvLoops<T> t;
    std::string_view isa = instruction_set();
    isa == "avx512" ? avx512::fill_loops(t)
    : isa == "avx2" ? avx2::fill_loops(t)
                    : baseline::fill_loops(t);
    return t;
  }();
  return table;
}
template const ConvLoops<half>& conv_loops();
template const ConvLoops<bfloat>& conv_loops();
template const ConvLoops<float>& conv_loops();
template const ConvLoops<double>& conv_loops();
template const ConvLoops<int32_t>& conv_loops();

ColumnsLoop columns_loop() {
  std::string_view isa = instruction_set();
  return isa == "avx512" ? avx512::columns : isa == "avx2" ? avx2::columns : baseline::columns;
}

}  // namespace holdfast::nn
