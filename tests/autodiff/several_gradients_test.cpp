// Gradients of several sources, by name or in the order of a list.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

namespace holdfast {
namespace {

TEST(SeveralGradients, HaveNames) {
  Variable v(2.f), w(3.f);
  Tensor x = constant(5.f);
  auto product = [&](GradientTape& tape) {
    tape.watch(x);
    return v * w * x;
  };
  GradientTape first, second({.persistent = true});
  Tensor y = product(first), z = product(second);
  auto [dv, dw, dx] = first.gradient(y, v, w, x);
  EXPECT_EQ(stack({dv, dw, dx}).to_vector<float>(), (std::vector<float>{15, 10, 6}));
  EXPECT_EQ(second.gradient(z, std::vector<Variable>{v, w}).size(), 2u);
  EXPECT_EQ(second.gradient(z, {v, w, x})[2].item<float>(), 6.f);
  EXPECT_EQ(second.gradient(z, {v, w})[1].item<float>(), 10.f);
  auto [of_v, of_x] = second.gradient(z, v, x);
  EXPECT_EQ(of_v.item<float>() + of_x.item<float>(), 21.f);
}

TEST(SeveralGradients, OfNoWayAreEmpty) {
  Variable v(2.f), other(1.f);
  GradientTape tape;
  Tensor y = v * 2.f;
  auto [dv, none] = tape.gradient(y, v, other);
  EXPECT_EQ(dv.item<float>(), 2.f);
  EXPECT_FALSE(none.defined());
}

}  // namespace
}  // namespace holdfast
