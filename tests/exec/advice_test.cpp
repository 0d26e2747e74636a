// What a C++ program is told to write is C++.
#include "holdfast/op/advice.h"

#include <gtest/gtest.h>

#include <functional>

#include "holdfast/autodiff/tape.h"
#include "holdfast/base/parallel.h"
#include "holdfast/exec/function.h"
#include "holdfast/exec/functional.h"
#include "holdfast/exec/session.h"
#include "holdfast/graph/trace.h"
#include "holdfast/keras/layers/dense.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/reduce.h"

namespace holdfast {
namespace {

Diagnostic said(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

// No word of Python's in any part of the message.
void expect_cpp(const Diagnostic& d) {
  std::string text = render(d);
  for (const char* word :
       {"`with ", "as_default", "@", "tf.", "lambda", "feed_dict", "py_function", "sess.run",
        "True", "persistent=", "Session(graph=", "super()", "numpy", "_b=", "axis="}) {
    for (const Fix& fix : d.fixes)
      EXPECT_EQ(fix.title.find(word), std::string::npos) << word << " in " << fix.title;
  }
  EXPECT_FALSE(d.fixes.empty()) << text;
}

bool advises(const Diagnostic& d, const std::string& words) {
  for (const Fix& fix : d.fixes)
    if (fix.title.find(words) != std::string::npos) return true;
  return false;
}

TEST(AdviceTest, TwoGraphsInOneOp) {
  auto left = make_graph("left"), right = make_graph("right");
  Tensor a, b;
  {
    GraphScope in(left);
    a = left->constant(1.0f);
  }
  {
    GraphScope in(right);
    b = right->constant(2.0f);
  }
  Diagnostic d = said([&] { (void)(a + b); });
  EXPECT_EQ(d.code, Code::E0110);
  EXPECT_NE(d.headline.find("`left` and `right`"), std::string::npos) << d.headline;
  EXPECT_TRUE(advises(d, "GraphScope in(left);"));
  expect_cpp(d);
}

TEST(AdviceTest, TwoGraphsOfOneNameAreToldApart) {
  auto make = [] {
    auto graph = make_graph("g");
    GraphScope in(graph);
    return graph->constant(1.0f);
  };
  Tensor a = make(), b = make();
  Diagnostic d = said([&] { (void)(a + b); });
  EXPECT_EQ(d.code, Code::E0110);
  EXPECT_EQ(d.headline.find("`g` and `g`"), std::string::npos) << d.headline;
}

TEST(AdviceTest, ASessionOfAnotherGraph) {
  auto mine = make_graph("mine"), other = make_graph("other");
  Tensor t;
  {
    GraphScope in(other);
    t = other->constant(1.0f);
  }
  Session session(mine);
  Diagnostic d = said([&] { session.run(t); });
  EXPECT_EQ(d.code, Code::E0111);
  EXPECT_TRUE(advises(d, "Session session(other);"));
  expect_cpp(d);
}

TEST(AdviceTest, APlaceholderThatIsNotFed) {
  auto graph = make_graph("g");
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x"), y = x * 2.0f;
  Session session(graph);
  Diagnostic d = said([&] { session.run(y); });
  EXPECT_EQ(d.code, Code::E0801);
  EXPECT_TRUE(advises(d, "session.run(fetch, {{x, ...}})"));
  expect_cpp(d);
}

TEST(AdviceTest, ATensorWithoutWordsHasNoOpsNameInCode) {
  auto graph = make_graph("g");
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x");
  std::vector<Tensor> sums{x + x};
  Diagnostic d = said([&] { value(sums[0]); });
  EXPECT_EQ(d.code, Code::E0203);
  EXPECT_TRUE(advises(d, "session.run(the_tensor)"));
  expect_cpp(d);
}

TEST(AdviceTest, AValueOfAFunctionThatIsBeingTraced) {
  Diagnostic d;
  auto f = function([&](Tensor x) {
    d = said([&] { value(x); });
    return x;
  });
  f(Tensor::scalar(1.0f));
  EXPECT_EQ(d.code, Code::E0203);
  expect_cpp(d);
}

TEST(AdviceTest, AValueThatLeftItsFunction) {
  Tensor leaked;
  auto f = function([&](Tensor x) {
    leaked = x * 2.0f;
    return x;
  });
  f(Tensor::scalar(1.0f));
  f(Tensor::scalar(2.0f));
  Diagnostic d = said([&] { (void)(leaked + 1.0f); });
  EXPECT_EQ(d.code, Code::E0101);
  EXPECT_TRUE(advises(d, "return it from"));
  expect_cpp(d);
}

TEST(AdviceTest, DtypesThatDiffer) {
  Diagnostic d = said([&] { (void)add(Tensor::scalar(1.0f), Tensor::scalar(1.0)); });
  EXPECT_EQ(d.code, Code::E1101);
  EXPECT_TRUE(advises(d, "holdfast::cast("));
  expect_cpp(d);
}

TEST(AdviceTest, ATapeThatIsUsedTwice) {
  Tensor x = Tensor::scalar(3.0f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  tape.gradient(y, x);
  Diagnostic d = said([&] { tape.gradient(y, x); });
  EXPECT_EQ(d.code, Code::E0504);
  EXPECT_TRUE(advises(d, "{.persistent = true}"));
  expect_cpp(d);
}

TEST(AdviceTest, AnUnwatchedTensor) {
  Tensor x = Tensor::scalar(3.0f);
  GradientTape tape;
  Tensor y = x * x;
  EXPECT_EQ(tape.why_none(y, x).kind, NoGradient::kNotWatched);
  expect_cpp(tape.explain(y, x));
}

TEST(AdviceTest, NumbersThatWereTaken) {
  Tensor x = Tensor::scalar(3.0f), other = Tensor::scalar(1.0f);
  GradientTape tape;
  tape.watch(x);
  tape.watch(other);
  Tensor h = x * x;
  GradientTape::taken(h);
  Tensor y = Tensor::scalar(h.item<float>()) * 2.0f;
  NoGradientReason why = tape.why_none(y, x);
  EXPECT_EQ(why.kind, NoGradient::kTaken);
  EXPECT_EQ(why.lines.size(), 1u);
  why = tape.why_none(other * h.item<float>(), x);  // computed from something else too
  EXPECT_EQ(why.kind, NoGradient::kNoPath);
  EXPECT_EQ(why.lines.size(), 1u);
  expect_cpp(tape.explain(y, x));
}

TEST(AdviceTest, AnOperandThatWantsToBeTransposed) {
  Diagnostic d = said([&] { (void)matmul(ones({2, 3}), ones({4, 3})); });
  EXPECT_EQ(d.code, Code::E1102);
  EXPECT_TRUE(advises(d, "{.transpose_b = true}"));
  EXPECT_TRUE(d.fixes[0].edits.empty());
  expect_cpp(d);
}

TEST(AdviceTest, AnAxisThatIsNotThere) {
  Diagnostic d = said([&] { (void)reduce_sum(ones({2, 3}), {.axis = {5}}); });
  EXPECT_EQ(d.code, Code::E1103);
  EXPECT_TRUE(advises(d, "{.axis = 1}"));
  expect_cpp(d);
}

TEST(AdviceTest, AnInputThatPeekNeeds) {
  Diagnostic d;
  auto f = function([&](Tensor x) {
    d = said([&] { (void)peek(x + 1.0f); });
    return x;
  });
  f(Tensor::scalar(1.0f));
  EXPECT_EQ(d.code, Code::E0801);
  EXPECT_TRUE(advises(d, "peek(symbol, {{"));
  expect_cpp(d);
}

TEST(AdviceTest, RandomNumbersWithoutASeed) {
  set_deterministic(true);
  Diagnostic d = said([&] { (void)random::normal({2}); });
  set_deterministic(false);
  EXPECT_EQ(d.code, Code::E1105);
  EXPECT_TRUE(advises(d, "holdfast::random::set_seed(1);"));
  EXPECT_EQ(d.why.find("config."), std::string::npos) << d.why;
  expect_cpp(d);
}

TEST(AdviceTest, ALayerOfOneExample) {
  auto dense = keras::layers::Dense({.units = 2});
  Diagnostic d = said([&] { (void)dense(ones({3})); });
  EXPECT_EQ(d.code, Code::E1102);
  EXPECT_TRUE(advises(d, "expand_dims(x, 0)"));
  expect_cpp(d);
}

TEST(AdviceTest, AllMeaningsOfNoGradient) {
  Tensor x = Tensor::scalar(3.0f), n = Tensor::scalar(3), other = Tensor::scalar(1.0f);
  Variable unread(Tensor::scalar(1.0f));
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(n);
  Tensor y = x * 2.0f, cut = cast(cast(x, int32), float32) * 1.0f,
         off = Tensor::scalar(1.0f) * 2.0f;
  tape.watch(other);
  const std::pair<const Tensor*, Source> asked[] = {
      {&y, n}, {&y, unread}, {&cut, x}, {&off, x}, {&y, other}};
  for (const auto& [target, source] : asked) {
    Diagnostic d = tape.explain(*target, source, {.target = "loss", .source = "w", .tape = "t"});
    EXPECT_NE(d.headline.find("the gradient of `loss` with respect to `w` is empty: "),
              std::string::npos)
        << d.headline;
    EXPECT_LE(d.headline.size(), 84u);
    expect_cpp(d);
  }
}

}  // namespace
}  // namespace holdfast
