// A flag that was computed on another line than the `if` that asks for it.
PROGRAM(E0201_flag) {
  auto step = function([](const Tensor& loss, const Tensor& best) {
    Tensor better = loss < best;
    Tensor scaled = loss * 2;
    if (better) return scaled;
    return loss;
  });
  step(constant(1.), constant(2.));
}
