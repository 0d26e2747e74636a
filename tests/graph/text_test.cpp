#include "holdfast/graph/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/graph/trace.h"
#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

std::string with_body(const std::string& lines) {
  return cat("holdfast graph 1\nfunction f() {\n", lines, "}\n");
}

// What is written, read and written again.
std::string again(const std::string& text) { return to_text(*parse_graph(text)); }

void expect_refused(const std::string& text, const std::string& place, const std::string& words) {
  try {
    parse_graph(text);
    FAIL() << "accepted: " << text;
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(e.diagnostic().headline.find(place), std::string::npos) << e.what();
    EXPECT_NE(e.diagnostic().headline.find(words), std::string::npos) << e.what();
  }
}

Ref<Graph> graph_of_constant(const Tensor& value) {
  auto g = make_ref<Graph>(make_ref<Scope>(ScopeKind::kFunction, "f", nullptr));
  Tracer tracer(g);
  g->outputs.push_back(tracer.resolve(value));
  return g;
}

TEST(GraphText, ReadsBackAsItself) {
  std::string text =
      "holdfast graph 1\n"
      "function step(x, \"an odd name\") captures(captured) {\n"
      "  x = Placeholder() : float32[2,?]\n"
      "  \"an odd name\" = Placeholder() : int32[?...]\n"
      "  captured = Placeholder() : float32[]\n"
      "  v = VarHandleOp() {value=variable 0 \"w \\\"1\\\"\" float32[2] frozen}\n"
      "  layer/MatMul = MatMul(x, x) {transpose_b=True} : float32[2,2]\n"
      "  axis = Const() {value=int32[](0)}\n"
      "  parts = Split(axis, layer/MatMul) {num_split=2} : float32[1,2], float32[1,2]\n"
      "  AssignVariableOp = AssignVariableOp(v, parts:1) : \n"
      "  return parts, parts:1, none\n"
      "}\n";
  text.replace(text.find(" : \n"), 4, "\n");
  EXPECT_EQ(again(text), text);
}

TEST(GraphText, KeepsEveryBitOfNumbers) {
  float odd_nan;
  uint32_t bits = 0xffc00123;
  std::memcpy(&odd_nan, &bits, sizeof bits);
  constexpr float inf = std::numeric_limits<float>::infinity();
  Tensor t = Tensor::of({0.0f, -0.0f, 0.1f, 1e-45f, 3.4e38f, inf, -inf, std::nanf(""), odd_nan});
  Ref<Graph> back = parse_graph(to_text(*graph_of_constant(t)));
  EXPECT_TRUE(same_value(constant_of(*back->nodes[0]), t));
}

TEST(GraphText, WritesEqualElementsOnce) {
  std::string text = to_text(*graph_of_constant(zeros({1000, 1000})));
  EXPECT_NE(text.find("float32[1000,1000](all 0)"), std::string::npos) << text;
  EXPECT_EQ(again(text), text);
}

TEST(GraphText, LeavesLargeValuesOutAndFindsThemInThePayload) {
  Tensor large = range(0, 1000);
  Payload payload;
  std::string text = to_text(*graph_of_constant(large), {.payload = &payload});
  EXPECT_LT(text.size(), 300u);
  EXPECT_EQ(constant_of(*parse_graph(text, &payload)->nodes[0]).id(), large.id());
  expect_refused(text, "line 3", "was left out of the text");
}

TEST(GraphText, KeepsVariablesByThePayload) {
  Variable v(1.0f);
  Payload payload;
  std::string text = to_text(*graph_of_constant(v.handle()), {.payload = &payload});
  EXPECT_EQ(constant_of(*parse_graph(text, &payload)->nodes[0]).id(), v.handle().id());
}

TEST(GraphText, HoldsGraphsInsideGraphs) {
  auto inner = make_ref<Scope>(ScopeKind::kBranch, "then", nullptr);
  auto body = make_ref<Graph>(inner);
  {
    Tracer tracer(body);
    Tensor x = tracer.input(float32, Shape{2}, "x");
    body->outputs.push_back(tracer.resolve(-x));
  }
  Ref<Graph> outer = graph_of_constant(Tensor::scalar(1.0f));
  outer->nodes[0]->attrs[0] = Arg(Ref<RefCounted>(body));  // only its text matters here
  std::string text = to_text(*outer);
  EXPECT_NE(text.find("{value=branch then(x) {\n    x = Placeholder()"), std::string::npos) << text;
}

