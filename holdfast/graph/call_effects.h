// What a function called in a graph by hand does besides what it gives.
#pragma once

#include <span>
#include <string>

#include "holdfast/graph/trace.h"

namespace holdfast {

/// Notes the effects that are written while it lives: assignments, checks, prints, Python code. A
/// session runs only what is asked for, so they become part of what the call gives. In a trace,
/// where every effect runs, there is nothing to do.
class HOLDFAST_API EffectsOfCall {
 public:
  /// `name`: of the function that is called.
  explicit EffectsOfCall(std::string name);

  /// The results, each of which is there when all effects have run. For a call without any, an op
  /// with the function's name stands in the graph. Resources, lists and what is empty stay as they
  /// are.
  Tensors bound(std::span<const Tensor> results);

 private:
  std::vector<Ref<Node>> found() const;

  std::string name_;
  Tracer* tracer_ = nullptr;  // of the graph by hand that is written; null: nothing to do
  const Node* last_ = nullptr;
};

}  // namespace holdfast
