// Rows by their numbers: an embedding whose gradient is rows too, and not a whole table.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::random::set_seed(2);
  hf::Variable table(hf::random::normal({1000, 8}));
  hf::Tensor words = hf::constant({3, 14, 15, 3}), wanted = hf::ones({4, 8});
  double first = 0, last = 0;
  for (int i = 0; i < 100; ++i) {
    hf::GradientTape tape;
    hf::Tensor loss = hf::reduce_mean(hf::square(hf::gather(table, words) - wanted));
    auto rows = tape.gradients({loss}, {table})[0].slices;
    if (!rows) return 1;
    hf::scatter_sub(table, {rows->values * 2.0f, rows->indices, rows->dense_shape});
    (i == 0 ? first : last) = loss.to_double();
  }
  std::printf("loss %.3f -> %.5f\n", first, last);
  return last < 0.01 * first ? 0 : 1;
}
