// What becomes of variables that a function makes while it is traced.
#pragma once

#include <vector>

#include "holdfast/graph/trace.h"
#include "holdfast/op/creation.h"

namespace holdfast {

/// The variables that one trace makes. One that dies with the trace is a local value: each call
/// makes it anew, so its first assignment is part of the graph. One that outlives it was meant to
/// be made once: it has its value already, and the graph only uses it.
class HOLDFAST_API Creations final : public CreationWatcher {
 public:
  /// In force on this thread while it lives. `inputs`: the arguments of the call that is traced;
  /// none, or empty ones, where it is traced for types alone.
  Creations(Tracer& tracer, std::span<const Tensor> inputs);
  ~Creations() override;
  Creations(const Creations&) = delete;

  Tensor starting_value(const Tensor& symbol) override;
  void created(const Variable& v, const Tensor& given) override;
  void created_aside(const Variable& v) override;

  /// Whether it made any.
  bool any() const { return !made_.empty(); }
  /// After the trace: whether some went with it, as state that each call begins anew.
  bool locals() const;
  /// After the trace: those that something still holds. The graph forgets their first assignment.
  std::vector<Variable> survivors();
  /// After the trace: one made beside it that nothing holds but the graph, which would go on with
  /// what the call before left, where plain code begins anew. Undefined if there is none.
  Variable kept_by_graph() const;

 private:
  struct Made {
    Tensor handle;     // all handles together hold a variable once
    Ref<Node> assign;  // its first assignment; null inside a branch or a body
  };
  static bool outlives(const Made& m);

  Tracer& tracer_;
  std::span<const Tensor> inputs_;
  std::vector<Made> made_;
  std::vector<Made> aside_;
  CreationWatcher* around_;
};

/// No trace is told of variables that are made while it lives.
class UnwatchedCreation {
 public:
  UnwatchedCreation() : was_(std::exchange(creation_watcher(), nullptr)) {}
  ~UnwatchedCreation() { creation_watcher() = was_; }
  UnwatchedCreation(const UnwatchedCreation&) = delete;

 private:
  CreationWatcher* was_;
};

/// How many references the other language counts to an object that it holds: set by the binding.
HOLDFAST_API void set_shared_count(int64_t (*count)(void* shared) noexcept);

}  // namespace holdfast
