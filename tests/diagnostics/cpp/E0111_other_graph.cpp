// A session is asked for a tensor of another graph.
PROGRAM(E0111_other_graph) {
  auto first = make_graph("first"), second = make_graph("second");
  Tensor a;
  {
    GraphScope in(first);
    a = first->constant(1., "a") + 1;
  }
  Session session(second);
  session.run(a);
}
