// Shapes: what they say of unknown dimensions, how they broadcast, and what they refuse.
#include "holdfast/tensor/shape.h"

#include <gtest/gtest.h>

#include "../refused.h"

namespace holdfast {
namespace {

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(ShapeTest, IsMadeOfAnyIntegers) {
  EXPECT_EQ(Shape({2u, 3}), (Shape{2, 3}));
  EXPECT_EQ(Shape(std::vector<int>{2, 3}), (Shape{2, 3}));
  EXPECT_EQ(Shape(std::array<size_t, 2>{2, 3}), (Shape{2, 3}));
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape().size(), 1);
}

TEST(ShapeTest, AxesCountFromBothEnds) {
  Shape s{2, 3, 4};
  EXPECT_EQ(s[0], 2);
  EXPECT_EQ(s[-1], 4);
  EXPECT_EQ(refused([&] { (void)s[3]; }), Code::E1102);
  EXPECT_EQ(refused([&] { (void)s[-4]; }), Code::E1102);
  EXPECT_EQ(refused([] { (void)Shape()[0]; }), Code::E1102);
  EXPECT_NE(refused([] { (void)Shape::unknown()[0]; }), Code{});
}

TEST(ShapeTest, CountsWhatCanBeCounted) {
  EXPECT_EQ((Shape{2, 0, 5}).size(), 0);
  EXPECT_EQ((Shape{2, 3}).elements(), 6);
  EXPECT_FALSE((Shape{2, -1}).elements());
  EXPECT_FALSE(Shape::unknown().elements());
  EXPECT_FALSE((Shape{kHuge, 4}).elements());
  EXPECT_NE(refused([] { (void)Shape({2, -1}).size(); }), Code{});
  EXPECT_NE(refused([] { (void)Shape::unknown().size(); }), Code{});
  EXPECT_NE(refused([] { (void)Shape({kHuge, 4}).size(); }), Code{});
}

TEST(ShapeTest, KnowsHowMuchItKnows) {
  EXPECT_TRUE((Shape{2, 3}).is_full());
  EXPECT_FALSE((Shape{2, -1}).is_full());
  EXPECT_FALSE(Shape::unknown().is_full());
  EXPECT_EQ(Shape::of_rank(2).rank(), 2);
  EXPECT_EQ(Shape::unknown().rank(), -1);
  EXPECT_EQ((Shape{2, -1}).text(), "[2,?]");
  EXPECT_EQ(Shape().text(), "[]");
}

TEST(ShapeTest, MergesWhatBothSay) {
  EXPECT_EQ((Shape{2, -1}).merged(Shape{-1, 3}), (Shape{2, 3}));
  EXPECT_EQ(Shape::unknown().merged(Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}).merged(Shape{2, 4}));
  EXPECT_FALSE((Shape{2}).merged(Shape{2, 1}));
  EXPECT_TRUE((Shape{2, -1}).compatible(Shape{2, 9}));
  EXPECT_TRUE(Shape::unknown().compatible(Shape{}));
  EXPECT_FALSE((Shape{2}).compatible(Shape{3}));
}

TEST(ShapeTest, Broadcasts) {
  EXPECT_EQ(broadcast(Shape{2, 1}, Shape{3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast(Shape{}, Shape{4}), Shape{4});
  EXPECT_EQ(broadcast(Shape{1}, Shape{0}), Shape{0});
  EXPECT_EQ(broadcast(Shape{2, -1}, Shape{2, 5}), (Shape{2, 5}));
  EXPECT_EQ(broadcast(Shape{-1}, Shape{1}), Shape{-1});
  EXPECT_FALSE(broadcast(Shape{2}, Shape{3}));
  EXPECT_EQ(strides_of(Shape{2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_TRUE(strides_of(Shape{}).empty());
}

}  // namespace
}  // namespace holdfast
