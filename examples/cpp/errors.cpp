// Errors say which tensors, where they were born, why, and what to do; programs can ask for parts.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::Tensor features = hf::zeros({2, 3});
  hf::Tensor weights = hf::ones({2, 3});
  try {
    hf::matmul(features, weights);
  } catch (const hf::InvalidArgumentError& e) {
    const hf::Diagnostic& d = e.diagnostic();
    std::printf("%s\n", e.what());
    std::printf("code %s, op %s, %zu fixes\n", hf::info(d.code).name, d.op.c_str(), d.fixes.size());
    return d.code == hf::Code::E0904 || d.code == hf::Code::E1102 ? 0 : 1;
  }
  return 1;
}
