// A module of variables, trained: checks stop a run that goes wrong, prints show how it goes.
//
//   example_module
#include <holdfast/holdfast.h>

#include <cstdio>

using namespace holdfast;

struct Dense : Module {
  Dense(int64_t in, int64_t out, int seed)
      : Module("dense"),
        w(variable("w", random::stateless_normal({in, out}, Tensor::of({seed, 0})))),
        b(variable("b", zeros({out}))) {}
  Tensor operator()(const Tensor& x) const { return matmul(x, w) + b; }
  Variable w, b;
};

struct Net : Module {
  Net() : Module("net") {}
  Dense hidden = module(Dense(1, 16, 1)), out = module(Dense(16, 1, 2));

  Tensor operator()(const Tensor& x) const {
    debugging::assert_shapes({{x, {"N", 1}}});
    return out(tanh(hidden(x)));
  }
};

int main() try {
  Tensor x = reshape(linspace(-2.0, 2.0, 64), {64, 1}), y = sin(2 * x);
  Net net;
  print({.output_stream = "stdout"}, net.name(), "holds", net.variables().size(), "variables");
  auto step = function([&](Tensor x, Tensor y) {
    GradientTape tape;
    Tensor loss = debugging::check_numerics(reduce_mean(square(net(x) - y)), "the loss has gone");
    auto variables = net.trainable_variables();
    auto slopes = tape.gradients({loss}, {variables.begin(), variables.end()});
    for (size_t i = 0; i < variables.size(); ++i)
      variables[i].assign_sub(slopes[i].tensor() * 0.05f);
    return loss;
  });
  for (int i = 0; i <= 1000; ++i) {
    Tensor loss = step(x, y);
    if (i % 250 == 0) print({.output_stream = "stdout"}, "step", i, "loss", loss);
  }
  debugging::assert_less(reduce_mean(square(net(x) - y)), 0.05, {.message = "it learned nothing"});
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
