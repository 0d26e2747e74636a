// Graphs with unknown sizes, for the sizes that one call has.
#pragma once

#include <functional>
#include <mutex>

#include "holdfast/exec/plan.h"

namespace holdfast {

/// `g` with inputs of exactly these shapes: every size that follows from them is known. Its nodes
/// share what they keep from run to run with those of `g`.
HOLDFAST_API Ref<Graph> specialised(const Graph& g, std::span<const Tensor> inputs);

/// The plans of a graph for the sizes it is called with most. The second call with the same sizes
/// makes one.
class HOLDFAST_API SizePlans {
 public:
  /// The plan for inputs of these shapes, which `make` makes of `g` with the shapes put in; null
  /// where the general one should run.
  Ref<Plan> find(const Graph& g, std::span<const Tensor> inputs,
                 const std::function<Ref<Plan>(Ref<Graph>)>& make);
  /// Those there are.
  std::vector<Ref<Plan>> all();

 private:
  struct Entry {
    std::vector<Shape> shapes;
    Ref<Plan> plan;
    bool tried = false;  // it is being made, was made, or could not be
  };
  static constexpr size_t kMost = 8;  // kept at a time
  static constexpr int kMostMade =
      64;                       // in all: sizes that keep changing are what the general plan is for
  std::recursive_mutex mutex_;  // making one warns, which runs a program's code
  std::vector<Entry> entries_;  // the one used last comes first
  int made_ = 0;
};

}  // namespace holdfast
