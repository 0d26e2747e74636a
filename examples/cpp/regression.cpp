// A line through points, by hand: a tape, two variables, steps down the slope.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::random::set_seed(1);
  hf::Tensor x = hf::random::uniform({100}), y = 3 * x + 2;
  hf::Variable slope(0.0f), offset(0.0f);
  hf::Tensor loss;
  for (int i = 0; i < 500; ++i) {
    hf::GradientTape tape;
    loss = hf::reduce_mean(hf::square(slope * x + offset - y));
    auto g = tape.gradients({loss}, {slope, offset});
    slope.assign_sub(g[0].dense * 0.5f);
    offset.assign_sub(g[1].dense * 0.5f);
  }
  std::printf("y = %.3f x + %.3f\n", slope.read().item<float>(), offset.read().item<float>());
  return loss < 1e-4 ? 0 : 1;
}
