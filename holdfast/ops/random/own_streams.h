// Random nodes of a graph that somebody begins anew, and shares with nobody else.
#pragma once

#include "holdfast/ops/random/seeds.h"

namespace holdfast::random {

/// Where random nodes stand for one iteration of a dataset, or the like.
class HOLDFAST_API OwnStreams {
 public:
  /// The generator for one run of a node with these seeds that may use `blocks`.
  Philox reserve(NodeGenerator& node, const OpSeeds& seeds, uint64_t blocks);

 private:
  struct Position {
    Ref<NodeGenerator> of;
    Philox at;
  };
  void forget_lost();
  std::mutex mutex_;
  std::unordered_map<const NodeGenerator*, Position> positions_;
  size_t most_ = 64;  // before it looks for nodes that nobody else holds any more
};

/// Whose positions random nodes have that run on this thread; null: those that all calls share.
HOLDFAST_API OwnStreams*& own_streams();

}  // namespace holdfast::random
