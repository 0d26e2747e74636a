// A constant that no tape watches.
PROGRAM(W0502_unwatched) {
  Tensor x = constant(3.);
  GradientTape tape;
  Tensor y = x * x;
  tape.gradient(y, x);
}
