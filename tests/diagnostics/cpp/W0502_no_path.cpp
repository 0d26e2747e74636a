// The target does not depend on the source.
PROGRAM(W0502_no_path) {
  Variable used(2.), other(3.);
  GradientTape tape;
  Tensor y = used * used + 0 * other.read().to_double();
  tape.watch(other);
  tape.gradient(y, other);
}
