// Values that traced code hands out besides its results.
#include <gtest/gtest.h>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }
Tensor one(float v) { return Tensor::scalar(v); }

TEST(Keep, EachCallRefreshesTheValue) {
  Tensor hidden;
  auto f = function([&](Tensor x) {
    hidden = keep(x * 2);
    return hidden + 1;
  });
  for (float v : {1.f, 2.f, 7.f}) {
    EXPECT_EQ(number(f(one(v))), 2 * v + 1);
    EXPECT_EQ(number(hidden), 2 * v);
    EXPECT_EQ(number(hidden * 10), 20 * v);
  }
  EXPECT_EQ(f.traces(), 1u);
}

TEST(Keep, BesideAttributesAndFormsOfResults) {
  TensorAttribute last("last", one(0));
  Tensor before;
  auto f = function([&](Tensor x) {
    before = keep(last + 0.f);
    last = x;
    return std::pair(x + 1, x + 2);
  });
  f(one(5));
  auto [a, b] = f(one(6));
  EXPECT_EQ(number(a), 7);
  EXPECT_EQ(number(b), 8);
  EXPECT_EQ(number(before), 5);
  EXPECT_EQ(number(last.read()), 6);
}

TEST(Keep, OutsideOfAFunctionItDoesNothing) { EXPECT_EQ(number(keep(one(3))), 3); }

TEST(Keep, IsWhatALostSymbolIsTold) {
  Tensor lost;
  auto f = function(
      [&](Tensor x) {
        lost = x * 2;
        return x;
      },
      {.name = "f"});
  f(one(1));
  f(one(2));
  try {
    number(lost);
    FAIL();
  } catch (const Error& e) {
    const Diagnostic& d = e.diagnostic();
    EXPECT_EQ(d.code, Code::E0101);
    ASSERT_EQ(d.fixes.size(), 2u);
    std::string told = render(d);
    EXPECT_NE(told.find("holdfast::keep("), std::string::npos) << told;
    EXPECT_EQ(d.fixes[1].title, "or return it from `f`");
  }
}

}  // namespace
}  // namespace holdfast
