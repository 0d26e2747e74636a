// Numbers that code adds to something while a branch is written: the other side adds 0.
#pragma once

#include <vector>

#include "holdfast/base/callback.h"
#include "holdfast/tensor/scope.h"

namespace holdfast {

/// A term that a branch gives to a sum outside of it, such as a loss that a layer adds.
struct BranchTerm {
  Tensor value;
  Callback<void()> retract;               // undoes what was done with `value` inside
  Callback<void(const Tensor&)> instead;  // takes the value that is known after the branch
};

/// The terms of the branch that is being written.
class HOLDFAST_API BranchTerms {
 public:
  /// In force on this thread while it lives.
  explicit BranchTerms(Ref<Scope> branch);
  ~BranchTerms();
  BranchTerms(const BranchTerms&) = delete;

  /// Hands a term to the branch that is being written; false where none is.
  static bool add(BranchTerm term);
  /// What was added, which is undone.
  std::vector<BranchTerm> take();

 private:
  Ref<Scope> branch_;
  std::vector<BranchTerm> terms_;
  BranchTerms* around_;
};

}  // namespace holdfast
