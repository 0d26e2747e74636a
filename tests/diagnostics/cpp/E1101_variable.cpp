// A Variable is given another dtype.
PROGRAM(E1101_variable) {
  Variable v(constant({1., 2.}));
  v.assign(constant({1, 2}));
}
