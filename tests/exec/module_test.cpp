#include "holdfast/exec/module.h"

#include <gtest/gtest.h>

#include <memory>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

struct Dense : Module {
  Dense(int64_t in, int64_t out)
      : Module("dense"),
        w(variable("w", ones({in, out}))),
        b(variable("b", zeros({out}), {.trainable = false})) {}
  Tensor operator()(const Tensor& x) const { return matmul(x, w) + b; }
  Variable w, b;
};

struct Net : Module {
  explicit Net(Variable shared = Variable(1.f)) : Module("net"), scale(variable(shared)) {
    for (int i = 0; i < 2; ++i) parts.push_back(module(Dense(1, 1)));
  }
  Variable scale;
  Dense first = module(Dense(2, 3)), again = module(first);
  std::vector<Dense> parts;

  void take(const Module& m) { module(m); }
};

TEST(ModuleTest, FindsItsVariablesOnceInTheOrderTheyWereMadeKnown) {
  Net net;
  auto all = net.variables();
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0], net.scale);
  EXPECT_EQ(all[1], net.first.w);
  EXPECT_EQ(all[3], net.parts[0].w);
  EXPECT_EQ(net.trainable_variables().size(), 4u);
  EXPECT_EQ(net.non_trainable_variables()[0], net.first.b);
  EXPECT_EQ(net.submodules().size(), 3u);
  EXPECT_EQ(net.submodules()[0], net.first);
}

TEST(ModuleTest, CopiesAndMovesAreTheSameModule) {
  auto made = std::make_unique<Net>();
  Net copy = *made, moved = std::move(*made);
  EXPECT_EQ(made->variables().size(), 7u);  // what was moved from is still the module
  made.reset();
  copy.first.w.assign(ones({2, 3}) * 5);
  EXPECT_EQ(moved.variables()[1].read().to_vector<float>()[0], 5);
  EXPECT_EQ(copy, moved);
  EXPECT_FALSE(copy == Net());
}

TEST(ModuleTest, NoneHoldsItself) {
  Net net;
  try {
    net.take(net);
    FAIL() << "no error came";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E1103);
  }
  Net outer;
  outer.take(net);
  EXPECT_THROW(net.take(outer), Error);
  EXPECT_EQ(outer.submodules().size(), 7u);
}

TEST(ModuleTest, IsFreedWithItsLastCopy) {
  int64_t before = cpu()->memory().live;
  {
    Net net;
    Net copy = net;
  }
  EXPECT_EQ(cpu()->memory().live, before);
}

TEST(ModuleTest, NamesItsVariablesInItsScope) {
  NameScope outer("outer");
  Dense d(1, 1);
  EXPECT_EQ(d.name(), "dense");
  EXPECT_EQ(d.scope_name(), "outer/dense/");
  EXPECT_EQ(d.w.name(), "outer/dense/w");
  {
    NameScope in = d.name_scope();
    EXPECT_EQ(current_name_scope(), "outer/dense");
    EXPECT_EQ(Variable(1.f, {.name = "v"}).name(), "outer/dense/v");
  }
  EXPECT_EQ(current_name_scope(), "outer");
  for (const char* bad : {"", "1a", "a-b"}) EXPECT_THROW(Module{bad}, Error);
}

TEST(NameScopeTest, PrefixesNamesOfOps) {
  EXPECT_EQ(current_name_scope(), "");
  auto f = function([](Tensor x) {
    NameScope outer("outer");
    Tensor y = x * 2;
    {
      NameScope whole("top/");
      y = y + 1;
    }
    return y * 3;
  });
  std::string names;
  auto traced = f.concrete({{float32, Shape{}}});
  for (const Ref<Node>& n : traced->graph().nodes) names += n->name + " ";
  EXPECT_NE(names.find("outer/Mul "), std::string::npos) << names;
  EXPECT_NE(names.find("top/AddV2 "), std::string::npos) << names;
  EXPECT_NE(names.find("outer/Mul_1 "), std::string::npos) << names;
}

}  // namespace
}  // namespace holdfast
