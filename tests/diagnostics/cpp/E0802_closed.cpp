// A session that is closed.
PROGRAM(E0802_closed) {
  auto graph = make_graph("written");
  GraphScope in(graph);
  Tensor y = graph->constant(1., "a") + 1;
  Session session(graph, "session");
  session.run(y);
  session.close();
  session.run(y);
}
