// An op without a gradient is on the way.
PROGRAM(W0502_cut) {
  Variable v(constant({1., 2.}));
  GradientTape tape;
  Tensor best = cast(argmax(v, 0), float32);
  tape.gradient(best, v);
}
