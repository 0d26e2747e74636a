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
/// The same in one table, a tensor or a variable.
template <class T>
  requires(std::is_same_v<T, Tensor> || std::is_same_v<T, Variable>)
Tensor embedding_lookup(const T& params, const In& ids, const EmbeddingLookupOptions& o = {},
                        const std::source_location& at = std::source_location::current()) {
  Ins tables{In(params, at)};
  return embedding_lookup(tables, ids, o);
}
#endif

}  // namespace holdfast::nn
