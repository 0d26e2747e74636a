// Several elementwise ops as one: a list of instructions over blocks that stay in the first cache.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/expr/cpu/row_table.h"
#include "holdfast/expr/expr.h"

namespace holdfast {

/// The loop behind one op, with numbers that the op keeps as attributes.
struct FusedForm {
  Loop loop = nullptr;
  InlineVector<Tensor, 2> numbers;  // further operands, after the op's inputs
};

/// How `op` becomes an instruction for inputs and a result of these dtypes. `why` says why it
/// can't.
HOLDFAST_API std::optional<FusedForm> fused_form(const OpDef& op, const Attrs&,
                                                 std::span<const DType> in, DType out,
                                                 const char*& why);

/// How a row of elements becomes one: the loops of a reduction over trailing axes.
struct RowFold {
  /// cells[r] = fold of x[r * stride] .. x[r * stride + n - 1]; n > 0.
  void (*rows)(const void* x, int64_t rows, int64_t n, int64_t stride, void* cells) = nullptr;
  /// out[i] = the result, where each cell folded `count` elements.
  void (*finish)(const void* cells, int64_t n, int64_t count, void* out) = nullptr;
};

/// One op inside a fused expression.
struct Instruction {
  const OpDef* op;
  Attrs attrs;
  Where where;                    // the user's line
  InlineVector<int, 3> operands;  // values: the op's inputs, then its numbers
  int inputs = 0;                 // how many of them are inputs
  int result = 0;                 // the value it gives
  Loop loop = nullptr;            // of an elementwise op
  RowFold fold;  // of a reduction; an op that has neither gives its operand in another shape
};

/// Scalar instructions over inputs that broadcast against each other; some of the values are
/// stored. Filled by the passes that fuse, then never changed, so that any number of threads may
/// run it. Bit for bit what its ops give one after another.
///
/// Where there are reductions, what it runs over (its domain) is cut into rows, and a value has an
/// element for each of the domain or one a row. Rows are computed whole, one block of them after
/// another.
class HOLDFAST_API Expr final : public RefCounted {
 public:
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
  int fold(int value, const OpDef& op, const Attrs&, Where, Tensor axes, RowFold);
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
  /// Whether rows of that length fit into the scratch memory of a thread.
  bool holds_rows(int64_t row) const;
  /// Whether all that is between its ops, for rows of that length, stays in the second cache; once
  /// it is finished.
  bool keeps_rows(int64_t row) const;
  /// The same with some of its outputs only, in the order given, and what they need; not finished.
  Ref<Expr> keeping(const std::vector<size_t>& outputs) const;
  /// The same with one more input `x` and one more instruction, `op(x, its only output)`, which is
  /// stored instead.
  Ref<Expr> applied(const OpDef& op, Where) const;
  /// Decides what is done to a block, and which values share scratch memory. Nothing can be added
  /// afterwards.
  void finish();

  size_t inputs() const { return inputs_; }
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
  /// Whether output `i` may take the memory of an input that has its shape: nothing reads that
  /// input later.
  bool may_overwrite(size_t output, size_t input) const;
  /// All inputs on the CPU, broadcasting to `shape`; outputs allocated, of that shape or with one
  /// element a row.
  void run(std::span<const Tensor> in, std::span<const Tensor> out, const Shape& shape) const;
  /// One op after another, wherever the inputs live and whatever the shapes.
  void run_each(std::span<const Tensor> in, Tensors& out) const;
  /// The ops' own shape rules, each on its user's line.
  void infer(Infer&) const;
  std::string text() const override;

 private:
  struct Value {
    DType dtype;
    bool per_row = false;
    int input = -1, instruction = -1;  // where it comes from; neither: a number
    Tensor number = {};
    bool aside = false;        // the number tells an op its axes or its shape: no loop reads it
    int slot = -1;             // scratch memory; an input has some only where it repeats
    int made = -1, last = -1;  // the actions that write it, and that read it last
  };
  /// What is done to one block.
  struct Action {
    enum Kind : uint8_t { kLoop, kRowLoop, kFold, kCopy } kind;
    bool per_row = false;  // its result has one element a row
    int count = 0;         // of its operands
    int in[3] = {0, 0, 0};
    int result = 0;
    Loop loop = nullptr;
    RowLoop rows = nullptr;
    RowFold fold = {};
  };
  struct Slot {
    int64_t cell;  // bytes of an element
    bool per_row;
  };
  class Scheduler;
  struct Source;
  class Run;
  Ref<Expr> reopened() const;
  void drop_unread();
  int constant(Tensor t);
  const Instruction& maker(size_t i) const {
    return code_[static_cast<size_t>(values_[static_cast<size_t>(stores_[i])].instruction)];
  }

  std::vector<Value> values_;  // those of the code; behind them, what finish() adds
  std::vector<Instruction> code_;
  std::vector<int> stores_;
  Shape domain_;
  int64_t row_ = 0;
  std::vector<Action> actions_;
  std::vector<Slot> slots_;
  size_t coded_ = 0;  // how many values are the code's, once it is finished
  size_t inputs_ = 0;
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

/// out[i] = in[0][i] ? in[1][i] : in[2][i] for elements of `dtype`; null unless it is plain.
HOLDFAST_API Loop select_loop(DType);

}  // namespace holdfast
