// Weights in a file that other frameworks read too (safetensors): saved whole or not at all, and
// loaded only where names, dtypes and shapes fit.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

struct Line : hf::Module {
  explicit Line(float slope)
      : hf::Module("line"),
        w(variable("w", hf::constant(slope))),
        b(variable("b", hf::constant(1.0f))) {}
  hf::Tensor operator()(const hf::Tensor& x) const { return w * x + b; }
  hf::Variable w, b;
};

int main() {
  const char* path = "line.safetensors";
  Line trained(3), fresh(0);
  hf::save(trained, path);
  hf::load(fresh, path);
  for (const auto& [name, t] : hf::load(path))  // any file's tensors, by their names
    std::printf("%s: %s\n", name.c_str(), t.text().c_str());
  std::remove(path);
  return fresh(hf::constant(2.0f)) == 7 ? 0 : 1;
}
