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

/// How a row of elements becomes one: the loops of a reduction over trailing axes.
struct RowFold {
  /// cells[r] = fold of x[r * stride] .. x[r * stride + n - 1]; n > 0.
  void (*rows)(const void* x, int64_t rows, int64_t n, int64_t stride, void* cells) = nullptr;
  /// out[i] = the result, where each cell folded `count` elements.
  void (*finish)(const void* cells, int64_t n, int64_t count, void* out) = nullptr;
};

/// A reduction at the end of a fused expression: an op with inputs (value, axes).
struct Folded {
  const OpDef* op = nullptr;  // null: the value itself is stored
  Attrs attrs;
  Where where = nullptr;
  Tensor axes;
  RowFold loops;
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
  void store(int value) { stores_.push_back(value); folds_.emplace_back(); }
  /// Makes the fold of a value over its trailing axes the next output. `shape` is the value's, and the same for all
  /// folds; `row` the elements that become one.
  void fold(int value, Folded, const Shape& shape, int64_t row);
  /// Whether rows of that length fit into the scratch memory of a thread.
  bool holds_rows(int64_t row) const;
  /// The same with some of its outputs only, in the order given.
  Ref<Expr> keeping(const std::vector<size_t>& outputs) const;
  /// The same with one more input `x` and one more instruction, `op(x, its only output)`, which is stored instead.
  Ref<Expr> applied(const OpDef& op, Where) const;
  /// Decides which values share scratch memory. Nothing can be added afterwards.
  void finish();

  size_t inputs() const { return inputs_; }
  const std::vector<Instruction>& code() const { return code_; }
  const std::vector<int>& stores() const { return stores_; }
  DType dtype(int value) const { return values_[static_cast<size_t>(value)].dtype; }
  /// The op that gives output `i`, and the user's line of it.
  const OpDef& op_of(size_t i) const { return folds_[i].op ? *folds_[i].op : *maker(i).op; }
  Where where_of(size_t i) const { return folds_[i].op ? folds_[i].where : maker(i).where; }
  bool folds(size_t i) const { return folds_[i].op != nullptr; }
  /// The shape over which it runs, where folds have fixed it; 0 elements a row where there is none.
  const Shape& domain() const { return domain_; }
  int64_t row() const { return row_; }
  /// Whether output `i` may take the memory of an input that has its shape: nothing reads that input later.
  bool may_overwrite(size_t output, size_t input) const;

  /// All inputs on the CPU, broadcasting to `shape`; outputs allocated, all of that shape but for folds.
  void run(std::span<const Tensor> in, std::span<const Tensor> out, const Shape& shape) const;
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
  void fold_rows(int64_t begin, int64_t count, std::span<const void* const> at, std::span<const Tensor> out) const;
  const Instruction& maker(size_t i) const { return code_[static_cast<size_t>(values_[static_cast<size_t>(stores_[i])].instruction)]; }

  std::vector<Value> values_;
  std::vector<Instruction> code_;
  std::vector<int> stores_;
  std::vector<Folded> folds_;   // of each store
  Shape domain_;
  int64_t row_ = 0;
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
