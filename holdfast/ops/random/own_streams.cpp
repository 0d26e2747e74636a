#include "holdfast/ops/random/own_streams.h"

namespace holdfast::random {

Philox OwnStreams::reserve(NodeGenerator& node, const OpSeeds& seeds, uint64_t blocks) {
  std::scoped_lock lock(mutex_);
  auto it = positions_.find(&node);
  if (it == positions_.end()) {
    forget_lost();
    Position first{Ref<NodeGenerator>(&node), first_position(seeds)};
    it = positions_.emplace(&node, std::move(first)).first;
  }
  Philox start = it->second.at;
  it->second.at.skip(blocks);
  return start;
}

void OwnStreams::forget_lost() {
  if (positions_.size() < most_) return;
  std::erase_if(positions_, [](const auto& entry) { return entry.second.of->unique(); });
  most_ = 2 * positions_.size() + 64;
}

OwnStreams*& own_streams() {
  static thread_local OwnStreams* streams = nullptr;
  return streams;
}

}  // namespace holdfast::random
