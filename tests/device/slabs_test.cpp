#include "holdfast/device/cpu/slabs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace holdfast {
namespace {

TEST(Slabs, BlocksAreApartAndKeepTheirBytes) {
  Slabs slabs;
  struct Block {
    char* at;
    size_t bytes;
    char byte;
  };
  std::vector<Block> blocks;
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    if (!blocks.empty() && random() % 3 == 0) {
      size_t k = random() % blocks.size();
      slabs.give_back(blocks[k].at);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(k));
      continue;
    }
    size_t bytes = (1 + random() % 200) * 8192;
    auto* p = static_cast<char*>(slabs.take(bytes));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    std::memset(p, i % 100, bytes);
    blocks.push_back({p, bytes, static_cast<char>(i % 100)});
  }
  for (const Block& b : blocks) {
    EXPECT_EQ(b.at[0], b.byte);
    EXPECT_EQ(b.at[b.bytes / 2], b.byte);
    EXPECT_EQ(b.at[b.bytes - 1], b.byte);
  }
}

TEST(Slabs, WhatCameBackWholeGoesToTheSystem) {
  Slabs slabs;
  std::vector<void*> blocks;
  for (int i = 0; i < 30; ++i) blocks.push_back(slabs.take(1 << 20));
  EXPECT_EQ(slabs.mapped(), 4 * Slabs::kSlab);
  for (void* p : blocks) slabs.give_back(p);
  EXPECT_EQ(slabs.mapped(), 0u);
  EXPECT_NE(slabs.take(Slabs::kHuge - 64), nullptr);
  EXPECT_EQ(slabs.mapped(), Slabs::kSlab);
}

}  // namespace
}  // namespace holdfast
