// Derivatives of derivatives: tapes inside tapes, and a jacobian of a gradient.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  hf::Variable x(2.0f);
  hf::GradientTape outer;
  hf::Tensor first;
  {
    hf::GradientTape inner;
    first = inner.gradient(x * x * x, x);
  }
  hf::Tensor second = outer.gradient(first, x);
  std::printf("x^3 at 2: %.1f and %.1f\n", first.to_double(), second.to_double());

  // The Hessian of sum(v^4): 12 v^2 on the diagonal.
  hf::Variable v(hf::constant({1., 2., 3.}));
  hf::GradientTape rows({.persistent = true});
  hf::GradientTape slope;
  hf::Tensor g = slope.gradient(hf::reduce_sum(hf::pow(v, 4)), v);
  hf::Tensor hessian = rows.jacobian(g, {v})[0];
  std::printf("%s\n", hessian.text().c_str());
  return second == 12 && hf::reduce_all(hf::abs(hessian - hf::linalg::diag(12 * v * v)) < 1e-3) ? 0
                                                                                                : 1;
}
