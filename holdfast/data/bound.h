// Tensors of a graph that a dataset is made of: known by their types while the graph is written,
// and bound to values when an iteration begins.
#pragma once

#include <vector>

#include "holdfast/data/node.h"

namespace holdfast::data {

/// Values of such tensors, for one iteration: those of each run are its own.
struct Bound final : RefCounted {
  std::vector<Tensor> symbols, values;
};

/// What holds tensors that may be a graph's.
class MayBeOpen {
 public:
  /// Adds those that are.
  virtual void add_open(std::vector<Tensor>& to) const = 0;

 protected:
  ~MayBeOpen() = default;
};

/// The tensors of a graph in the stages of a dataset, each once.
std::vector<Tensor> open_tensors(const DatasetObject& dataset);

/// Makes values known to the thread while it works for an iteration; a worker takes over those of
/// who made it.
class Binding {
 public:
  explicit Binding(Ref<Bound> values);
  ~Binding();
  Binding(const Binding&) = delete;
  static const Ref<Bound>& current();

 private:
  Ref<Bound> before_;
};

/// `t`, or its value where it is a graph's; `stage` holds it, and is told of where there is none.
Tensor bound(const Tensor& t, const char* stage);
/// The same for all tensors of an element.
Nested bound(const Nested& element, const char* stage);
/// Throws: a dataset of a graph's tensors is iterated where the graph does not run.
[[noreturn]] void refuse_symbols(const char* stage);

}  // namespace holdfast::data
