// A number is asked for while a function is traced.
PROGRAM(E0203_item) {
  auto f = function([](const Tensor& x) { return x * x.item<float>(); });
  f(constant(1.));
}
