// Branches that give different dtypes.
PROGRAM(E0902_branches) {
  auto f = function([](const Tensor& x) {
    return cond(x > 0, [&] { return Tensors{x}; }, [&] { return Tensors{cast(x, int32)}; })[0];
  });
  f(constant(1.));
}
