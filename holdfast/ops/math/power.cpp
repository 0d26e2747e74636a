// Powers and polynomials.
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

Status run_checked(Call& c) {
  const Tensor& y = c.in(1);
  bool negative = false;
  if (c.out_shape().size() > 0) {
    visit_plain(y.dtype(), [&]<class T>(T) {
      if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
        bool any = false;
        for (int64_t i = 0, n = y.size(); i < n; ++i) any |= y.raw<T>()[i] < 0;
        negative = any;
      }
    });
  }
  if (negative)
    return {Code::E1103, "Pow: an integer to a negative power is no integer",
            "`y` holds a negative number"};
  return run_elementwise(c);
}

}  // namespace

static const Op pow_op =
    OP(Pow, &pow)
        .args("x, y")
        .python("pow, math.pow")
        .dtypes(kDifferentiable | kSignedInts)
        .doc("x to the power y, element by element; a negative power of an integer is refused.")
        .kernel("checked", run_checked, kSignedInts)
        .elementwise(Scalar::kPow)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor x = conj(g.x(0)), y = conj(g.x(1)), dx, dy;
          if (g.wants(0)) dx = g.dy() * y * pow(x, y - 1);
          if (g.wants(1)) {
            // log(x) has no value for the bases whose powers do not depend smoothly on y.
            Tensor has_log = is_complex(x.dtype()) ? not_equal(x, 0) : greater(x, 0);
            Tensor log_x = select(has_log, log(select(has_log, x, 1)), 0);
            dy = g.dy() * conj(g.y()) * log_x;
          }
          return {dx, dy};
        })
        .keeps("x, y, output")
        .samples("positive(3, 4), uniform(4, low=-2, high=2)", "ints(4), [0, 1, 2, 3]")
        .reference("np.power(x, y)");
Tensor pow(const In& x, const In& y) { return pow_op(x, y); }

REGISTER(FUNCTION(&polyval)
             .args("coeffs, x")
             .python("math.polyval")
             .doc("The polynomial whose coefficients are given, highest power first, at x, element "
                  "by element.")
             .samples("[1.0, -2.0, 0.5], uniform(3, 4)")
             .reference("np.polyval(coeffs, x)"));
Tensor polyval(const Ins& coeffs, const In& x) {
  Tensor t = x;
  if (coeffs.size() == 0) return zeros_like(t);
  Tensor p = coeffs[0].tensor(t.dtype());
  for (size_t i = 1; i < coeffs.size(); ++i) p = add(coeffs[i].tensor(t.dtype()), multiply(p, t));
  return p;
}

}  // namespace holdfast
