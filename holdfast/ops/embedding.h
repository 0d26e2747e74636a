// Rows of tables by their ids.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct EmbeddingLookupOptions {
  std::optional<double> max_norm = {};
};
/// Rows of `params` by id; longer ones are scaled down to `max_norm`. One table: several are not supported.
HOLDFAST_API Tensor embedding_lookup(const Ins& params, const In& ids, const EmbeddingLookupOptions& = {});

}  // namespace holdfast::nn
