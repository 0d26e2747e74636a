// A network of two layers learns exclusive or; the step is traced once and then runs as a graph.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;
namespace layers = hf::keras::layers;

int main() {
  hf::random::set_seed(3);
  hf::Tensor x = hf::constant({{0., 0.}, {0., 1.}, {1., 0.}, {1., 1.}});
  hf::Tensor y = hf::constant({{0.}, {1.}, {1.}, {0.}});
  hf::keras::Sequential model({
      layers::Dense({.units = 16, .activation = "tanh"}),
      layers::Dense({.units = 1, .activation = "sigmoid"}),
  });
  model(x);  // the first call makes the weights
  auto step = hf::function([&](hf::Tensor x, hf::Tensor y) {
    hf::GradientTape tape;
    hf::Tensor loss = hf::reduce_mean(hf::square(model(x) - y));
    auto weights = model->trainable_variables();
    auto slopes = tape.gradients({loss}, {weights.begin(), weights.end()});
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(slopes[i].dense * 2.0f);
    return loss;
  });
  for (int i = 0; i < 2000; ++i) step(x, y);
  hf::Tensor right = hf::reduce_all((model(x) > 0.5) == (y > 0.5));
  std::printf("%s\n", hf::transpose(model(x)).text().c_str());
  return right ? 0 : 1;
}
