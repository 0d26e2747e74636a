// Where tensors live: a computer's devices, a tensor moved, an op placed.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::set_logical_cpus(2);  // two devices on any machine; GPUs come after the CPUs
  for (hf::Device* d : hf::devices())
    std::printf("%s: %s\n", d->short_name().c_str(), d->description().c_str());
  hf::Tensor x = hf::ones({2, 2});
  {
    hf::DeviceScope there("CPU:1");  // one that is not there is refused
    hf::Tensor y = hf::zeros({2, 2});
    std::printf("y lives on %s\n", y.device()->short_name().c_str());
    if (y.device() != hf::cpu(1)) return 1;
  }
  hf::Tensor moved = hf::copy_to(x, hf::cpu(1));
  return moved.device() == hf::cpu(1) && hf::reduce_all(moved == 1.0) ? 0 : 1;
}
