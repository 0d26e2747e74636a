// Expressions: a loop over blocks gives what its ops give one after another.
#include <gtest/gtest.h>

#include "holdfast/expr/cpu_program.h"
#include "holdfast/graph/text.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

// The node that the pass makes of a graph.
Ref<Node> joined(const char* text) {
  Ref<Graph> g = parse_graph(text);
  EXPECT_TRUE(tile_rows(*g));
  Ref<Node> found;
  for (const Ref<Node>& n : g->nodes)
    if (n->op == &fused_op()) found = n;
  return found;
}

Tensor numbers(const Shape& s) {
  return reshape(sin(cast(range(0, s.size()), float32) * 0.37f), s.dims());
}

constexpr const char* kNormalised = R"(holdfast graph 1
function f(x, g) {
  x = Placeholder() : float32[70,100]
  g = Placeholder() : float32[100]
  last = Const() {value=int32[1](1)}
  column = Const() {value=int32[2](70, 1)}
  all = Const() {value=int32[2](70, 100)}
  m = Mean(x, last) : float32[70]
  c = Reshape(m, column) : float32[70,1]
  w = BroadcastTo(c, all) : float32[70,100]
  d = Sub(x, w) : float32[70,100]
  s = Mul(d, d) : float32[70,100]
  v = Max(s, last) {keep_dims=True} : float32[70,1]
  n = RealDiv(d, v) : float32[70,100]
  y = Mul(n, g) : float32[70,100]
  return y, c, w
}
)";

TEST(Fused, RowsGiveWhatTheirOpsGiveOneAfterAnother) {
  Ref<Node> n = joined(kNormalised);
  ASSERT_TRUE(n);
  const Expr& e = expr_of(n->attrs);
  EXPECT_EQ(e.row(), 100);
  Tensors in, each, out;
  for (const Edge& i : n->inputs) in.push_back(numbers(type_of(i).shape));
  e.run_each(in, each);
  for (const Type& t : n->outputs) out.push_back(empty(t.dtype, t.shape, cpu()));
  cpu_program(e).run(in, {out.data(), out.size()}, e.domain());
  ASSERT_EQ(each.size(), 3u);
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(each[i].shape(), n->outputs[i].shape) << i;
    EXPECT_EQ(each[i].to_vector<float>(), out[i].to_vector<float>()) << i;
  }
}

TEST(Fused, AnOutputTakesAnOperandsMemoryOnlyWhereItIsReadInTheSameWay) {
  Ref<Node> n = joined(R"(holdfast graph 1
function f(x, c) {
  x = Placeholder() : float32[64,64]
  c = Placeholder() : float32[64]
  last = Const() {value=int32[1](1)}
  p = Mul(x, c) : float32[64,64]
  s = Sum(p, last) : float32[64]
  y = Sqrt(s) : float32[64]
  return p, y
}
)");
  ASSERT_TRUE(n);
  const Expr& e = expr_of(n->attrs);
  ASSERT_FALSE(e.per_row(0));
  ASSERT_TRUE(e.per_row(1));
  EXPECT_TRUE(
      cpu_program(e).may_overwrite(0, 0));  // `p` in the place of `x`, which nobody reads later
  EXPECT_FALSE(cpu_program(e).may_overwrite(1, 1));  // `y` in the place of `c`, which all rows read
}

}  // namespace
}  // namespace holdfast
