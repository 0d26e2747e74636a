// From a dtype at run time to a C++ type at compile time.
#pragma once

#include <complex>
#include <type_traits>

#include "holdfast/tensor/complex.h"
#include "holdfast/tensor/dtype.h"

namespace holdfast {

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

/// What arithmetic on T is done in: float for the 16-bit floats, T otherwise.
template <class T>
using float_of = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat>, float, T>;

/// Calls `f(T{})` for the C++ type of a dtype that is plain bytes; does nothing for others.
template <class F>
void visit_plain(DType d, F&& f) {
  switch (d) {
    case DType::kBool: f(bool{}); break;
    case DType::kInt8: f(int8_t{}); break;
    case DType::kInt16: f(int16_t{}); break;
    case DType::kInt32: f(int32_t{}); break;
    case DType::kInt64: f(int64_t{}); break;
    case DType::kUInt8: f(uint8_t{}); break;
    case DType::kUInt16: f(uint16_t{}); break;
    case DType::kUInt32: f(uint32_t{}); break;
    case DType::kUInt64: f(uint64_t{}); break;
    case DType::kFloat16: f(half{}); break;
    case DType::kBFloat16: f(bfloat{}); break;
    case DType::kFloat32: f(float{}); break;
    case DType::kFloat64: f(double{}); break;
    case DType::kComplex64: f(complex64{}); break;
    case DType::kComplex128: f(complex128{}); break;
    default: break;
  }
}

/// A stand-in for two doubles, so that 16-byte elements move as one.
struct Cell16 {
  uint64_t low, high;
};

/// Calls `f(T{})` with an unsigned type of the element's size, or std::string: for ops that only
/// move elements.
template <class F>
void visit_cells(DType d, F&& f) {
  if (d == DType::kString) return f(std::string{});
  switch (size_of(d)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    case 16: return f(Cell16{});
    default: return;
  }
}

/// Calls `f(T{})` for float32, float64, and the 16-bit floats.
template <class F>
void visit_floats(DType d, F&& f) {
  switch (d) {
    case DType::kFloat16: f(half{}); break;
    case DType::kBFloat16: f(bfloat{}); break;
    case DType::kFloat32: f(float{}); break;
    case DType::kFloat64: f(double{}); break;
    default: break;
  }
}

/// Calls `f(T{})` for int32 and int64, the dtypes of indices.
template <class F>
void visit_indices(DType d, F&& f) {
  if (d == DType::kInt64)
    f(int64_t{});
  else if (d == DType::kInt32)
    f(int32_t{});
}

}  // namespace holdfast
