#include "holdfast/expr/jit/lower.h"

#include <limits>

#include "holdfast/expr/jit/math.h"

namespace holdfast::jit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A NaN wins, whichever side it is on.
V nan_max(V x, V y) {
  if (!is_float(x.lane())) return where(x < y, y, x);
  return where(x != x, x, where({Compare::kNotGreaterEqual, x, y}, y, x));
}
V nan_min(V x, V y) {
  if (!is_float(x.lane())) return where(y < x, y, x);
  return where(x != x, x, where({Compare::kNotGreaterEqual, y, x}, y, x));
}

V zero(V like) { return number(like, 0); }

// What floats and integers have in common.
std::optional<V> arithmetic(Scalar s, std::span<const V> in) {
  V x = in[0], y = in.size() > 1 ? in[1] : x, z = in.size() > 2 ? in[2] : x;
  switch (s) {
    case Scalar::kSquare: return x * x;
    case Scalar::kAdd: return x + y;
    case Scalar::kSub: return x - y;
    case Scalar::kMul: return x * y;
    case Scalar::kSquaredDifference: {
      V d = x - y;
      return d * d;
    }
    case Scalar::kMaximum: return nan_max(x, y);
    case Scalar::kMinimum: return nan_min(x, y);
    case Scalar::kClip: return nan_max(nan_min(x, z), y);
    case Scalar::kRelu: return where(x < 0, 0, x);
    case Scalar::kRelu6: return where(x < 0, 0, where(x > 6, 6, x));
    case Scalar::kReluGrad: return where(y > 0, x, 0);
    case Scalar::kRelu6Grad: return where(y > 0, where(y < 6, x, 0), 0);
    case Scalar::kLess: return truth(x < y);
    case Scalar::kLessEqual: return truth(x <= y);
    case Scalar::kGreater: return truth(x > y);
    case Scalar::kGreaterEqual: return truth(x >= y);
    case Scalar::kEqual: return truth(x == y);
    case Scalar::kNotEqual: return truth(x != y);
    default: return std::nullopt;
  }
}

// A shift by less than nothing or by more bits than there are is taken for the nearest that is one.
V shift_by(V y) {
  double most = bytes_of(y.lane()) * 8 - 1;
  V least = where(y < 0, 0, y);
  return where(least > most, most, least);
}

// Quotients of 32 bits are exact in double, rounded as asked; 0 for a divisor that is 0.
std::optional<V> quotient(V x, V y, int how) {
  if (x.lane() != Lane::kI32) return std::nullopt;
  V q = converted(Lane::kF64, x) / converted(Lane::kF64, y);
  return where(y == 0, 0, converted(Lane::kI32, rounded(q, how)));
}
std::optional<V> remainder(V x, V y, int how) {
  auto q = quotient(x, y, how);
  if (!q) return q;
  return where(y == 0, 0, x - *q * y);
}

std::optional<V> of_integers(Scalar s, std::span<const V> in) {
  V x = in[0], y = in.size() > 1 ? in[1] : x;
  switch (s) {
    case Scalar::kNeg: return zero(x) - x;
    case Scalar::kAbs: return where(x < 0, zero(x) - x, x);
    case Scalar::kSign: return where(x > 0, number(x, 1), where(x < 0, number(x, -1), zero(x)));
    case Scalar::kFloor:
    case Scalar::kCeil:
    case Scalar::kRound:
    case Scalar::kTrunc: return x;
    case Scalar::kInvert: return x ^ number(x, -1);
    case Scalar::kBitwiseAnd: return x & y;
    case Scalar::kBitwiseOr: return x | y;
    case Scalar::kBitwiseXor: return x ^ y;
    case Scalar::kLeftShift: return node(Op::kShiftLeftBy, x, shift_by(y));
    case Scalar::kRightShift: return node(Op::kShiftRightBy, x, shift_by(y));
    case Scalar::kDiv:
    case Scalar::kTruncateDiv: return quotient(x, y, 3);
    case Scalar::kFloorDiv: return quotient(x, y, 1);
    case Scalar::kTruncateMod: return remainder(x, y, 3);
    case Scalar::kFloorMod: return remainder(x, y, 1);
    default: return arithmetic(s, in);
  }
}

std::optional<V> of_truths(Scalar s, std::span<const V> in) {
  V x = in[0], y = in.size() > 1 ? in[1] : x, all = pattern(x, 0xffffffffu);
  switch (s) {
    case Scalar::kLogicalNot: return x ^ all;
    case Scalar::kLogicalAnd: return x & y;
    case Scalar::kLogicalOr: return x | y;
    case Scalar::kNotEqual: return x ^ y;
    case Scalar::kEqual: return (x ^ y) ^ all;
    default: return std::nullopt;
  }
}

V gelu_slope(V y) {  // of the approximation by tanh: the argument of its sigmoid
  return 1.59576912160573071176 * (y + 0.044715 * y * y * y);
}

