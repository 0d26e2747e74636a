#include "holdfast/ops/random/streams.h"

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/random/own_streams.h"

namespace holdfast::random {
namespace {

// Seeds drawn for the call under way: no later call has them, so no table need remember them.
thread_local const OpSeeds* t_drawn = nullptr;

std::atomic<GraphSeeds*> g_first{nullptr};

// What TensorFlow keeps a kernel, and with it a generator, for: op, dtypes, attributes, device.
std::string stream_name(const Call& c) {
  std::string key = c.op.name;
  for (int i = 0; i < c.inputs(); ++i) {
    key += ' ';
    key += name(c.in(i).dtype());
  }
  for (size_t i = 2; i < c.attrs().size(); ++i) key += ' ' + c.attrs()[i].text();  // not the seeds
  return key + ' ' + c.device->short_name();
}

}  // namespace

SeedScope& seed_scope() {
  static thread_local SeedScope scope{.graph = g_first.load()};
  return scope;
}

void set_first_seeds(GraphSeeds* seeds) {
  g_first = seeds;
  seed_scope().graph = seeds;
}

GraphSeeds seeds_for_trace() {
  const GraphSeeds* around = context().interpreter ? seed_scope().graph : nullptr;
  return GraphSeeds(around ? around->global_seed() : seed_state().global_seed());
}

SeedState& seed_state() {
  static SeedState state;
  return state;
}

void refuse_if_deterministic(const char* what) {
  if (!deterministic()) return;
  fail(Code::E1105, cat(what, " without a seed is not supported while ops are deterministic"),
       cat("`", written(Advice::kDeterministic),
           "` promises the same numbers in every run, and without a seed they differ"),
       {manual_fix(cat("set a seed first: `", written(Advice::kSetSeed), "`"))});
}

CallSeeds::CallSeeds(std::optional<int64_t> op_seed) {
  GraphSeeds* graph = context().interpreter ? seed_scope().graph : nullptr;
  seeds_ = graph ? graph->op_seeds(op_seed) : seed_state().op_seeds(op_seed);
  if (seeds_.nondeterministic()) refuse_if_deterministic("a random op");
  t_drawn = seeds_.drawn ? &seeds_ : nullptr;
}

CallSeeds::~CallSeeds() { t_drawn = nullptr; }

OpSeeds seeds_of(const OpDef& op, const Attrs& attrs) {
  auto a = attrs_of<SeedAttrs>(op, attrs);
  return {.seed = a.seed(), .seed2 = a.seed2()};
}

Philox stream(const Call& c, uint64_t blocks) {
  OpSeeds seeds = seeds_of(c.op, c.attrs());
  if (NodeGenerator* node = seed_scope().node) {
    if (StreamSource* source = stream_source()) return source->reserve(*node, seeds, blocks);
    return node->reserve(blocks, seed_state().begun());
  }
  seeds.drawn = t_drawn && t_drawn->seed == seeds.seed && t_drawn->seed2 == seeds.seed2;
  return seed_state().reserve(seeds.drawn ? std::string() : stream_name(c), seeds, blocks);
}

void set_seed(std::optional<int64_t> seed) {
  if (GraphSeeds* graph = context().interpreter ? seed_scope().graph : nullptr)
    graph->set_global_seed(seed);
  else
    seed_state().set_seed(seed);
}
REGISTER(FUNCTION(&set_seed)
             .args("seed")
             .python("random.set_seed")
             .doc("Starts every stream of random numbers over from `seed`; None forgets the global "
                  "seed. While a graph is written, it is the seed of that graph's ops alone."));

}  // namespace holdfast::random
