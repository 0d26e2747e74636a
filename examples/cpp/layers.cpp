// Layers: one of a program's own between two of ours, trained through a traced step.
//
//   example_layers
#include <holdfast/holdfast.h>

#include <cstdio>

using namespace holdfast;

struct Scale : keras::Layer {
  void build(const Shape& inputs) override {
    scale = add_weight({.name = "scale", .shape = {inputs[-1]}, .initializer = "ones"});
  }
  Tensor call(const Tensor& inputs, const keras::CallOptions&) override { return inputs * scale; }
  Variable scale;
};

int main() try {
  random::set_seed(1);
  Tensor x = reshape(linspace(-2.0, 2.0, 64), {64, 1}), y = sin(2 * x);
  keras::Sequential model({
      keras::layers::Dense({.units = 32, .activation = "tanh"}),
      keras::make<Scale>(),
      keras::layers::Dense({.units = 1}),
  });
  model(x);  // the first call makes the weights
  auto step = function([&](Tensor x, Tensor y) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(x, {.training = true}) - y));
    auto weights = model->trainable_variables();
    auto slopes = tape.gradients({loss}, {weights.begin(), weights.end()});
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(slopes[i].tensor() * 0.05f);
    return loss;
  });
  for (int i = 0; i <= 1000; ++i) {
    Tensor loss = step(x, y);
    if (i % 250 == 0) print({.output_stream = "stdout"}, "step", i, "loss", loss);
  }
  debugging::assert_less(reduce_mean(square(model(x) - y)), 0.1, {.message = "it learned nothing"});
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
