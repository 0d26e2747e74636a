// A loop variable that changes its dtype.
PROGRAM(E0902_loop) {
  auto f = function([](const Tensor& n) {
    return while_loop([](auto v) { return Tensors{v[0] > 0}; },
                      [](auto v) { return Tensors{cast(v[0], float32)}; }, Tensors{n})[0];
  });
  f(constant(3));
}
