// Code with a gradient of its own, and code that computes again what its gradient needs.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include "tests/refused.h"

namespace holdfast {
namespace {

float number(const Tensor& t) { return t.item<float>(); }
std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

auto log1pexp() {
  return custom_gradient([](Tensor x) {
    Tensor e = exp(x);
    return std::pair(log(1 + e), [=](Tensor dy) { return dy * (1 - 1 / (1 + e)); });
  });
}

TEST(CustomGradient, StandsForWhatTheCodeWouldHaveGiven) {
  auto f = log1pexp();
  Tensor x = constant(100.f);  // where exp(x) / (1 + exp(x)) is NaN
  GradientTape tape;
  tape.watch(x);
  EXPECT_FLOAT_EQ(number(tape.gradient(f(x), x)), 1.f);
}

TEST(CustomGradient, IsPartOfAChain) {
  auto triple = custom_gradient(
      [](Tensor x) { return std::pair(x * 2, [](Tensor dy) { return dy * 3; }); }, "triple");
  Variable v(constant({1.f, 2.f}));
  {
    GradientTape tape;
    Tensor y = reduce_sum(square(triple(v * 5)));
    EXPECT_EQ(floats(tape.gradient(y, v)), (std::vector<float>{300, 600}));  // 2 * 10 v * 3 * 5
  }
  auto traced = function([&](Tensor x) { return reduce_sum(square(triple(x * 5))); });
  for (int i = 0; i < 2; ++i) {
    GradientTape tape;
    EXPECT_EQ(floats(tape.gradient(traced(v), v)), (std::vector<float>{300, 600}));
  }
  EXPECT_EQ(traced.traces(), 1u);
  auto inside = function([&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(triple(x), x);
  });
  EXPECT_EQ(floats(inside(constant({1.f, 2.f}))), (std::vector<float>{3, 3}));
}

TEST(CustomGradient, OfSeveralArgumentsAndResults) {
  struct Both {
    Tensor sum, product;
  };
  auto f = custom_gradient([](Tensor a, Tensor b) {
    return std::pair(Both{a + b, a * b}, [=](const Both& dy) {
      return std::pair(dy.sum + dy.product * b, Tensor());  // b is to have none
    });
  });
  Tensor a = constant(3.f), b = constant(4.f);
  GradientTape tape({.persistent = true});
  tape.watch(a);
  tape.watch(b);
  Both both = f(a, b);
  EXPECT_EQ(number(both.sum), 7.f);
  EXPECT_EQ(number(tape.gradient(both.product, a)), 4.f);
  EXPECT_EQ(number(tape.gradient(both.sum, a)), 1.f) << "no gradient of the other is zero";

  auto parts = custom_gradient([](Tensor x) {
    return std::pair(std::pair(x, -x), [](Tensor d1, Tensor d2) { return d1 * 10 + d2; });
  });
  auto [same, minus] = parts(a);
  EXPECT_EQ(number(tape.gradient(same, a)), 10.f) << "an argument that is handed through";
  EXPECT_EQ(number(tape.gradient(minus, a)), 1.f);
}

TEST(CustomGradient, PlainValuesHaveNone) {
  auto scaled = custom_gradient([](Tensor x, int times, const std::vector<Tensor>& others) {
    Tensor y = x * times;
    for (const Tensor& o : others) y = y + o;
    size_t n = others.size();
    return std::pair(
        y, [=](Tensor dy) { return std::pair(dy * 100, std::vector<Tensor>(n, dy * 7)); });
  });
  Tensor x = constant(1.f), o = constant(2.f);
  GradientTape tape;
  tape.watch(x);
  tape.watch(o);
  Tensor y = scaled(x, 3, {o, o});
  EXPECT_EQ(number(y), 7.f);
  auto [dx, d_o] = tape.gradient(y, x, o);
  EXPECT_EQ(number(dx), 100.f);
  EXPECT_EQ(number(d_o), 14.f);
}

TEST(CustomGradient, OfVariables) {
  Variable w(constant(2.f), {.name = "w"});
  auto reads = custom_gradient([&](Tensor x) {
    return std::pair(x * w, [=](Tensor dy, const std::vector<Variable>& variables) {
      EXPECT_EQ(variables.size(), 1u);
      return std::pair(dy * 10, std::vector<Tensor>{dy * 20});
    });
  });
  Tensor x = constant(3.f);
  {
    GradientTape tape;
    tape.watch(x);
    auto [dx, dw] = tape.gradient(reads(x), x, w);
    EXPECT_EQ(number(dx), 10.f);
    EXPECT_EQ(number(dw), 20.f);
  }
  auto given = custom_gradient([](Variable v, Tensor t) {
    return std::pair(v * t, [](Tensor dy) { return std::pair(dy * 5, dy * 6); });
  });
  GradientTape tape;
  tape.watch(x);
  auto [dw, dx] = tape.gradient(given(w, x), w, x);
  EXPECT_EQ(number(dw), 5.f);
  EXPECT_EQ(number(dx), 6.f);

  auto forgets = custom_gradient(
      [&](Tensor t) { return std::pair(t * w, [](Tensor dy) { return dy; }); }, "forgets");
  try {
    forgets(x);
    FAIL() << "expected a refusal";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::E1104);
    EXPECT_NE(std::string(e.what()).find("`w`"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("const std::vector<Variable>&"), std::string::npos);
  }
}

TEST(CustomGradient, OfAnotherNumberIsRefused) {
  auto f = custom_gradient(
      [](Tensor a, Tensor b) { return std::pair(a * b, [](Tensor dy) { return dy; }); });
  Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = f(x, x);
  EXPECT_EQ(refused([&] { tape.gradient(y, x); }), Code::E1104);
  EXPECT_EQ(refused([&] { f(Tensor(), x); }), Code::E1104);
}

TEST(CustomGradient, IsDifferentiatedAgain) {
  auto cube = custom_gradient(
      [](Tensor x) { return std::pair(x * x * x, [=](Tensor dy) { return dy * 3 * x * x; }); });
  Tensor x = constant(2.f);
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape inner;
    inner.watch(x);
    first = inner.gradient(cube(x), x);
  }
  EXPECT_EQ(number(first), 12.f);
  EXPECT_EQ(number(outer.gradient(first, x)), 12.f);
}

TEST(CustomGradient, ResultsAreBornAtTheCall) {
  auto f = log1pexp();
  Tensor y = f(constant(1.f));
  EXPECT_EQ(locate(y.born()).line, __LINE__ - 1);
}

TEST(RecomputeGrad, GivesTheSameAndRunsTheCodeAgain) {
  Variable w(constant({2.f, 3.f}));
  int runs = 0;
  auto f = recompute_grad([&](const Tensor& x, float rate) {
    ++runs;
    Tensor h = tanh(x * w) * rate;
    return std::pair(reduce_sum(h * h), h);
  });
  auto plain = [&](const Tensor& x) {
    Tensor h = tanh(x * w) * 2.f;
    return reduce_sum(h * h) + reduce_sum(h);
  };
  Tensor x = constant({0.1f, -0.2f});
  std::vector<float> expected[2], found[2];
  {
    GradientTape tape;
    tape.watch(x);
    auto [dx, dw] = tape.gradient(plain(x), x, w);
    expected[0] = floats(dx), expected[1] = floats(dw);
  }
  {
    GradientTape tape;
    tape.watch(x);
    auto [a, b] = f(x, 2.f);
    EXPECT_EQ(runs, 1);
    auto [dx, dw] = tape.gradient(a + reduce_sum(b), x, w);
    EXPECT_EQ(runs, 2);
    found[0] = floats(dx), found[1] = floats(dw);
  }
  for (int k = 0; k < 2; ++k)
    for (size_t i = 0; i < 2; ++i) EXPECT_FLOAT_EQ(found[k][i], expected[k][i]);

  auto traced = function([&](Tensor t) {
    auto [a, b] = f(t, 2.f);
    return a + reduce_sum(b);
  });
  GradientTape tape;
  tape.watch(x);
  auto [dx, dw] = tape.gradient(traced(x), x, w);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_FLOAT_EQ(floats(dx)[i], expected[0][i]);
    EXPECT_FLOAT_EQ(floats(dw)[i], expected[1][i]);
  }
}

TEST(RecomputeGrad, TakesWhatHasNoGradient) {
  auto f = recompute_grad([](Tensor table, Tensor rows) { return gather(table, rows); });
  Variable v(constant({1.f, 2.f, 3.f}));
  GradientTape tape;
  Tensor y = reduce_sum(f(v, constant({2, 2, 0})));
  EXPECT_EQ(number(y), 7.f);
  EXPECT_EQ(floats(tape.gradient(y, v)), (std::vector<float>{1, 0, 2}));
}

}  // namespace
}  // namespace holdfast
