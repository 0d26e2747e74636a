#include "holdfast/exec/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace holdfast {
namespace {

bool together(const Span& a, const Span& b) { return a.first <= b.last && b.first <= a.last; }

TEST(Placement, NothingOverlapsWhileBothAreNeeded) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Span> spans;
    for (int i = 0, n = 1 + static_cast<int>(random() % 40); i < n; ++i) {
      int first = static_cast<int>(random() % 50);
      spans.push_back(
          {static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 10)});
    }
    Placement p = place(spans);
    for (size_t a = 0; a < spans.size(); ++a) {
      EXPECT_EQ(p.offsets[a] % 64, 0);
      EXPECT_LE(p.offsets[a] + spans[a].bytes, p.bytes);
      for (size_t b = 0; b < a; ++b) {
        if (!together(spans[a], spans[b])) continue;
        EXPECT_TRUE(p.offsets[a] + spans[a].bytes <= p.offsets[b] ||
                    p.offsets[b] + spans[b].bytes <= p.offsets[a]);
      }
    }
  }
}

TEST(Placement, AChainNeedsTwoBuffers) {
  std::vector<Span> chain;
  for (int i = 0; i < 30; ++i) chain.push_back({640, i, i + 1});
  EXPECT_EQ(place(chain).bytes, 2 * 640);
}

TEST(Placement, TheSmallestGapThatFitsIsTaken) {
  // Two that stay leave a gap of 128 and one of 64 bytes; what needs 64 goes into the second.
  std::vector<Span> spans{{1024, 0, 9}, {128, 0, 1}, {512, 0, 9},
                          {64, 0, 1},   {256, 0, 9}, {64, 3, 4}};
  Placement p = place(spans);
  EXPECT_EQ(p.bytes, 1024 + 512 + 256 + 128 + 64);
}

TEST(Placement, NothingNeedsNoMemory) { EXPECT_EQ(place({}).bytes, 0); }

}  // namespace
}  // namespace holdfast
