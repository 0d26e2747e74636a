// Rows of tables by their ids.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct EmbeddingLookupOptions {
  std::optional<double> max_norm = {};
};
/// Rows of the table `params` by id; longer ones are scaled down to `max_norm`.
HOLDFAST_API Tensor embedding_lookup(const In& params, const In& ids,
                                     const EmbeddingLookupOptions& = {});

}  // namespace holdfast::nn
