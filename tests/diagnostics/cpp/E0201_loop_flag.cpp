// A flag that the body of a `while` computes anew.
PROGRAM(E0201_loop_flag) {
  auto rounds = function([](const Tensor& x) {
    Tensor y = x, done = constant(false);
    while (!done) {
      y = y + 1;
      done = reduce_all(y > 3);
    }
    return y;
  });
  rounds(constant({1., 2.}));
}
