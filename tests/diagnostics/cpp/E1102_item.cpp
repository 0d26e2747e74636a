// One number of several.
PROGRAM(E1102_item) {
  Tensor x = constant({1., 2.});
  float number = x.item<float>();
  (void)number;
}
