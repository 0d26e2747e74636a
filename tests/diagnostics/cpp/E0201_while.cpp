// `while` on a tensor while a function is traced.
PROGRAM(E0201_while) {
  auto f = function([](Tensor x) {
    while (x < 10) x = x * 2;
    return x;
  });
  f(constant(1.));
}
