// What eager execution knows of calls that came before.
#pragma once

#include <array>

#include "holdfast/exec/kernel.h"

namespace holdfast {

/// A call as far as its types go: which kernel runs it, and what it gives. Holds no tensor.
class KnownCall final : public RefCounted {
 public:
  /// Of a call whose shape rule has run, if it can be known again: it has plain operands and plain
  /// attributes, and few numbers that the rule looked at.
  static Ref<const KnownCall> of(const OpDef&, std::span<const Tensor> in, const Attrs&,
                                 const Infer& inferred, Device*, const Chosen&);

  bool is(uint64_t hash, const OpDef&, std::span<const Tensor> in, const Attrs&, Device*) const;
  uint64_t hash() const { return hash_; }
  const Infer& gives() const { return gives_; }
  const Chosen& chosen() const { return chosen_; }

  KnownCall(uint64_t hash, const OpDef&, std::span<const Tensor> in, const Attrs&, const Infer&,
            Device*, const Chosen&);

 private:
  struct Operand {
    DType dtype;
    Shape shape;
    std::string numbers;  // as they lie in memory; of those that the shape rule looked at
    bool looked_at;
  };
  uint64_t hash_;
  const OpDef& op_;
  Device* device_;
  int threads_;  // they and the mode decide which kernels accept
  bool deterministic_;
  InlineVector<Operand, 3> in_;
  Attrs attrs_;
  Infer gives_;
  Chosen chosen_;
};

/// Some hundred calls that a thread made last, for ops whose kernels prepare. Kept until the thread
/// ends; another thread's are never seen, so looking takes no lock.
class KnownCalls {
 public:
  /// This thread's; null while it ends.
  static KnownCalls* of_thread();

  /// Null where it is not known, or not of the sort that can be.
  Ref<const KnownCall> find(const OpDef&, std::span<const Tensor> in, const Attrs&, Device*);
  void keep(Ref<const KnownCall>);

  static constexpr size_t kSets = 128, kWays = 4;

 private:
  Ref<const KnownCall>* set_of(uint64_t hash) { return &calls_[hash % kSets * kWays]; }
  void forget_outdated();
  std::array<Ref<const KnownCall>, kSets * kWays> calls_;  // of each set the last used first
  uint64_t kernels_added_ = 0;
};

}  // namespace holdfast
