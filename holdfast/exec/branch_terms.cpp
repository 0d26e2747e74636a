#include "holdfast/exec/branch_terms.h"

#include "holdfast/graph/trace.h"

namespace holdfast {
namespace {

thread_local BranchTerms* innermost = nullptr;

}  // namespace

BranchTerms::BranchTerms(Ref<Scope> branch)
    : branch_(std::move(branch)), around_(std::exchange(innermost, this)) {}
BranchTerms::~BranchTerms() {
  innermost = around_;
  take();  // where the code of the branch failed
}

// What counts is where the code is, not whose the value is: one from outside is added only where
// the branch is taken.
bool BranchTerms::add(BranchTerm term) {
  Tracer* writes = innermost ? current_trace() : nullptr;
  if (!writes || writes->scope() != innermost->branch_.get()) return false;
  innermost->terms_.push_back(std::move(term));
  return true;
}

std::vector<BranchTerm> BranchTerms::take() {
  std::vector<BranchTerm> out = std::exchange(terms_, {});
  for (const BranchTerm& t : out) t.retract();
  return out;
}

}  // namespace holdfast
