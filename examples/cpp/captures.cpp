// What a traced function sees of the program around it.
#include <holdfast/holdfast.h>

#include <iostream>

namespace hf = holdfast;

int main() {
  hf::Tensor x = hf::constant({1.0f, 2.0f});

  hf::Bound<float> rate(0.5f, "rate");         // another value is another trace
  hf::Bound<hf::Tensor> mask = hf::ones({2});  // read by each call
  auto scaled = hf::function([&](hf::Tensor t) { return hf::reduce_sum(t * rate * mask); });
  hf::Tensor first = scaled(x);
  rate = 2.0f;
  mask = hf::constant({0.0f, 1.0f});
  hf::Tensor second = scaled(x);

  int power = 2;  // watched where it is named
  auto raised = hf::function([&](hf::Tensor t) { return hf::pow(t, power); }, power);
  raised(x);
  power = 3;
  hf::Tensor cubes = raised(x);

  hf::Tensor table = hf::constant({10.0f, 20.0f});  // neither: as it was when it was traced
  auto frozen = hf::function([&](hf::Tensor t) { return t + table; });
  frozen(x);
  table = hf::zeros({2});
  hf::Tensor old = frozen(x);
  std::cout << scaled.trace_report() << '\n' << frozen.trace_report() << '\n';
  return first == 1.5 && second == 4 && cubes[1] == 8 && old[0] == 11 ? 0 : 1;
}
