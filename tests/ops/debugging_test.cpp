#include "holdfast/ops/debugging.h"

#include <gtest/gtest.h>

#include <cmath>

#include "holdfast/graph/parse.h"
#include "holdfast/graph/text.h"
#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

using namespace debugging;

// The text of the error that `f` ends with.
template <class F>
std::string said(F&& f, Code code = Code::E1106) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  ADD_FAILURE() << "no error came";
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Debugging, WhatHoldsPassesInSilence) {
  Tensor a = Tensor::of({1.f, 2.f});
  assert_equal(a, Tensor::of({1.f, 2.f}));
  assert_none_equal(a, 3);
  assert_less(a, 3.0);
  assert_less_equal(a, 2);
  assert_greater(a, 0);
  assert_greater_equal(a, 1);
  assert_near(a, Tensor::of({1.f, 2.0000001f}));
  assert_positive(a);
  assert_negative(-a);
  assert_non_negative(a);
  assert_non_positive(-a);
  assert_integer(Tensor::scalar(1));
  assert_rank(a, 1);
  assert_rank_at_least(a, 0);
  assert_rank_in(a, {0, 1});
  assert_shapes({{a, {"N"}}, {reshape(a, {1, 2}), {"...", "N"}}, {a, {"."}}, {a, {2}}});
  Assert(true, {a});
  EXPECT_EQ(check_numerics(a, "m").id(), a.id());
  EXPECT_EQ(assert_scalar(Tensor::scalar(1.f)).rank(), 0);
}

TEST(Debugging, AFailureSaysWhatTheSourceCallsItWhereItWasBornAndHowManyFailed) {
  Tensor rate = Tensor::of({0.1f, -0.2f});
  std::string text = said([&] { assert_positive(rate, {.message = "rates"}); });
  EXPECT_TRUE(has(text, "error[E1106]: `assert_positive` failed: `rate[1]` is -0.2\n")) << text;
  EXPECT_TRUE(has(text, "born here: `rate`, float32[2] from Const")) << text;
  EXPECT_TRUE(has(text, "checked here")) << text;
  EXPECT_TRUE(
      has(text, "why: rates: every element of `rate` must be greater than 0, and 1 of 2 is not."))
      << text;
  EXPECT_TRUE(has(text, "debugging_test.cpp")) << text;
}

TEST(Debugging, NamesThatTheSourceDoesNotTellAreThoseOfTheArguments) {
  Tensor a = Tensor::of({1.f}), b = -a;
  EXPECT_TRUE(has(said([&] { assert_positive(a * b); }), "`x[0]` is -1.0"));
  EXPECT_TRUE(has(said([&] {
                    assert_positive(a);
                    assert_positive(b);
                  }),
                  "`x[0]` is -1.0"));
  EXPECT_TRUE(has(said([&] { assert_equal(a, b, {.message = "a, (b"}); }),
                  "`a[0]` is 1.0 and `b[0]` is -1.0"));
}

TEST(Debugging, PairsAreBroadcastAndShownUpToTheNumberAskedFor) {
  Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}}), y = Tensor::of({1.f, 5.f});
  std::string text = said([&] { assert_equal(x, y, {.summarize = 2}); });
  EXPECT_TRUE(has(text, "`x[0, 1]` is 2.0 and `y[0, 1]` is 5.0")) << text;
  EXPECT_TRUE(has(text, "3 of 4 are not: `x[0, 1]` is 2.0 and")) << text;
  EXPECT_TRUE(has(text, "`y[0, 1]` is 5.0; `x[1, 0]` is 3.0 and `y[1, 0]` is 1.0.")) << text;
  EXPECT_TRUE(has(said([&] { assert_less(x, 4); }), "`x[1, 1]` is 4.0 and `y[1, 1]` is 4.0"));
}

