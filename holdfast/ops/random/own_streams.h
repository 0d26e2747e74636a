// Random nodes of a graph that somebody begins anew, and shares with nobody else.
#pragma once

#include <vector>

#include "holdfast/ops/random/seeds.h"

namespace holdfast::random {

/// Where random nodes take their generators from in place of those that all calls share.
class HOLDFAST_API StreamSource {
 public:
  /// The generator for one run of a node with these seeds that may use `blocks`.
  virtual Philox reserve(NodeGenerator& node, const OpSeeds& seeds, uint64_t blocks) = 0;

 protected:
  ~StreamSource() = default;
};

/// That of nodes which run on this thread; null: each has its own.
HOLDFAST_API StreamSource*& stream_source();

/// Nodes that run meanwhile on this thread have their own: a function calls code that is not its
/// own.
class HOLDFAST_API WithoutSource {
 public:
  WithoutSource() : before_(stream_source()) { stream_source() = nullptr; }
  ~WithoutSource() { stream_source() = before_; }
  WithoutSource(const WithoutSource&) = delete;

 private:
  StreamSource* const before_;
};

/// Where the random nodes of one function stand. Safe to use from many threads.
class HOLDFAST_API OwnStreams {
 public:
  static constexpr int64_t kUnknown = -1;
  /// `number` is the node's place in its function, where that is known: another trace of the
  /// function has other nodes in the same places.
  Philox reserve(NodeGenerator& node, int64_t number, const OpSeeds& seeds, uint64_t blocks);

  struct Position {
    int64_t number = kUnknown;
    OpSeeds seeds;
    Philox at;
  };
  /// In the order in which the nodes were first asked.
  std::vector<Position> positions() const;
  /// Nodes that are asked from now on stand there: the one of that number, else the first one with
  /// the same seeds each.
  void begin_at(std::vector<Position> positions);

 private:
  struct Entry {
    Ref<NodeGenerator> of;  // null where the number says which
    Position now;
  };
  Position first(int64_t number, const OpSeeds& seeds);
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<Position> pending_;  // of nodes that were not asked yet
};

}  // namespace holdfast::random
