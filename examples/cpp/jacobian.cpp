// All derivatives at once: a jacobian, one for each example of a batch, and one along a direction.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::Tensor x = hf::constant({{1., 2.}, {3., 4.}});
  hf::GradientTape tape({.persistent = true});
  tape.watch(x);
  hf::Tensor y = x * x;
  hf::Tensor whole = tape.jacobian(y, {x})[0];  // [2, 2, 2, 2]
  hf::Tensor rows = tape.batch_jacobian(y, x);  // [2, 2, 2]: rows do not mix
  std::printf("%s %s\n", whole.shape().text().c_str(), rows.text().c_str());

  hf::ForwardAccumulator forward({x}, {hf::ones({2, 2})});
  hf::Tensor along = forward.jvp(x * x * x);  // 3 x^2
  std::printf("%s\n", along.text().c_str());
  return hf::reduce_all(along == 3 * x * x) && whole.rank() == 4 && rows.rank() == 3 ? 0 : 1;
}
