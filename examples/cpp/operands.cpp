// What functions take for a tensor: numbers and texts in braces, bare ones, vectors.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::Tensor x = hf::reshape(hf::range(6), {2, 3});
  hf::Tensor chosen = hf::gather(x, {1, 0});                // its rows, the second first
  hf::Tensor corners = hf::gather_nd(x, {{0, 0}, {1, 2}});  // two of its elements
  hf::Tensor longest = hf::reduce_max(hf::strings::length({"a", "abc"}));

  std::vector<int> places{2, 2};
  hf::Tensor columns = hf::gather(x, places, {.axis = 1});
  hf::Tensor small = hf::cast(x[0], hf::uint8);
  hf::Tensor sum = hf::add(small, {10, 20, 30});  // the numbers are uint8 here
  try {
    hf::add(small, {100, 200, 300});
  } catch (const hf::Error& e) {
    std::printf("%s\n", e.diagnostic().headline.c_str());
  }
  hf::Tensor word = hf::constant("hold");
  bool right = chosen(0, 0) == 3 && corners[1] == 5 && longest == 3 && columns(1, 1) == 5 &&
               sum.dtype() == hf::uint8 && sum[2] == 32 && word + "fast" == "holdfast";
  return right ? 0 : 1;
}
