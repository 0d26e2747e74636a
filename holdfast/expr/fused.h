// Several elementwise ops as one list of instructions. No device stands in it: what a device makes
// of the list is its Program.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/expr/expr.h"
#include "holdfast/expr/fold.h"

namespace holdfast {

/// What an instruction does.
enum class Does : uint8_t {
  kScalar,  // a scalar instruction, on operands of one dtype
  kCast,    // its operand in the result's dtype
  kSelect,  // of three operands the second where the first holds, else the third
  kFold,    // a row of its operand becomes one element
  kSame,    // its operand, perhaps in another shape
};

/// How an op becomes an instruction, with numbers that it keeps as attributes.
struct FusedForm {
  Does does = Does::kSame;
  Scalar scalar{};
  InlineVector<Tensor, 2> numbers;  // further operands, after the op's inputs
};

/// How `op` becomes an instruction for inputs and a result of these dtypes. `why` says why it
/// can't.
HOLDFAST_API std::optional<FusedForm> fused_form(const OpDef& op, const Attrs&,
                                                 std::span<const DType> in, DType out,
                                                 const char*& why);

/// One op inside a fused expression.
struct Instruction {
  const OpDef* op;
  Attrs attrs;
  Where where;                    // the user's line
  InlineVector<int, 3> operands;  // values: the op's inputs, then its numbers
  int inputs = 0;                 // how many of them are inputs
  int result = 0;                 // the value it gives
  Does does = Does::kSame;
  Scalar scalar{};  // where it is one
  Fold fold{};      // where it is one
};

/// What a device makes of a list: loops over blocks, a compiled kernel.
class HOLDFAST_API Program : public RefCounted {};

/// Scalar instructions over inputs that broadcast against each other; some of the values are
/// stored. Filled by the passes that fuse, then never changed, so that any number of threads may
/// run it. Every value is made once, before it is read.
///
/// Where there are reductions, what it runs over (its domain) is cut into rows, and a value has an
/// element for each of the domain or one a row.
class HOLDFAST_API Expr final : public RefCounted {
 public:
  /// A value of the list: of an input, of an instruction, or else a number.
  struct Value {
    DType dtype;
    bool per_row = false;
    int input = -1, instruction = -1;
    Tensor number = {};
    bool aside = false;  // the number tells an op its axes or its shape: nothing computes with it
  };

  Expr() = default;
  ~Expr() override;
  /// A further input; returns its value.
  int input(DType, bool per_row = false);
  /// An input that has a value, read in the other way: one element a row, or as it broadcasts
  /// against the domain.
  int input_again(int value, bool per_row);
  /// The value that `op` gives for these values.
  int add(const OpDef& op, const Attrs&, Where, const FusedForm&, std::span<const int> operands,
          DType out, bool per_row = false);
  /// The fold of a value over the trailing axes that make a row: one element a row. `axes` is the
  /// op's second input.
  int fold(int value, const OpDef& op, const Attrs&, Where, Tensor axes);
  /// A value in another shape: still an element a row, or repeated along the domain. `shape` is the
  /// op's second input; null where it has none.
  int reshaped(int value, const OpDef& op, const Attrs&, Where, Tensor shape, bool per_row);
  /// Makes a value the next output.
  void store(int value) { stores_.push_back(value); }
  /// What folds make of: the shape over which it runs, and how many elements become one.
  void set_rows(const Shape& domain, int64_t row) {
    domain_ = domain;
    row_ = row;
  }
  /// Another expression's instructions. `input(i, per_row)` is the value that its input `i` has
  /// here, read in that way; `per_row`: it runs over one element a row. Returns what its outputs
  /// are here.
  std::vector<int> append(const Expr& other, bool per_row,
                          const std::function<int(int, bool)>& input);
  /// The same with some of its outputs only, in the order given, and what they need.
  Ref<Expr> keeping(const std::vector<size_t>& outputs) const;
  /// The same with one more input `x` and one more instruction, `op(x, its only output)`, which is
  /// stored instead.
  Ref<Expr> applied(const OpDef& op, Where) const;

  size_t inputs() const { return inputs_; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<Instruction>& code() const { return code_; }
  const std::vector<int>& stores() const { return stores_; }
  DType dtype(int value) const { return values_[static_cast<size_t>(value)].dtype; }
  /// The op that gives output `i`, and the user's line of it.
  const OpDef& op_of(size_t i) const { return *maker(i).op; }
  Where where_of(size_t i) const { return maker(i).where; }
  /// Whether output `i` has one element a row.
  bool per_row(size_t i) const { return values_[static_cast<size_t>(stores_[i])].per_row; }
  /// The shape over which it runs, where folds have fixed it; 0 elements a row where there is none.
  const Shape& domain() const { return domain_; }
  int64_t row() const { return row_; }
  /// One op after another, wherever the inputs live and whatever the shapes.
  void run_each(std::span<const Tensor> in, Tensors& out) const;
  /// The ops' own shape rules, each on its user's line.
  void infer(Infer&) const;
  std::string text() const override;
  /// Whether both compute the same from their inputs and numbers, whatever the numbers are.
  bool same_code(const Expr&) const;
  /// Equal where that holds.
  uint64_t hash() const;
  /// What `make` gives, made when it is first asked for and kept as long as the list.
  template <class P>
  const P& program(DeviceKind kind, Ref<P> (*make)(const Expr&)) const {
    const std::atomic<Program*>& kept = programs_[static_cast<int>(kind)];
    if (Program* p = kept.load(std::memory_order_acquire)) return static_cast<const P&>(*p);
    return static_cast<const P&>(keep(kind, make(*this)));
  }

 private:
  Ref<Expr> reopened() const;
  void drop_unread();
  int constant(Tensor t);
  const Program& keep(DeviceKind, Ref<Program>) const;
  const Instruction& maker(size_t i) const {
    return code_[static_cast<size_t>(values_[static_cast<size_t>(stores_[i])].instruction)];
  }

  std::vector<Value> values_;
  std::vector<Instruction> code_;
  std::vector<int> stores_;
  Shape domain_;
  int64_t row_ = 0;
  size_t inputs_ = 0;
  mutable std::atomic<Program*> programs_[kNumDeviceKinds] = {};
};

/// The op whose attribute is an Expr.
HOLDFAST_API const OpDef& fused_op();
/// The op that changes a variable by an Expr: resource, then the inputs of the expression but for
/// its last, which is the variable's value.
HOLDFAST_API const OpDef& fused_update_op();
/// The expression that an attribute is; null for other attributes.
HOLDFAST_API const Expr* expr_in(const Arg&);
/// The expression of a node of these ops.
HOLDFAST_API const Expr& expr_of(const Attrs&);

}  // namespace holdfast
