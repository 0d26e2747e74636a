// Shapes that do not join.
PROGRAM(E1102_concat) {
  Tensor a = zeros({2, 3});
  Tensor b = zeros({2, 4});
  Tensor both = concat({a, b}, 0);
}
