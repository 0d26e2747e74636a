// A value of a branch, after the branch.
PROGRAM(E0104_branch) {
  auto f = function([](const Tensor& x) {
    Tensor made;
    cond(
        x > 0,
        [&] {
          made = x * 2;
          return Tensors{made};
        },
        [&] { return Tensors{x}; });
    return made + 1;
  });
  f(constant(1.));
}
