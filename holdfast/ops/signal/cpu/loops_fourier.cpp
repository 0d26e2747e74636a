// Stockham's passes: a pass reads groups that are far apart and writes them beside each other, so
// that results come out in their order without a pass that sorts them.
#include "holdfast/ops/signal/cpu/fourier_loops.h"

namespace holdfast::signal::HOLDFAST_ISA {
namespace {

#define HF_INLINE inline __attribute__((always_inline))

constexpr int kMostRoots = 13;

template <class T>
struct Complex {
  T re, im;
};
template <class T>
HF_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
HF_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
HF_INLINE Complex<T> operator*(Complex<T> a, T b) {
  return {a.re * b, a.im * b};
}
template <class T>
HF_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// -i a
template <class T>
HF_INLINE Complex<T> turned(Complex<T> a) {
  return {a.im, -a.re};
}

// The transform of `R` numbers, in place.
template <int R>
struct Butterfly {
  template <class T>
  static HF_INLINE void run(Complex<T>* a, const T* roots) {
    Complex<T> out[R];
#pragma GCC unroll 16
    for (int j = 0; j < R; ++j) {
      out[j] = a[0];
#pragma GCC unroll 16
      for (int k = 1; k < R; ++k) {
        int turn = j * k % R;
        out[j] = out[j] + a[k] * Complex<T>{roots[turn], roots[R + turn]};
      }
    }
#pragma GCC unroll 16
    for (int j = 0; j < R; ++j) a[j] = out[j];
  }
};
template <>
struct Butterfly<2> {
  template <class T>
  static HF_INLINE void run(Complex<T>* a, const T*) {
    Complex<T> b = a[0] - a[1];
    a[0] = a[0] + a[1];
    a[1] = b;
  }
};
template <>
struct Butterfly<3> {
  template <class T>
  static HF_INLINE void run(Complex<T>* a, const T*) {
    constexpr T kSin = T(0.86602540378443864676L);
    Complex<T> sum = a[1] + a[2], across = turned(a[1] - a[2]) * kSin;
    Complex<T> middle = a[0] - sum * T(0.5);
    a[0] = a[0] + sum;
    a[1] = middle + across;
    a[2] = middle - across;
  }
};
template <>
struct Butterfly<4> {
  template <class T>
  static HF_INLINE void run(Complex<T>* a, const T*) {
    Complex<T> even = a[0] + a[2], even_less = a[0] - a[2];
    Complex<T> odd = a[1] + a[3], odd_less = turned(a[1] - a[3]);
    a[0] = even + odd;
    a[1] = even_less + odd_less;
    a[2] = even - odd;
    a[3] = even_less - odd_less;
  }
};
template <>
struct Butterfly<5> {
  template <class T>
  static HF_INLINE void run(Complex<T>* a, const T*) {
    constexpr T kCos1 = T(0.30901699437494742410L), kCos2 = T(-0.80901699437494742410L);
    constexpr T kSin1 = T(0.95105651629515357212L), kSin2 = T(0.58778525229247312917L);
    Complex<T> one = a[1] + a[4], two = a[2] + a[3];
    Complex<T> one_less = turned(a[1] - a[4]), two_less = turned(a[2] - a[3]);
    Complex<T> first = a[0] + one * kCos1 + two * kCos2;
    Complex<T> second = a[0] + one * kCos2 + two * kCos1;
    Complex<T> first_across = one_less * kSin1 + two_less * kSin2;
    Complex<T> second_across = one_less * kSin2 - two_less * kSin1;
    a[0] = a[0] + one + two;
    a[1] = first + first_across;
    a[2] = second + second_across;
    a[3] = second - second_across;
    a[4] = first - first_across;
  }
};

template <int R, class T>
void run_pass(Parts<T> from, Parts<T> to, int64_t rows, int64_t width, const T* twiddles,
              const T* roots) {
  T own_roots[2 * kMostRoots] = {};
  if (roots)
    for (int i = 0; i < 2 * R; ++i) own_roots[i] = roots[i];
  const T* twiddle_im = twiddles + rows * (R - 1);
  for (int64_t p = 0; p < rows; ++p) {
    const T *re = from.re + p * width, *im = from.im + p * width;
    T *to_re = to.re + p * R * width, *to_im = to.im + p * R * width;
    Complex<T> w[R];
    for (int j = 1; j < R; ++j)
      w[j] = {twiddles[p * (R - 1) + j - 1], twiddle_im[p * (R - 1) + j - 1]};
    int64_t apart = rows * width;
#pragma GCC ivdep
    for (int64_t q = 0; q < width; ++q) {
      Complex<T> a[R];
#pragma GCC unroll 16
      for (int k = 0; k < R; ++k) a[k] = {re[q + k * apart], im[q + k * apart]};
      Butterfly<R>::run(a, own_roots);
      to_re[q] = a[0].re;
      to_im[q] = a[0].im;
#pragma GCC unroll 16
      for (int j = 1; j < R; ++j) {
        Complex<T> b = a[j] * w[j];
        to_re[q + j * width] = b.re;
        to_im[q + j * width] = b.im;
      }
    }
  }
}

template <class T>
void pass(int radix, Parts<T> from, Parts<T> to, int64_t rows, int64_t width, const T* twiddles,
          const T* roots) {
  switch (radix) {
    case 2: return run_pass<2>(from, to, rows, width, twiddles, roots);
    case 3: return run_pass<3>(from, to, rows, width, twiddles, roots);
    case 4: return run_pass<4>(from, to, rows, width, twiddles, roots);
    case 5: return run_pass<5>(from, to, rows, width, twiddles, roots);
    case 7: return run_pass<7>(from, to, rows, width, twiddles, roots);
    case 11: return run_pass<11>(from, to, rows, width, twiddles, roots);
    default: return run_pass<13>(from, to, rows, width, twiddles, roots);
  }
}

template <class T>
void multiply(Parts<T> from, Parts<T> to, int64_t groups, int64_t width, const T* factors) {
  for (int64_t j = 0; j < groups; ++j) {
    Complex<T> w{factors[j], factors[groups + j]};
    int64_t at = j * width;
#pragma GCC ivdep
    for (int64_t q = at; q < at + width; ++q) {
      Complex<T> b = Complex<T>{from.re[q], from.im[q]} * w;
      to.re[q] = b.re;
      to.im[q] = b.im;
    }
  }
}

}  // namespace

template <class T>
void fill_loops(FourierLoops<T>& t) {
  t.pass = &pass<T>;
  t.multiply = &multiply<T>;
}
template void fill_loops(FourierLoops<float>&);
template void fill_loops(FourierLoops<double>&);

}  // namespace holdfast::signal::HOLDFAST_ISA
