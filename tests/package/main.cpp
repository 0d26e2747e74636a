#include <holdfast/holdfast.h>

#include <cstdio>

int main() {
  using namespace holdfast;
  Variable w(Tensor::of<float>({{1, 2, 3, 4}}, {2, 2}));
  Tensor x = Tensor::of<float>({{1, 0.5}}, {2, 1});
  GradientTape tape;
  Tensor loss = reduce_sum(square(matmul(w, x)));
  Tensor slope = tape.gradient(loss, w);
  for (float v : slope.to_vector<float>()) std::printf("%g ", v);
  std::printf("\n");
}