std::optional<V> activation(Scalar s, std::span<const V> in) {
  V x = in[0], y = in.size() > 1 ? in[1] : x, z = in.size() > 2 ? in[2] : x;
  switch (s) {
    case Scalar::kSigmoid: return sigmoid(x);
    case Scalar::kSoftplus: return softplus(x);
    case Scalar::kSoftsign: return x / (1 + abs(x));
    case Scalar::kElu: return where(x < 0, expm1(x), x);
    case Scalar::kSelu: {
      V below = 1.6732632423543772848170429916717 * expm1(x);
      return 1.0507009873554804934193349852946 * where(x < 0, below, x);
    }
    case Scalar::kEluGrad: return where(y < 0, x * (y + 1), x);
    case Scalar::kSeluGrad: {
      V below = x * (y + 1.7580993408473768599402175208123);
      return where(y < 0, below, x * 1.0507009873554804934193349852946);
    }
    case Scalar::kTanhGrad: return y * (1 - x * x);
    case Scalar::kSigmoidGrad: return y * (x * (1 - x));
    case Scalar::kSqrtGrad: return where(y == 0, 0, y * 0.5 / x);
    case Scalar::kRsqrtGrad: return where(y == 0, 0, y * -0.5 * (x * x * x));
    case Scalar::kReciprocalGrad: return where(y == 0, 0, negated(y) * (x * x));
    case Scalar::kSoftplusGrad: return x * sigmoid(y);
    case Scalar::kSoftsignGrad: {
      V d = 1 + abs(y);
      return x / (d * d);
    }
    case Scalar::kSilu: return x * sigmoid(x);
    case Scalar::kSiluGrad: {
      V g = sigmoid(y);
      return x * g * (1 + y * (1 - g));
    }
    case Scalar::kLeakyRelu: return where(x > 0, x, x * y);
    case Scalar::kLeakyReluGrad: return where(y > 0, x, x * z);
    case Scalar::kGeluTanh: return x * sigmoid(gelu_slope(x));
    case Scalar::kGeluTanhGrad: {
      V g = sigmoid(gelu_slope(y));
      V slope = 1.59576912160573071176 * (1 + 0.134145 * y * y);
      return x * (g + y * g * (1 - g) * slope);
    }
    default: return std::nullopt;
  }
}

// Those that the loops compute in float32 alone, or whose double is a library's.
std::optional<V> of_float32(Scalar s, std::span<const V> in) {
  V x = in[0], y = in.size() > 1 ? in[1] : x;
  switch (s) {
    case Scalar::kErf: return erf(x);
    case Scalar::kErfc: return erfc(x);
    case Scalar::kPow: return pow(x, y);
    case Scalar::kGelu: return gelu(x);
    case Scalar::kGeluGrad: return gelu_grad(x, y);
    case Scalar::kSin: return sin(x);
    case Scalar::kCos: return cos(x);
    case Scalar::kTan: return tan(x);
    case Scalar::kTruncateMod: return fmod(x, y);
    case Scalar::kFloorMod: return floormod(x, y);
    default: return std::nullopt;
  }
}

std::optional<V> of_floats(Scalar s, std::span<const V> in) {
  V x = in[0], y = in.size() > 1 ? in[1] : x, z = in.size() > 2 ? in[2] : x;
  switch (s) {
    case Scalar::kNeg: return negated(x);
    case Scalar::kAbs: return abs(x);
    case Scalar::kSign: {
      V sign = where(x > 0, number(x, 1), where(x < 0, number(x, -1), zero(x)));
      return where(x != x, x, sign);
    }
    case Scalar::kReciprocal: return 1 / x;
    case Scalar::kDiv: return x / y;
    case Scalar::kDivNoNan: return where(y == 0, zero(x), x / y);
    case Scalar::kMulNoNan: return where(y == 0, zero(x), x * y);
    case Scalar::kXdivy: return where(x == 0, zero(x), x / y);
    case Scalar::kXlogy: return where(x == 0, zero(x), x * log(y));
    case Scalar::kXlog1py: return where(x == 0, zero(x), x * log1p(y));
    case Scalar::kMulAdd: return x * y + z;
    case Scalar::kTruncateDiv: return rounded(x / y, 3);
    case Scalar::kFloorDiv: return rounded(x / y, 1);
    case Scalar::kFloor: return rounded(x, 1);
    case Scalar::kCeil: return rounded(x, 2);
    case Scalar::kRound: return rounded(x, 0);
    case Scalar::kTrunc: return rounded(x, 3);
    case Scalar::kSqrt: return sqrt(x);
    case Scalar::kRsqrt: return rsqrt(x);
    case Scalar::kExp: return exp(x);
    case Scalar::kExpm1: return expm1(x);
    case Scalar::kLog: return log(x);
    case Scalar::kLog1p: return log1p(x);
    case Scalar::kTanh: return tanh(x);
    case Scalar::kIsNan: return truth(x != x);
    case Scalar::kIsInf: return truth(abs(x) == kInfinity);
    case Scalar::kIsFinite: return truth(abs(x) < kInfinity);
    default: break;
  }
  if (auto v = arithmetic(s, in)) return v;
  if (auto v = activation(s, in)) return v;
  return x.lane() == Lane::kF32 ? of_float32(s, in) : std::nullopt;
}

