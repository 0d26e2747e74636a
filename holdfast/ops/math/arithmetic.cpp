#include <cmath>
#include <complex>

#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/rows.h"
#include "holdfast/tensor/complex.h"

namespace holdfast {
namespace {

constexpr DTypes kSigned = kFloats | kSignedInts | kComplexes;

Status join_strings(Call& c) {
  const Tensor &x = c.in(0), &y = c.in(1);
  Tensor& z = c.out();
  for_rows<2>({&x, &y}, z.shape(), [&](const Row<2>& r) {
    const std::string *a = x.raw<std::string>() + r.at[0], *b = y.raw<std::string>() + r.at[1];
    std::string* to = z.mutable_raw<std::string>() + r.out;
    for (int64_t i = 0; i < r.count; ++i, a += r.step[0], b += r.step[1]) to[i] = *a + *b;
  });
  return {};
}

Tensor as_complex(const Tensor& x) { return complex(x, zeros_like(x)); }

// The real part in the dtype of `x`.
Tensor real_part(const Tensor& x) { return is_complex(x.dtype()) ? as_complex(real(x)) : x; }

// Real numbers sit on steps. A complex one turns on the circle: only what is across its direction
// counts, the less the farther out it lies.
Tensors sign_gradient(Grad& g) {
  if (!is_complex(g.x().dtype())) return {zeros_like(g.dy())};
  Tensor turned = g.y() * complex(zeros_like(real(g.x())), imag(g.dy() * conj(g.y())));
  return {divide_no_nan(turned, as_complex(abs(g.x())))};
}

}  // namespace

static const Op add_op = OP(AddV2, &add)
                             .args("x, y")
                             .python("add, math.add")
                             .dtypes(kNumbers | kStrings)
                             .commutative()
                             .doc("x + y, element by element; strings are joined.")
                             .elementwise(Scalar::kAdd)
                             .kernel("strings", join_strings, kStrings)
                             .gradient(+[](Grad& g) -> Tensors { return {g.dy(), g.dy()}; })
                             .keeps("")
                             .samples("uniform(3, 4), uniform(3, 4)", "uniform(3, 1), uniform(4)",
                                      "ints(5), ints(5)", "complexes(3), complexes(3)")
                             .reference("x + y");
Tensor add(const In& x, const In& y) { return add_op(x, y); }

static const Op old_add_op = RAW_OP(Add)
                                 .inputs("x, y")
                                 .outputs("z")
                                 .dtypes(kNumbers | kStrings)
                                 .doc("AddV2 by its older name.")
                                 .elementwise(Scalar::kAdd)
                                 .kernel("strings", join_strings, kStrings)
                                 .gradient(+[](Grad& g) -> Tensors { return {g.dy(), g.dy()}; })
                                 .keeps("");

static const Op sub_op =
    OP(Sub, &subtract)
        .args("x, y")
        .python("subtract, math.subtract")
        .dtypes(kNumbers)
        .doc("x - y, element by element.")
        .elementwise(Scalar::kSub)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy(), g.wants(1) ? -g.dy() : Tensor()}; })
        .keeps("")
        .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
        .reference("x - y");
Tensor subtract(const In& x, const In& y) { return sub_op(x, y); }

static const Op mul_op =
    OP(Mul, &multiply)
        .args("x, y")
        .python("multiply, math.multiply")
        .dtypes(kNumbers)
        .commutative()
        .doc("x * y, element by element.")
        .elementwise(Scalar::kMul)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? g.dy() * conj(g.x(1)) : Tensor(),
                  g.wants(1) ? g.dy() * conj(g.x(0)) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)", "complexes(3), complexes(3)")
        .reference("x * y");
Tensor multiply(const In& x, const In& y) { return mul_op(x, y); }

static const Op mul_no_nan_op =
    OP(MulNoNan, &multiply_no_nan)
        .args("x, y")
        .python("math.multiply_no_nan")
        .dtypes(kDifferentiable)
        .doc("x * y, and 0 where y is 0, even if x is infinite or NaN.")
        .elementwise(Scalar::kMulNoNan)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.wants(0) ? multiply_no_nan(g.dy(), conj(g.x(1))) : Tensor(),
                  g.wants(1) ? multiply_no_nan(conj(g.x(0)), g.dy()) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4), uniform(4)")
        .reference("np.where(y == 0, 0, x * y)");
Tensor multiply_no_nan(const In& x, const In& y) { return mul_no_nan_op(x, y); }

