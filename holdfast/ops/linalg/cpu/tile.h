// How much of a product of matrices lies in registers at a time, for the instruction set of the
// file that includes this.
#pragma once

namespace holdfast::HOLDFAST_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRows = 12;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kRows = 6;
#else
constexpr int kVectorBytes = 16, kRows = 6;
#endif

}  // namespace holdfast::HOLDFAST_ISA
