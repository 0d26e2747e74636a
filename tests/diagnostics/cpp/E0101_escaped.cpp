// A tensor that left a function, after several calls.
PROGRAM(E0101_escaped) {
  Tensor middle;
  auto f = function([&](const Tensor& x) {
    middle = x * 2;
    return middle + 1;
  });
  f(constant(1.));
  f(constant(2.));
  Tensor sum = middle + 1;
}
