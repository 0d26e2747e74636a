// A loop over tensors: on values it runs at once, in a traced function it becomes part of the
// graph.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

// The root of x by Newton's rule, as many turns as it takes.
hf::Tensor root(const hf::Tensor& x) {
  return hf::while_loop([&](hf::Tensor guess) { return hf::abs(guess * guess - x) > 1e-4; },
                        [&](hf::Tensor guess) { return (guess + x / guess) / 2; }, {x});
}

int main() {
  auto traced = hf::function(root);
  hf::Tensor x = hf::constant(2.0f);
  std::printf("%.5f %.5f\n", root(x).to_double(), traced(x).to_double());

  hf::GradientTape tape;  // gradients go through loops
  tape.watch(x);
  hf::Tensor slope = tape.gradient(traced(x), x);
  std::printf("slope %.5f\n", slope.to_double());
  return hf::abs(slope - 0.35355) < 1e-3 && traced.traces() == 1 ? 0 : 1;
}
