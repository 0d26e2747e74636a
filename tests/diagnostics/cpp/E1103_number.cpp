// A number that the dtype does not hold.
PROGRAM(E1103_number) {
  Tensor pixels = zeros({2}, uint8);
  Tensor brighter = pixels + 300;
}
