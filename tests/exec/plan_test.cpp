#include "holdfast/exec/plan.h"

#include <gtest/gtest.h>

#include <thread>

#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/function.h"
#include "holdfast/exec/specialise.h"
#include "holdfast/expr/fused.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

int count(const Graph& g, const OpDef& op) {
  int n = 0;
  for (const Ref<Node>& node : g.nodes) n += node->op == &op;
  return n;
}

Tensor numbers(int64_t n) { return cast(range(0, n), float32) * 0.01f; }

TEST(Plan, ElementwiseOpsAreOneStepAndBitEqual) {
  auto body = [](Tensor x) { return tanh(x * x + 1.0f) * 0.5f - exp(-x); };
  auto f = function(body);
  Tensor x = numbers(5000);
  EXPECT_EQ(f(x).to_vector<float>(), body(x).to_vector<float>());
  const Plan& plan = f.concrete({{float32, x.shape()}})->plan();
  EXPECT_EQ(count(plan.graph(), fused_op()), 1);
  EXPECT_EQ(plan.steps().size(), 1u);
}

TEST(Plan, AnIdlePlanHoldsNoLargeMemory) {
  auto f = function([](Tensor x) { return cumsum(cumsum(cumsum(x))); });
  Tensor x = numbers(1 << 20);
  Tensor y = f(x);
  int64_t before = cpu()->memory().live;
  y = f(x);
  EXPECT_EQ(cpu()->memory().live, before);
}

TEST(Plan, ManyThreadsRunItAtOnce) {
  auto f = function([](Tensor x) { return cumsum(cumsum(x) * 2.0f) + 1.0f; });
  std::vector<Tensor> inputs;
  std::vector<std::vector<float>> want;
  for (int i = 0; i < 6; ++i) {
    inputs.push_back(numbers(3000) + static_cast<float>(i));
    want.push_back(f(inputs.back()).to_vector<float>());
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < inputs.size(); ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 100; ++k) wrong += f(inputs[i]).to_vector<float>() != want[i];
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Plan, RunningOutOfMemoryLeavesItWhole) {
  auto f = function([](Tensor x) { return cumsum(cumsum(x) * 2.0f); });
  Tensor x = numbers(100000);
  auto want = f(x).to_vector<float>();
  for (int n = 1; n <= 2; ++n) {
    fail_allocation(n);
    EXPECT_THROW(f(x), Error);
    fail_allocation(0);
    EXPECT_EQ(f(x).to_vector<float>(), want);
  }
}

TEST(Plan, UpdatesComeEarlyButInOrder) {
  Variable v(numbers(100));
  auto f = function([&](Tensor x) {
    Tensor before = v.read();
    v.assign_add(x * 2.0f);
    Tensor between = v.read();
    v.assign_sub(x * 3.0f);
    return concat({before, between, v.read()}, 0);
  });
  auto first = v.read().to_vector<float>();
  Tensor x = numbers(100);
  auto got = f(x).to_vector<float>(), step = x.to_vector<float>();
  for (size_t i = 0; i < 100; ++i) {
    float between = first[i] + step[i] * 2.0f;
    EXPECT_EQ(got[i], first[i]);
    EXPECT_EQ(got[100 + i], between);
    EXPECT_EQ(got[200 + i], between - step[i] * 3.0f);
  }
}

TEST(Plan, SizesThatComeAgainGetAPlanOfTheirOwn) {
  auto f = function([](Tensor x) { return reshape(cumsum(x) * 2.0f + 1.0f, {shape_of(x)}) - x; });
  const Plan& general = f.concrete({{float32, Shape{kUnknown}}})->plan();
  SizePlans plans;
  Tensor x = numbers(50), y = numbers(60);
  int made = 0;
  auto find = [&](const Tensor& t) {
    return plans.find(general.graph(), {&t, 1}, [&](Ref<Graph> g) {
      ++made;
      return Plan::compile(std::move(g));
    });
  };
  EXPECT_FALSE(find(x));
  EXPECT_FALSE(find(y));
  Ref<Plan> sized = find(x);
  ASSERT_TRUE(sized);
  for (const Step& s : sized->steps()) EXPECT_TRUE(s.types) << s.node->name;
  EXPECT_EQ(find(x).get(), sized.get());
  EXPECT_EQ(made, 1);
  Tensors of_sized, of_general;
  sized->run({&x, 1}, of_sized);
  general.run({&x, 1}, of_general);
  EXPECT_EQ(of_sized[0].to_vector<float>(), of_general[0].to_vector<float>());
}

TEST(Plan, PlansOfCertainSizesAreToldAndTimedToo) {
  auto f = function([](Tensor x) { return cumsum(cumsum(x)) * 2.0f; });
  Ref<ConcreteFunction> open = f.concrete({{float32, Shape{kUnknown}}});
  const Plan& plan = open->plan();
  plan.set_timed(true);
  Tensor x = numbers(50);
  Tensors out;
  for (int i = 0; i < 3; ++i) plan.run({&x, 1}, out);
  std::string told;
  int plans = 0;
  plan.for_each([&](const FastPlan& p) {
    ++plans;
    told += p.explain();
  });
  EXPECT_EQ(plans, 2) << told;  // the general one ran first
  EXPECT_NE(told.find("for (float32[?])"), std::string::npos) << told;
  size_t sized = told.find("for (float32[50])");
  ASSERT_NE(sized, std::string::npos) << told;
  EXPECT_NE(told.find('%', sized), std::string::npos) << "timed: " << told;
}

TEST(Plan, TellsWhatItHolds) {
  auto f = function([](Tensor x) { return cumsum(cumsum(cumsum(cumsum(x)))); });
  Tensor x = numbers(1000);
  f(x);
  MemoryReport r = f.concrete({{float32, x.shape()}})->plan().fast()->memory();
  EXPECT_EQ(r.buffers.size(), 3u);
  EXPECT_EQ(r.separate, 12000);
  EXPECT_EQ(r.most_live, 8000);
  EXPECT_EQ(r.arena, 2 * 4032);
  EXPECT_EQ(r.results, 4000);
}

}  // namespace
}  // namespace holdfast