std::optional<V> scalar(Scalar s, std::span<const V> in) {
  switch (in[0].lane()) {
    case Lane::kF32:
    case Lane::kF64: return of_floats(s, in);
    case Lane::kI32:
    case Lane::kI64: return of_integers(s, in);
    case Lane::kTruth: return of_truths(s, in);
  }
  return std::nullopt;
}

std::optional<V> from_truth(V x, Lane to) {
  V one = {x.body, x.body->number(Lane::kI32, to == Lane::kF32 ? 0x3f800000u : 1u)};
  V bits = bits_as(Lane::kI32, x) & one;
  if (bytes_of(to) == 4) return bits_as(to, bits);
  return converted(to, bits);
}

// Narrow integers stand in 32 bits and are only read: what they would wrap to is not kept.
bool is_narrow(DType d) {
  return size_of(d) < 4 && d != DType::kBool && d != DType::kFloat16 && d != DType::kBFloat16;
}

// 16-bit floats are computed in float32, and each result is rounded.
V as_held(V x, DType d) {
  if (d == DType::kFloat16) return rounded_to_half(x);
  return d == DType::kBFloat16 ? rounded_to_bfloat(x) : x;
}

std::optional<V> cast(V x, DType to, bool avx512) {
  auto lane = lane_of(to);
  if (!lane || is_narrow(to)) return std::nullopt;
  if (*lane == x.lane()) return x;
  if (*lane == Lane::kTruth) return truth(x != zero(x));
  if (x.lane() == Lane::kTruth) return from_truth(x, *lane);
  bool by_float = is_float(x.lane()) != is_float(*lane);
  bool long_whole = x.lane() == Lane::kI64 || *lane == Lane::kI64;
  if (by_float && long_whole && !avx512) return std::nullopt;
  return converted(*lane, x);
}

// Whether the loops were compiled with fused multiply-adds, which builds without optimisation are
// not: code rounds as they do.
bool loops_contract() {
  static const bool fused = [] {
    const float x = 1 + 0x1p-12f, minus = -(1 + 0x1p-11f);  // x * x is 2^-24 more than it rounds to
    float out = 0;
    const void* in[] = {&x, &x, &minus};
    loop_for(Scalar::kMulAdd, DType::kFloat32)(in, &out, 1);
    return out != 0;
  }();
  return fused;
}

// AVX2 neither multiplies 64-bit integers nor shifts signs into them, nor scales by powers of two.
bool needs_avx512(const Body& b, size_t from) {
  for (size_t i = from; i < b.nodes.size(); ++i) {
    Op op = b.nodes[i].op;
    bool missing = op == Op::kWholeMul || op == Op::kShiftRightBy;
    if (op == Op::kScale || (missing && b.nodes[i].lane == Lane::kI64)) return true;
  }
  return false;
}

}  // namespace

std::optional<Lane> lane_of(DType d) {
  switch (d) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16: return Lane::kF32;
    case DType::kFloat64: return Lane::kF64;
    case DType::kInt32: return Lane::kI32;
    case DType::kInt64: return Lane::kI64;
    case DType::kBool: return Lane::kTruth;
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt16:
    case DType::kUInt16: return Lane::kI32;
    default: return std::nullopt;
  }
}

std::optional<V> lower(const Expr& e, const Instruction& k, std::span<const V> operands,
                       bool avx512) {
  if (is_narrow(e.dtype(k.result))) return std::nullopt;
  Body& body = *operands[0].body;
  auto from = static_cast<int>(body.nodes.size());
  std::optional<V> out;
  switch (k.does) {
    case Does::kScalar:
      for (int o : k.operands)
        if (is_narrow(e.dtype(o))) return std::nullopt;
      out = scalar(k.scalar, operands);
      if (out) out = as_held(*out, e.dtype(k.result));
      break;
    case Does::kCast:
      out = cast(operands[0], e.dtype(k.result), avx512);
      if (out && e.dtype(k.operands[0]) != e.dtype(k.result))
        out = as_held(*out, e.dtype(k.result));
      break;
    case Does::kSelect: out = select(operands[0], operands[1], operands[2]); break;
    case Does::kSame: out = operands[0]; break;
    case Does::kFold: break;
  }
  if (!out) return out;
  if (!avx512 && needs_avx512(body, static_cast<size_t>(from))) return std::nullopt;
  if (loops_contract()) body.contract(from, out->id);
  return out;
}

}  // namespace holdfast::jit
