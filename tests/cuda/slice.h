// What the checks of the slice share: tensors of any dtype with reproducible numbers, and
// comparisons.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

#include "holdfast/base/text.h"
#include "holdfast/device/device.h"
#include "holdfast/tensor/visit.h"

namespace slice {

using namespace holdfast;

inline int failures = 0, checks = 0;
inline Device* gpu = nullptr;

inline void check(bool ok, const std::string& what) {
  ++checks;
  if (ok) return;
  ++failures;
  std::printf("FAILED %s\n", what.c_str());
}

/// Numbers in [low, high), the same on every run.
inline Tensor numbers(const Shape& shape, DType d = float32, double low = -1, double high = 1,
                      uint64_t seed = 1) {
  Tensor t = empty(d, shape, cpu());
  uint64_t s = seed * 0x9e3779b97f4a7c15u + 12345;
  visit_plain(d, [&]<class T>(T) {
    for (int64_t i = 0, n = t.size(); i < n; ++i) {
      s = s * 6364136223846793005u + 1442695040888963407u;
      double v = low + (high - low) * static_cast<double>(s >> 11) * 0x1p-53;
      if constexpr (std::is_same_v<T, bool>)
        t.mutable_raw<T>()[i] = v > 0.5 * (low + high);
      else if constexpr (std::is_integral_v<T>)
        t.mutable_raw<T>()[i] = static_cast<T>(static_cast<int64_t>(std::floor(v)));
      else if constexpr (is_complex_v<T>)
        t.mutable_raw<T>()[i] = T(static_cast<typename T::value_type>(v));
      else
        t.mutable_raw<T>()[i] = T(static_cast<float_of<T>>(v));
    }
  });
  return t;
}

inline double tolerance(DType d) {
  return d == float64    ? 1e-12
         : d == float32  ? 1e-5
         : d == float16  ? 4e-3
         : d == bfloat16 ? 3e-2
                         : 0;
}

/// The largest |got - want| / (1 + |want|); infinite where one is NaN and the other is not.
inline double error_of(const Tensor& got, const Tensor& want) {
  Tensor a = copy_to(got, cpu()), b = copy_to(want, cpu());
  double worst = 0;
  visit_plain(b.dtype(), [&]<class T>(T) {
    if constexpr (!is_complex_v<T>) {
      for (int64_t i = 0, n = b.size(); i < n; ++i) {
        auto x = static_cast<double>(static_cast<float_of<T>>(a.raw<T>()[i])),
             y = static_cast<double>(static_cast<float_of<T>>(b.raw<T>()[i]));
        if (x == y || (x != x && y != y)) continue;
        double e = std::fabs(x - y) / (1 + std::fabs(y));
        worst = e >= worst ? e : e == e ? worst : INFINITY;
      }
    }
  });
  return worst;
}

/// `got` lives on the GPU and holds what the CPU computed. Returns the error.
inline double same(const std::string& what, const Tensor& got, const Tensor& want,
                   double scale = 1) {
  if (got.device() != gpu)
    check(false, cat(what, ": the result is on ",
                     got.device() ? got.device()->short_name() : "no device"));
  if (got.dtype() != want.dtype() || !(got.shape() == want.shape())) {
    check(false, cat(what, ": ", name(got.dtype()), got.shape().text(), " instead of ",
                     name(want.dtype()), want.shape().text()));
    return INFINITY;
  }
  double e = error_of(got, want), limit = tolerance(want.dtype()) * scale;
  check(e <= limit, cat(what, " ", name(want.dtype()), want.shape().text(), ": error ", e,
                        ", allowed ", limit));
  return e;
}

inline Tensor there(const Tensor& t) { return copy_to(t, gpu); }

/// Median seconds of one call, of nine batches.
template <class F>
double seconds(int calls, F&& f) {
  f();
  gpu->synchronize().check();
  double all[9];
  for (double& s : all) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    gpu->synchronize().check();
    s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
  }
  std::sort(all, all + 9);
  return all[4];
}

/// `plugin` is the path of libholdfast_cuda.so, which is asked for its kernels; may be null.
void time_everything(const char* plugin);

}  // namespace slice
