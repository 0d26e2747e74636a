// The tape had stopped when the target was computed.
PROGRAM(W0502_ended) {
  Variable v(2.);
  GradientTape tape;
  tape.stop();
  Tensor y = v * v;
  tape.gradient(y, v);
}
