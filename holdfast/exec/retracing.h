// Why code was traced again, and which sizes it is not traced again for.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "holdfast/graph/graph.h"

namespace holdfast {

/// One trace: which part of the arguments was not as before, and what tracing cost.
struct HOLDFAST_API Retrace {
  enum class Kind : uint8_t {
    kFirst,
    kValue,
    kShape,
    kDType,
    kStructure,
    kObject,
    kGuard,
    kFact,
    kMade
  };

  std::string part = {}, was = {}, now = {};  // as the program calls and writes them
  Kind kind = Kind::kFirst;
  double milliseconds = 0;
  std::vector<std::string> relaxed = {};  // dimensions that are left open from now on
  std::vector<std::string> frozen = {};   // tensors around the code that stay as they were

  /// `x: was float32[2], now float32[3]; relaxed x dimension 0  (1.5 ms)`
  std::string text() const;
};

/// A dimension of a tensor among the arguments.
struct Dimension {
  size_t tensor;
  int axis;
  auto operator<=>(const Dimension&) const = default;
};

/// The traces of one function: why each was made, and the dimensions that keep changing.
class HOLDFAST_API TraceHistory {
 public:
  /// After so many `misses` on a dimension it is left open.
  TraceHistory(std::string name, int misses) : name_(std::move(name)), misses_(misses) {}

  /// Leaves dimensions of `now` open that keep changing, counted against the types `last` of the
  /// trace that served such arguments before. Gives those that were not open there.
  std::vector<Dimension> relax(const std::vector<Type>& last, std::vector<Type>& now);
  void note(Retrace);

  size_t count() const { return count_; }
  double milliseconds() const { return milliseconds_; }
  const std::deque<Retrace>& traces() const { return traces_; }  // the last ones
  /// One line a trace.
  std::string report() const;

 private:
  std::string name_;
  int misses_;
  std::map<Dimension, int> changes_;
  std::deque<Retrace> traces_;
  size_t count_ = 0;
  double milliseconds_ = 0;
};

/// Whether code that was traced for a tensor of type `traced` serves this one: sizes that are open
/// there take any.
inline bool serves(const Type& traced, const TensorRep& given) {
  if (traced.dtype != given.dtype) return false;
  return traced.shape == given.shape ||
         (!traced.shape.is_full() && traced.shape.compatible(given.shape));
}
/// The same for all arguments of a call.
HOLDFAST_API bool serves(const std::vector<Type>& traced, std::span<const Tensor> arguments);

}  // namespace holdfast
