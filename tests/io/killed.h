// Whoever writes a file is killed at 200 moments: what is there then?
#pragma once

#include <gtest/gtest.h>
#include <holdfast/tensor/tensor.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>

namespace holdfast {

// Runs `write(1)`, `write(2)` ... in a process of its own, which is killed at some moment; 200
// times. `number()` reads what is there then.
template <class Write, class Number>
void killed_at_200_moments(Write write, Number number) {
  write(0);
  std::mt19937 random(11);
  int seen = 0, changed = 0;
  double longest = 12000;  // microseconds; on a crowded machine nothing is written in so few
  for (int i = 0; i < 200; ++i) {
    pid_t child = fork();
    if (child == 0) {
      for (int n = seen + 1;; ++n) write(n);
    }
    ASSERT_GT(child, 0);
    ::usleep(static_cast<useconds_t>(std::uniform_real_distribution<>(0, longest)(random)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    int now = number();
    EXPECT_GE(now, seen);
    changed += now > seen;
    longest = now > seen ? std::max(12000., longest / 2) : std::min(500000., longest * 1.1);
    seen = now;
  }
  EXPECT_GT(changed, 0);
}

struct Killed : testing::Test {
  Killed() {
    std::string pattern = testing::TempDir() + "holdfast_killed_XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~Killed() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

// Every element is `n`, so that half of a file would be seen.
inline Tensor filled(int n, int64_t size) {
  std::vector<int> values(static_cast<size_t>(size), n);
  return Tensor::of<int>(values, {size});
}
inline int only(const Tensor& t) {
  std::vector<int> values = t.to_vector<int>();
  for (int v : values) EXPECT_EQ(v, values[0]);
  return values[0];
}

}  // namespace holdfast
