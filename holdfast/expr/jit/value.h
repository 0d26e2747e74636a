// Writing a Body as formulas are written: operators and choices over its nodes.
#pragma once

#include <bit>

#include "holdfast/expr/jit/body.h"

namespace holdfast::jit {

/// A node of a body.
struct V {
  Body* body;
  int id;

  Lane lane() const { return body->nodes[static_cast<size_t>(id)].lane; }
};

/// A comparison that something is chosen by.
struct Condition {
  Compare by;
  V a, b;
};

inline uint64_t bits_of(Lane lane, double x) {
  switch (lane) {
    case Lane::kF32: return std::bit_cast<uint32_t>(static_cast<float>(x));
    case Lane::kF64: return std::bit_cast<uint64_t>(x);
    case Lane::kI64: return static_cast<uint64_t>(static_cast<int64_t>(x));
    default: return static_cast<uint32_t>(static_cast<int32_t>(x));
  }
}
/// A number of `like`'s lane.
inline V number(V like, double x) {
  return {like.body, like.body->number(like.lane(), bits_of(like.lane(), x))};
}
inline V pattern(V like, uint64_t bits) {
  return {like.body, like.body->number(like.lane(), bits)};
}

inline V node(Op op, V a, V b) {
  return {a.body, a.body->add({.op = op, .lane = a.lane(), .a = a.id, .b = b.id})};
}
inline V node(Op op, V a, int immediate) {
  return {
      a.body,
      a.body->add(
          {.op = op, .lane = a.lane(), .immediate = static_cast<uint8_t>(immediate), .a = a.id})};
}
inline V as(Lane lane, V a, Op op) {
  return {a.body, a.body->add({.op = op, .lane = lane, .a = a.id})};
}
/// Its bits, and what it is worth, in another lane.
inline V bits_as(Lane lane, V a) { return as(lane, a, Op::kBits); }
inline V converted(Lane lane, V a) { return lane == a.lane() ? a : as(lane, a, Op::kConvert); }

inline V operator+(V a, V b) { return node(is_float(a.lane()) ? Op::kAdd : Op::kWholeAdd, a, b); }
inline V operator-(V a, V b) { return node(is_float(a.lane()) ? Op::kSub : Op::kWholeSub, a, b); }
inline V operator*(V a, V b) { return node(is_float(a.lane()) ? Op::kMul : Op::kWholeMul, a, b); }
inline V operator/(V a, V b) { return node(Op::kDiv, a, b); }
inline V operator&(V a, V b) { return node(Op::kAnd, a, b); }
inline V operator|(V a, V b) { return node(Op::kOr, a, b); }
inline V operator^(V a, V b) { return node(Op::kXor, a, b); }
/// What of b is not in a.
inline V and_not(V a, V b) { return node(Op::kAndNot, a, b); }
inline V operator<<(V a, int by) { return node(Op::kShiftLeft, a, by); }
/// Fills with the sign.
inline V operator>>(V a, int by) { return node(Op::kShiftRightSigned, a, by); }
#define HF_WITH_NUMBER(op)                                          \
  inline V operator op(V a, double b) { return a op number(a, b); } \
  inline V operator op(double a, V b) { return number(b, a) op b; }
HF_WITH_NUMBER(+)
HF_WITH_NUMBER(-)
HF_WITH_NUMBER(*)
HF_WITH_NUMBER(/)
#undef HF_WITH_NUMBER

inline Condition operator<(V a, V b) { return {Compare::kLess, a, b}; }
inline Condition operator<=(V a, V b) { return {Compare::kLessEqual, a, b}; }
inline Condition operator>(V a, V b) { return {Compare::kGreater, a, b}; }
inline Condition operator>=(V a, V b) { return {Compare::kGreaterEqual, a, b}; }
inline Condition operator==(V a, V b) { return {Compare::kEqual, a, b}; }
inline Condition operator!=(V a, V b) { return {Compare::kNotEqual, a, b}; }
inline Condition operator<(V a, double b) { return a < number(a, b); }
inline Condition operator>(V a, double b) { return a > number(a, b); }
inline Condition operator>=(V a, double b) { return a >= number(a, b); }
inline Condition operator==(V a, double b) { return a == number(a, b); }

/// `yes` where it holds, else `no`.
V where(Condition, V yes, V no);
inline V where(Condition c, double yes, V no) { return where(c, number(no, yes), no); }
inline V where(Condition c, V yes, double no) { return where(c, yes, number(yes, no)); }
V select(V truth, V yes, V no);
V truth(Condition);

}  // namespace holdfast::jit
