// Shapes that do not broadcast.
PROGRAM(E1102_broadcast) {
  Tensor a = zeros({2, 3});
  Tensor b = ones({4});
  Tensor sum = a * b;
}
