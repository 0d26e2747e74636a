// Numbers are asked for while a function is traced.
PROGRAM(E0203_to_vector) {
  auto f = function([](const Tensor& x) {
    Tensor y = x + 1;
    std::vector<float> numbers = y.to_vector<float>();
    return x * numbers[0];
  });
  f(constant({1., 2.}));
}
