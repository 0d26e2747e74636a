// Numbers that elementwise code is likely to get wrong, and comparing what two programs give for
// them.
#pragma once

#include <cstring>
#include <limits>
#include <random>

#include "holdfast/expr/cpu_program.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

/// Numbers of all kinds: of any bits, near one, and those that functions treat on their own.
inline Tensor awkward_numbers(DType d, int64_t n, std::mt19937_64& random) {
  Tensor t = empty(d, Shape{n}, cpu());
  visit_plain(d, [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) {
      T& x = t.mutable_raw<T>()[i];
      uint64_t bits = random();
      double near = std::normal_distribution<double>(0, 3)(random);
      if constexpr (std::is_same_v<T, bool>) {
        x = bits & 1;
      } else if constexpr (std::is_integral_v<T>) {
        constexpr T kEnds[] = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()};
        x = i % 3 == 0 ? kEnds[bits % 5] : i % 3 == 1 ? static_cast<T>(bits) : static_cast<T>(near);
      } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) {
        x = i % 2 ? T(static_cast<float>(near)) : T::from_bits(static_cast<uint16_t>(bits));
      } else if constexpr (std::is_floating_point_v<T>) {
        using Limits = std::numeric_limits<T>;
        const T ends[] = {T(0),
                          -T(0),
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::denorm_min(),
                          Limits::min(),
                          -Limits::min() / 2,
                          T(1),
                          T(-1),
                          Limits::max(),
                          Limits::lowest(),
                          T(0.5),
                          T(88.8),
                          T(-103.9),
                          T(2147483648.0)};
        if (i % 4 == 0)
          x = ends[bits % 16];
        else if (i % 4 == 1)
          std::memcpy(&x, &bits, sizeof x);
        else
          x = static_cast<T>(near);
      }
    }
  });
  return t;
}

/// Equal bits, or both no numbers.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}
/// The first element in which they differ; -1: none.
inline int64_t first_difference(const Tensor& a, const Tensor& b) {
  int64_t at = -1;
  visit_plain(a.dtype(), [&]<class T>(T) {
    for (int64_t i = a.size(); i-- > 0;)
      if constexpr (std::is_arithmetic_v<T>) {
        if (!same(a.raw<T>()[i], b.raw<T>()[i])) at = i;
      } else if (std::memcmp(&a.raw<T>()[i], &b.raw<T>()[i], sizeof(T)) != 0) {
        auto number = [](T x) { return x == x; };
        if (number(a.raw<T>()[i]) || number(b.raw<T>()[i])) at = i;
      }
  });
  return at;
}
inline double number_at(const Tensor& t, int64_t i) {
  double out = 0;
  visit_plain(t.dtype(), [&]<class T>(T) {
    if constexpr (std::is_convertible_v<T, double>) out = static_cast<double>(t.raw<T>()[i]);
  });
  return out;
}

inline Tensors results(const CpuProgram& p, const Expr& e, std::span<const Tensor> in,
                       const Shape& domain, std::span<const Shape> shapes) {
  Tensors out;
  for (size_t i = 0; i < shapes.size(); ++i)
    out.push_back(empty(e.dtype(e.stores()[i]), shapes[i], cpu()));
  p.run(in, {out.data(), out.size()}, domain);
  return out;
}

}  // namespace holdfast
