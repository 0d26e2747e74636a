// Shapes that do not multiply.
PROGRAM(E1102_matmul) {
  Tensor inputs = zeros({2, 3});
  Variable w(zeros({4, 5}));
  Tensor y = matmul(inputs, w);
}
