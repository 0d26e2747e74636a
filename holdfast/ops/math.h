// Arithmetic, element by element. Operands broadcast against each other, and share one dtype: a
// bare number takes that of the tensor beside it.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

// -- arithmetic

/// x + y; strings are joined.
HOLDFAST_API Tensor add(const In& x, const In& y);
/// x - y.
HOLDFAST_API Tensor subtract(const In& x, const In& y);
/// x * y.
HOLDFAST_API Tensor multiply(const In& x, const In& y);
/// x / y; integers become float64, those of 8 and 16 bits float32.
HOLDFAST_API Tensor divide(const In& x, const In& y);
/// x / y, as `divide`.
HOLDFAST_API Tensor truediv(const In& x, const In& y);
/// x / y of floats and complex numbers.
HOLDFAST_API Tensor realdiv(const In& x, const In& y);
/// x / y, and 0 where y is 0; integers become floats as in `divide`.
HOLDFAST_API Tensor divide_no_nan(const In& x, const In& y);
/// x * y, and 0 where y is 0, even if x is infinite or NaN.
HOLDFAST_API Tensor multiply_no_nan(const In& x, const In& y);
/// x / y rounded down.
HOLDFAST_API Tensor floordiv(const In& x, const In& y);
/// Remainder of `floordiv`: it has y's sign.
HOLDFAST_API Tensor floormod(const In& x, const In& y);
/// x / y rounded towards zero.
HOLDFAST_API Tensor truncatediv(const In& x, const In& y);
/// Remainder of `truncatediv`: it has x's sign.
HOLDFAST_API Tensor truncatemod(const In& x, const In& y);
/// x to the power y; a negative power of an integer is refused.
HOLDFAST_API Tensor pow(const In& x, const In& y);
/// scalar * x.
HOLDFAST_API Tensor scalar_mul(const In& scalar, const In& x);
/// (x - y)^2; |x - y|^2 of complex numbers.
HOLDFAST_API Tensor squared_difference(const In& x, const In& y);
/// The larger of x and y; NaN where either is.
HOLDFAST_API Tensor maximum(const In& x, const In& y);
/// The smaller of x and y; NaN where either is.
HOLDFAST_API Tensor minimum(const In& x, const In& y);
/// t moved into [clip_value_min, clip_value_max]; the bounds broadcast to t's shape.
HOLDFAST_API Tensor clip_by_value(const In& t, const In& clip_value_min, const In& clip_value_max);
/// -x.
HOLDFAST_API Tensor negative(const In& x);
/// |x|; a real number for a complex one.
HOLDFAST_API Tensor abs(const In& x);
/// -1, 0 or 1; x / |x| of a complex number.
HOLDFAST_API Tensor sign(const In& x);
/// 1 / x.
HOLDFAST_API Tensor reciprocal(const In& x);
/// 1 / x, and 0 where x is 0.
HOLDFAST_API Tensor reciprocal_no_nan(const In& x);
/// x * x.
HOLDFAST_API Tensor square(const In& x);
/// Sum of tensors of one shape.
HOLDFAST_API Tensor add_n(const Ins& inputs);
struct AccumulateOptions {
  Axes shape = {};
  std::optional<DType> tensor_dtype = {};
};
/// `add_n`, with the shape and dtype that the inputs must have.
HOLDFAST_API Tensor accumulate_n(const Ins& inputs, const AccumulateOptions& = {});
/// The polynomial whose coefficients are given, highest power first, at x.
HOLDFAST_API Tensor polyval(const Ins& coeffs, const In& x);
/// The next number after x1 towards x2.
HOLDFAST_API Tensor nextafter(const In& x1, const In& x2);

// -- rounding

/// The largest whole number that is not above x.
HOLDFAST_API Tensor floor(const In& x);
/// The smallest whole number that is not below x.
HOLDFAST_API Tensor ceil(const In& x);
/// The nearest whole number, half to even.
HOLDFAST_API Tensor round(const In& x);
/// The nearest whole number, half to even; floats only.
HOLDFAST_API Tensor rint(const In& x);

// -- powers and logarithms

/// Square root.
HOLDFAST_API Tensor sqrt(const In& x);
/// 1 / sqrt(x).
HOLDFAST_API Tensor rsqrt(const In& x);
/// e to the power of x.
HOLDFAST_API Tensor exp(const In& x);
/// e^x - 1, exact near 0.
HOLDFAST_API Tensor expm1(const In& x);
/// Natural logarithm.
HOLDFAST_API Tensor log(const In& x);
/// log(1 + x), exact near 0.
HOLDFAST_API Tensor log1p(const In& x);
/// x * log(y), and 0 where x is 0.
HOLDFAST_API Tensor xlogy(const In& x, const In& y);
/// x * log(1 + y), and 0 where x is 0.
HOLDFAST_API Tensor xlog1py(const In& x, const In& y);
/// x / y, and 0 where x is 0.
HOLDFAST_API Tensor xdivy(const In& x, const In& y);
/// 1 / (1 + e^-x).
HOLDFAST_API Tensor sigmoid(const In& x);
/// log(sigmoid(x)).
HOLDFAST_API Tensor log_sigmoid(const In& x);
/// log(1 + e^x).
HOLDFAST_API Tensor softplus(const In& features);
/// x / (1 + |x|).
HOLDFAST_API Tensor softsign(const In& features);

