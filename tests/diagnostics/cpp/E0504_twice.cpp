// A tape gives one gradient.
PROGRAM(E0504_twice) {
  Variable v(2.);
  GradientTape tape;
  Tensor y = v * v;
  tape.gradient(y, v);
  tape.gradient(y, v);
}
