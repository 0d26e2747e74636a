// Quotients and remainders. Dividing an integer by zero is an error, found before the loop runs.
#include <algorithm>

#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/operands.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {
namespace {

Status run_checked(Call& c) {
  const Tensor& y = c.in(1);
  bool zero = false;
  if (c.out_shape().size() > 0) {
    visit_plain(y.dtype(), [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>) {
        const T* p = y.raw<T>();
        bool any = false;
        for (int64_t i = 0, n = y.size(); i < n; ++i) any |= p[i] == 0;
        zero = any;
      }
    });
  }
  if (zero) return {Code::E1103, c.op.name + ": Integer division by zero", "`y` holds a 0"};
  return run_elementwise(c);
}

// What `divide` computes integers in.
DType quotient_dtype(DType d) {
  if (d == int8 || d == int16 || d == uint8 || d == uint16) return float32;
  return is_integer(d) ? float64 : d;
}

// Operands of one integer dtype as floats.
std::pair<Tensor, Tensor> as_floats(const In& x, const In& y) {
  auto [a, b] = both(x, y);
  if (!a.defined() || !b.defined() || a.dtype() != b.dtype() || !is_integer(a.dtype()))
    return {std::move(a), std::move(b)};
  DType d = quotient_dtype(a.dtype());
  return {cast(a, d), cast(b, d)};
}

Tensors quotient_gradient(Grad& g) {
  Tensor y = conj(g.x(1));
  return {g.wants(0) ? realdiv(g.dy(), y) : Tensor(),
          g.wants(1) ? g.dy() * realdiv(realdiv(-conj(g.x(0)), y), y) : Tensor()};
}

}  // namespace

static const Op real_div_op =
    OP(RealDiv, &realdiv)
        .args("x, y")
        .dtypes(kDifferentiable)
        .doc("x / y of floats and complex numbers, element by element.")
        .elementwise(Scalar::kDiv)
        .gradient(quotient_gradient)
        .keeps("x, y")
        .samples("uniform(3, 4), positive(4)", "complexes(3), complexes(3)")
        .reference("x / y");
Tensor realdiv(const In& x, const In& y) { return real_div_op(x, y); }

static const Op div_op = RAW_OP(Div)
                             .inputs("x, y")
                             .dtypes(kNumbers)
                             .doc("x / y; of integers, rounded towards zero.")
                             .kernel("checked", run_checked, kInts)
                             .elementwise(Scalar::kDiv)
                             .gradient(quotient_gradient)
                             .keeps("x, y");

static const char* const kDivideDoc =
    "x / y, element by element; integers become float64, those of 8 and 16 bits float32.";
REGISTER(FUNCTION(&divide)
             .args("x, y")
             .python("divide, math.divide")
             .doc(kDivideDoc)
             .samples("uniform(3, 4), positive(4)", "ints(5), [1, 2, 3, 4, 5]")
             .reference("x / y"));
Tensor divide(const In& x, const In& y) {
  auto [a, b] = as_floats(x, y);
  return real_div_op(a, b);
}
REGISTER(FUNCTION(&truediv)
             .args("x, y")
             .python("truediv, math.truediv")
             .doc(kDivideDoc)
             .samples("uniform(3, 4), positive(4)", "ints(5), [1, 2, 3, 4, 5]")
             .reference("x / y"));
Tensor truediv(const In& x, const In& y) { return divide(x, y); }

static const Op div_no_nan_op =
    OP(DivNoNan, &divide_no_nan)
        .args("x, y")
        .python("math.divide_no_nan")
        .dtypes(kDifferentiable)
        .doc("x / y, element by element, and 0 where y is 0.")
        .elementwise(Scalar::kDivNoNan)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor y = conj(g.x(1));
          return {
              g.wants(0) ? divide_no_nan(g.dy(), y) : Tensor(),
              g.wants(1) ? g.dy() * divide_no_nan(divide_no_nan(-conj(g.x(0)), y), y) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4), positive(4)")
        .reference("np.where(y == 0, 0, x / np.where(y == 0, 1, y))");
Tensor divide_no_nan(const In& x, const In& y) {
  auto [a, b] = as_floats(x, y);
  return div_no_nan_op(a, b);
}

