// Parts of graphs written by hand: as functions, as runs in parts, and with ops nobody can run.
#include <gtest/gtest.h>

#include <functional>

#include "holdfast/exec/graph_function.h"
#include "holdfast/exec/partial_run.h"
#include "holdfast/graph/foreign.h"
#include "holdfast/graph/trace.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/random.h"
#include "holdfast/ops/state.h"

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

TEST(GraphFunctionTest, ComputesOutputsFromAnyTensors) {
  auto graph = make_graph();
  Variable factor(3.0f);
  Tensor x, middle, y;
  {
    GraphScope in(graph);
    x = graph->placeholder(float32, {}, "x");
    middle = x * factor.read();
    y = middle + 1.0f;
  }
  auto whole = graph_function(*graph, {x}, {y});
  auto rest = graph_function(*graph, {middle}, {y});
  std::vector<Tensor> two{Tensor::scalar(2.0f)};
  EXPECT_EQ(whole->call(two)[0].item<float>(), 7);
  EXPECT_EQ(rest->call(two)[0].item<float>(), 3);
  factor.assign(5.0f);
  EXPECT_EQ(whole->call(two)[0].item<float>(), 11);
  EXPECT_EQ(code_of([&] { graph_function(*graph, {}, {y}); }), Code::E0801);
  EXPECT_EQ(code_of([&] { graph_function(*graph, {}, {Tensor::scalar(1.0f)}); }), Code::E1104);
}

TEST(GraphFunctionTest, RefusesVariablesThatHaveValuesInSessionsOnly) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor y = graph->variable(1.0f).read() * 2.0f;
  EXPECT_EQ(code_of([&] { graph_function(*graph, {}, {y}); }), Code::E1105);
}

TEST(PartialRunTest, EachOpRunsOnceAndEachResultIsGivenOnce) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor a = graph->placeholder(float32, {}, "a"), b = graph->placeholder(float32, {}, "b");
  Variable count = graph->variable(0.0f);
  count.assign_add(1.0f);
  Ref<Node> bump = graph->graph()->nodes.back();
  Tensor drawn = random::uniform({}) * a, both = drawn + b;
  Session session(graph);
  PartialRun run(session, {Fetch(drawn), Fetch(both), Fetch(bump)}, {a, b});
  float first = run.run({Fetch(drawn), Fetch(bump)}, {{a, Tensor::scalar(2.0f)}})[0].item<float>();
  EXPECT_EQ(code_of([&] { run.run({Fetch(drawn)}); }), Code::E1103);
  EXPECT_EQ(code_of([&] { run.run({}, {{a, Tensor::scalar(1.0f)}}); }), Code::E1103);
  EXPECT_EQ(run.run({Fetch(both)}, {{b, Tensor::scalar(1.0f)}})[0].item<float>(), first + 1);
  EXPECT_EQ(session.run(count.read()).item<float>(), 1);
}

TEST(IsInitializedTest, AskingIsNoRead) {
  auto graph = make_graph();
  GraphScope in(graph);
  Variable v = graph->variable(3.0f);
  Tensor known = is_initialized(v), value = v.read();
  Session session(graph);
  EXPECT_FALSE(session.run(known).item<bool>());
  EXPECT_EQ(session.run(value).item<float>(), 3);
  EXPECT_TRUE(session.run(known).item<bool>());
}

TEST(ForeignTest, AnOpThatNobodyKnowsIsRefusedWhenItRuns) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x");
  Ref<Node> node = add_foreign(*graph, "Elsewhere", {x}, {int32, float32}, "odd");
  EXPECT_EQ(node->name, "odd");
  EXPECT_EQ(node->outputs[0].dtype, int32);
  Tensor out = graph->tensor(Edge{node, 0});
  Session session(graph);
  EXPECT_EQ(code_of([&] { session.run(out, {{x, Tensor::scalar(1.0f)}}); }), Code::E1105);
}

TEST(ControlTest, AnOpWaitsForWhatItsInputsDoNotWaitFor) {
  auto graph = make_graph();
  GraphScope in(graph);
  Tensor a = graph->placeholder(float32, {}, "a"), x = graph->placeholder(float32, {}, "x");
  graph->tracer().push_control({edge_of(a).node});
  Tensor y = x + 1.0f, z = y + 1.0f, on_a = a + 1.0f;
  graph->tracer().pop_control();
  EXPECT_EQ(edge_of(y).node->after.size(), 1u);
  EXPECT_TRUE(edge_of(z).node->after.empty());
  EXPECT_TRUE(edge_of(on_a).node->after.empty());
}

}  // namespace
}  // namespace holdfast
