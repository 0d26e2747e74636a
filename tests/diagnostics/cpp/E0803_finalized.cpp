// A graph that takes no more ops.
PROGRAM(E0803_finalized) {
  auto graph = make_graph("written");
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {2}, "x");
  graph->finalize();
  Tensor y = x * 2;
}
