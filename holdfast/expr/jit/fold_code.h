// Folds of rows inside a loop: each row's elements are joined in the order of the loops of
// cpu/make_folds.h, so that sums have their bits.
#pragma once

#include "holdfast/expr/jit/vector_code.h"

namespace holdfast::jit {

class FoldCode : public VectorCode {
 protected:
  using VectorCode::VectorCode;

  static constexpr int kForFolds = 5;  // registers that are left for joins
  // On the stack, for each fold: running vectors, the row's vectors, and the last elements with
  // what a whole vector writes behind them.
  static constexpr int kAll = 256, kLast = kAll + 64, kFoldBytes = kLast + 256 + 64;

  /// Decides which registers hold running vectors of this part.
  void hold_back();
  /// The loops over a row of `n` elements, and what folds make of it.
  void folded_row(int64_t n);
  void fold(size_t index, const Xbyak::Xmm&, int chunk) override;

  /// Asks for what the next row has where these vectors are in this one.
  virtual void ask_ahead(int chunks, int first) = 0;
  /// The last elements, fewer than a vector has.
  virtual void last_elements() = 0;
  /// Where a fold's places begin on the stack.
  virtual int fold_place(size_t index) = 0;
  /// A general register with the address of what a part reads, stores or folds.
  virtual Xbyak::Reg64 pointer(size_t index) = 0;

 private:
  const FoldOf& of(size_t index) const { return body().folds[index]; }
  Lane lane(size_t index) const { return at(of(index).node).lane; }
  int step() const { return 256 / bytes_of(lane(0)); }  // elements joined side by side
  int vectors() const { return step() / lanes(); }      // of them
  int running(size_t index, int vector) const;          // the register of one; -1: on the stack
  Xbyak::Address running_slot(size_t index, int vector);
  Xbyak::Address all_slot(size_t index, int vector);
  /// A vector of so many bytes in one of the registers that are left for joins.
  Xbyak::Xmm low(int r, int bytes) const { return vec(r, bytes); }
  /// to = the join of a and b, either of which it may be; the others are overwritten.
  void join(size_t index, const Xbyak::Xmm& to, const Xbyak::Xmm& a, const Xbyak::Xmm& b,
            const Xbyak::Xmm& spare, const Xbyak::Xmm& mask);
  void join_low(size_t index, int bytes, int to, int a, int b) {
    join(index, low(to, bytes), low(a, bytes), low(b, bytes), low(3, bytes), low(4, bytes));
  }
  void join_whole(size_t index, const Xbyak::Xmm& to, const Xbyak::Xmm& a, const Xbyak::Xmm& b,
                  const Xbyak::Xmm& mask);
  /// The same bits in every element.
  void fill(const Xbyak::Xmm& to, Lane, uint64_t bits);
  void begin_run();
  void end_run(size_t index, bool several);
  void tree(size_t index);
  void finish(size_t index, int64_t n);

  int64_t whole_ = 0;    // elements that are joined side by side
  bool behind_ = false;  // those behind them are being computed
};

}  // namespace holdfast::jit
