#include "holdfast/ops/random/seeds.h"

#include "tests/ops/random/recorded.h"

namespace holdfast::random {
namespace {

std::vector<int64_t> flat(const std::vector<OpSeeds>& all) {
  std::vector<int64_t> out;
  for (const OpSeeds& s : all) out.insert(out.end(), {s.seed, s.seed2});
  return out;
}

/// What `tf.random.uniform([n], seed=op_seed)` adds to `said`.
void uniform(SeedState& state, int64_t n, std::optional<int64_t> op_seed,
             std::vector<float>& said) {
  std::vector<float> out(static_cast<size_t>(n));
  fill_uniform(state.reserve("RandomUniform float32", state.op_seeds(op_seed), blocks_reserved(n)),
               std::span(out));
  said.insert(said.end(), out.begin(), out.end());
}

TEST(PythonRandom, DrawsPythonsNumbers) {
  for (const int64_t seed : {int64_t{0}, int64_t{1}, int64_t{42}, int64_t{-7}, int64_t{INT32_MAX},
                             (int64_t{1} << 40) + 5}) {
    PythonRandom random(seed);
    std::vector<int64_t> drawn(20);
    for (int64_t& x : drawn) x = random.operation_seed();
    expect_equal("op_seeds/" + std::to_string(seed), drawn);

    SeedState state;
    state.set_seed(seed);
    std::vector<OpSeeds> got;
    for (const std::optional<int64_t> op_seed :
         std::vector<std::optional<int64_t>>{{}, 0, 3, {}, -1, INT32_MAX}) {
      got.push_back(state.op_seeds(op_seed));
    }
    expect_equal("get_seed/" + std::to_string(seed), flat(got));
  }
}

TEST(PythonRandom, SurvivesManyRounds) {
  // random.Random(1): the 2000th getrandbits(32).
  PythonRandom random(1);
  uint32_t last = 0;
  for (int i = 0; i < 2000; ++i) last = random.next();
  EXPECT_EQ(last, recorded("python/1/2000").values.at(0));
}

TEST(SeedState, WithoutAGlobalSeedOpsUseTheDefaultOne) {
  SeedState state;
  expect_equal("get_seed/none", flat({state.op_seeds(0), state.op_seeds(3), state.op_seeds(-1)}));
  EXPECT_TRUE(state.op_seeds({}).nondeterministic());
}

TEST(SeedState, TellsTheStoryOfSetSeed) {
  SeedState state;
  state.set_seed(1234);
  std::vector<float> story;
  for (const std::optional<int64_t> seed : std::vector<std::optional<int64_t>>{{}, {}, 1, 1}) {
    uniform(state, 1, seed, story);
  }
  uniform(state, 2, 1, story);
  expect_equal("story", story);

  state.set_seed(1234);
  std::vector<float> again;
  uniform(state, 1, 1, again);
  uniform(state, 1, {}, again);
  expect_equal("story/again", again);
}

TEST(SeedState, WithoutSeedsAnOpContinuesAStreamNobodyKnows) {
  SeedState state, other;
  const Philox first = state.reserve("op", state.op_seeds({}), 5);
  Philox next = first;
  next.skip(5);
  EXPECT_EQ(state.reserve("op", state.op_seeds({}), 5), next);
  EXPECT_NE(other.reserve("op", other.op_seeds({}), 5), first);
}

TEST(GraphSeeds, NumberOpsWithoutASeed) {
  GraphSeeds graph(1234);
  NodeGenerator nodes[] = {NodeGenerator(graph.op_seeds({})), NodeGenerator(graph.op_seeds({})),
                           NodeGenerator(graph.op_seeds(1))};
  std::vector<float> said;
  for (int call = 0; call < 2; ++call) {
    for (NodeGenerator& node : nodes) {
      fill_uniform(node.reserve(blocks_reserved(1)), std::span(&said.emplace_back(), 1));
    }
  }
  expect_equal("story/function", said);
}

}  // namespace
}  // namespace holdfast::random
