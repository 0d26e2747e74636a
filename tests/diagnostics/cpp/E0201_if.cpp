// `if` on a tensor while a function is traced.
PROGRAM(E0201_if) {
  auto f = function([](const Tensor& x) {
    if (x > 0) return x;
    return -x;
  });
  f(constant(1.));
}
