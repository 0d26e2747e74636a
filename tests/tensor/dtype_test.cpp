// Dtypes by name and by C++ type, and sets of them.
#include "holdfast/tensor/dtype.h"

#include <gtest/gtest.h>

#include "holdfast/tensor/float16.h"

namespace holdfast {
namespace {

TEST(DTypeTest, NamesLeadBack) {
  for (int i = 1; i < kNumDTypes; ++i) {
    auto d = static_cast<DType>(i);
    EXPECT_EQ(dtype_named(name(d)), d) << name(d);
  }
  EXPECT_EQ(dtype_named("half"), float16);
  EXPECT_EQ(dtype_named("double"), float64);
  EXPECT_FALSE(dtype_named("float33"));
  EXPECT_FALSE(dtype_named(""));
}

TEST(DTypeTest, TypesOfCppHaveTheirSize) {
  EXPECT_EQ(dtype_of<float>, float32);
  EXPECT_EQ(dtype_of<bool>, boolean);
  EXPECT_EQ(dtype_of<std::string>, string);
  EXPECT_EQ(size_of(dtype_of<half>), static_cast<int64_t>(sizeof(half)));
  EXPECT_EQ(size_of(dtype_of<bfloat>), static_cast<int64_t>(sizeof(bfloat)));
  EXPECT_EQ(size_of(dtype_of<double>), static_cast<int64_t>(sizeof(double)));
  EXPECT_EQ(size_of(dtype_of<uint16_t>), 2);
  EXPECT_EQ(size_of(DType::kComplex128), 16);
  EXPECT_EQ(real_of(DType::kComplex64), float32);
  EXPECT_EQ(real_of(int8), int8);
}

TEST(DTypeTest, SetsAreJoinedAndLessened) {
  EXPECT_TRUE(kNumbers.has(DType::kComplex64));
  EXPECT_FALSE(kNumbers.has(boolean));
  EXPECT_FALSE(kNumbers.has(string));
  EXPECT_EQ(kReals.without(kFloats), kInts);
  EXPECT_TRUE(kInts.without(kInts).empty());
  EXPECT_EQ(kSignedInts | kUnsignedInts, kInts);
  EXPECT_EQ(to_text(kIndices), "int32 or int64");
  EXPECT_FALSE(kDifferentiable.has(int32));
}

}  // namespace
}  // namespace holdfast
