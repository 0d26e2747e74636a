// One function uses what another one left behind.
PROGRAM(E0101_other_function) {
  Tensor middle;
  auto f = function([&](const Tensor& x) { return middle = x * 2; });
  f.concrete({{float32, {}}});
  auto g = function([&](const Tensor& x) { return x + middle; });
  g(constant(1.));
}
