// Choices: in eager code an `if` reads the value; in a traced function `cond` and `where` choose.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::Tensor loss = hf::constant(0.4f), best = hf::constant(0.5f);
  if (loss < best) std::printf("better\n");

  auto step = hf::function([](hf::Tensor x) {
    return hf::cond(
        hf::reduce_sum(x) > 0, [&] { return hf::Tensors{x * 2}; },
        [&] { return hf::Tensors{-x}; })[0];
  });
  auto relu = hf::function([](hf::Tensor x) { return hf::where(x > 0, x, 0.0f); });
  hf::Tensor up = step(hf::constant({1., 2.})), down = step(hf::constant({-1., -2.}));
  std::printf("%s %s from %zu trace\n", up.text().c_str(), down.text().c_str(), step.traces());

  // An `if` on a tensor while tracing is an error that says so.
  auto wrong = hf::function([](hf::Tensor x) { return x > 0 ? x : -x; });
  try {
    wrong(loss);
    return 1;
  } catch (const hf::Error& e) {
    std::printf("%s\n", hf::info(e.code()).name);
  }
  return hf::reduce_all(up == hf::constant({2., 4.})) && step.traces() == 1 ? 0 : 1;
}