// -- trigonometry

/// Sine.
HOLDFAST_API Tensor sin(const In& x);
/// Cosine.
HOLDFAST_API Tensor cos(const In& x);
/// Tangent.
HOLDFAST_API Tensor tan(const In& x);
/// Inverse sine.
HOLDFAST_API Tensor asin(const In& x);
/// Inverse cosine.
HOLDFAST_API Tensor acos(const In& x);
/// Inverse tangent.
HOLDFAST_API Tensor atan(const In& x);
/// Angle of the point (x, y), in [-pi, pi].
HOLDFAST_API Tensor atan2(const In& y, const In& x);
/// Hyperbolic sine.
HOLDFAST_API Tensor sinh(const In& x);
/// Hyperbolic cosine.
HOLDFAST_API Tensor cosh(const In& x);
/// Hyperbolic tangent.
HOLDFAST_API Tensor tanh(const In& x);
/// Inverse hyperbolic sine.
HOLDFAST_API Tensor asinh(const In& x);
/// Inverse hyperbolic cosine.
HOLDFAST_API Tensor acosh(const In& x);
/// Inverse hyperbolic tangent.
HOLDFAST_API Tensor atanh(const In& x);

// -- special functions

/// Gauss error function.
HOLDFAST_API Tensor erf(const In& x);
/// 1 - erf(x), without cancellation.
HOLDFAST_API Tensor erfc(const In& x);
/// Inverse of erf.
HOLDFAST_API Tensor erfinv(const In& x);
/// Inverse of erfc.
HOLDFAST_API Tensor erfcinv(const In& x);
/// Quantile of the standard normal distribution.
HOLDFAST_API Tensor ndtri(const In& x);
/// log |gamma(x)|.
HOLDFAST_API Tensor lgamma(const In& x);
/// Derivative of lgamma.
HOLDFAST_API Tensor digamma(const In& x);
/// The a-th derivative of digamma at x.
HOLDFAST_API Tensor polygamma(const In& a, const In& x);
/// Hurwitz zeta function: sum of (q + n)^-x.
HOLDFAST_API Tensor zeta(const In& x, const In& q);
/// Lower regularised incomplete gamma function P(a, x).
HOLDFAST_API Tensor igamma(const In& a, const In& x);
/// Upper regularised incomplete gamma function Q(a, x) = 1 - P(a, x).
HOLDFAST_API Tensor igammac(const In& a, const In& x);
/// Regularised incomplete beta function.
HOLDFAST_API Tensor betainc(const In& a, const In& b, const In& x);
/// log |beta(x)| over the last axis.
HOLDFAST_API Tensor lbeta(const In& x);
/// Modified Bessel function of the first kind, order 0.
HOLDFAST_API Tensor bessel_i0(const In& x);
/// e^-|x| bessel_i0(x).
HOLDFAST_API Tensor bessel_i0e(const In& x);
/// Modified Bessel function of the first kind, order 1.
HOLDFAST_API Tensor bessel_i1(const In& x);
/// e^-|x| bessel_i1(x).
HOLDFAST_API Tensor bessel_i1e(const In& x);

// -- complex numbers

/// real + i imag.
HOLDFAST_API Tensor complex(const In& real, const In& imag);
/// Real part; a real tensor as it is.
HOLDFAST_API Tensor real(const In& input);
/// Imaginary part; zeros for a real tensor.
HOLDFAST_API Tensor imag(const In& input);
/// Complex conjugate; a real tensor as it is.
HOLDFAST_API Tensor conj(const In& x);
/// Argument, in [-pi, pi]; of a real number 0 or pi.
HOLDFAST_API Tensor angle(const In& input);

// -- comparison

/// x == y; NaN equals nothing.
HOLDFAST_API Tensor equal(const In& x, const In& y);
/// x != y.
HOLDFAST_API Tensor not_equal(const In& x, const In& y);
/// x < y.
HOLDFAST_API Tensor less(const In& x, const In& y);
/// x <= y.
HOLDFAST_API Tensor less_equal(const In& x, const In& y);
/// x > y.
HOLDFAST_API Tensor greater(const In& x, const In& y);
/// x >= y.
HOLDFAST_API Tensor greater_equal(const In& x, const In& y);
struct ApproximateEqualOptions {
  double tolerance = 1e-5;
};
/// |x - y| < tolerance; both have one shape.
HOLDFAST_API Tensor approximate_equal(const In& x, const In& y,
                                      const ApproximateEqualOptions& = {});
