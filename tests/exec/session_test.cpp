#include "holdfast/exec/session.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/graph/graph_def.h"
#include "holdfast/graph/trace.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"

namespace holdfast {
namespace {

Code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Code::E1599;
}

TEST(SessionTest, RunsWhatIsAskedForFromWhatIsFed) {
  auto graph = make_graph("g");
  Tensor x, y;
  {
    GraphScope in(graph);
    x = graph->placeholder(float32, {2}, "x");
    y = x * 2.0f + 1.0f;
  }
  EXPECT_TRUE(y.is_symbolic());
  Session session(graph);
  EXPECT_EQ(session.run(y, {{x, Tensor::of({1.0f, 2.0f})}}).to_vector<float>(),
            (std::vector<float>{3, 5}));
}

TEST(SessionTest, AFeedReplacesAnyTensorAndWhatItNeeds) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x");
  Tensor middle = x * 3.0f, y = middle + 1.0f;
  Session session(graph);
  EXPECT_EQ(session.run(y, {{middle, Tensor::scalar(10.0f)}}).item<float>(), 11);
  EXPECT_EQ(session.run(middle, {{middle, Tensor::scalar(4.0f)}}).item<float>(), 4);
}

TEST(SessionTest, AnotherPartOfTheGraphNeedsNoFeed) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x"), c = graph->constant(2.0f) * 2.0f;
  Tensor never = x + c;
  Session session(graph);
  EXPECT_EQ(session.run(c).item<float>(), 4);
  EXPECT_EQ(code_of([&] { session.run(never); }), Code::E0801);
}

TEST(SessionTest, SessionsHaveTheirOwnValuesOfAVariable) {
  auto graph = make_graph();
  GraphScope in(graph);
  Variable v = graph->variable(1.0f, {.name = "v"});
  v.assign_add(2.0f);
  Ref<Node> add = graph->graph()->nodes.back();
  Tensor read = v.read();
  Session a(graph), b(graph);
  a.run({add});
  a.run({add});
  EXPECT_EQ(a.run(read).item<float>(), 5);
  EXPECT_EQ(b.run(read).item<float>(), 1);
  a.run({graph->initializer()});
  EXPECT_EQ(a.run(read).item<float>(), 1);
}

TEST(SessionTest, VariablesAreInitialisedWhenNeededEachAfterWhatItNeeds) {
  auto graph = make_graph();
  GraphScope in(graph);
  Variable first = graph->variable(3.0f), second = graph->variable(first.read() * 2.0f),
           third = graph->variable(second.read() + first.read());
  Session session(graph);
  EXPECT_EQ(session.run(third.read()).item<float>(), 9);
}

TEST(SessionTest, InitialValuesThatShareARandomNumberAreDrawnOnce) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor drawn = random::normal({4});
  Variable a = graph->variable(drawn), b = graph->variable(drawn * 2.0f);
  Session session(graph);
  Tensor gap = b.read() - a.read() * 2.0f;
  EXPECT_EQ(session.run(gap).to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
}

TEST(SessionTest, ARunOfTheSameKindUsesThePlanAgain) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x"), y = x + 1.0f;
  Session session(graph);
  for (int i = 0; i < 3; ++i) session.run(y, {{x, Tensor::scalar(1.0f)}});
  EXPECT_EQ(session.plans(), 1u);
  session.run(y, {{y, Tensor::scalar(1.0f)}});
  EXPECT_EQ(session.plans(), 2u);
}

TEST(SessionTest, ControlDependenciesRunFirst) {
  auto graph = make_graph();
  GraphScope in(graph);
  Variable v = graph->variable(1.0f);
  v.assign(5.0f);
  graph->tracer().push_control({graph->graph()->nodes.back()});
  Tensor after = v.read();
  graph->tracer().pop_control();
  EXPECT_EQ(Session(graph).run(after).item<float>(), 5);
}

TEST(SessionTest, ValuesOfOtherPlacesAreHandedBackOrRefused) {
  auto mine = make_graph("mine"), theirs = make_graph("theirs");
  Tensor t;
  {
    GraphScope in(theirs);
    t = theirs->constant(1.0f);
  }
  Session session(mine);
  EXPECT_EQ(session.run(Tensor::scalar(7.0f)).item<float>(), 7);
  EXPECT_EQ(code_of([&] { session.run(t); }), Code::E0111);
  EXPECT_EQ(code_of([&] { session.run(t, {{t, Tensor::scalar(1.0f)}}); }), Code::E0111);
}