TEST(Debugging, NumbersThatAreNoneAreNamed) {
  Tensor loss = Tensor::of({1.f, INFINITY, NAN});
  std::string text = said([&] { check_numerics(loss, "step 3"); });
  EXPECT_TRUE(has(text, "Tensor had Inf and NaN values: `loss[1]` is inf")) << text;
  EXPECT_TRUE(has(text, "step 3: every element of `loss` must be finite, and 2 of 3 are not."))
      << text;
  said([&] { check_numerics(Tensor::scalar(1), "ints"); }, Code::E1101);
}

TEST(Debugging, ShapesAndDtypesAreNamed) {
  Tensor x = zeros({2, 3}), y = zeros({4});
  EXPECT_TRUE(has(said([&] { assert_rank(x, 1); }), "`x` has shape (2, 3)"));
  EXPECT_TRUE(has(said([&] { assert_rank_in(y, {2, 3}); }),
                  "`y` must have a rank in (2, 3), and has rank 1."));
  EXPECT_TRUE(has(said([&] { assert_scalar(y); }), "no dimensions"));
  EXPECT_TRUE(has(said([&] { assert_integer(x); }, Code::E1104),
                  "`x` must have an integer dtype, and is float32"));
  std::string text = said([&] { assert_shapes({{x, {"N", "."}}, {y, {"N"}}}); });
  EXPECT_TRUE(has(text, "dimension 0 of `tensor 1` has size 4")) << text;
  EXPECT_TRUE(has(text, "it must have size 2, as `tensor 0` says for 'N'.")) << text;
}

TEST(Debugging, AssertShowsItsData) {
  Tensor x = Tensor::of({1.f, 2.5f});
  std::string text = said([&] { Assert(false, {x, 3, x > 2}); });
  EXPECT_TRUE(has(text, "the data is [1.  2.5]; 3; [False  True].")) << text;
}

TEST(Debugging, ATracedCheckRunsAtEachCallAndKnowsItsLine) {
  auto f = function([](Tensor x) {
    Tensor twice = x * 2;
    assert_less(twice, 10, {.message = "too big"});
    return twice;
  });
  EXPECT_EQ(f(Tensor::of({1.f})).item<float>(), 2);
  for (int i = 0; i < 2; ++i) {
    std::string text = said([&] { f(Tensor::of({7.f})); });
    EXPECT_TRUE(has(text, "`twice[0]` is 14.0 and `y[0]` is 10.0")) << text;
    EXPECT_TRUE(has(text, "born here: `twice`, float32[1] from Mul")) << text;
    EXPECT_TRUE(has(text, "checked here") && has(text, "too big")) << text;
  }
  EXPECT_EQ(f.traces(), 1u);
}

TEST(Debugging, RanksAreCheckedWhenTheyAreKnown) {
  auto f = function([](Tensor x) {
    assert_rank(x, 1);
    assert_shapes({{x, {"N"}}});
    return x + 1;
  });
  auto any = f.concrete({{float32, Shape::unknown()}});
  Tensors out = any->call(Tensors{Tensor::of({1.f})});
  EXPECT_EQ(out[0].item<float>(), 2);
  EXPECT_TRUE(has(said([&] { any->call(Tensors{zeros({1, 1})}); }), "must have rank 1"));
}

TEST(Debugging, ChecksAndPrintsParseBack) {
  auto f = function([](Tensor x) {
    assert_equal(x, x, {.message = "same"});
    assert_positive(x);
    Assert(reduce_all(x > 0), {x}, {.summarize = 1});
    print({.output_stream = "stdout"}, "x is", x);
    return x;
  });
  auto traced = f.concrete({{float32, Shape{2}}});
  std::string text = to_text(traced->graph());
  for (const char* op : {"AssertPairs(", "AssertElements(", "Assert(", "StringFormat(", "PrintV2("})
    EXPECT_TRUE(has(text, op)) << text;
  EXPECT_EQ(to_text(*parse_graph(text)), text);
}

}  // namespace
}  // namespace holdfast
