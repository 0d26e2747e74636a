// Facts that ops say of themselves fit the ops, and none that should have one was forgotten.
#include <gtest/gtest.h>

#include <set>

#include "holdfast/op/op.h"

namespace holdfast {
namespace {

TEST(FactsTest, WhoHasADataFormatSaysWhereItsImagesAre) {
  // Blocks of cells become channels; windows come as tensors; formats have words of their own; or
  // graphs hold the op only after channels were moved.
  const std::set<std::string> others{"SpaceToDepth",
                                     "DepthToSpace",
                                     "MaxPoolV2",
                                     "MaxPoolGradV2",
                                     "MaxPoolGradGradV2",
                                     "Conv",
                                     "Conv2DThen",
                                     "Conv2DBackpropInputThen",
                                     "DepthwiseConv2dNativeThen"};
  int seen = 0;
  for (const OpDef* op : all_ops()) {
    bool format = op->attr_index("data_format") >= 0;
    EXPECT_EQ(format && !others.count(op->name), op->images.has_value()) << op->name;
    seen += op->images.has_value();
  }
  EXPECT_GE(seen, 20);
}

TEST(FactsTest, ImagesAndTheirSizesAreInputs) {
  for (const OpDef* op : all_ops()) {
    if (!op->images) continue;
    for (size_t i = 0; i < 32; ++i) {
      bool image = op->images->inputs >> i & 1, sizes = op->images->sizes >> i & 1;
      if (!image && !sizes) continue;
      ASSERT_LT(i, op->inputs.size()) << op->name;
      EXPECT_EQ(sizes, op->inputs[i].host) << op->name;
      EXPECT_NE(image, sizes) << op->name;
    }
    EXPECT_TRUE(op->images->inputs) << op->name;
  }
}

TEST(FactsTest, WhatIsWorthMovingChannelsForSaysWhatItCosts) {
  int seen = 0;
  for (const OpDef* op : all_ops())
    if (op->images && op->images->begins) {
      ++seen;
      EXPECT_TRUE(op->flops) << op->name;
    }
  EXPECT_EQ(seen, 9);
}

TEST(FactsTest, CostsAreThoseOfThePlainFormulas) {
  auto flops = [](const char* op, std::vector<Shape> in, const Shape& out) {
    return find_op(op)->flops(in, out);
  };
  EXPECT_EQ(flops("MatMul", {{3, 5}, {5, 7}}, {3, 7}), 2 * 3 * 5 * 7);
  EXPECT_EQ(flops("MatMul", {{5, 3}, {5, 7}}, {3, 7}), 2 * 3 * 5 * 7);  // transposed
  EXPECT_EQ(flops("BatchMatMulV3", {{2, 3, 5}, {2, 5, 7}}, {2, 3, 7}), 2 * 2 * 3 * 5 * 7);
  Shape image{2, 8, 8, 4}, filter{3, 3, 4, 6}, out{2, 8, 8, 6};
  double all = 2.0 * static_cast<double>(out.size()) * 3 * 3 * 4;
  EXPECT_EQ(flops("Conv2D", {image, filter}, out), all);
  EXPECT_EQ(flops("Conv2DBackpropInput", {{4}, filter, out}, image), all);
  EXPECT_EQ(flops("Conv2DBackpropFilter", {image, {4}, out}, filter), all);
  Shape deep{2, 8, 8, 12}, each{3, 3, 4, 3};  // three results of each of four channels
  EXPECT_EQ(flops("DepthwiseConv2dNative", {image, each}, deep),
            2.0 * static_cast<double>(deep.size()) * 3 * 3);
}

TEST(FactsTest, WhoDrawsHasSeedsFirst) {
  int seen = 0;
  for (const OpDef* op : all_ops()) {
    bool seeds =
        op->attrs.size() > 1 && op->attrs[0].name == "seed" && op->attrs[1].name == "seed2";
    EXPECT_EQ(seeds, op->traits.draws) << op->name;
    EXPECT_TRUE(!seeds || (op->traits.stateful && !op->attr_structs.empty())) << op->name;
    seen += seeds;
  }
  EXPECT_GE(seen, 10);
}

TEST(FactsTest, UpdatesAreOfVariables) {
  for (const OpDef* op : all_ops()) {
    if (op->traits.update == Update::kNone) continue;
    EXPECT_TRUE(op->traits.stateful) << op->name;
    EXPECT_TRUE(op->inputs[0].resource) << op->name;
  }
}

TEST(FactsTest, FoldsHaveAxesAndMayKeepThem) {
  int seen = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->fold) continue;
    ++seen;
    EXPECT_EQ(op->inputs.size(), 2u) << op->name;
    EXPECT_TRUE(op->inputs[1].host) << op->name;
    EXPECT_GE(op->attr_index("keep_dims"), 0) << op->name;
  }
  EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace holdfast
