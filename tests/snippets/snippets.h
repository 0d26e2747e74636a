// What the snippets share: each is a function of its own, which main calls.
#pragma once

#include <holdfast/holdfast.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

using namespace holdfast;
using V = std::vector<float>;

struct Snippet {
  Snippet(int line, void (*run)()) { list().push_back({line, run}); }
  struct Entry {
    int line;
    void (*run)();
  };
  static std::vector<Entry>& list() {
    static std::vector<Entry> all;
    return all;
  }
};
inline int failed = 0;

inline V F(const Tensor& t) { return t.to_vector<float>(); }

#define JOINED(a, b) a##b
#define OF_LINE(name, line) JOINED(name, line)
#define SNIPPET(...)                                        \
  static void OF_LINE(snippet_, __LINE__)() { __VA_ARGS__ } \
  static const Snippet OF_LINE(entry_, __LINE__)(__LINE__, OF_LINE(snippet_, __LINE__));
#define CHECK(...)                                        \
  if (!(__VA_ARGS__)) {                                   \
    std::printf("line %d: %s\n", __LINE__, #__VA_ARGS__); \
    ++failed;                                             \
  }

int main() {
  for (const Snippet::Entry& s : Snippet::list()) {
    try {
      s.run();
    } catch (const std::exception& e) {
      std::printf("line %d: %s\n", s.line, e.what());
      ++failed;
    }
  }
  std::printf("%zu snippets, %d failed\n", Snippet::list().size(), failed);
  return failed != 0;
}
