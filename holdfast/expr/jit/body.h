// What machine code does to one vector of elements: a straight list of operations, each made once.
// Instructions of an Expr are written down in it, then registers are chosen and it is emitted.
#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/expr/fold.h"
#include "holdfast/tensor/dtype.h"

namespace holdfast::jit {

/// What an element is while it is in a register. A truth is 32 bits, all of them set or none.
enum class Lane : uint8_t { kF32, kF64, kI32, kI64, kTruth };
inline int bytes_of(Lane l) { return l == Lane::kF64 || l == Lane::kI64 ? 8 : 4; }
inline bool is_float(Lane l) { return l == Lane::kF32 || l == Lane::kF64; }

enum class Op : uint8_t {
  kLoad,    // an element of an array
  kSingle,  // an operand's one element: a number, or that of the row
  kNumber,  // a constant
  kAdd,
  kSub,
  kMul,
  kDiv,    // floats
  kSqrt,   //
  kRound,  // in the direction `immediate`
  kMin,
  kMax,  // a < b ? a : b and a > b ? a : b, in that very way for NaN and zeros
  kMulAdd,
  kMulSub,
  kSubMul,  // a * b + c, a * b - c, c - a * b, rounded once
  kScale,   // a times 2 to the whole number b, rounded once; AVX-512 alone has it
  kAnd,
  kOr,
  kXor,     // bits
  kAndNot,  // those of b that a has not
  kWholeAdd,
  kWholeSub,
  kWholeMul,
  kShiftLeft,
  kShiftRight,
  kShiftRightSigned,  // by `immediate`
  kShiftLeftBy,
  kShiftRightBy,  // by b, which is in range; the latter fills with the sign
  kCompare,       // of floats or integers by `immediate`, a Compare: a truth
  kChoose,        // c where a compares to b, else d
  kSelect,        // b where the truth a holds, else c
  kConvert,       // from the lane of `a`, by value
  kHalf,          // rounded to what a float16 holds
  kTable,         // of doubles: the element `a` of the table `immediate`
  kBits,          // the bits of `a` as another lane of the same size
};

/// Predicates of the processor's comparisons; those of integers are the first and the ordered ones.
enum class Compare : uint8_t {
  kEqual = 0,
  kLess = 1,
  kLessEqual = 2,
  kNotEqual = 4,      // or unordered
  kNotLess = 5,       // or unordered
  kNotLessEqual = 6,  // or unordered
  kGreaterEqual = 13,
  kGreater = 14,
  kNotGreaterEqual = 9,  // or unordered
};

struct Node {
  Op op;
  Lane lane;
  uint8_t immediate = 0;
  int16_t operand = -1;  // of a load or a single
  int a = -1, b = -1, c = -1, d = -1;
  uint64_t bits = 0;  // of a number
  bool operator==(const Node&) const = default;
};

/// An array, or what has one element for all of a row.
struct Operand {
  DType dtype;
  bool single = false;
  bool per_row = false;  // a single that each row has its own of
  bool operator==(const Operand&) const = default;
};

/// Where a value goes: the array behind the operands, and the node.
struct Store {
  DType dtype;
  int node;
  bool operator==(const Store&) const = default;
};

/// A node that is folded over its row, into the array behind those that stores write.
struct FoldOf {
  Fold fold;
  int node;
  bool operator==(const FoldOf&) const = default;
};

class Body {
 public:
  std::vector<Operand> operands;
  std::vector<Node> nodes;
  std::vector<Store> stores;
  std::vector<FoldOf> folds;
  bool once = false;  // for one element a row: all operands are singles

  int add(const Node&);
  int number(Lane, uint64_t bits);
  /// Turns products that were only made to be added into fused multiply-adds, as compilers do
  /// within the function that a loop is made of. `result` is read by others; `from`: the first node
  /// of it.
  void contract(int from, int result);
  /// Takes out what nothing reads.
  void drop_unread();
  /// The widest element in a register, in bytes.
  int widest() const;
  bool operator==(const Body&) const = default;
  uint64_t hash() const;
};

/// How often each node is read, by nodes, stores and folds.
std::vector<int> reads_of(const Body&);

/// A body, and which of the function's arrays are its operands, what its stores and its folds
/// write.
struct Part {
  Body body;
  std::vector<int> arrays;
  bool operator==(const Part&) const = default;
};

/// What a function does to each row: one part after another.
struct Function {
  std::vector<Part> parts;
  int arrays = 0;
  int64_t row = 0;  // elements of a row where parts fold, else any number
  /// Arrays whose rows lie one behind another in memory: the next row is asked for ahead.
  struct Ahead {
    int array;
    int cell;
    bool written;
    bool operator==(const Ahead&) const = default;
  };
  std::vector<Ahead> ahead;

  static Function of(Body);
  bool operator==(const Function&) const = default;
  uint64_t hash() const;
};

}  // namespace holdfast::jit
