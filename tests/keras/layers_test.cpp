// Layers as C++ programs write them.
#include "holdfast/keras/layers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "holdfast/holdfast.h"
#include "holdfast/keras/functional.h"

namespace holdfast::keras::layers {
namespace {

Tensor numbered(const Shape& s) {
  return reshape(cast(range(static_cast<int32_t>(s.size())), float32), s) / 10.0;
}

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-4 * (1 + std::abs(y[i])));
}

TEST(LayersTest, AClassifierOfImagesIsAListOfLayers) {
  Sequential model({
      Conv2D({.filters = 4, .kernel_size = 3, .activation = "relu"}),
      MaxPooling2D(),
      BatchNormalization({.momentum = 0.9}),
      Dropout({.rate = 0.5}),
      Flatten(),
      Dense({.units = 3}),
  });
  Tensor y = model(ones({2, 8, 8, 1}), {.training = true});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(model->variables().size(), 8u);
  EXPECT_EQ(model->trainable_variables().size(), 6u);
}

TEST(LayersTest, ChannelsMayComeFirst) {
  Tensor x = numbered({2, 5, 6, 4}), turned = transpose(x, {.perm = {0, 3, 1, 2}});
  auto back = [](const Tensor& y) { return transpose(y, {.perm = {0, 2, 3, 1}}); };
  auto agree = [&](auto last, auto first) {
    Tensor y = last(x);
    first->build_once(turned.shape());
    std::vector<Variable> from = last->variables(), to = first->variables();
    ASSERT_EQ(from.size(), to.size());
    for (size_t i = 0; i < to.size(); ++i) to[i].assign(from[i]);
    expect_same(back(first(turned)), y);
  };
  std::string second = "channels_first", start = "ones";
  agree(Conv2D(
            {.filters = 2, .kernel_size = 3, .strides = 2, .groups = 2, .bias_initializer = start}),
        Conv2D({.filters = 2, .kernel_size = 3, .strides = 2, .data_format = second, .groups = 2}));
  agree(
      Conv2DTranspose({.filters = 2, .kernel_size = {2, 3}, .strides = 2}),
      Conv2DTranspose({.filters = 2, .kernel_size = {2, 3}, .strides = 2, .data_format = second}));
  agree(
      SeparableConv2D({.filters = 3, .kernel_size = 2, .padding = "same"}),
      SeparableConv2D({.filters = 3, .kernel_size = 2, .padding = "same", .data_format = second}));
  agree(MaxPooling2D({.pool_size = {2, 3}}),
        MaxPooling2D({.pool_size = {2, 3}, .data_format = second}));
  agree(AveragePooling2D({.padding = "same"}),
        AveragePooling2D({.padding = "same", .data_format = second}));
  agree(ZeroPadding2D({.padding = {{1, 0}, {2, 1}}}),
        ZeroPadding2D({.padding = {{1, 0}, {2, 1}}, .data_format = second}));
}

TEST(LayersTest, ATransposeUndoesTheShapeOfAConvolution) {
  for (int64_t dilation : {1, 2}) {
    Conv1D there({.filters = 3, .kernel_size = 3, .dilation_rate = dilation});
    Conv1DTranspose back({.filters = 2, .kernel_size = 3, .dilation_rate = dilation});
    Tensor x = numbered({2, 9, 2});
    EXPECT_EQ(back(there(x)).shape(), x.shape());
  }
}

TEST(LayersTest, OpenSizesStayOpenAndRun) {
  Tensor image = make_input({.shape = {-1, -1, 3}});
  Tensor y = Conv2DTranspose({.filters = 2, .kernel_size = 3, .strides = 2})(
      UpSampling2D({.interpolation = "bilinear"})(Cropping2D({.cropping = 1})(
          Conv2D({.filters = 4, .kernel_size = 3, .padding = "same"})(image))));
  EXPECT_EQ(y.shape(), (Shape{-1, -1, -1, 2}));
  auto model = make_ref<FunctionalLayer>();
  model->set_graph(image, y);
  for (int64_t n : {5, 8})
    EXPECT_EQ(model->run(ones({1, n, n, 3}), {}).tensor().shape(),
              (Shape{1, 4 * (n - 2) + 1, 4 * (n - 2) + 1, 2}));
}

TEST(LayersTest, MasksAreMerged) {
  Tensor a = ones({1, 3, 2}), b = ones({1, 3, 1});
  Tensor first = constant({true, false, false}), second = constant({true, true, false});
  Nested masks =
      Nested::list_of(std::vector<Tensor>{reshape(first, {1, 3}), reshape(second, {1, 3})});
  Nested inputs = Nested::list_of(std::vector<Tensor>{a, b});
  auto either = std::vector<bool>{true, true, false};
  EXPECT_EQ(Add()->compute_mask(inputs, masks).tensor().to_vector<bool>(), either);
  EXPECT_EQ(Concatenate()->compute_mask(inputs, masks).tensor().to_vector<bool>(), either);
  Nested half = Nested::list({masks[0], Nested()});
  EXPECT_TRUE(Add()->compute_mask(inputs, half).is_none());
}

TEST(LayersTest, AdaptFindsTheStatisticsOfBatches) {
  Tensor data = numbered({10, 3});
  Normalization whole, parts;
  whole->adapt(data);
  parts->adapt({slice(data, {0, 0}, {4, 3}), slice(data, {4, 0}, {6, 3})});
  expect_same(whole->mean.read(), parts->mean.read());
  expect_same(whole->variance.read(), parts->variance.read());
  expect_same(reduce_mean(whole(data), {.axis = {0}}), zeros({3}));
}

TEST(LayersTest, FunctionsMerge) {
  Tensor a = constant({{1.f, 2.f}}), b = constant({{3.f, 5.f}});
  expect_same(keras::layers::add({a, b}), constant({{4.f, 7.f}}));
  expect_same(keras::layers::concatenate({a, b}, {.axis = 0}), constant({{1.f, 2.f}, {3.f, 5.f}}));
  expect_same(keras::layers::dot({a, b}, {.axes = 1}), constant({{13.f}}));
}

TEST(LayersTest, IdsAndStatisticsAreOfInputsAsTheyCame) {
  layers::Embedding rows({.input_dim = 1000, .output_dim = 1, .dtype = "mixed_bfloat16"});
  rows->build_once(Shape{-1});
  rows->set_weights({reshape(cast(range(1000), float32) % 64.f, {1000, 1})});
  Tensor found = rows(constant({257.f, 301.f, 999.f}));  // bfloat16 holds none of them
  EXPECT_EQ(found.dtype(), bfloat16);
  EXPECT_EQ(cast(found, float32).to_vector<float>(), (std::vector<float>{1, 45, 39}));
  layers::LayerNormalization norm({.dtype = "mixed_float16"});
  Tensor x = constant({{70000.f, 70064.f}});  // above what float16 holds
  EXPECT_NEAR(cast(norm(x), float32).to_vector<float>()[1], 1, 1e-2);
}

TEST(LayersTest, KernelsOfSumsSpreadByHowManyInputsTheyJoin) {
  layers::EinsumDense dense({.equation = "abc,cde->abde",
                             .output_shape = Shape{-1, 8, 16},
                             .kernel_initializer = "he_uniform"});
  dense->build_once(Shape{-1, 7, 24});
  double most = reduce_max(abs(dense->kernel)).to_double();
  EXPECT_NEAR(most, 0.5, 0.02);  // sqrt(3 * 2 / 24)
}

}  // namespace
}  // namespace holdfast::keras::layers
