// Integers have no gradients.
PROGRAM(W0502_integer) {
  Variable steps(3);
  GradientTape tape;
  Tensor y = steps * 2;
  tape.gradient(y, steps);
}
