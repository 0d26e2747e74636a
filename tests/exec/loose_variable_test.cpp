// Variables that leave their shape open, eager and in functions.
#include <gtest/gtest.h>

#include "holdfast/holdfast.h"

namespace holdfast {
namespace {

Variable loose() { return Variable(Tensor::of({1.f, 2.f}), {.shape = Shape::unknown()}); }

TEST(LooseVariable, TakesValuesOfAnyShape) {
  Variable v = loose();
  v.assign(Tensor::scalar(3.f));
  EXPECT_EQ(v.read().rank(), 0);
  v.assign(zeros({2, 3}));
  EXPECT_EQ(v.read().shape(), (Shape{2, 3}));
  EXPECT_FALSE(v.shape().has_rank());
}

TEST(LooseVariable, FunctionsFollowItsShape) {
  Variable v = loose();
  auto total = function([&] { return reduce_sum(v * v); });
  for (int64_t n : {2, 3, 3, 3, 5, 2, 2}) {
    v.assign(ones({n}));
    EXPECT_EQ(total().item<float>(), static_cast<float>(n));
  }
  EXPECT_EQ(total.traces(), 1u);
}

TEST(LooseVariable, UpdatesKeepItsShape) {
  Variable v = loose();
  v.assign(Tensor::of({1.f}));
  EXPECT_THROW(v.assign_add(ones({3})), InvalidArgumentError);
  EXPECT_EQ(v.read().to_vector<float>(), std::vector<float>{1});
}

TEST(LooseVariable, PartsAreCheckedWhenTheyAreWritten) {
  Variable v = loose();
  auto rows = function([&](Tensor x) {
    scatter_update(v, {x, Tensor::of({0}), {}});
    return x;
  });
  auto parts = function([&](Tensor x) {
    scatter_nd_update(v, reshape(Tensor::of({0}), {1, 1}), x);
    return x;
  });
  Tensor one = Tensor::of({7.f});
  for (int i = 0; i < 3; ++i) rows(one), parts(one);
  EXPECT_EQ(v.read().to_vector<float>(), (std::vector<float>{7, 2}));
  v.assign(zeros({9, 2}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(rows(one), InvalidArgumentError);
    EXPECT_THROW(parts(one), InvalidArgumentError);
  }
  v.assign(Tensor::scalar(1.f));
  EXPECT_THROW(rows(one), InvalidArgumentError);
  EXPECT_THROW(parts(one), InvalidArgumentError);
}

}  // namespace
}  // namespace holdfast
