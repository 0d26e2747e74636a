// Values that code captures and each call sees as they are, and what a trace report says of others.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include "tests/refused.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }
Tensor one(float v) { return constant(v); }

TEST(Bound, NumbersArePartOfTheTrace) {
  Bound<float> rate(0.5f, "rate");
  int traced = 0;
  auto f = function([&](Tensor x) {
    ++traced;
    return x * rate;
  });
  EXPECT_EQ(number(f(one(4))), 2);
  EXPECT_EQ(number(f(one(8))), 4);
  EXPECT_EQ(traced, 1);
  rate = 0.25f;
  EXPECT_EQ(number(f(one(4))), 1);
  rate = 0.5f;
  EXPECT_EQ(number(f(one(4))), 2);
  EXPECT_EQ(traced, 2) << "the first trace is still there";
  EXPECT_NE(f.trace_report().find("2. rate: was 0.5, now 0.25"), std::string::npos)
      << f.trace_report();
}

TEST(Bound, IsAPlainValueInTheCode) {
  Bound<int> steps = 2;
  Bound<bool> negate = false;
  Bound<std::string> mode(std::string("sum"));
  auto f = function([=](Tensor x) {  // copies are the same place
    Tensor y = x;
    for (int i = 0; i < steps; ++i) y = y * 2;
    if (negate) y = -y;
    return mode.get() == "sum" ? reduce_sum(y) : reduce_max(y);
  });
  Tensor x = constant({1.f, 3.f});
  EXPECT_EQ(number(f(x)), 16);
  steps = 3;
  EXPECT_EQ(number(f(x)), 32);
  negate = true;
  EXPECT_EQ(number(f(x)), -32);
  mode = "max";
  EXPECT_EQ(number(f(x)), -8);
  EXPECT_EQ(steps + 1, 4);
  EXPECT_TRUE(steps < 5 && negate);
}

TEST(Bound, NumbersTakeTheDTypeBesideThem) {
  Bound<double> factor = 1.5;
  Bound<int> shift = 3;
  EXPECT_EQ((constant({2.f}) * factor).dtype(), DType::kFloat32);
  EXPECT_EQ((factor * constant({2.f})).item<float>(), 3.f);
  EXPECT_EQ((constant({2.f}) + shift).item<float>(), 5.f);
  EXPECT_EQ(nn::relu(shift).item<int>(), 3);
}

TEST(Bound, TensorsNeedNoOtherTrace) {
  Bound<Tensor> mask = constant({1.f, 0.f});
  int traced = 0;
  auto f = function([&](Tensor x) {
    ++traced;
    return reduce_sum(x * mask);
  });
  Tensor x = constant({3.f, 5.f});
  EXPECT_EQ(number(f(x)), 3);
  mask = constant({0.f, 1.f});
  EXPECT_EQ(number(f(x)), 5);
  EXPECT_EQ(traced, 1);
  mask = constant(2.f);  // another shape
  EXPECT_EQ(number(f(x)), 16);
  EXPECT_EQ(traced, 2);
}

TEST(Bound, StructsAreOneValue) {
  struct Settings {
    double rate = 1;
    std::vector<int> powers;
  };
  Bound<Settings> settings = Settings{2, {}};
  auto f = function([&](Tensor x) {
    Settings now = settings;
    Tensor y = x * now.rate;
    for (int p : now.powers) y = y * p;
    return y;
  });
  EXPECT_EQ(number(f(one(3))), 6);
  settings = Settings{2, {5}};
  EXPECT_EQ(number(f(one(3))), 30);
  EXPECT_EQ(f.traces(), 2u);
}

TEST(Bound, IsReadInBranchesAndByFunctionsInside) {
  Bound<float> low = 1, high = 10;
  auto inner = function([&](Tensor x) { return x + high; });
  auto outer = function(
      [&](Tensor x) { return cond(x > 0, [&] { return x * low; }, [&] { return inner(x); }); });
  EXPECT_EQ(number(outer(one(2))), 2);
  low = 3;
  EXPECT_EQ(number(outer(one(2))), 6);
  EXPECT_EQ(number(outer(one(-2))), 8);
  high = 20;
  EXPECT_EQ(number(outer(one(-2))), 18);
}

TEST(Bound, IsNotAssignedWhileCodeIsTraced) {
  Bound<int> calls = 0;
  auto f = function([&](Tensor x) {
    calls = calls + 1;
    return x;
  });
  EXPECT_EQ(refused([&] { f(one(1)); }), Code::E1105);
  EXPECT_EQ(calls, 0);
}

TEST(TraceReport, NamesWhatWasFrozen) {
  Tensor table = constant({1.f, 2.f, 3.f});
  const int line = __LINE__ - 1;
  Variable v(constant(1.f));
  Bound<Tensor> bound = constant({5.f, 5.f, 5.f});
  auto f = function([&](Tensor x) {
    Tensor made_inside = constant({7.f, 8.f, 9.f});
    return cond(
        reduce_sum(x) > 0, [&] { return x * table + v + bound; }, [&] { return made_inside * 2; });
  });
  f(ones({3}));
  std::string place = "float32[3] of tests/exec/bound_test.cpp:" + std::to_string(line);
  std::string report = f.trace_report();
  EXPECT_NE(report.find("1. first call; frozen "), std::string::npos) << report;
  EXPECT_NE(report.find("bound_test.cpp:" + std::to_string(line)), std::string::npos) << report;
  EXPECT_EQ(report.find("bound_test.cpp:" + std::to_string(line + 2)), std::string::npos) << report;
  EXPECT_EQ(report.find("bound_test.cpp:" + std::to_string(line + 3)), std::string::npos) << report;
  EXPECT_EQ(report.find(", float32"), std::string::npos) << "nothing else was: " << report;

  auto clean = function([](Tensor x) { return x * 2 + 1; });
  clean(ones({3}));
  EXPECT_EQ(clean.trace_report().find("frozen"), std::string::npos) << clean.trace_report();
}

}  // namespace
}  // namespace holdfast
