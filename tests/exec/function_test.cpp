#include <gtest/gtest.h>

#include <thread>

#include "holdfast/graph/trace.h"
#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }

TEST(Function, ComputesWhatTheCodeDoes) {
  int traced = 0;
  auto f = function([&](Tensor x, Tensor y) {
    ++traced;
    return x * y + 1;
  });
  EXPECT_EQ(number(f(Tensor::scalar(2.f), Tensor::scalar(3.f))), 7);
  EXPECT_EQ(number(f(Tensor::scalar(4.f), Tensor::scalar(5.f))), 21);
  EXPECT_EQ(traced, 1);
  f(Tensor::of({1.f, 2.f}), Tensor::scalar(1.f));
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(f.traces(), 2u);
}

TEST(Function, LeavesSizesOpenThatChangeWhereThatIsAskedFor) {
  int traced = 0;
  auto f = function(
      [&](Tensor x) {
        ++traced;
        return reduce_sum(x * 2);
      },
      {.name = "total", .reduce_retracing = true});
  EXPECT_EQ(number(f(zeros({2, 3}) + 1)), 12);
  EXPECT_EQ(number(f(zeros({4, 3}) + 1)), 24);
  for (int64_t rows = 5; rows < 9; ++rows)
    EXPECT_EQ(number(f(zeros({rows, 3}) + 1)), static_cast<float>(rows * 6));
  EXPECT_EQ(traced, 2);
  EXPECT_EQ(number(f(zeros({2, 5}) + 1)), 20);  // the other size changes for the first time
  EXPECT_EQ(number(f(zeros({7, 6}) + 1)), 84);
  EXPECT_EQ(traced, 3);
  std::string report = f.trace_report();
  EXPECT_NE(report.find("total: 3 traces\n  1. first call"), std::string::npos) << report;
  EXPECT_NE(
      report.find(
          "2. argument 1: was float32[2,3], now float32[4,3]; relaxed argument 1 dimension 0"),
      std::string::npos)
      << report;
}

TEST(Function, TracesForEachShapeOtherwiseAndSaysSo) {
  auto f = function([](Tensor x, Tensor y) { return x + y; });
  Tensor one = Tensor::scalar(1.f);
  for (int64_t n = 1; n < 5; ++n) f(zeros({n}), one);
  EXPECT_EQ(f.traces(), 4u);
  f(Tensor::scalar(1), Tensor::scalar(2));
  EXPECT_NE(f.trace_report().find("5. argument 1: was float32[4], now int32[]"), std::string::npos)
      << f.trace_report();
}

TEST(Function, ServesAnySizeOfASignatureThatLeavesItOpen) {
  int traced = 0;
  auto f = function([&](Tensor x) {
    ++traced;
    return x + 1;
  });
  f.concrete({{float32, Shape::of_rank(1)}});
  EXPECT_EQ(f(zeros({3})).dim(0), 3);
  EXPECT_EQ(f(zeros({7})).dim(0), 7);
  EXPECT_EQ(traced, 1);
}

TEST(Function, GivesAllThatTheCodeReturns) {
  auto pair = function([](Tensor x) { return std::tuple(x + 1, x * 2); });
  auto [a, b] = pair(Tensor::scalar(3.f));
  EXPECT_EQ(number(a), 4);
  EXPECT_EQ(number(b), 6);
  auto list = function([](Tensor x) { return std::vector<Tensor>{x, x}; });
  EXPECT_EQ(list(Tensor::scalar(1.f)).size(), 2u);
}

TEST(Function, SeesVariablesAsTheyAreAtEachCall) {
  Variable v(2.f);
  auto f = function([&](Tensor x) {
    v.assign_add(1.f);
    return v.read() * x;
  });
  EXPECT_EQ(number(f(Tensor::scalar(1.f))), 3);
  EXPECT_EQ(number(f(Tensor::scalar(1.f))), 4);
  v.assign(10.f);
  EXPECT_EQ(number(f(Tensor::scalar(2.f))), 22);
}