TEST(GraphText, SaysWhereItIsWrong) {
  expect_refused("graph f() {}", "line 1, column 1", "holdfast graph 1");
  expect_refused("holdfast graph 9\nfunction f() {\n  return\n}\n", "line 1, column 16",
                 "version 9");
  expect_refused(with_body("  a = Nothing()\n  return\n"), "line 3, column 7", "no op `Nothing`");
  expect_refused(with_body("  a = Neg(b) : float32[]\n  return\n"), "line 3, column 11",
                 "no node `b`");
  expect_refused(with_body("  a = Const() {value=float32[2](1)}\n  return\n"), "line 3",
                 "expected `,`");
  expect_refused(with_body("  a = Const() {value=float32[](x)}\n  return\n"), "line 3, column 32",
                 "expected float32");
  expect_refused(with_body("  a = Const() {value=int8[](300)}\n  return\n"), "line 3",
                 "expected int8");
  expect_refused(with_body("  a = Const() {value=float32[](1), b=2}\n  return\n"), "column 36",
                 "no attribute `b`");
  expect_refused(with_body("  a = Const()\n  return\n"), "line 3", "needs its attribute `value`");
  expect_refused(with_body("  a = Placeholder()\n  return\n"), "line 4",
                 "the type of a Placeholder");
  expect_refused(
      with_body(
          "  a = Const() {value=float32[](1)}\n  a = Const() {value=float32[](1)}\n  return\n"),
      "line 4", "two nodes");
  expect_refused(with_body("  a = Const() {value=float32[](1)}\n  return a:1\n"), "line 4",
                 "no number 1");
  expect_refused(with_body("  a = Const() {value=\"open}\n  return\n"), "line 3",
                 "does not end on its line");
  expect_refused(with_body("  a = Const() {value=float32[9999999999999](1)}\n  return\n"), "line 3",
                 "fewer elements");
  expect_refused(with_body("  none = Const() {value=float32[](1)}\n  return\n"), "line 3, column 3",
                 "in quotes only");
  expect_refused("holdfast graph 1\nfunction f(x) {\n  return\n}\n", "line 2, column 12",
                 "no node `x`");
  expect_refused("holdfast graph 1\nfunction f() {\n", "line 3", "the end");
}

TEST(GraphText, IsRefusedNotFollowedWhenItNeverEndsNesting) {
  std::string text = "holdfast graph 1\n";
  for (int i = 0; i < 100000; ++i) text += "function f() {\n  a = Const() {value=";
  expect_refused(text, "line", "graphs inside one another");
}

TEST(GraphText, OfAnyKindIsReadOrRefused) {
  const std::string good =
      "holdfast graph 1\nfunction f(x) captures(c) {\n  x = Placeholder() : float32[2,?]\n  c = "
      "Placeholder() : float32[]\n"
      "  v = VarHandleOp() {value=variable 0 \"v\" float32[2] frozen}\n  k = Const() "
      "{value=complex64[2](all (1, -2.5e3))}\n"
      "  s = Const() {value=string[1](\"a\\x00\")}\n  m = MatMul(x, x) {transpose_b=True} : "
      "float32[2,2] after(v) on \"CPU:0\"\n"
      "  r = ReadVariableOp(v) : float32[2]\n  y = Squeeze(m) {squeeze_dims=[]} : float32[?...]\n  "
      "return m:0, none, y\n}\n";
  parse_graph(good);
  const std::string pieces = "(){}[]=:,?.\"\\#-0129xef \nnoneallTrue";
  uint32_t state = 1;
  auto random = [&](size_t n) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
  };
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (size_t k = 0, changes = 1 + random(3); k < changes; ++k) {
      size_t at = random(text.size());
      switch (random(3)) {
        case 0: text.erase(at, 1 + random(8)); break;
        case 1: text.insert(at, 1, pieces[random(pieces.size())]); break;
        default: text[at] = pieces[random(pieces.size())];
      }
    }
    try {
      to_text(*parse_graph(text));
      ++read;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(read, 100);  // else the changes are too rough to reach far
}

}  // namespace
}  // namespace holdfast
