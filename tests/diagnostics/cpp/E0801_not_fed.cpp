// A placeholder that a run needs is not fed.
PROGRAM(E0801_not_fed) {
  auto graph = make_graph("written");
  GraphScope in(graph);
  Tensor x = graph->placeholder(float32, {2}, "x");
  Tensor y = x * 2;
  Session session(graph);
  session.run(y);
}