TEST(Function, HasGradientsOfAnyOrder) {
  Variable v(3.f);
  auto f = function([&](Tensor x) { return x * x * x * v; });
  Tensor x = Tensor::scalar(2.f);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    Tensor y = f(x);
    auto both = inner.gradients({y}, {x, v});
    first = both[0].tensor();
    EXPECT_EQ(number(both[1].tensor()), 8);
  }
  EXPECT_EQ(number(first), 36);
  EXPECT_EQ(number(outer.gradient(first, x)), 36);
}

TEST(Function, InsideAnotherJoinsItsGraph) {
  auto inner = function([](Tensor x) { return x * 2; });
  auto outer = function([&](Tensor x) { return inner(x) + inner(x + 1); });
  EXPECT_EQ(number(outer(Tensor::scalar(1.f))), 6);
  EXPECT_EQ(inner.traces(), 0u);
}

TEST(Function, AgreesWithItselfOnManyThreads) {
  auto f = function([](Tensor x) {
    Tensor y = x;
    for (int i = 0; i < 20; ++i) y = sin(y) + x;
    return y;
  });
  std::vector<Tensor> inputs;
  std::vector<float> serial, parallel(32);
  for (int i = 0; i < 32; ++i) {
    inputs.push_back(Tensor::scalar(0.1f * static_cast<float>(i)));
    serial.push_back(number(f(inputs.back())));
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 32; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) parallel[i] = number(f(inputs[i]));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(parallel, serial);
}

TEST(Function, ASymbolThatLeftItsTraceHasTheValueOfTheFirstCallUntilTheNext) {
  Tensor kept;
  auto f = function([&](Tensor x) {
    if (!kept.defined()) kept = x * 2;
    return x + 1;
  });
  EXPECT_EQ(number(f(Tensor::scalar(3.f))), 4);
  EXPECT_EQ(number(kept), 6);
  EXPECT_EQ(number(kept + 1), 7);
  f(Tensor::scalar(5.f));
  EXPECT_THROW(number(kept), Error);
}

TEST(Function, ASymbolThatLeftItsTraceSaysSo) {
  Tensor kept;
  auto f = function(
      [&](Tensor x) {
        kept = x * 2;
        return x;
      },
      {.name = "leaky"});
  f(Tensor::scalar(1.f));
  f(Tensor::scalar(1.f));
  try {
    kept + 1;
    FAIL() << "a symbol without a value was used";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E0101);
    std::string text = e.what();
    EXPECT_NE(text.find("leaky"), std::string::npos) << text;
    EXPECT_NE(text.find("function_test.cpp"), std::string::npos) << text;
  }
}

TEST(Function, ReadingASymbolWhileTracingIsRefused) {
  auto f = function([](Tensor x) {
    (x * 2).item<float>();
    return x;
  });
  EXPECT_THROW(f(Tensor::scalar(1.f)), Error);
}

TEST(Function, FreesItsGraphWithItsLastCopy) {
  int64_t before = cpu()->memory().live;
  {
    Tensor big = zeros({1000, 1000});
    auto f = function([big](Tensor x) { return x + big; });
    f(Tensor::scalar(1.f));
  }
  EXPECT_EQ(cpu()->memory().live, before);
}

// -- control flow

TEST(Control, BranchesInAGraphChooseAtEachCall) {
  auto f = function([](Tensor x) {
    return cond(greater(x, 0.f), [&] { return Tensors{x * 2}; }, [&] { return Tensors{x - 1}; })[0];
  });
  EXPECT_EQ(number(f(Tensor::scalar(3.f))), 6);
  EXPECT_EQ(number(f(Tensor::scalar(-3.f))), -4);
}

