// A float is read as an int.
PROGRAM(E1101_read) {
  Tensor x = constant({1., 2.});
  std::vector<int> numbers = x.to_vector<int>();
}
