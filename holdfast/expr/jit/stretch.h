// Instructions that run one after another over the same elements, as one piece of machine code.
#pragma once

#include <vector>

#include "holdfast/expr/fused.h"
#include "holdfast/expr/jit/lower.h"

namespace holdfast::jit {

class Stretch {
 public:
  /// What it runs over: all elements, what has one element a row, or that of a single row.
  enum class Over : uint8_t { kDomain, kRows, kRow };
  Stretch(const Expr& list, Over over) : list_(list), over_(over), made_(list.values().size(), -1) {
    body_.once = over == Over::kRow;
  }

  /// Takes an instruction in, whose operands are these values. False: there is no code for it, and
  /// nothing has changed.
  bool add(const Instruction&, std::span<const int> operands);
  /// A value that is needed elsewhere.
  void store(int value);
  /// Folds a value over its row.
  void fold(Fold, int value);
  /// Whether the value is made here.
  bool makes(int value) const;

  /// Whether an operand has an element for each row, while there is one for each of the domain.
  bool by_rows() const;
  bool empty() const { return results_.empty(); }
  /// The values of the body's operands and of its stores.
  const std::vector<int>& in() const { return in_; }
  const std::vector<int>& out() const { return out_; }
  /// What is to be emitted, once all stores are known.
  Body finished() const;

 private:
  std::optional<int> value(int v);

  const Expr& list_;
  Over over_;
  Body body_;
  std::vector<int> made_;  // the node of a value
  std::vector<int> results_, in_, out_;
};

}  // namespace holdfast::jit
