#include "holdfast/graph/verify.h"

#include <gtest/gtest.h>

#include "holdfast/base/diagnostic.h"
#include "holdfast/graph/text.h"

namespace holdfast {
namespace {

Ref<Graph> graph() {
  return parse_graph(
      "holdfast graph 1\nfunction f(x) {\n  x = Placeholder() : float32[2]\n  a = Neg(x) : "
      "float32[2]\n"
      "  b = Exp(a) : float32[2]\n  return b\n}\n");
}

void expect_bug(const Graph& g, const std::string& node, const std::string& words) {
  try {
    verify(g, "here");
    FAIL() << "accepted";
  } catch (const InternalError& e) {
    std::string text = e.diagnostic().headline + e.diagnostic().why;
    for (const std::string& w : {node, words, std::string("`f` here")})
      EXPECT_NE(text.find(w), std::string::npos) << text;
  }
}

TEST(Verify, AcceptsAGraph) { verify(*graph()); }

TEST(Verify, WantsNodesAfterWhatTheyUse) {
  auto g = graph();
  std::swap(g->nodes[1], g->nodes[2]);
  expect_bug(*g, "`b`", "not before it");
}

TEST(Verify, WantsEdgesThatExist) {
  auto g = graph();
  g->nodes[2]->inputs[0].output = 3;
  expect_bug(*g, "`b`", "output 3 of `a`");
}

TEST(Verify, WantsTypesThatTheOpsGive) {
  auto g = graph();
  g->nodes[1]->outputs[0].shape = Shape{3};
  expect_bug(*g, "`a`", "float32[3]");
  g = graph();
  g->nodes[1]->outputs[0].dtype = int32;
  expect_bug(*g, "`a`", "int32[2]");
}

TEST(Verify, AcceptsTypesThatSayLess) {
  auto g = graph();
  g->nodes[2]->outputs[0].shape = Shape::unknown();
  verify(*g);
}

TEST(Verify, WantsNamesThatTellNodesApart) {
  auto g = graph();
  g->nodes[2]->name = "a";
  expect_bug(*g, "`a`", "another node has its name");
}

TEST(Verify, WantsInputsAndOutputsInTheGraph) {
  auto g = graph();
  g->nodes.pop_back();
  expect_bug(*g, "`b`", "an output");
  g = graph();
  g->inputs.push_back(g->nodes[1]);
  expect_bug(*g, "`a`", "expected a Placeholder");
}

TEST(Verify, WantsOperandsThatTheOpTakes) {
  auto g = graph();
  g->nodes[2]->inputs.push_back(g->nodes[2]->inputs[0]);
  expect_bug(*g, "`b`", "refuses its operands");
}

TEST(Verify, WantsWhatMustRunBefore) {
  auto g = graph();
  g->nodes[1]->after.push_back(g->nodes[2]);
  expect_bug(*g, "`a`", "after which it must run");
}

}  // namespace
}  // namespace holdfast
