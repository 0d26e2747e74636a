// A gradient of one's own, memory traded for time, and code for one row over all of them.
#include <holdfast/holdfast.h>

#include <iostream>

namespace hf = holdfast;

int main() {
  // log(1 + exp(x)), whose gradient by rule is inf / inf for large x.
  auto log1pexp = hf::custom_gradient([](hf::Tensor x) {
    hf::Tensor e = hf::exp(x);
    return std::pair(hf::log(1 + e), [=](hf::Tensor dy) { return dy * (1 - 1 / (1 + e)); });
  });
  hf::Tensor x = hf::constant(100.0f);
  hf::Tensor slope;
  {
    hf::GradientTape tape;
    tape.watch(x);
    slope = tape.gradient(log1pexp(x), x);
  }

  // Nothing inside is kept for the gradient: it is computed again.
  hf::Variable w(hf::random::normal({64, 64}));
  auto block = hf::recompute_grad([&](hf::Tensor h) {
    for (int i = 0; i < 4; ++i) h = hf::tanh(hf::matmul(h, w));
    return h;
  });
  hf::GradientTape tape;
  hf::Tensor dw = tape.gradient(hf::reduce_sum(block(hf::ones({2, 64}))), w);

  // Written for one row.
  hf::Tensor norms = hf::vectorized_map(
      [](hf::Tensor row) { return hf::sqrt(hf::reduce_sum(row * row)); }, hf::ones({3, 4}));
  std::cout << slope << ' ' << dw.shape() << ' ' << norms << '\n';
  return slope == 1 && hf::reduce_all(norms == 2) && dw.shape() == w.shape() ? 0 : 1;
}
