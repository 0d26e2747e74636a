#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

using Program = std::function<void()>;

std::vector<Program> programs() {
  auto x = [] { return random::stateless_normal({8, 8}, Tensor::of({1, 2})); };
  return {
      [=] { add(x(), 1.0f); },
      [=] { matmul(x(), x()); },
      [=] { reduce_sum(x(), {.axis = Sizes(0)}); },
      [=] { nn::softmax(x()); },
      [=] { concat({x(), x()}, 1); },
      [=] { transpose(x()); },
      [=] { gather(x(), Tensor::of({1, 3})); },
      [=] {
        Variable v(x());
        v.assign_add(x());
      },
      [=] {
        GradientTape t;
        Tensor a = x();
        t.watch(a);
        t.gradient(reduce_sum(square(a)), a);
      },
      [=] { nn::conv2d(reshape(x(), {1, 8, 8, 1}), ones({3, 3, 1, 2}), {1}, "SAME"); },
  };
}

// Whichever allocation fails, the error is clean, names the op, and the next op works.
TEST(Memory, AnyAllocationMayFail) {
  for (auto& program : programs()) {
    for (int n = 1; n <= 200; ++n) {
      fail_allocation(n);
      bool failed = false;
      try {
        program();
      } catch (const ResourceExhaustedError& e) {
        failed = true;
        EXPECT_EQ(e.code(), Code::E0702);
        EXPECT_NE(std::string(e.what()).find("bytes"), std::string::npos) << e.what();
      }
      fail_allocation(0);
      EXPECT_FLOAT_EQ(add(1.0f, 2.0f).item<float>(), 3);
      if (!failed) break;
    }
  }
}

TEST(Memory, TheLimitIsKeptAndNamed) {
  cpu()->set_memory_limit(cpu()->memory().live + (1 << 20));
  try {
    zeros({1 << 20});
    FAIL() << "no error came";
  } catch (const ResourceExhaustedError& e) {
    EXPECT_NE(std::string(e.what()).find("4194304 bytes"), std::string::npos) << e.what();
  }
  cpu()->set_memory_limit(0);
  EXPECT_EQ(zeros({1 << 20}).size(), 1 << 20);
}

// Small tensors are counted by the thread that makes or drops them; the sum is right whoever does
// which.
TEST(Memory, SmallTensorsAreCountedAcrossThreads) {
  int64_t live = cpu()->memory().live, count = cpu()->memory().allocations;
  constexpr int kEach = 1000;
  std::vector<std::vector<Tensor>> made(4);
  {
    std::vector<std::jthread> threads;
    for (auto& list : made)
      threads.emplace_back([&list] {
        for (int i = 0; i < kEach; ++i) list.push_back(Tensor::of({1.f, 2.f, 3.f, 4.f}));
      });
  }
  EXPECT_EQ(cpu()->memory().live - live, 4 * kEach * 16);
  EXPECT_EQ(cpu()->memory().allocations - count, 4 * kEach);
  std::jthread([&] { made.clear(); }).join();
  EXPECT_EQ(cpu()->memory().live, live);
}

TEST(Memory, ThePeakOfSmallTensorsIsSeen) {
  cpu()->reset_peak();
  int64_t before = cpu()->memory().peak;
  {
    Tensor t = empty(float32, {200}, cpu());
  }
  EXPECT_EQ(cpu()->memory().peak - before, 800);
  cpu()->reset_peak();
  EXPECT_EQ(cpu()->memory().peak, cpu()->memory().live);
}

TEST(Memory, TheLimitIsKeptForSmallTensors) {
  std::vector<Tensor> kept;
  cpu()->set_memory_limit(cpu()->memory().live + 1600);
  auto fill = [&] {
    for (int i = 0; i < 3; ++i) kept.push_back(empty(float32, {200}, cpu()));
  };
  EXPECT_THROW(fill(), ResourceExhaustedError);
  EXPECT_EQ(kept.size(), 2u);
  kept.pop_back();
  EXPECT_NO_THROW(empty(float32, {200}, cpu()));
  cpu()->set_memory_limit(0);
}

TEST(Memory, LargeBlocksAreUsedAgain) {
  const void* first = zeros({1 << 22}).raw();
  EXPECT_EQ(zeros({1 << 22}).raw(), first);
}

TEST(Fork, AChildComputesAfterHeavyUseInTheParent) {
  Tensor a = random::stateless_normal({256, 256}, Tensor::of({1, 2}));
  float want = reduce_sum(matmul(a, a)).item<float>();
  pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang ends the child by a signal
    Tensor c = nn::conv2d(reshape(a, {1, 256, 256, 1}), ones({3, 3, 1, 4}), {1}, "SAME");
    bool right =
        std::abs(reduce_sum(matmul(a, a)).item<float>() - want) < 1e-2f * std::abs(want) + 1.0f &&
        c.size() > 0;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Our own kernels cut work by size alone.
TEST(Threads, ResultsDoNotDependOnTheirNumber) {
  Tensor x = random::stateless_normal({1000, 777}, Tensor::of({3, 4}));
  auto results = [&] {
    std::vector<std::vector<float>> out;
    for (Tensor t :
         {reduce_sum(x), reduce_sum(x, {.axis = Sizes(0)}), reduce_mean(x, {.axis = Sizes(1)}),
          nn::softmax(x), exp(x), cumsum(x), reduce_logsumexp(x),
          random::stateless_uniform({100000}, Tensor::of({5, 6})), transpose(x)})
      out.push_back(t.to_vector<float>());
    set_deterministic(true);
    out.push_back(matmul(x, x, {.transpose_b = true}).to_vector<float>());
    Tensor image = reshape(slice(x, {0, 0}, {64, 768}), {16, 32, 32, 3});
    out.push_back(nn::conv2d(image, ones({3, 3, 3, 8}), {1}, "SAME").to_vector<float>());
    set_deterministic(false);
    return out;
  };
  set_num_threads(1);
  auto one = results();
  for (int n : {2, 8}) {
    set_num_threads(n);
    EXPECT_EQ(results(), one) << n << " threads";
  }
  set_num_threads(0);
}

}  // namespace
}  // namespace holdfast
