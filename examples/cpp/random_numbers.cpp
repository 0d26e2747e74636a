// Random numbers that can be had again: seeds, generators with a state, and pure functions of
// seeds.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::random::set_seed(7);
  hf::Tensor a = hf::random::normal({3});
  hf::random::set_seed(7);
  hf::Tensor again = hf::random::normal({3}), next = hf::random::normal({3});
  hf::Tensor pure = hf::random::stateless_uniform({3}, hf::Tensor::of({1, 2}));
  std::printf("%s\n%s\n%s\n", a.text().c_str(), next.text().c_str(), pure.text().c_str());

  hf::Tensor cards = hf::random::shuffle(hf::range(10));
  bool all_there = static_cast<bool>(hf::reduce_all(hf::sort(cards) == hf::range(10)));
  return hf::reduce_all(a == again) && !hf::reduce_all(a == next) && all_there ? 0 : 1;
}
