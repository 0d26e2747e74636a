// A function is given a tensor that was only declared.
PROGRAM(E1104_argument) {
  auto f = function([](const Tensor& x) { return x * 2; });
  Tensor y;
  f(y);
}