static const Op squared_difference_op =
    OP(SquaredDifference, &squared_difference)
        .args("x, y")
        .python("math.squared_difference")
        .dtypes(kDifferentiable | kIndices)
        .commutative()
        .doc("(x - y)^2, element by element; |x - y|^2 of complex numbers.")
        .elementwise(Scalar::kSquaredDifference)
        .gradient(+[](Grad& g) -> Tensors {
          // Of complex numbers a square is real: only the real part of what arrives moves it.
          Tensor d = real_part(g.dy()) * 2 * (g.x(0) - g.x(1));
          return {d, g.wants(1) ? -d : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4), uniform(4)", "ints(5), ints(5)")
        .reference("(x - y) * np.conj(x - y)");
Tensor squared_difference(const In& x, const In& y) { return squared_difference_op(x, y); }

static const Op neg_op = OP(Neg, &negative)
                             .args("x")
                             .python("negative, math.negative")
                             .dtypes(kSigned)
                             .doc("-x, element by element.")
                             .elementwise(Scalar::kNeg)
                             .gradient(+[](Grad& g) -> Tensors { return {-g.dy()}; })
                             .keeps("")
                             .samples("uniform(3, 4)", "ints(5)")
                             .reference("-x");
Tensor negative(const In& x) { return neg_op(x); }

static const Op square_op =
    OP(Square, &square)
        .args("x")
        .python("square, math.square")
        .dtypes(kNumbers)
        .doc("x * x, element by element.")
        .elementwise(Scalar::kSquare)
        .gradient(+[](Grad& g) -> Tensors { return {g.dy() * conj(g.x()) * 2}; })
        .keeps("x")
        .samples("uniform(3, 4)", "ints(5)")
        .reference("x * x");
Tensor square(const In& x) { return square_op(x); }

static const Op abs_op = OP(Abs, &abs)
                             .args("x")
                             .python("abs, math.abs")
                             .dtypes(kFloats | kSignedInts)
                             .doc("|x|, element by element; a real number for a complex one.")
                             .elementwise(Scalar::kAbs)
                             .gradient(+[](Grad& g) -> Tensors { return {g.dy() * sign(g.x())}; })
                             .keeps("x")
                             .samples("uniform(3, 4)", "ints(5)", "complexes(3)")
                             .reference("np.abs(x)");

static const Op complex_abs_op =
    RAW_OP(ComplexAbs)
        .inputs("x")
        .dtypes(kComplexes)
        .doc("|x| of complex numbers.")
        .infer(+[](Infer& s) { s.output(real_of(s.dtype()), s.shape()); })
        .kernel(
            "reference",
            +[](Call& c) -> Status {
              const Tensor& x = c.in();
              Tensor& y = c.out();
              auto run = [&]<class T>(std::complex<T>) {
                for_rows<1>({&x}, y.shape(), [&](const Row<1>& r) {
                  for (int64_t i = r.out; i < r.out + r.count; ++i)
                    y.mutable_raw<T>()[i] = std::abs(x.raw<std::complex<T>>()[i]);
                });
              };
              x.dtype() == DType::kComplex64 ? run(complex64{}) : run(complex128{});
              return {};
            })
        .gradient(+[](Grad& g) -> Tensors {
          // x / |x| as a quotient and not as sign(x): the second order looks at both.
          return {divide_no_nan(as_complex(g.dy()) * g.x(), as_complex(g.y()))};
        })
        .keeps("x, output");

Tensor abs(const In& x) {
  Tensor t = x;
  return t.defined() && is_complex(t.dtype()) ? complex_abs_op(t) : abs_op(t);
}

static const Op sign_op = OP(Sign, &sign)
                              .args("x")
                              .python("sign, math.sign")
                              .dtypes(kSigned)
                              .doc("-1, 0 or 1, as x is; x / |x| of a complex number.")
                              .flat(Flat::kStep)
                              .elementwise(Scalar::kSign)
                              .gradient(sign_gradient)
                              .keeps("x, output")
                              .samples("uniform(3, 4)", "ints(5)", "complexes(3)")
                              .reference("x / np.abs(x) if x.dtype.kind == 'c' else np.sign(x)");
Tensor sign(const In& x) { return sign_op(x); }

REGISTER(FUNCTION(&scalar_mul)
             .args("scalar, x")
             .python("scalar_mul, math.scalar_mul")
             .doc("A scalar times a tensor.")
             .samples("2.5, uniform(3, 4)")
             .reference("scalar * x"));
Tensor scalar_mul(const In& scalar, const In& x) {
  Tensor t = x;
  Tensor s = scalar.tensor(t.defined() ? t.dtype() : DType::kInvalid);
  if (s.defined() && s.rank() > 0)
    fail(Code::E1102, "scalar_mul: `scalar` is " + s.shape().text() + ", expected a scalar");
  return multiply(s, t);
}

}  // namespace holdfast
