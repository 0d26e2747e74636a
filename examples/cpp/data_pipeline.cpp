// Feeds a model from a pipeline: shuffled rows, a traced function, batches made by another thread;
// and goes on from a saved position.
#include <holdfast/holdfast.h>

#include <cmath>
#include <cstdio>

namespace hf = holdfast;
using hf::Nested, hf::Tensor;

int main() {
  Tensor x = hf::random::normal({1000, 3}, {.seed = 1});
  Tensor y = hf::matmul(x, hf::constant({{1.f}, {-2.f}, {0.5f}}));
  auto pipeline = [&] {
    return hf::data::Dataset::from_tensor_slices(Nested::tuple({x, y}))
        .shuffle(1000, {.seed = 7})
        .map([](Tensor features, Tensor label) { return std::pair(features * 2.f, label); })
        .batch(50)
        .prefetch();
  };
  std::printf("elements: %s\n", pipeline().element_spec().text().c_str());

  hf::Variable w(hf::zeros({3, 1}));
  auto step = hf::function([&](Tensor features, Tensor label) {
    hf::GradientTape tape;
    Tensor loss = hf::reduce_mean(hf::square(hf::matmul(features, w) - label));
    w.assign_sub(0.1f * tape.gradient(loss, w));
  });
  for (int epoch = 0; epoch < 5; ++epoch)
    for (const Nested& batch : pipeline()) step(batch[0].tensor(), batch[1].tensor());
  std::printf("w = %s\n", hf::reshape(w, {3}).text().c_str());

  auto one = pipeline().iterator(), other = pipeline().iterator();
  for (int i = 0; i < 8; ++i) one.next();
  other.restore(one.save());  // bytes: they may come from a file, or from another process
  Tensor a = one.next()->first(), b = other.next()->first();
  bool same = hf::reduce_all(a == b).item<bool>();
  std::printf("batch 8 is the same in both: %s\n", same ? "yes" : "no");
  return same && std::abs(w.read().to_vector<float>()[1] + 1) < 1e-3 ? 0 : 1;
}
