#include "holdfast/ops/random/generator.h"

#include "tests/ops/random/recorded.h"

namespace holdfast::random {
namespace {

TEST(GeneratorState, MakesStatesFromAnySeed) {
  for (const Algorithm alg : {Algorithm::kPhilox, Algorithm::kThreefry}) {
    const std::string name =
        alg == Algorithm::kPhilox ? "create_state/philox/" : "create_state/threefry/";
    expect_equal(name + "0", create_rng_state(5, alg));
    expect_equal(name + "1", create_rng_state(-1, alg));
    expect_equal(name + "2", create_rng_state(std::vector<int64_t>{-1, 0, 0}, alg));  // 2**64 - 1
    expect_equal(name + "3", create_rng_state(std::vector<int64_t>{7, 0, 4}, alg));   // 2**130 + 7
    expect_equal(name + "4", create_rng_state(std::vector<int64_t>{1, 2}, alg));
    expect_equal(name + "5", create_rng_state(std::vector<int64_t>{1, 2, 3, 4}, alg));
  }
}

TEST(GeneratorState, SkipsInThreeFryToo) {
  std::vector<int64_t> state = create_rng_state(9, Algorithm::kThreefry);
  read_and_skip(state, Algorithm::kThreefry, 10);
  expect_equal("generator/threefry_skip", state);
}

TEST(GeneratorState, KnowsAlgorithmsByName) {
  EXPECT_EQ(algorithm_named("Philox"), Algorithm::kPhilox);
  EXPECT_EQ(algorithm_named("three-fry"), Algorithm::kThreefry);
  EXPECT_EQ(algorithm_named("auto_select"), Algorithm::kAutoSelect);
  EXPECT_EQ(algorithm_named("mt19937"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::random