TEST(SessionTest, AClosedSessionAndAFinalizedGraphSaySo) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor c = graph->constant(1.0f);
  Session session(graph);
  session.close();
  session.close();
  EXPECT_EQ(code_of([&] { session.run(c); }), Code::E0802);
  graph->finalize();
  EXPECT_EQ(code_of([&] { c + 1.0f; }), Code::E0803);
  EXPECT_EQ(code_of([&] { graph->placeholder(float32); }), Code::E0803);
  EXPECT_EQ(Session(graph).run(c).item<float>(), 1);
}

TEST(SessionTest, FeedsMustFit) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, Shape{kUnknown, 2}, "x");
  Session session(graph);
  EXPECT_EQ(code_of([&] { session.run(x, {{x, Tensor::of({1.0f})}}); }), Code::E1102);
  EXPECT_EQ(code_of([&] { session.run(x, {{x, Tensor::of({1, 2})}}); }), Code::E1101);
  EXPECT_EQ(code_of([&] { session.run(x, {{Tensor::scalar(1.0f), Tensor::scalar(1.0f)}}); }),
            Code::E1104);
}

TEST(SessionTest, ThreadsShareASession) {
  auto graph = make_graph();
  Ref<Node> add;
  Variable v;
  {
    GraphScope in(graph);
    v = graph->variable(0.0f);
    v.assign_add(1.0f);
    add = graph->graph()->nodes.back();
  }
  Session session(graph);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) session.run({add});
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(session.value(v).item<float>(), 400);
}

TEST(SessionTest, ATensorKeepsItsGraph) {
  Tensor x, y;
  {
    auto graph = make_graph();
    GraphScope in(graph);
    x = graph->placeholder(float32, {}, "x");
    y = x * 2.0f;
  }
  Tensor z = y + 1.0f;  // no graph is the default: the tensor's own takes it
  EXPECT_EQ(Session(Ref<OpenGraph>(graph_of(z))).run(z, {{x, Tensor::scalar(3.0f)}}).item<float>(),
            7);
}

TEST(SessionTest, AVariableWhoseGraphIsGoneSaysSo) {
  Variable v;
  {
    auto graph = make_graph();
    v = graph->variable(1.0f);
  }
  EXPECT_EQ(code_of([&] { v.read(); }), Code::E0101);
  EXPECT_EQ(code_of([&] { v.assign(2.0f); }), Code::E0101);
}

TEST(GradientsInTest, ReachVariablesPlaceholdersAndConstants) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x"), c = graph->constant(2.0f);
  Variable v = graph->variable(3.0f);
  Tensor y = x * x * c + v * x, other = graph->constant(1.0f);
  auto g = gradients_in(graph->tracer(), {y}, {x, c, v.handle(), other});
  Session session(graph);
  Session::Feeds feed{{x, Tensor::scalar(5.0f)}};
  EXPECT_EQ(session.run(g[0].dense, feed).item<float>(), 23);
  EXPECT_EQ(session.run(g[1].dense, feed).item<float>(), 25);
  EXPECT_EQ(session.run(g[2].dense, feed).item<float>(), 5);
  EXPECT_TRUE(g[3].none());
  auto stopped = gradients_in(graph->tracer(), {y}, {x}, {.stop = {y}});
  EXPECT_TRUE(stopped[0].none());
  auto zero = gradients_in(graph->tracer(), {y}, {other}, {.unconnected = Unconnected::kZero});
  EXPECT_EQ(session.run(zero[0].dense).item<float>(), 0);
}

TEST(GraphTextTest, ReadsBackWithItsVariables) {
  auto graph = make_graph();
  {
    GraphScope in(graph);
    Tensor x = graph->placeholder(float32, {}, "x");
    Variable v = graph->variable(graph->constant(3.0f, "start") * 2.0f, {.name = "v"});
    graph->constant(x * v.read() + 1.0f);
    v.assign_add(1.0f);
  }
  std::string text = graph_text(*graph);
  auto again = graph_from_text(text);
  EXPECT_EQ(graph_text(*again), text);
  Session session(again);
  Tensor y = again->tensor("AddV2:0");
  EXPECT_EQ(session.run(y, {{again->tensor("x:0"), Tensor::scalar(2.0f)}}).item<float>(), 13);
  session.run({again->find("AssignAddVariableOp")});
  EXPECT_EQ(session.run(y, {{again->tensor("x:0"), Tensor::scalar(2.0f)}}).item<float>(), 15);
}

TEST(GraphDefTest, HoldsNodesInputsAndAttributes) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {2}, "x");
  x + 1.0f;
  std::string bytes = graph_def(*graph->graph());
  // node { name: "x" op: "Placeholder" ...
  EXPECT_EQ(bytes.substr(0, 1), "\x0a");
  EXPECT_NE(bytes.find("\x0a\x01x\x12\x0bPlaceholder"), std::string::npos);
  EXPECT_NE(bytes.find("AddV2/y"), std::string::npos);
}

}  // namespace
}  // namespace holdfast
