// A tensor of a function that was traced and never called.
PROGRAM(E0101_never_called) {
  Tensor middle;
  auto f = function([&](const Tensor& x) {
    middle = x * 2;
    return middle + 1;
  });
  f.concrete({{float32, {2}}});
  Tensor sum = middle + 1;
}
