#include "holdfast/ops/random/philox.h"

#include "holdfast/base/parallel.h"
#include "tests/ops/random/recorded.h"

namespace holdfast::random {
namespace {

const Philox kA{5, 77, 0x123456789ABCDEF0u};
const Philox kB{~uint64_t{1}, ~uint64_t{0}, 42};  // one step before the counter wraps to zero

template <class Check>
void for_states_and_sizes(Check check) {
  for (const size_t n : {1, 2, 3, 4, 5, 257, 1000}) {
    check(kA, n, "/a/" + std::to_string(n));
    if (n <= 5) check(kB, n, "/b/" + std::to_string(n));
  }
}

template <class T>
void check_floats(const std::string& dtype) {
  for_states_and_sizes([&](Philox gen, size_t n, const std::string& rest) {
    std::vector<T> out(n);
    fill_uniform(gen, std::span(out));
    expect_equal("uniform/" + dtype + rest, out);
    fill_normal(gen, std::span(out));
    expect_near("normal/" + dtype + rest, out);
    fill_truncated_normal(gen, std::span(out));
    expect_near("truncated/" + dtype + rest, out);
  });
}

template <class T>
void check_full_ints(const std::string& dtype) {
  for_states_and_sizes([&](Philox gen, size_t n, const std::string& rest) {
    std::vector<T> out(n);
    fill_uniform_full_int(gen, std::span(out));
    expect_equal("full/" + dtype + rest, out);
  });
}

template <class T>
void check_ints(const std::string& dtype, const std::string& range, T lo, T hi) {
  for_states_and_sizes([&](Philox gen, size_t n, const std::string& rest) {
    std::vector<T> out(n);
    fill_uniform_int(gen, lo, hi, out);
    expect_equal("int/" + dtype + "/" + range + rest, out);
  });
}

TEST(Philox, FloatsAreTensorFlows) {
  check_floats<float>("f32");
  check_floats<double>("f64");
  check_floats<Float16Bits>("f16");
  check_floats<BFloat16Bits>("bf16");
}

// What is made of many blocks at once is what they give one by one, beyond where the counter wraps.
TEST(Philox, ManyBlocksAreThoseOneByOne) {
  for (const Philox& gen :
       {kA, kB, Philox{~uint64_t{0} - 40, 3, 9}, Philox{0xffffffffu - 50, 0, 1}})
    for (const size_t n : {31, 128, 129, 500, 4096, 70001}) {
      std::vector<uint32_t> words(n);
      std::vector<float> floats(n);
      fill_uniform_full_int(gen, std::span(words));
      fill_uniform(gen, std::span(floats));
      Philox one = gen;
      Block block{};
      for (size_t i = 0; i < n; ++i) {
        if (i % 4 == 0) block = one();
        ASSERT_EQ(words[i], block[i % 4]) << i << " of " << n;
        ASSERT_EQ(floats[i], static_cast<float>(block[i % 4] & 0x7fffffu) * 0x1p-23f) << i;
      }
    }
}

TEST(Philox, FullRangeIntegersAreTensorFlows) {
  check_full_ints<int32_t>("i32");
  check_full_ints<uint32_t>("u32");
  check_full_ints<int64_t>("i64");
  check_full_ints<uint64_t>("u64");
}

TEST(Philox, IntegersInARangeAreTensorFlows) {
  check_ints<int32_t>("i32", "small", -5, 7);
  check_ints<int64_t>("i64", "small", -5, 7);
  check_ints<int32_t>("i32", "wide", INT32_MIN, INT32_MAX);
  check_ints<int64_t>("i64", "wide", INT32_MIN, INT32_MAX);
}

TEST(Philox, SkippingEqualsDrawing) {
  Philox drawn = kB, skipped = kB;
  for (int i = 0; i < 5; ++i) drawn();
  skipped.skip(5);
  EXPECT_EQ(drawn, skipped);
  EXPECT_EQ(drawn.counter_hi, 0u);
}

TEST(Philox, LongFillsCarryThroughTheCounterToo) {
  const Philox gen{~uint64_t{0} - 20, 3, 9};  // the low half wraps inside the first blocks
  std::vector<uint32_t> out(4 * 64);
  fill_uniform_full_int(gen, std::span(out));
  Philox g = gen;
  for (size_t i = 0; i < out.size(); i += 4) {
    const Block b = g();
    for (size_t j = 0; j < 4; ++j) ASSERT_EQ(out[i + j], b[j]) << i + j;
  }
}

TEST(Philox, ThreadsDoNotChangeTheNumbers) {
  std::vector<float> one(300'001), four(one.size());
  set_num_threads(1);
  fill_truncated_normal(kA, std::span(one));
  set_num_threads(4);
  fill_truncated_normal(kA, std::span(four));
  set_num_threads(0);
  EXPECT_EQ(one, four);
}

TEST(ThreeFry, BitsAreXlas) {
  const ThreeFry gen{5, 0x123456789ABCDEF0u};
  for (const size_t n : {1, 2, 3, 4, 5, 257}) {
    std::vector<uint32_t> words(n);
    fill_uniform_full_int(gen, std::span(words));
    expect_equal("threefry/u32/" + std::to_string(n), words);
    std::vector<uint64_t> longs(n);
    fill_uniform_full_int(gen, std::span(longs));
    expect_equal("threefry/u64/" + std::to_string(n), longs);
  }
}

}  // namespace
}  // namespace holdfast::random
