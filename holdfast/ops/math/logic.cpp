// Logic of bools, and of the bits of integers.
#include <bit>

#include "holdfast/base/text.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/math/operands.h"
#include "holdfast/tensor/visit.h"

namespace holdfast {

static const Op and_op = OP(LogicalAnd, &logical_and)
                             .args("x, y")
                             .python("logical_and, math.logical_and")
                             .dtypes(kBools)
                             .commutative()
                             .no_gradient()
                             .doc("x and y, element by element.")
                             .elementwise(Scalar::kLogicalAnd)
                             .samples("bools(3, 4), bools(4)")
                             .reference("np.logical_and(x, y)");
Tensor logical_and(const In& x, const In& y) { return and_op(x, y); }

static const Op or_op = OP(LogicalOr, &logical_or)
                            .args("x, y")
                            .python("logical_or, math.logical_or")
                            .dtypes(kBools)
                            .commutative()
                            .no_gradient()
                            .doc("x or y, element by element.")
                            .elementwise(Scalar::kLogicalOr)
                            .samples("bools(3, 4), bools(4)")
                            .reference("np.logical_or(x, y)");
Tensor logical_or(const In& x, const In& y) { return or_op(x, y); }

static const Op not_op = OP(LogicalNot, &logical_not)
                             .args("x")
                             .python("logical_not, math.logical_not")
                             .dtypes(kBools)
                             .no_gradient()
                             .doc("not x, element by element.")
                             .elementwise(Scalar::kLogicalNot)
                             .samples("bools(3, 4)")
                             .reference("np.logical_not(x)");
Tensor logical_not(const In& x) { return not_op(x); }

REGISTER(FUNCTION(&logical_xor)
             .args("x, y")
             .python("math.logical_xor")
             .doc("x or y but not both, element by element.")
             .samples("bools(3, 4), bools(4)")
             .reference("np.logical_xor(x, y)"));
Tensor logical_xor(const In& x, const In& y) {
  auto [a, b] = both(x, y);
  // TensorFlow has no instruction for it; bools that differ are what it means. Others are refused
  // by `and`.
  if (!a.defined() || !b.defined() || !is_bool(a.dtype()) || !is_bool(b.dtype()))
    return and_op(a, b);
  return not_equal(a, b);
}

static const Op bit_and_op = OP(BitwiseAnd, &bitwise::bitwise_and)
                                 .args("x, y")
                                 .python("bitwise.bitwise_and")
                                 .dtypes(kInts)
                                 .commutative()
                                 .no_gradient()
                                 .doc("x & y, bit by bit.")
                                 .elementwise(Scalar::kBitwiseAnd)
                                 .samples("ints(5), ints(5)")
                                 .reference("np.bitwise_and(x, y)");
Tensor bitwise::bitwise_and(const In& x, const In& y) { return bit_and_op(x, y); }

static const Op bit_or_op = OP(BitwiseOr, &bitwise::bitwise_or)
                                .args("x, y")
                                .python("bitwise.bitwise_or")
                                .dtypes(kInts)
                                .commutative()
                                .no_gradient()
                                .doc("x | y, bit by bit.")
                                .elementwise(Scalar::kBitwiseOr)
                                .samples("ints(5), ints(5)")
                                .reference("np.bitwise_or(x, y)");
Tensor bitwise::bitwise_or(const In& x, const In& y) { return bit_or_op(x, y); }

static const Op bit_xor_op = OP(BitwiseXor, &bitwise::bitwise_xor)
                                 .args("x, y")
                                 .python("bitwise.bitwise_xor")
                                 .dtypes(kInts)
                                 .commutative()
                                 .no_gradient()
                                 .doc("x ^ y, bit by bit.")
                                 .elementwise(Scalar::kBitwiseXor)
                                 .samples("ints(5), ints(5)")
                                 .reference("np.bitwise_xor(x, y)");
Tensor bitwise::bitwise_xor(const In& x, const In& y) { return bit_xor_op(x, y); }

static const Op invert_op = OP(Invert, &bitwise::invert)
                                .args("x")
                                .python("bitwise.invert")
                                .dtypes(kInts)
                                .no_gradient()
                                .doc("Every bit flipped.")
                                .elementwise(Scalar::kInvert)
                                .samples("ints(5)")
                                .reference("np.invert(x)");
Tensor bitwise::invert(const In& x) { return invert_op(x); }

static const Op left_shift_op =
    OP(LeftShift, &bitwise::left_shift)
        .args("x, y")
        .python("bitwise.left_shift")
        .dtypes(kInts)
        .no_gradient()
        .doc("x << y; a shift outside [0, bits) counts as the nearest one inside.")
        .elementwise(Scalar::kLeftShift)
        .samples("ints(4), [0, 1, 2, 3]")
        .reference("np.left_shift(x, y)");
Tensor bitwise::left_shift(const In& x, const In& y) { return left_shift_op(x, y); }

static const Op right_shift_op =
    OP(RightShift, &bitwise::right_shift)
        .args("x, y")
        .python("bitwise.right_shift")
        .dtypes(kInts)
        .no_gradient()
        .doc(
            "x >> y, keeping the sign; a shift outside [0, bits) counts as the nearest one inside.")
        .elementwise(Scalar::kRightShift)
        .samples("ints(4), [0, 1, 2, 3]")
        .reference("np.right_shift(x, y)");
Tensor bitwise::right_shift(const In& x, const In& y) { return right_shift_op(x, y); }

static const Op population_op =
    RAW_OP(PopulationCount)
        .inputs("x")
        .outputs("y")
        .dtypes(kInts)
        .no_gradient()
        .doc("How many bits are set, uint8.")
        .infer(+[](Infer& s) { s.output(uint8, s.shape()); })
        .kernel(
            "reference", +[](Call& c) -> Status {
              const Tensor& x = c.in();
              auto* to = c.out().mutable_raw<uint8_t>();
              visit_cells(x.dtype(), [&]<class T>(T) {
                if constexpr (std::is_integral_v<T>)
                  for (int64_t i = 0, n = x.size(); i < n; ++i)
                    to[i] = static_cast<uint8_t>(std::popcount(x.raw<T>()[i]));
              });
              return {};
            });

Tensor operator&(const Operand& x, const Operand& y) {
  auto [a, b] = both(x, y);
  return a.defined() && is_bool(a.dtype()) ? and_op(a, b) : bit_and_op(a, b);
}
Tensor operator|(const Operand& x, const Operand& y) {
  auto [a, b] = both(x, y);
  return a.defined() && is_bool(a.dtype()) ? or_op(a, b) : bit_or_op(a, b);
}
Tensor operator^(const Operand& x, const Operand& y) {
  auto [a, b] = both(x, y);
  return a.defined() && is_bool(a.dtype()) ? logical_xor(a, b) : bit_xor_op(a, b);
}
Tensor operator~(const Operand& x) {
  Tensor t = x;
  return t.defined() && is_bool(t.dtype()) ? not_op(t) : invert_op(t);
}

}  // namespace holdfast
