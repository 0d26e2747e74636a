// Where a random op takes its seeds and its generator from: the one place that knows whether we
// execute eagerly, build a graph or run a node of one.
#pragma once

#include "holdfast/op/opdef.h"
#include "holdfast/ops/random/seeds.h"

namespace holdfast::random {

/// What this thread is doing. All null when executing eagerly.
struct SeedScope {
  GraphSeeds* graph = nullptr;    // a graph under construction, which numbers its ops
  NodeGenerator* node = nullptr;  // a node of a graph that runs; its calls share one generator
};
HOLDFAST_API SeedScope& seed_scope();
/// What numbers ops on threads that begin later, and on this one: the seeds of a program's own
/// graph, or null.
HOLDFAST_API void set_first_seeds(GraphSeeds* seeds);
/// The seeds that a graph begins with which is traced here: those of the graph around it, else the
/// eager ones.
HOLDFAST_API GraphSeeds seeds_for_trace();

/// Throws where `what` would draw from the system's randomness while ops must be deterministic.
HOLDFAST_API void refuse_if_deterministic(const char* what);

/// The seeds of eager ops.
HOLDFAST_API SeedState& seed_state();

/// The first attributes of every op that draws from a stream of its own.
struct SeedAttrs {
  Attr<int64_t> seed;
  Attr<int64_t> seed2;
};
HOLDFAST_API OpSeeds seeds_of(const OpDef& op, const Attrs& attrs);

/// The attributes `seed` and `seed2` for one call of a public function; lives while its op runs.
class CallSeeds {
 public:
  explicit CallSeeds(std::optional<int64_t> op_seed);
  ~CallSeeds();
  CallSeeds(const CallSeeds&) = delete;
  /// Those of SeedAttrs.
  Attrs attrs() const { return {Arg(seeds_.seed), Arg(seeds_.seed2)}; }
  /// Those and another.
  Attrs attrs(Arg third) const { return {Arg(seeds_.seed), Arg(seeds_.seed2), std::move(third)}; }

 private:
  OpSeeds seeds_;
};

/// The generator for this call of an op that draws.
Philox stream(const Call& call, uint64_t blocks);

}  // namespace holdfast::random
