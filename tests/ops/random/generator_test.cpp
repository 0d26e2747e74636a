#include "holdfast/ops/random/generator.h"

#include "holdfast/ops/random/sampling.h"
#include "tests/ops/random/recorded.h"

namespace holdfast::random {
namespace {

std::vector<int64_t> state_of(const Generator& g) {
  std::vector<int64_t> state(3);
  store_state(g.state(), state);
  return state;
}

TEST(Generator, ConsumesItsStateAsTensorFlowsDoes) {
  Generator g = Generator::from_seed(1234);
  std::vector<float> six(6), five(5), one(1);
  fill_normal(g.take(6), std::span(six));
  expect_near("generator/normal", six);
  expect_equal("generator/state1", state_of(g));

  fill_uniform(g.take(5), std::span(five));
  expect_equal("generator/uniform", five);
  std::vector<int32_t> ints(5);
  fill_uniform_int(g.take(5), -3, 9, ints);
  expect_equal("generator/int", ints);
  std::vector<uint64_t> full(3);
  fill_uniform_full_int(g.take(3), std::span(full));
  expect_equal("generator/full", full);
  fill_truncated_normal(g.take(5), std::span(five));
  expect_near("generator/truncated", five);
  expect_equal("generator/state2", state_of(g));

  std::vector<double> successes(10);
  fill_binomial(g.take_binomial(2, 5), std::vector<double>{10, 200},
                std::vector<double>{0.8f, 0.3f}, true, successes);
  expect_equal("generator/binomial", std::vector<int32_t>(successes.begin(), successes.end()));
  expect_equal("generator/state3", state_of(g));

  std::vector<int64_t> seeds = g.make_seeds(3);
  seeds.resize(6, 0);
  expect_equal("generator/seeds", seeds);
  std::vector<int64_t> states;
  for (const Generator& part : g.split(2)) {
    for (const int64_t word : state_of(part)) states.push_back(word);
  }
  expect_equal("generator/split", states);
  fill_uniform(g.take(1), std::span(one));
  expect_equal("generator/scalar", one);

  std::vector<int64_t> state = state_of(g);
  expect_equal("generator/state4", state);
  expect_equal("generator/skip", read_and_skip(state, Algorithm::kPhilox, 10));
  expect_equal("generator/state5", state);
  g.skip(10);
  expect_equal("generator/state5", state_of(g));
}

TEST(Generator, MakesStatesFromAnySeed) {
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

TEST(Generator, SkipsInThreeFryToo) {
  std::vector<int64_t> state = create_rng_state(9, Algorithm::kThreefry);
  read_and_skip(state, Algorithm::kThreefry, 10);
  expect_equal("generator/threefry_skip", state);
}

TEST(Generator, KnowsAlgorithmsByName) {
  EXPECT_EQ(algorithm_named("Philox"), Algorithm::kPhilox);
  EXPECT_EQ(algorithm_named("three-fry"), Algorithm::kThreefry);
  EXPECT_EQ(algorithm_named("auto_select"), Algorithm::kAutoSelect);
  EXPECT_EQ(algorithm_named("mt19937"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::random
