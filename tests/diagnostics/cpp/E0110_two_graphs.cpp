// Tensors of two graphs in one op.
PROGRAM(E0110_two_graphs) {
  auto first = make_graph("first"), second = make_graph("second");
  Tensor a, b;
  {
    GraphScope in(first);
    a = first->placeholder(float32, {2}, "a");
  }
  GraphScope in(second);
  b = second->placeholder(float32, {2}, "b");
  Tensor sum = b + a;
}
