// A tensor that was only declared.
PROGRAM(E1104_undefined) {
  Tensor x = constant(1.), y;
  Tensor sum = x + y;
}