/// Whether x is NaN.
HOLDFAST_API Tensor is_nan(const In& x);
/// Whether x is infinite.
HOLDFAST_API Tensor is_inf(const In& x);
/// Whether x is neither infinite nor NaN.
HOLDFAST_API Tensor is_finite(const In& x);
/// Whether each element, row by row, is at least the one before: one bool.
HOLDFAST_API Tensor is_non_decreasing(const In& x);
/// Whether each element, row by row, is above the one before: one bool.
HOLDFAST_API Tensor is_strictly_increasing(const In& x);

// -- logic

/// x and y, of bools.
HOLDFAST_API Tensor logical_and(const In& x, const In& y);
/// x or y, of bools.
HOLDFAST_API Tensor logical_or(const In& x, const In& y);
/// x or y but not both, of bools.
HOLDFAST_API Tensor logical_xor(const In& x, const In& y);
/// not x, of bools.
HOLDFAST_API Tensor logical_not(const In& x);
/// t where the condition holds, e elsewhere; all three broadcast.
HOLDFAST_API Tensor select(const In& condition, const In& t, const In& e);

namespace bitwise {
/// x & y, bit by bit.
HOLDFAST_API Tensor bitwise_and(const In& x, const In& y);
/// x | y, bit by bit.
HOLDFAST_API Tensor bitwise_or(const In& x, const In& y);
/// x ^ y, bit by bit.
HOLDFAST_API Tensor bitwise_xor(const In& x, const In& y);
/// Every bit flipped.
HOLDFAST_API Tensor invert(const In& x);
/// x << y; a shift outside [0, bits) counts as the nearest one inside.
HOLDFAST_API Tensor left_shift(const In& x, const In& y);
/// x >> y, keeping the sign; a shift outside [0, bits) counts as the nearest one inside.
HOLDFAST_API Tensor right_shift(const In& x, const In& y);
}  // namespace bitwise

// -- conversion

/// x as another dtype: floats lose their fraction, complex numbers their imaginary part.
HOLDFAST_API Tensor cast(const In& x, DType dtype);
/// x as another dtype, moved into that dtype's range first.
HOLDFAST_API Tensor saturate_cast(const In& value, DType dtype);

// -- operators

/// A tensor, a variable, or what is read as a tensor, as an operand. Made where the operator is
/// written, so that the result's birth is the user's line; numbers alone never become one, so no
/// operator on them changes meaning.
class Operand : public In {
 public:
  [[gnu::always_inline]] Operand(const Tensor& t,
                                 const std::source_location& at = std::source_location::current())
      : In(t, at) {}
  [[gnu::always_inline]] Operand(const Variable& v,
                                 const std::source_location& at = std::source_location::current())
      : In(v, at) {}
  template <ReadsAsTensor T>
  [[gnu::always_inline]] Operand(const T& x,
                                 const std::source_location& at = std::source_location::current())
      : In(x, at) {}
  Operand(const In& x) : In(x) {}
};
/// A bare number, or a text, as an operand.
class Number : public In {
 public:
  template <TextLike T>
  [[gnu::always_inline]] Number(const T& text,
                                const std::source_location& at = std::source_location::current())
      : In(text, at) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] Number(T v,
                                const std::source_location& at = std::source_location::current())
      : In(v, at) {}
  template <ComplexLike T>
  [[gnu::always_inline]] Number(const T& v,
                                const std::source_location& at = std::source_location::current())
      : In(v, at) {}
};

// There is no operator!: on a Tensor C++ asks for its truth. Element by element: `logical_not`.
#define HOLDFAST_OPERATOR(op, fn)                                                    \
  inline Tensor operator op(const Operand& x, const Operand& y) { return fn(x, y); } \
  inline Tensor operator op(const Operand& x, const Number& y) { return fn(x, y); }  \
  inline Tensor operator op(const Number& x, const Operand& y) { return fn(x, y); }
HOLDFAST_OPERATOR(+, add)
HOLDFAST_OPERATOR(-, subtract)
HOLDFAST_OPERATOR(*, multiply)
HOLDFAST_OPERATOR(/, divide)
HOLDFAST_OPERATOR(%, floormod)
HOLDFAST_OPERATOR(<, less)
HOLDFAST_OPERATOR(<=, less_equal)
HOLDFAST_OPERATOR(>, greater)
HOLDFAST_OPERATOR(>=, greater_equal)
HOLDFAST_OPERATOR(==, equal)
HOLDFAST_OPERATOR(!=, not_equal)
#undef HOLDFAST_OPERATOR
inline Tensor operator-(const Operand& x) { return negative(x); }

/// Logic of bools, bit by bit of integers.
HOLDFAST_API Tensor operator&(const Operand& x, const Operand& y);
HOLDFAST_API Tensor operator|(const Operand& x, const Operand& y);
HOLDFAST_API Tensor operator^(const Operand& x, const Operand& y);
HOLDFAST_API Tensor operator~(const Operand& x);

}  // namespace holdfast
