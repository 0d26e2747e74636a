// What the CPU makes of an expression: loops over blocks that stay in the first cache, and machine
// code in their place once it has run often enough.
#pragma once

#include "holdfast/expr/cpu/row_table.h"
#include "holdfast/expr/fused.h"
#include "holdfast/expr/jit/body.h"

namespace holdfast {

struct FoldLoops;
namespace jit {
class Code;
}  // namespace jit

/// What makes an input of an expression a block at a time, so that it lies nowhere. Several threads
/// ask one.
class BlockMaker {
 public:
  /// Elements [begin, begin + count), where `begin` is a multiple of 64.
  virtual void make(int64_t begin, int64_t count, void* to) const = 0;

 protected:
  ~BlockMaker() = default;
};
/// An input, by its place, that is made and not read.
struct MadeInput {
  int input = -1;
  const BlockMaker* by = nullptr;
};

/// Bit for bit what the ops of the expression give one after another. Where there are reductions,
/// rows are computed whole, one block of them after another.
class HOLDFAST_API CpuProgram final : public Program {
 public:
  enum class By : uint8_t { kLoops, kCode };
  /// Decides what is done to a block, and which values share scratch memory. By code: to be run
  /// only where `has_code`.
  explicit CpuProgram(const Expr&, By = By::kLoops);
  ~CpuProgram() override;

  /// Whether all that is between its ops, for rows of that length, stays in the second cache.
  bool keeps_rows(int64_t row) const;
  /// Whether an output may take the memory of an input that has its shape: nothing reads that
  /// input later.
  bool may_overwrite(size_t output, size_t input) const;
  /// All inputs on the CPU, broadcasting to `shape`; outputs allocated, of that shape or with one
  /// element a row. Where one input is made, its tensor is null, and there are no rows.
  void run(std::span<const Tensor> in, std::span<const Tensor> out, const Shape& shape,
           MadeInput made = {}) const;
  /// Whether it runs machine code, not counting what its loops may turn into.
  bool has_code() const { return !pieces_.empty(); }
  /// What it runs, and why there is no machine code where there is none.
  std::string explained() const;

 private:
  struct Value {
    DType dtype;
    bool per_row = false;
    int input = -1;
    Tensor number = {};        // where it is one that loops read
    int slot = -1;             // scratch memory; an input has some only where it repeats
    int made = -1, last = -1;  // the actions that write it, and that read it last
    bool by_code = false;      // machine code alone reads or writes it, where it lies
  };
  /// What is done to one block.
  struct Action {
    enum Kind : uint8_t { kLoop, kRowLoop, kFold, kCopy, kCode } kind;
    bool per_row = false;  // its result has one element a row
    int count = 0;         // of its operands
    int in[3] = {0, 0, 0};
    int result = 0;
    Loop loop = nullptr;
    RowLoop rows = nullptr;
    const FoldLoops* fold = nullptr;
    int piece = -1;  // of code
  };
  /// Machine code of some instructions, and the values it reads and writes.
  struct Piece {
    std::vector<int> in, out;
    bool by_rows = false;    // called for the rows of a block, else for all its elements
    jit::Function function;  // for code that writes past the caches, which few runs need
    Ref<jit::Code> code;
  };
  struct Slot {
    int64_t cell;  // bytes of an element
    bool per_row;
    bool one_row = false;  // holds a row, whichever is in hand
  };
  class Scheduler;
  struct Source;
  class Run;

  /// The same by machine code; null where there is none, or not yet.
  const CpuProgram* emitted(int64_t elements) const;
  /// Makes the whole list one function over rows. False: it has no such code.
  bool emit_rows();
  /// Whether outputs lie where its code would write before it has read what lies there.
  bool collides(std::span<const Tensor> in, std::span<const Tensor> out) const;

  std::vector<Value> values_;  // those of the list; behind them, what is written out along rows
  std::vector<Action> actions_;
  std::vector<int> stores_;
  std::vector<Slot> slots_;
  std::vector<Piece> pieces_;
  bool whole_ = false;                            // one piece computes all of a row
  std::vector<std::pair<size_t, size_t>> apart_;  // outputs and inputs that may not share memory
  const Expr& list_;                              // it keeps the program
  int64_t row_ = 0;
  size_t code_ = 0;      // how many instructions the list has
  std::string refused_;  // those of them that no code is emitted for
  mutable std::atomic<int64_t> work_{0};
  mutable std::atomic<const CpuProgram*> emitted_{nullptr};  // no piece in it: loops are to run
};

/// The program of an expression, made when it is first asked for.
HOLDFAST_API const CpuProgram& cpu_program(const Expr&);
/// Whether the values of such an expression, for rows of that length, fit into the scratch memory
/// of a thread.
HOLDFAST_API bool holds_rows(const Expr&, int64_t row);

}  // namespace holdfast
