// A graph written by hand, and a session that trains a line through four points.
#include "holdfast/exec/session.h"

#include <cstdio>

#include "holdfast/autodiff/graph_gradient.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

using namespace holdfast;

int main() {
  auto graph = make_graph("line");
  Tensor x, y, loss;
  Variable slope, offset;
  Ref<Node> step;
  {
    GraphScope in(graph);
    x = graph->placeholder(float32, {4}, "x");
    y = graph->placeholder(float32, {4}, "y");
    slope = graph->variable(0.0f, {.name = "slope"});
    offset = graph->variable(0.0f, {.name = "offset"});
    loss = reduce_mean(square(slope * x + offset - y));
    auto g = gradients_in(graph->tracer(), {loss}, {slope.handle(), offset.handle()});
    std::vector<Ref<Node>> updates;
    for (size_t i = 0; i < 2; ++i) {
      (i == 0 ? slope : offset).assign_sub(g[i].dense * 0.1f);
      updates.push_back(graph->graph()->nodes.back());
    }
    step = graph->group(updates, "step");
  }
  Session session(graph);
  Session::Feeds points{{x, Tensor::of({0.0f, 1.0f, 2.0f, 3.0f})},
                        {y, Tensor::of({1.0f, 3.0f, 5.0f, 7.0f})}};
  for (int i = 0; i < 300; ++i) session.run({step}, points);
  std::printf("y = %.2f x + %.2f, loss %.4f\n", session.value(slope).item<float>(),
              session.value(offset).item<float>(), session.run(loss, points).item<float>());
}
