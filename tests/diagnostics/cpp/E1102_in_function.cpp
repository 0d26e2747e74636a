// Shapes that do not fit, inside a function.
PROGRAM(E1102_in_function) {
  auto f = function([](const Tensor& x) {
    Tensor w = zeros({3, 2});
    return matmul(x, w);
  });
  f(zeros({2, 4}));
}
