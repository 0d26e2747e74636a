// Instructions as statements of CUDA, and when each is computed where there are rows.
#pragma once

#include <string>
#include <vector>

#include "holdfast/expr/fused.h"

namespace holdfast::cuda {

/// What an element is in a kernel's memory.
const char* c_type(DType);
/// What it is computed in, and handed over as where it is one number: float for the 16-bit floats,
/// itself otherwise.
DType computed_in(DType d);
/// Why there are no statements for a list; null where there are.
const char* refuse_list(const Expr&);

class Walks;

/// Names and calls. A load is `x`, an instruction's result `v`, each with its number in the list.
class Words {
 public:
  explicit Words(const Expr&);

  /// Device functions, one for each scalar instruction and dtype.
  std::string functions() const;
  /// The value whose name stands for `v`: its own, or that of which it is another shape.
  int behind(int v) const { return behind_[static_cast<size_t>(v)]; }
  /// Where there are rows, what a thread holds of its row is named by its place in it.
  std::string name(int v, const Walks* walks = nullptr) const;
  /// What an instruction gives for its operands.
  std::string value(const Instruction& k, const Walks* walks = nullptr) const;
  /// The type that folds for an instruction.
  std::string fold(const Instruction& k) const;

 private:
  const Expr& e_;
  std::vector<int> behind_;
};

/// Which walk over a row computes a value: the first that comes after all folds it needs.
class Walks {
 public:
  /// `moving`: by value, loads that have another element at each place of a row.
  Walks(const Expr&, const Words&, std::vector<bool> moving);

  int count() const { return count_; }
  int of(int v) const { return of_[at(v)]; }
  /// The first and the last walk that reads it.
  int first(int v) const { return first_[at(v)]; }
  int last(int v) const { return last_[at(v)]; }
  /// Whether a thread holds it for all of its row, not for one element at a time.
  bool held(int v) const;

 private:
  size_t at(int v) const { return static_cast<size_t>(words_.behind(v)); }
  void read(int v, int walk);

  const Expr& e_;
  const Words& words_;
  std::vector<bool> moving_;
  std::vector<int> of_, first_, last_;
  int count_ = 1;
};

}  // namespace holdfast::cuda
