// Rows of tables by their ids.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct EmbeddingLookupOptions {
  std::string partition_strategy = "div";
  std::optional<double> max_norm = {};
};
/// Rows of a table by id; longer ones are scaled down to `max_norm`. The table may come in several
/// shards: with "mod" id i is row i / n of shard i % n, with "div" each shard holds a run of ids.
HOLDFAST_API Tensor embedding_lookup(const Ins& params, const In& ids,
                                     const EmbeddingLookupOptions& = {});
#ifndef HOLDFAST_BUILDING  // our own code registers functions by their address
/// The same in one table.
inline Tensor embedding_lookup(const Tensor& params, const In& ids,
                               const EmbeddingLookupOptions& o = {}) {
  return embedding_lookup(Ins{params}, ids, o);
}
inline Tensor embedding_lookup(const Variable& params, const In& ids,
                               const EmbeddingLookupOptions& o = {}) {
  return embedding_lookup(Ins{params}, ids, o);
}
#endif

}  // namespace holdfast::nn
