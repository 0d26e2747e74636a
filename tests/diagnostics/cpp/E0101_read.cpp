// The numbers of a tensor of a function that never ran.
PROGRAM(E0101_read) {
  Tensor middle;
  auto f = function([&](const Tensor& x) { return middle = x * 2; });
  f.concrete({{float32, {}}});
  float number = middle.item<float>();
  (void)number;
}
