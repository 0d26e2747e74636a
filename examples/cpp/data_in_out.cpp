// Numbers in and out: from containers, as views without a copy, as copies of another dtype.
#include <holdfast/holdfast.h>

#include <cstdio>
#include <numeric>

namespace hf = holdfast;

int main() {
  std::vector<float> rows(6);
  std::iota(rows.begin(), rows.end(), 0.0f);
  hf::Tensor x = hf::Tensor::of(std::span<const float>(rows), {2, 3});
  hf::Tensor names = hf::constant({"left", "right"});
  hf::Tensor nested = hf::constant({{1, 2}, {3, 4}});

  std::span<const float> seen = x.span<float>();  // no copy; lives as long as x
  std::vector<float> copy = x.to_vector<float>();
  double sum = std::accumulate(seen.begin(), seen.end(), 0.0);
  std::printf("%s of %s, sum %.0f\n", x.text().c_str(), x.shape().text().c_str(), sum);
  std::printf("%s, %s\n", names.to_vector<std::string>()[1].c_str(), nested.text().c_str());
  int third = nested.to_vector<int32_t>()[2];
  hf::Tensor halves = hf::cast(x, hf::float16);
  return sum == 15 && copy.size() == 6 && third == 3 && halves.dtype() == hf::float16 ? 0 : 1;
}
