// Plans whose values lie on more than one device. Two logical CPUs stand for two devices; what
// memory that the host can't touch does to them, `test_probe.py` tries.
#include "holdfast/passes/place.h"

#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <set>

#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/plan.h"
#include "tests/refused.h"

namespace holdfast {
namespace {

class PlaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu(1)) set_logical_cpus(2);
    set_device_policy(DevicePolicy::kSilent);
  }
  void TearDown() override { set_device_policy(DevicePolicy::kWarn); }

  static Tensor numbers(Shape shape, Device* device = cpu()) {
    Tensor n = reshape(cast(range(0, shape.size()), float32) * 0.01f, Sizes(shape.dims()));
    return copy_to(n, device);
  }
  static Variable variable(const Tensor& value, Device* device) {
    DeviceScope there(device);
    return Variable(value);
  }
  // What the plans of a function for inputs of these types say.
  template <class F>
  static std::string explained(F& f, const std::vector<Type>& types) {
    std::string all;
    f.concrete(types)->plan().for_each([&](const FastPlan& p) { all += p.explain(); });
    return all;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(PlaceTest, ACallFromAnotherDeviceIsPlannedThere) {
  auto body = [](Tensor x) { return cumsum(tanh(x * x + 1.0f) * 0.5f) - exp(-x); };
  auto f = function(body);
  Tensor x = numbers({5000}), there = copy_to(x, cpu(1));
  for (int i = 0; i < 3; ++i) {
    Tensor here = f(x), away = f(there);
    EXPECT_EQ(here.device(), cpu());
    EXPECT_EQ(away.device(), cpu(1));
    EXPECT_EQ(here.to_vector<float>(), body(x).to_vector<float>());
    EXPECT_EQ(away.to_vector<float>(), here.to_vector<float>());
  }
  std::string text = explained(f, {{float32, x.shape()}});
  EXPECT_TRUE(has(text, "on CPU:1: its operands lie there")) << text;
  EXPECT_TRUE(has(text, "fused")) << text;
  EXPECT_TRUE(has(text, "0 of them copies")) << text;
  EXPECT_FALSE(has(text, "chosen at each run")) << text;
}

TEST_F(PlaceTest, WhatLiesElsewhereIsCopiedByANode) {
  Variable w = variable(numbers({8, 4}), cpu(1));
  auto f = function([&](Tensor x) { return matmul(x, w.read()) + 1.0f; });
  Tensor x = numbers({3, 8}), want = matmul(x, copy_to(w.read(), cpu())) + 1.0f;
  for (int i = 0; i < 2; ++i) {
    Tensor y = f(x);
    EXPECT_EQ(y.device(), matmul(x, w.read()).device()) << "as without a trace";
    EXPECT_EQ(y.to_vector<float>(), want.to_vector<float>());
  }
  std::string text = explained(f, {{float32, x.shape()}});
  EXPECT_TRUE(has(text, "1 of them copies")) << text;
  EXPECT_TRUE(has(text, "CopyToDevice")) << text;
  EXPECT_TRUE(has(text, "its variable lives there")) << text;
}

TEST_F(PlaceTest, AConstantIsCopiedOnce) {
  Tensor table = numbers({64});
  auto f = function([&](Tensor x) {
    DeviceScope there(cpu(1));
    return cumsum(x + table);
  });
  Tensor x = numbers({64}, cpu(1));
  EXPECT_EQ(f(x).to_vector<float>(), cumsum(x + table).to_vector<float>());
  EXPECT_EQ(f(x).device(), cpu(1));
  EXPECT_TRUE(has(explained(f, {{float32, x.shape()}}), "asked for"));
}

TEST_F(PlaceTest, EachDeviceHasABlockOfMemory) {
  auto f = function([](Tensor x) {
    Tensor a = cumsum(cumsum(x));
    DeviceScope there(cpu(1));
    return cumsum(cumsum(a));
  });
  Tensor x = numbers({1000});
  Tensor want = cumsum(cumsum(cumsum(cumsum(x))));
  EXPECT_EQ(f(x).to_vector<float>(), want.to_vector<float>());
  EXPECT_EQ(f(x).device(), cpu(1));
  std::vector<MemoryReport> reports;
  f.concrete({{float32, x.shape()}})->plan().for_each([&](const FastPlan& p) {
    reports.push_back(p.memory());
  });
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].blocks, 2);
  std::set<std::string> devices;
  for (const PlannedBuffer& b : reports[0].buffers) devices.insert(b.device);
  EXPECT_EQ(devices, (std::set<std::string>{"", "CPU:1"}));
}

