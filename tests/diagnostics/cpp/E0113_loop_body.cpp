// A session is asked for a value of a loop's body.
PROGRAM(E0113_loop_body) {
  auto graph = make_graph("written");
  GraphScope in(graph);
  Tensor inner;
  while_loop([](auto v) { return Tensors{v[0] < 9}; },
             [&](auto v) {
               inner = v[0] * 2;
               return Tensors{inner};
             },
             Tensors{graph->constant(1, "start")});
  Session session(graph);
  session.run(inner);
}
