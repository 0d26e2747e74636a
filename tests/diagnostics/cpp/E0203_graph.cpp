// A number is asked for in a graph.
PROGRAM(E0203_graph) {
  auto graph = make_graph("written");
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {}, "x");
  Tensor y = x * 2;
  double number = y.to_double();
  (void)number;
}
