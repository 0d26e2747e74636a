#pragma once

#include "holdfast/autodiff/recorder.h"

namespace holdfast {

/// Walks the records backwards from the targets. A source that is not in `watched` has no gradient.
/// Frees the records as it goes when `consume` is set.
std::vector<Gradient> run_backward(std::vector<Record>& records, const IdMap& watched,
                                   const std::vector<Tensor>& targets,
                                   const std::vector<Source>& sources,
                                   const std::vector<Tensor>& upstream, Unconnected, bool consume);

}  // namespace holdfast
