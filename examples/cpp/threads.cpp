// Several threads call one traced function and add to one variable; nothing is lost.
#include <holdfast/holdfast.h>

#include <cstdio>
#include <thread>

namespace hf = holdfast;

int main() {
  hf::Variable total(hf::zeros({4}));
  auto add = hf::function([&](hf::Tensor x) {
    total.assign_add(x);
    return hf::reduce_sum(x);
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i) add(hf::fill({4}, static_cast<float>(t)));
    });
  for (std::thread& t : threads) t.join();
  std::printf("%s from %zu trace\n", total.read().text().c_str(), add.traces());
  return hf::reduce_all(total == 250.0 * (0 + 1 + 2 + 3)) && add.traces() == 1 ? 0 : 1;
}
