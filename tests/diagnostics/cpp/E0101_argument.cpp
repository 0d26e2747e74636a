// An argument that left a function, in a container.
PROGRAM(E0101_argument) {
  std::vector<Tensor> seen;
  auto f = function([&](const Tensor& x) {
    seen.push_back(x);
    return x + 1;
  });
  f(constant(1.));
  f(constant(2.));
  Tensor all = stack(seen);
}