static const Op reciprocal_grad_op =
    RAW_OP(ReciprocalGrad)
        .inputs("y, dy")
        .dtypes(kDifferentiable)
        .doc("-dy * y * y: the gradient of 1 / x where y = 1 / x; 0 where dy is 0.")
        .elementwise(Scalar::kReciprocalGrad)
        .gradient(+[](Grad& g) -> Tensors {
          Tensor y = g.x(0);
          return {g.wants(0) ? conj(g.dy()) * -2 * g.x(1) * conj(y) : Tensor(),
                  g.wants(1) ? -(g.dy() * y * y) : Tensor()};
        })
        .keeps("y, dy");

static const Op reciprocal_op =
    OP(Reciprocal, &reciprocal)
        .args("x")
        .python("math.reciprocal")
        .dtypes(kDifferentiable)
        .doc("1 / x, element by element.")
        .elementwise(Scalar::kReciprocal)
        .gradient(+[](Grad& g) -> Tensors { return {reciprocal_grad_op(g.y(), g.dy())}; })
        .keeps("output")
        .samples("positive(3, 4)")
        .reference("1 / x");
Tensor reciprocal(const In& x) { return reciprocal_op(x); }

REGISTER(FUNCTION(&reciprocal_no_nan)
             .args("x")
             .python("math.reciprocal_no_nan")
             .doc("1 / x, element by element, and 0 where x is 0.")
             .samples("positive(3, 4)")
             .reference("1 / x"));
Tensor reciprocal_no_nan(const In& x) {
  Tensor t = x;
  return div_no_nan_op(1, t);
}

static const Op floor_div_op =
    OP(FloorDiv, &floordiv)
        .args("x, y")
        .python("math.floordiv")
        .dtypes(kReals)
        .no_gradient()
        .doc("x / y rounded down, element by element.")
        .kernel("checked", run_checked, kInts)
        .elementwise(Scalar::kFloorDiv)
        .samples("uniform(3, 4, low=-9, high=9), positive(4)", "ints(5), [1, 2, 3, 4, 5]")
        .reference("np.floor_divide(x, y)");
Tensor floordiv(const In& x, const In& y) { return floor_div_op(x, y); }

static const Op floor_mod_op =
    OP(FloorMod, &floormod)
        .args("x, y")
        .python("math.floormod, math.mod")
        .dtypes(kReals)
        .doc("Remainder of the division that rounds down, element by element: it has y's sign.")
        .kernel("checked", run_checked, kInts)
        .elementwise(Scalar::kFloorMod)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy(), g.wants(1) ? -(g.dy() * floordiv(g.x(0), g.x(1))) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4, low=-9, high=9), positive(4)", "ints(5), [1, 2, 3, 4, 5]")
        .reference("np.mod(x, y)");
Tensor floormod(const In& x, const In& y) { return floor_mod_op(x, y); }

static const Op truncate_div_op =
    OP(TruncateDiv, &truncatediv)
        .args("x, y")
        .dtypes(kReals)
        .no_gradient()
        .doc("x / y rounded towards zero, element by element.")
        .kernel("checked", run_checked, kInts)
        .elementwise(Scalar::kTruncateDiv)
        .samples("uniform(3, 4, low=-9, high=9), positive(4)", "ints(5), [1, 2, 3, 4, 5]")
        .reference("np.trunc(x / y)");
Tensor truncatediv(const In& x, const In& y) { return truncate_div_op(x, y); }

static const Op truncate_mod_op =
    OP(TruncateMod, &truncatemod)
        .args("x, y")
        .dtypes(kReals)
        .doc(
            "Remainder of the division that rounds towards zero, element by element: it has x's "
            "sign.")
        .kernel("checked", run_checked, kInts)
        .elementwise(Scalar::kTruncateMod)
        .gradient(+[](Grad& g) -> Tensors {
          return {g.dy(), g.wants(1) ? -(g.dy() * truncatediv(g.x(0), g.x(1))) : Tensor()};
        })
        .keeps("x, y")
        .samples("uniform(3, 4, low=-9, high=9), positive(4)", "ints(5), [1, 2, 3, 4, 5]")
        .reference("np.fmod(x, y)");
Tensor truncatemod(const In& x, const In& y) { return truncate_mod_op(x, y); }

}  // namespace holdfast
