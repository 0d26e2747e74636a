// A value of a loop's body, after the loop.
PROGRAM(E0103_loop) {
  auto f = function([](const Tensor& n) {
    Tensor last;
    while_loop([](auto v) { return Tensors{v[0] > 0}; },
               [&](auto v) {
                 last = v[0] * 2;
                 return Tensors{v[0] - 1};
               },
               Tensors{n});
    return last + 1;
  });
  f(constant(3));
}
