// State that traced code leaves behind: a running mean in a module, and weights made by the first
// call.
//
//   example_state
#include <holdfast/holdfast.h>

#include <cstdio>

using namespace holdfast;

struct Normalise : Module {
  Normalise() : Module("normalise") {}
  TensorAttribute mean = attribute("mean");  // of the batches so far; empty before the first
  Variable scale;

  Tensor operator()(const Tensor& x) {
    if (!scale.defined())
      scale = variable("scale", zeros({x.dim(1)}) + 2);  // once, in the first call
    Tensor now = reduce_mean(x, {0});
    mean = mean ? (mean + now) / 2 : now;
    return (x - mean) * scale;
  }
};

int main() try {
  Normalise layer;
  auto step = function([&](Tensor x) { return layer(x); }, {.name = "step"});
  Tensor batch = reshape(linspace(0.0, 5.0, 6), {3, 2});
  for (int i = 0; i < 3; ++i) {
    step(batch + static_cast<float>(i));
    print({.output_stream = "stdout"}, "after call", i, "the mean is", layer.mean.read());
  }
  print({.output_stream = "stdout"}, "variables:", layer.variables().size());
  std::printf("%s\n", step.trace_report().c_str());
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
