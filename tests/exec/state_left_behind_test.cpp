// What traced C++ code leaves behind: attributes of modules, and Variables that it makes.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "holdfast/graph/trace.h"
#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }
Tensor one(float v) { return Tensor::scalar(v); }

template <class F>
std::string refusal(Code code, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}
void has(const std::string& text, const char* part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

struct Cell : Module {
  Cell() : Module("cell") {}
  TensorAttribute h = attribute("h", Tensor::scalar(0.f)), seen = attribute("seen");
  Variable total = variable("total", 0.f);

  Tensor operator()(const Tensor& x) {
    h = h * 0.5f + x;
    seen = x * 2;
    total.assign_add(x);
    return h + 1;
  }
};

TEST(StateLeftBehind, EachCallReadsAndAssignsAttributes) {
  Cell cell, plain;
  int traced = 0;
  auto step = function([&](Tensor x) {
    ++traced;
    return cell(x);
  });
  for (float x : {1.f, 2.f, 3.f, 4.f}) {
    EXPECT_EQ(number(step(one(x))), number(plain(one(x))));
    EXPECT_EQ(number(cell.h), number(plain.h));
    EXPECT_EQ(number(cell.seen), 2 * x);
    EXPECT_FALSE(cell.h.read().is_symbolic());
  }
  EXPECT_EQ(number(cell.total), 10);
  EXPECT_EQ(traced, 1);
  cell.h = 100.f;
  EXPECT_EQ(number(step(one(1.f))), 52);
  EXPECT_EQ(traced, 1);
}

TEST(StateLeftBehind, CodeReadsWhatItAssigned) {
  TensorAttribute a("a"), b("b");
  auto f = function([&](Tensor x) {
    a = x + 1;
    b = a * 10;
    a = a + b;
    return std::tuple(a.read(), b.read());
  });
  for (float x : {1.f, 5.f}) {
    auto [first, second] = f(one(x));
    EXPECT_EQ(number(first), (x + 1) * 11);
    EXPECT_EQ(number(a), (x + 1) * 11);
    EXPECT_EQ(number(b), number(second));
  }
}

TEST(StateLeftBehind, AnEmptyAttributeIsFilledOnce) {
  TensorAttribute mean("mean");
  int traced = 0;
  auto f = function([&](Tensor x) {
    ++traced;
    mean = mean ? (mean + x) / 2 : x;
    return x;
  });
  f(one(4.f));
  EXPECT_EQ(number(mean), 4);
  f(one(8.f));
  EXPECT_EQ(number(mean), 6);
  f(one(2.f));
  EXPECT_EQ(number(mean), 4);
  EXPECT_EQ(traced, 2);  // for an empty one, and for a full one
  has(f.trace_report(), "2. attribute mean: was empty, now float32[]");
  mean.reset();
  f(one(7.f));
  EXPECT_EQ(number(mean), 7);
  EXPECT_EQ(traced, 2);
}

TEST(StateLeftBehind, AnotherShapeIsTracedForAndTheFirstIsServedAgain) {
  TensorAttribute h("h", zeros({2}));
  int traced = 0;
  auto f = function([&](Tensor x) {
    ++traced;
    return reduce_sum(h * x);
  });
  EXPECT_EQ(number(f(one(1.f))), 0);
  h = Tensor::of({1.f, 2.f, 3.f});
  EXPECT_EQ(number(f(one(2.f))), 12);
  has(f.trace_report(), "2. attribute h: was float32[2], now float32[3]");
  h = Tensor::of({1.f, 1.f});
  EXPECT_EQ(number(f(one(2.f))), 4);
  EXPECT_EQ(traced, 2);
}

TEST(StateLeftBehind, TwoAttributesWithOneTensorStayTwo) {
  Tensor same = one(3.f);
  TensorAttribute a("a", same), b("b", same);
  auto f = function([&](Tensor x) { return a * x + b; });
  EXPECT_EQ(number(f(one(2.f))), 9);
  a = 5.f;
  EXPECT_EQ(number(f(one(2.f))), 13);
  b = 0.f;
  EXPECT_EQ(number(f(one(2.f))), 10);
}

TEST(StateLeftBehind, CopiesOfAModuleShareIt) {
  Cell cell;
  Cell again = cell;
  auto f = function([cell](Tensor x) mutable { return cell(x); });
  f(one(6.f));
  EXPECT_EQ(number(again.h), 6);
  EXPECT_EQ(again.h.name(), "cell/h");
}

TEST(StateLeftBehind, GradientsFlowThroughAttributes) {
  TensorAttribute h("h", one(2.f));
  auto f = function([&](Tensor x) {
    Tensor y = h * x * x;
    h = y;
    return y;
  });
  Tensor x = one(3.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = f(f(x));          // h x^2 = 18, then 18 * 18^2
  EXPECT_EQ(number(y), 5832);  // 8 x^6
  EXPECT_EQ(number(tape.gradient(y, x)), 48 * 243);
}

TEST(StateLeftBehind, AFailedTraceLeavesAttributesAsTheyWere) {
  TensorAttribute h("h", one(1.f));
  bool fails = true;
  auto f = function([&](Tensor x) {
    h = x * 3;
    if (fails) throw std::runtime_error("no");
    return x;
  });
  EXPECT_THROW(f(one(2.f)), std::runtime_error);
  EXPECT_EQ(number(h), 1);
  fails = false;
  f(one(2.f));
  EXPECT_EQ(number(h), 6);
}

TEST(StateLeftBehind, AFunctionInsideAnotherLeavesItBehindToo) {
  Cell cell;
  auto inner = function([&](Tensor x) { return cell(x); });
  auto outer = function([&](Tensor x) {
    Tensor first = inner(x);
    return first + inner(x * 2);
  });
  outer(one(1.f));
  EXPECT_EQ(number(cell.h), 2.5f);
  outer(one(1.f));
  EXPECT_EQ(number(cell.h), 3.125f);
  EXPECT_EQ(number(cell.seen), 4);
}

TEST(StateLeftBehind, AConcreteFunctionDoesTheSame) {
  Cell cell;
  auto f = function([&](Tensor x) { return cell(x); });
  auto traced = f.concrete({{float32, Shape{}}});
  Tensor x = one(2.f);
  EXPECT_EQ(traced->call_as_traced({&x, 1}).size(), 1u);
  EXPECT_EQ(number(cell.h), 2);
  cell.h = zeros({3});
  has(refusal(Code::E1103, [&] { traced->call_as_traced({&x, 1}); }), "other dtypes or shapes");
}

TEST(StateLeftBehind, ABranchReadsAnAttributeAndMayNotAssignIt) {
  TensorAttribute h("net/h", one(2.f));
  auto reads = function([&](Tensor x) {
    return cond(greater(x, 0.f), [&] { return Tensors{x * h}; }, [&] { return Tensors{x - h}; })[0];
  });
  EXPECT_EQ(number(reads(one(3.f))), 6);
  h = 10.f;
  EXPECT_EQ(number(reads(one(3.f))), 30);
  EXPECT_EQ(number(reads(one(-3.f))), -13);
  auto assigns = function([&](Tensor x) {
    return cond(greater(x, 0.f), [&] { return h = x, Tensors{x}; }, [&] { return Tensors{x}; })[0];
  });
  std::string text = refusal(Code::E0104, [&] { assigns(one(1.f)); });
  has(text, "`net/h` is assigned inside a branch");
  EXPECT_EQ(text.find("with "), std::string::npos) << text;  // no word of Python
  EXPECT_EQ(number(h), 10);
}

TEST(StateLeftBehind, ItsNumbersAreNotReadWhileTracing) {
  TensorAttribute h("h", one(2.f));
  auto f = function([&](Tensor x) { return x * h.read().item<float>(); });
  EXPECT_THROW(f(one(1.f)), Error);  // they would be frozen
}

TEST(StateLeftBehind, GraphsByHandDoNotAssignIt) {
  TensorAttribute h("h", one(2.f));
  auto graph = make_graph("g");
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, Shape{});
  has(refusal(Code::E1105, [&] { h = x; }), "a Variable");
}

TEST(StateLeftBehind, ThreadsCallWhileAttributesChange) {
  TensorAttribute h("h", zeros({1}));
  auto f = function([&](Tensor x) {
    Tensor was = h;
    h = was + x * 0;
    return reduce_sum(was * 0) + reduce_sum(x);
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 100; ++i) {
        if (k == 0) h = zeros({1 + i % 3});
        if (number(f(one(2.f))) != 2) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// -- variables that traced code makes

TEST(VariablesMadeWhileTracing, OneThatStaysIsMadeOnce) {
  std::optional<Variable> count;
  int traced = 0;
  auto f = function([&](Tensor x) {
    ++traced;
    if (!count) count.emplace(Variable(x * 10, {.name = "count"}));
    count->assign_add(reduce_sum(x));
    return count->read();
  });
  EXPECT_EQ(number(f(one(1.f))), 11);
  EXPECT_EQ(number(f(one(2.f))), 13);
  EXPECT_EQ(number(*count), 13);
  EXPECT_EQ(traced, 2);  // the second found it there
  EXPECT_EQ(number(f(Tensor::of({1.f}))), 14);
}

TEST(VariablesMadeWhileTracing, OneOfAModuleStays) {
  struct Lazy : Module {
    Lazy() : Module("lazy") {}
    Variable w;
    Tensor operator()(const Tensor& x) {
      if (!w.defined()) w = variable("w", zeros(x.shape()) + 3);
      return x * w;
    }
  } lazy;
  auto f = function([&](Tensor x) { return lazy(x); });
  EXPECT_EQ(f(Tensor::of({1.f, 2.f})).to_vector<float>(), (std::vector<float>{3, 6}));
  lazy.w.assign(Tensor::of({1.f, 5.f}));
  EXPECT_EQ(f(Tensor::of({1.f, 2.f})).to_vector<float>(), (std::vector<float>{1, 10}));
  ASSERT_EQ(lazy.variables().size(), 1u);
  EXPECT_EQ(lazy.w.name(), "lazy/w");
}

TEST(VariablesMadeWhileTracing, ALocalOneBeginsAnewAtEachCall) {
  auto f = function([](Tensor x) {
    Variable sum(x, {.name = "sum"});
    for (int i = 0; i < 3; ++i) sum.assign_add(1.f);
    return sum.read();
  });
  EXPECT_EQ(number(f(one(1.f))), 4);
  EXPECT_EQ(number(f(one(1.f))), 4);
  EXPECT_EQ(number(f(one(10.f))), 13);
}

TEST(VariablesMadeWhileTracing, ALocalOneHasTheShapeOfItsArgument) {
  auto f = function([](Tensor x, const std::pair<Tensor, int>& more) {
    Variable rows(zeros_like(x));
    rows[0] = more.first;
    rows(-1) = x[0] * more.second;
    return rows.read();
  });
  Tensor y = f(ones({3, 2}), {constant({7.f, 8.f}), 5});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{7, 8, 0, 0, 5, 5}));
  EXPECT_EQ(f(ones({2, 1}), {constant({3.f}), 4}).to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST(VariablesMadeWhileTracing, OneThatIsMadeEachTimeIsRefused) {
  std::vector<Variable> all;
  auto f = function(
      [&](Tensor x) {
        all.push_back(Variable(x, {.name = "weight"}));
        return x;
      },
      {.name = "grow"});
  std::string text = refusal(Code::E0401, [&] { f(one(1.f)); });
  has(text, "`grow` makes the Variable `weight` on each call");
  has(text, "state_left_behind_test.cpp");
  has(text, "all.push_back");
  has(text, "if (!v.defined()) v = Variable(...);");
  EXPECT_EQ(f.traces(), 0u);
}

TEST(VariablesMadeWhileTracing, AnInitialValueNeedsACall) {
  Variable v;
  auto f = function([&](Tensor x) {
    if (!v.defined()) v = Variable(x);
    return x + v;
  });
  has(refusal(Code::E0401, [&] { f.concrete({{float32, Shape{}}}); }), "no value");
}

TEST(VariablesMadeWhileTracing, AnInitScopeIsOutsideOfTheTrace) {
  std::vector<Tensor> made;
  std::vector<Variable> held;
  auto f = function([&](Tensor x) {
    InitScope once;
    made.push_back(Tensor::scalar(2.f) * 3);
    held.push_back(Variable(made.back()));
    return x;
  });
  f(one(1.f));
  f(one(2.f));
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(number(made[0]), 6);
  EXPECT_EQ(number(held[0]), 6);
  auto uses = function([&](Tensor x) {
    Tensor y = x * 2;
    InitScope once;
    return y + 1;
  });
  EXPECT_THROW(uses(one(1.f)), Error);
}

TEST(VariablesMadeWhileTracing, InAGraphByHandAnInitScopeStaysInTheGraph) {
  auto graph = make_graph("g");
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, Shape{});
  InitScope once;
  EXPECT_TRUE((x + 1).is_symbolic());
  EXPECT_EQ(current_graph(), graph.get());
}

}  // namespace
}  // namespace holdfast
