// What a trace hands out by `keep`.
#pragma once

#include <vector>

#include "holdfast/exec/keep.h"
#include "holdfast/exec/trace_state.h"

namespace holdfast {

/// What one trace keeps. In force on this thread while it lives.
class KeepRecord {
 public:
  KeepRecord();
  ~KeepRecord();
  KeepRecord(const KeepRecord&) = delete;
  /// Ends it: appends what is kept to the outputs. Null where that is nothing.
  Ref<TraceState> finish(Tensors& outputs);

 private:
  friend Tensor keep(In);
  std::vector<Tensor> kept_;
  KeepRecord* around_;
};

}  // namespace holdfast
