// Where a symbol lives, and what it stands for.
#pragma once

#include <atomic>
#include <string>

#include "holdfast/base/mutex.h"
#include "holdfast/base/refcount.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

class Interpreter;

enum class ScopeKind : uint8_t { kFunction, kBranch, kLoop, kGraph, kBuild, kDataset, kMap };

/// What is being written down: a function's trace, a branch, a loop's body, a graph. Outlives its
/// graph, so that a symbol can always tell whose it was.
class HOLDFAST_API Scope final : public RefCounted {
 public:
  Scope(ScopeKind of, std::string called, Ref<Scope> around)
      : kind(of),
        name(std::move(called)),
        parent(std::move(around)),
        depth(parent ? parent->depth + 1 : 0),
        opened(here()) {}

  const ScopeKind kind;
  const std::string name;
  const Ref<Scope> parent;  // what may be captured from
  const int depth;
  Where opened = nullptr;         // the user's line that began it
  Where defined = nullptr;        // the line of the function or branch itself, where it is known
  Where closed = nullptr;         // the user's line after which nothing more could be added
  int trace_no = 0;               // of a function: which of its traces
  std::atomic<int64_t> runs = 0;  // calls that have computed its values
  Interpreter* interpreter = nullptr;  // who writes into it; null once closed
  bool open() const { return interpreter != nullptr; }
  /// Held by whoever opens it again to write its gradient, and with it all of what it is part of.
  RecursiveMutex& reopening() {
    Scope* outermost = this;
    while (outermost->parent) outermost = outermost->parent.get();
    return outermost->reopening_;
  }
  /// Whether `other` is this scope or around it.
  bool inside(const Scope* other) const {
    for (const Scope* s = this; s; s = s->parent.get())
      if (s == other) return true;
    return false;
  }

 private:
  RecursiveMutex reopening_;
};

/// What a symbolic tensor is beyond its dtype and shape.
class HOLDFAST_API Symbol final : public RefCounted {
 public:
  Symbol(Ref<Scope> in, Ref<RefCounted> of, int which)
      : scope(std::move(in)), node(std::move(of)), output(which) {}

  const Ref<Scope> scope;
  const Ref<RefCounted> node;  // the graph's Node
  const int output;
  Tensor first;           // what the call that traced it computed
  bool kept = false;      // each call of its function puts a new value there
  Tensor known;           // small integers that are known while tracing, on the host
  uint64_t unknown = 0;   // which elements of `known` are not, one bit each
  Ref<RefCounted> keeps;  // a graph written by hand, which lives as long as its tensors do
};

/// The most elements that are followed through a trace.
inline constexpr int64_t kMostKnown = 64;

/// Who runs ops on threads that have not begun yet, in place of eager execution; null: eager.
HOLDFAST_API void set_first_interpreter(Interpreter*);

inline Symbol* symbol_of(const Tensor& t) { return static_cast<Symbol*>(t.rep()->beyond.get()); }

}  // namespace holdfast
