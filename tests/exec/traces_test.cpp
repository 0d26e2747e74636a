#include "holdfast/exec/traces.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

struct Numbered final : RefCounted {
  explicit Numbered(int n) : number(n) {}
  int number;
};

std::vector<int> numbers(const std::vector<Ref<Numbered>>& list) {
  std::vector<int> out;
  for (const Ref<Numbered>& t : list) out.push_back(t->number);
  return out;
}
auto none = [](const Numbered&) { return false; };
auto is(int n) {
  return [n](const Numbered& t) { return t.number == n; };
}

Traces<Numbered> filled(size_t most, int count) {
  Traces<Numbered> out(most);
  for (int i = 0; i < count; ++i) (void)out.add(make_ref<Numbered>(i), none);
  return out;
}

TEST(Traces, AreInTheOrderOfTheirLastUse) {
  Traces<Numbered> traces = filled(10, 4);
  EXPECT_EQ(numbers(traces.list()), (std::vector{3, 2, 1, 0}));
  EXPECT_EQ(traces.find(is(1))->number, 1);
  EXPECT_EQ(numbers(traces.list()), (std::vector{1, 3, 2, 0}));
  EXPECT_EQ(traces.find(is(7)), nullptr);
  EXPECT_EQ(numbers(traces.list()), (std::vector{1, 3, 2, 0}));
}

TEST(Traces, TheOneUnusedLongestGoes) {
  Traces<Numbered> traces = filled(3, 3);
  traces.find(is(0));
  EXPECT_EQ(numbers(traces.add(make_ref<Numbered>(3), none)), std::vector{1});
  EXPECT_EQ(numbers(traces.list()), (std::vector{3, 0, 2}));
}

TEST(Traces, ThoseThatNoCallIsForGoWhenAnotherIsMade) {
  Traces<Numbered> traces = filled(10, 5);
  auto odd = [](const Numbered& t) { return t.number % 2 == 1; };
  EXPECT_EQ(numbers(traces.add(make_ref<Numbered>(5), odd)), (std::vector{3, 1}));
  EXPECT_EQ(numbers(traces.list()), (std::vector{5, 4, 2, 0}));
}

TEST(Traces, WhatIsAskedMayChangeTheList) {
  Traces<Numbered> traces = filled(10, 4);
  auto found = traces.find([&](const Numbered& t) {
    auto all = traces.drop([](const Numbered&) { return true; });
    return t.number == 3;
  });
  EXPECT_EQ(found->number, 3);
  EXPECT_TRUE(traces.empty());
}

}  // namespace
}  // namespace holdfast
