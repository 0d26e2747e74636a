// Several elementwise ops as one: a list of instructions over blocks that stay in the first cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/expr/expr.h"

namespace holdfast {

/// The loop behind one op, with numbers that the op keeps as attributes.
struct FusedForm {
  Loop loop = nullptr;
  InlineVector<Tensor, 2> numbers;  // further operands, after the op's inputs
};

/// How `op` becomes an instruction for inputs and a result of these dtypes. `why` says why it can't.
HOLDFAST_API std::optional<FusedForm> fused_form(const OpDef& op, const Attrs&, std::span<const DType> in, DType out, const char*& why);

/// One op inside a fused expression.
struct Instruction {
  const OpDef* op;
  Attrs attrs;
  Where where;                  // the user's line
  InlineVector<int, 3> operands;  // values: the op's inputs, then its numbers
  int inputs = 0;               // how many of them are inputs
  int result = 0;               // the value it gives
  Loop loop = nullptr;
};

/// Scalar instructions over inputs that broadcast against each other; some of the values are stored. Filled by the
/// pass that fuses, then never changed, so that any number of threads may run it. Bit for bit what its ops give
/// one after another.
class HOLDFAST_API Expr final : public RefCounted {
 public:
  /// A further input; returns its value.
  int input(DType);
  /// The value that `op` gives for these values.
  int add(const OpDef& op, const Attrs&, Where, const FusedForm&, std::span<const int> operands, DType out);
  /// Makes a value the next output.
  void store(int value) { stores_.push_back(value); }
  /// The same with one more input `x` and one more instruction, `op(x, its only output)`, which is stored instead.
  Ref<Expr> applied(const OpDef& op, Where) const;
  /// Decides which values share scratch memory. Nothing can be added afterwards.
  void finish();

  size_t inputs() const { return inputs_; }
  const std::vector<Instruction>& code() const { return code_; }
  const std::vector<int>& stores() const { return stores_; }
  DType dtype(int value) const { return values_[static_cast<size_t>(value)].dtype; }
  /// The instruction that gives output `i`.
  const Instruction& maker(size_t i) const { return code_[static_cast<size_t>(values_[static_cast<size_t>(stores_[i])].instruction)]; }
  /// Whether output `i` may take the memory of an input that has its shape: nothing reads that input later.
  bool may_overwrite(size_t output, size_t input) const;

  /// All inputs on the CPU; all outputs of one shape, allocated, which the inputs broadcast to.
  void run(std::span<const Tensor> in, std::span<const Tensor> out) const;
  /// One op after another, wherever the inputs live and whatever the shapes.
  void run_each(std::span<const Tensor> in, Tensors& out) const;
  /// The ops' own shape rules, each on its user's line.
  void infer(Infer&) const;

  std::string text() const override;

 private:
  struct Value {
    DType dtype;
    int input = -1, instruction = -1;  // where it comes from; neither: a number
    Tensor number;
    int slot = -1;                     // scratch memory; an input has some only where it repeats
    int last = -1;                     // the instruction that reads it last
  };
  int slot_for(int64_t cell);

  std::vector<Value> values_;
  std::vector<Instruction> code_;
  std::vector<int> stores_;
  std::vector<int64_t> slots_;  // bytes of an element of each
  std::vector<std::vector<int>> free_;
  size_t inputs_ = 0;
};

/// The op whose attribute is an Expr.
HOLDFAST_API const OpDef& fused_op();
/// The op that changes a variable by an Expr: resource, then the inputs of the expression but for its last, which is
/// the variable's value.
HOLDFAST_API const OpDef& fused_update_op();
/// The expression of a node of these ops.
HOLDFAST_API const Expr& expr_of(const Attrs&);

/// out[i] = in[0][i] ? in[1][i] : in[2][i] for elements of `dtype`; null unless it is plain.
HOLDFAST_API Loop select_loop(DType);

}  // namespace holdfast
