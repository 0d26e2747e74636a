// What traced code sees of the program around it, and what it says when it is traced too often.
#include <gtest/gtest.h>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }
Tensor one(float v) { return Tensor::scalar(v); }

std::vector<Diagnostic>& heard() {
  static std::vector<Diagnostic> all;
  return all;
}
void hear(const Diagnostic& d, const std::string&) { heard().push_back(d); }

class FunctionCaptures : public ::testing::Test {
 protected:
  void SetUp() override {
    heard().clear();
    set_warning_sink(hear);
  }
  void TearDown() override { set_warning_sink(nullptr); }
};

TEST_F(FunctionCaptures, WatchedOnesAreNeverOld) {
  float rate = 2;
  Tensor mask = Tensor::of({1.f, 0.f});
  int traced = 0;
  auto f = function(
      [&](Tensor x) {
        ++traced;
        return reduce_sum(x * rate * mask);
      },
      rate, mask);
  Tensor x = Tensor::of({3.f, 5.f});
  EXPECT_EQ(number(f(x)), 6);
  EXPECT_EQ(number(f(x)), 6);
  EXPECT_EQ(traced, 1);
  rate = 4;
  EXPECT_EQ(number(f(x)), 12);
  mask = Tensor::of({0.f, 1.f});
  EXPECT_EQ(number(f(x)), 20);
  EXPECT_EQ(traced, 3);
  rate = 2;
  EXPECT_EQ(number(f(x)), 10);
  std::string report = f.trace_report();
  EXPECT_NE(report.find("2. capture 1: was 2, now 4"), std::string::npos) << report;
  EXPECT_NE(report.find("3. capture 2: was float32[2] number "), std::string::npos) << report;
}

TEST_F(FunctionCaptures, WatchedOnesOfEveryForm) {
  struct Settings {
    double rate = 1;
    std::string mode = "add";
    std::vector<int> powers;
  } settings;
  const int offset = 10;
  auto f = function(
      [&](auto x, int n) {
        Tensor y = settings.mode == "add" ? x + settings.rate : x * settings.rate;
        for (int p : settings.powers) y = y * p;
        return y + offset + n;
      },
      {.name = "f"}, settings, offset);
  EXPECT_EQ(number(f(one(3), 0)), 14);
  settings.powers = {2, 3};
  EXPECT_EQ(number(f(one(3), 0)), 34);
  settings.mode = "multiply";
  EXPECT_EQ(number(f(one(3), 1)), 29);
  settings.rate = 0.5;
  EXPECT_EQ(number(f(one(4), 1)), 23);
  EXPECT_EQ(f.traces(), 4u);
}

TEST_F(FunctionCaptures, WhatIsOursIsReadAtEachCall) {
  struct Net : Module {
    Net() : Module("net"), w(variable("w", one(2))) {}
    Variable w;
    TensorAttribute last = attribute("last", one(0));
    Tensor operator()(const Tensor& x) {
      Tensor y = x * w + last;
      last = x;
      return y;
    }
  } net;
  int traced = 0;
  auto f = function([&](Tensor x) {
    ++traced;
    return net(x);
  });
  EXPECT_EQ(number(f(one(3))), 6);
  EXPECT_EQ(number(f(one(4))), 11);
  net.w.assign(one(10));
  net.last = one(100);
  EXPECT_EQ(number(f(one(5))), 150);
  EXPECT_EQ(traced, 1);
}

TEST_F(FunctionCaptures, TracingAgainAndAgainWarnsAtTheCall) {
  auto f = function([](Tensor x) { return reduce_sum(x); }, {.name = "total"});
  int line = 0;
  for (int64_t n = 1; n <= 100; ++n) {
    line = __LINE__ + 1;
    EXPECT_EQ(number(f(zeros({n}) + 1)), static_cast<float>(n));
  }
  ASSERT_EQ(heard().size(), 1u);
  const Diagnostic& d = heard()[0];
  EXPECT_EQ(d.code, Code::W0601);
  EXPECT_EQ(d.headline,
            "`total` is traced again and again: argument 1 was float32[2], now float32[3]");
  EXPECT_EQ(d.labels.back().loc.line, line);
  EXPECT_NE(d.labels.back().loc.file.find("function_captures_test.cpp"), std::string::npos);
  EXPECT_NE(d.fixes[0].title.find("{.reduce_retracing = true}"), std::string::npos);
}

TEST_F(FunctionCaptures, OpenSizesServeThemAll) {
  int traced = 0;
  auto f = function(
      [&](const std::vector<Tensor>& x) {
        ++traced;
        return reduce_sum(x[0]) + reduce_sum(x[1]);
      },
      {.reduce_retracing = true});
  for (int64_t n = 1; n <= 100; ++n)
    EXPECT_EQ(number(f({zeros({n}) + 1, one(1)})), static_cast<float>(n + 1));
  EXPECT_EQ(traced, 2);
  EXPECT_TRUE(heard().empty());
  EXPECT_NE(f.trace_report().find("relaxed argument 1[0] dimension 0"), std::string::npos)
      << f.trace_report();
}

TEST_F(FunctionCaptures, AChangingNumberIsToBeATensor) {
  auto f = function([](Tensor x, int step) { return x * step; }, {.name = "train"});
  for (int step = 0; step < 20; ++step) f(one(1), step);
  ASSERT_EQ(heard().size(), 1u);
  EXPECT_EQ(heard()[0].headline, "`train` is traced again and again: argument 2 was 1, now 2");
  EXPECT_EQ(heard()[0].fixes[0].title,
            "let the code take a Tensor there: one trace serves all its values, and `train(2)` is "
            "written as before");
}

TEST_F(FunctionCaptures, ManyShapesAtManyLinesAreQuiet) {
  auto f = function([](Tensor x) { return reduce_sum(x); });
  f(zeros({1}));
  f(zeros({2}));
  f(zeros({3}));
  EXPECT_TRUE(heard().empty());
}

}  // namespace
}  // namespace holdfast
