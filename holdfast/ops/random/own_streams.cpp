#include "holdfast/ops/random/own_streams.h"

#include <algorithm>

namespace holdfast::random {

StreamSource*& stream_source() {
  static thread_local StreamSource* source = nullptr;
  return source;
}

Philox OwnStreams::reserve(NodeGenerator& node, int64_t number, const OpSeeds& seeds,
                           uint64_t blocks) {
  std::scoped_lock lock(mutex_);
  auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return number == kUnknown ? e.of.get() == &node : e.now.number == number;
  });
  if (it == entries_.end()) {
    Ref<NodeGenerator> of(number == kUnknown ? &node : nullptr);
    it = entries_.insert(it, Entry{std::move(of), first(number, seeds)});
  }
  Philox start = it->now.at;
  it->now.at.skip(blocks);
  return start;
}

OwnStreams::Position OwnStreams::first(int64_t number, const OpSeeds& seeds) {
  auto it = std::find_if(pending_.begin(), pending_.end(), [&](const Position& p) {
    return p.number == number && p.seeds.seed == seeds.seed && p.seeds.seed2 == seeds.seed2;
  });
  if (it == pending_.end()) return {number, seeds, first_position(seeds)};
  Position found = *it;
  pending_.erase(it);
  return found;
}

std::vector<OwnStreams::Position> OwnStreams::positions() const {
  std::scoped_lock lock(mutex_);
  std::vector<Position> out;
  for (const Entry& e : entries_) out.push_back(e.now);
  out.insert(out.end(), pending_.begin(), pending_.end());
  return out;
}

void OwnStreams::begin_at(std::vector<Position> positions) {
  std::scoped_lock lock(mutex_);
  entries_.clear();
  pending_ = std::move(positions);
}

}  // namespace holdfast::random
