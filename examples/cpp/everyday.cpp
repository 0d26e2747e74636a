// What one writes every day: parts and rows of tensors, changes in place, several results, prints.
#include <holdfast/holdfast.h>

#include <iostream>

namespace hf = holdfast;

int main() {
  hf::Tensor x = hf::reshape(hf::range(6), {2, 3});
  std::cout << x(0, hf::slice(1, 3)) << " of " << x.shape() << '\n';
  int rows = 0;
  for (hf::Tensor row : x) rows += static_cast<int>(row.size());
  x += 1;  // a new tensor; others that held the old one keep it
  auto [left, right] = hf::split<2>(hf::constant({1, 2, 3, 4}));

  hf::Variable w(2.0f), b(1.0f);
  w += 1.0f;  // the variable itself; `v[0] = 1.0f` changes a part of one
  hf::GradientTape tape;
  hf::Tensor loss = hf::square(w * 3 + b);
  auto [dw, db] = tape.gradient(loss, w, b);
  std::cout << dw << " and " << db << " of " << w << '\n';

  float rate = 0.5f;  // watched: another value is another trace
  auto scaled = hf::function([&](hf::Tensor t) { return t * rate; }, rate);
  hf::Tensor before = scaled(dw);
  rate = 2;
  hf::Tensor after = scaled(dw);

  struct Pair {
    hf::Tensor sum, product;
  };
  auto both = hf::function([](hf::Tensor p, hf::Tensor q) { return Pair{p + q, p * q}; });
  Pair pair = both(dw, db);
  bool right_values = dw == 60 && db == 20 && after == before * 4 && pair.product == 1200;
  return right_values && rows == 6 && right[1] == 4 && x(0, 0) == 1 && hf::reduce_sum(left) == 3
             ? 0
             : 1;
}
