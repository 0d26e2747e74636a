// The list behind a tape.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "holdfast/autodiff/id_map.h"
#include "holdfast/autodiff/tape.h"
#include "holdfast/op/op.h"

namespace holdfast {

/// What a gradient flows through: floats, complex numbers and lists of them.
inline bool flows(DType d) { return is_differentiable(d) || d == DType::kVariant; }

/// The gradient of the first `outputs` outputs of a call.
struct Choice {
  size_t outputs;
  std::shared_ptr<GradientTape::Backward> backward;
  Ref<GradientTape::Paths> paths;
};

/// One op that was run on something watched.
struct Record {
  const OpDef* op = nullptr;  // null: a custom gradient
  Attrs attrs;
  Tensors inputs, outputs;  // what the gradient needs; of the others only dtype and shape
  InlineVector<uint64_t, 4> in_ids, out_ids;
  std::shared_ptr<GradientTape::Backward> custom;
  Ref<GradientTape::Paths> paths;  // of a call
  std::vector<Choice>
      choices;  // of a call: the first that speaks of all that arrived is taken; else `custom`
  const char* name = "";
  Where where = nullptr;
};

/// Where watching ended: an op with no gradient.
struct Cut {
  const char* op;
  Where where;
};

/// What to write in place of an op that has no gradient, on the way to a `target` in quotes.
HOLDFAST_API std::string way_past(std::string_view op, std::string_view target);

class GradientTape::Recorder final : public Tape {
 public:
  explicit Recorder(TapeOptions o) : options(o) {}

  void ran(const OpDef&, std::span<const Tensor> in, const Attrs&,
           std::span<const Tensor> out) override;
  void record_custom(const char* name, const std::vector<Tensor>& in,
                     const std::vector<Tensor>& out, const Backward&, Ref<Paths> = {});
  void record_levels(const char* name, const std::vector<Tensor>& in,
                     const std::vector<Level>& levels);
  void watch(uint64_t id) {
    if (!watched.has(id)) watched.set(id, kSource);
  }
  /// Whether it is a new one.
  bool watch_variable(const Tensor& handle);
  bool watches(const Tensor& t) const { return t.defined() && watched.has(t.id()); }

  static constexpr int32_t kSource = 0;  // watched, not computed; otherwise 1 + the record's index

  TapeOptions options;
  std::vector<Record> records;
  IdMap watched;
  IdMap dead;  // computed from something watched, behind a cut: index into `cuts`
  std::vector<Cut> cuts;
  std::vector<Tensor> variables;        // handles, in the order they were read
  std::vector<Ref<RefCounted>> leases;  // on what keeps them good
  /// What the program took the numbers of, or put into a variable, and where; the first ones.
  struct Taken {
    Where where;
    std::set<uint64_t> from;  // all that it was computed from: records go before they are asked
    bool assigned = false;
  };
  static constexpr size_t kMostTaken = 64;
  static const char* const kAssigned;  // stands for the op where a way ends in a variable
  std::vector<Taken> taken;
  /// What this id was computed from, as far as it is recorded.
  std::set<uint64_t> leading_to(uint64_t id) const;
  /// What a gradient walks. Without further gradients it is handed over in `own`, to go with it.
  std::vector<Record>& for_use(std::vector<Record>& own) {
    if (options.persistent) return records;
    own.swap(records);
    return own;
  }
  bool on = false;
  Context* thread = nullptr;  // where it records
  Where opened = nullptr, used = nullptr;
};

}  // namespace holdfast