TEST_F(PlaceTest, VariablesChangeWhereTheyLive) {
  Variable v = variable(numbers({40}), cpu(1));
  auto f = function([&](Tensor x) {
    v.assign_sub(0.5f * x);
    v.assign_add(x * x);
    return reduce_sum(v.read());
  });
  Tensor x = numbers({40}, cpu(1)), now = copy_to(v.read(), cpu()), here = copy_to(x, cpu());
  for (int i = 0; i < 3; ++i) {
    now = (now - 0.5f * here) + here * here;
    EXPECT_EQ(f(x).item<float>(), reduce_sum(now).item<float>());
    EXPECT_EQ(v.read().device(), cpu(1));
    EXPECT_EQ(v.read().to_vector<float>(), now.to_vector<float>());
  }
  std::string text = explained(f, {{float32, x.shape()}});
  EXPECT_TRUE(has(text, "FusedUpdate")) << text;
}

TEST_F(PlaceTest, LoopsAndBranchesRunWhereTheirValuesLie) {
  auto loop = [](Tensor x) {
    auto [count, y] =
        while_loop([](Tensor i, Tensor) { return i < 5; },
                   [](Tensor i, Tensor v) { return std::tuple(i + 1, cumsum(v * 0.5f + 1.0f)); },
                   {constant(0), x});
    return cond(reduce_sum(y) > 0.0f, [&] { return y * 3.0f; }, [&] { return x; });
  };
  auto f = function(loop);
  Tensor x = numbers({100}), there = copy_to(x, cpu(1));
  for (int i = 0; i < 2; ++i) {
    Tensor here = f(x), away = f(there);
    EXPECT_EQ(away.device(), cpu(1));
    EXPECT_EQ(away.to_vector<float>(), here.to_vector<float>());
  }
}

TEST_F(PlaceTest, SizesThatAreNotKnownArePlacedToo) {
  auto f = function([](Tensor x) { return cumsum(exp(x) * 2.0f) + reduce_sum(x); });
  Ref<ConcreteFunction> c = f.concrete({{float32, Shape{kUnknown}}});
  for (int64_t n : {5, 5, 7, 5, 7, 7}) {
    Tensor x = numbers({n}), there = copy_to(x, cpu(1));
    Tensor here = c->call({&x, 1})[0], away = c->call({&there, 1})[0];
    EXPECT_EQ(away.device(), cpu(1));
    EXPECT_EQ(away.to_vector<float>(), here.to_vector<float>());
  }
}

TEST_F(PlaceTest, TheExplicitPolicyHoldsInPlans) {
  Variable w = variable(numbers({8}), cpu(1));
  auto f = function([&](Tensor x) {
    DeviceScope there(cpu(1));
    return x * w.read();
  });
  Tensor x = numbers({8});
  f(x);
  set_device_policy(DevicePolicy::kExplicit);
  EXPECT_EQ(refused([&] { f(x); }), Code::E0701);
  EXPECT_EQ(refused([&] { f(x); }), Code::E0701);
  f(copy_to(x, cpu(1)));
  set_device_policy(DevicePolicy::kSilent);
  f(x);
}

TEST_F(PlaceTest, StringsAndSizesStayOnTheHost) {
  auto f = function([](Tensor x) {
    Tensor sizes = shape(x);
    return std::tuple(sizes, reshape(x, sizes[1] * sizes[0]), strings::as_string(x));
  });
  Tensor x = numbers({3, 4}, cpu(1));
  auto [sizes, flat, text] = f(x);
  EXPECT_EQ(sizes.device(), cpu());
  EXPECT_EQ(flat.device(), cpu(1));
  EXPECT_EQ(text.device(), cpu());
  EXPECT_EQ(flat.shape(), (Shape{12}));
}

// A plan goes by what ops say, so that its first run is as its later ones.
TEST_F(PlaceTest, APlanIsRightTheFirstTime) {
  auto f = function([](Tensor x) {
    Tensor rows = slice(x, {1, 0}, {2, 500});
    Tensor same = cond(reduce_sum(x) > 0.0f, [&] { return rows; }, [&] { return rows; });
    return cumsum(reshape(same, {1000}) * 2.0f) + cumsum(reshape(x, {4, 500})[0])[0];
  });
  Tensor x = cumsum(numbers({4, 500}));
  Ref<ConcreteFunction> c = f.concrete({{float32, x.shape()}});
  std::string before = c->plan().fast()->memory().text();
  const FastPlan* plan = c->plan().fast();
  Tensor first = f(x);
  EXPECT_EQ(c->plan().fast()->memory().text(), before);
  EXPECT_EQ(f(x).to_vector<float>(), first.to_vector<float>());
  EXPECT_EQ(c->plan().fast(), plan) << "no second plan is made of what a run saw";
}

}  // namespace
}  // namespace holdfast
