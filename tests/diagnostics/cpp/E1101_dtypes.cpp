// Two dtypes in one op.
PROGRAM(E1101_dtypes) {
  Tensor weights = zeros({2, 3});
  Tensor counts = constant({1, 2, 3});
  Tensor sum = weights + counts;
}