TEST(Control, LoopsRunAsOftenAsTheirConditionHolds) {
  auto power = function([](Tensor x, Tensor n) {
    Tensor start[] = {Tensor::scalar(0), Tensor::scalar(1.f)};
    return while_loop([&](std::span<const Tensor> v) -> Tensors { return {less(v[0], n)}; },
                      [&](std::span<const Tensor> v) -> Tensors { return {v[0] + 1, v[1] * x}; },
                      start)[1];
  });
  EXPECT_EQ(number(power(Tensor::scalar(2.f), Tensor::scalar(5))), 32);
  EXPECT_EQ(number(power(Tensor::scalar(2.f), Tensor::scalar(0))), 1);
  Tensor x = Tensor::scalar(3.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = power(x, Tensor::scalar(3));
  EXPECT_EQ(number(tape.gradient(y, x)), 27);
}

TEST(Control, ALoopStopsAtItsMaximum) {
  auto f = function([](Tensor x) {
    Tensor start[] = {x};
    return while_loop([](std::span<const Tensor>) -> Tensors { return {Tensor::scalar(true)}; },
                      [](std::span<const Tensor> v) -> Tensors { return {v[0] + 1}; }, start,
                      {.maximum_iterations = 4})[0];
  });
  EXPECT_EQ(number(f(Tensor::scalar(1.f))), 5);
}

TEST(Control, ADimensionThatChangesIsWidened) {
  auto f = function([](Tensor n) {
    Tensor start[] = {Tensor::scalar(0), zeros({0})};
    return while_loop([&](std::span<const Tensor> v) -> Tensors { return {less(v[0], n)}; },
                      [](std::span<const Tensor> v) -> Tensors {
                        return {v[0] + 1, concat({v[1], ones({1})}, 0)};
                      },
                      start)[1];
  });
  EXPECT_EQ(f(Tensor::scalar(3)).dim(0), 3);
}

TEST(Control, BranchesOfTwoDtypesAreRefused) {
  auto f = function([](Tensor x) {
    return cond(
        greater(x, 0.f), [] { return Tensors{Tensor::scalar(1)}; },
        [] { return Tensors{Tensor::scalar(1.f)}; })[0];
  });
  try {
    f(Tensor::scalar(1.f));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E0902);
  }
}

TEST(Functional, RowsAndChoices) {
  Tensor x = Tensor::of<float>(std::vector<float>{1, 2, 3, 4, 5, 6}, Shape{3, 2});
  auto sum = [](const Tensor& a, const Tensor& row) { return a + row; };
  for (bool traced : {false, true}) {
    auto run = [&](const std::function<Tensor(Tensor)>& f) {
      return traced ? function([f](Tensor t) { return f(t); })(x) : f(x);
    };
    EXPECT_EQ(run([](Tensor t) {
                return map_fn([](const Tensor& row) { return row * 2; }, t);
              }).to_vector<float>(),
              (std::vector<float>{2, 4, 6, 8, 10, 12}));
    EXPECT_EQ(run([&](Tensor t) { return foldl(sum, t); }).to_vector<float>(),
              (std::vector<float>{9, 12}));
    EXPECT_EQ(run([&](Tensor t) { return foldr(sum, t); }).to_vector<float>(),
              (std::vector<float>{9, 12}));
    EXPECT_EQ(run([&](Tensor t) { return scan(sum, t); }).to_vector<float>(),
              (std::vector<float>{1, 2, 4, 6, 9, 12}));
  }
  auto pick = function([](Tensor i) {
    return switch_case(
        i, {[] { return Tensors{Tensor::scalar(10)}; }, [] { return Tensors{Tensor::scalar(20)}; },
            [] { return Tensors{Tensor::scalar(-1)}; }})[0];
  });
  EXPECT_EQ(pick(Tensor::scalar(1)).item<int32_t>(), 20);
  EXPECT_EQ(pick(Tensor::scalar(7)).item<int32_t>(), -1);
}

TEST(Lists, AreValues) {
  Tensor a = list_reserve({float32, Shape{}}, 2);
  Tensor b = list_set(a, 0, Tensor::scalar(5.f));
  EXPECT_EQ(list_stack(b, {float32, Shape{}}).to_vector<float>(), (std::vector<float>{5, 0}));
  EXPECT_EQ(list_stack(a, {float32, Shape{}}).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_THROW(list_get(b, 7, {float32, Shape{}}), Error);
}

}  // namespace
}  // namespace holdfast
