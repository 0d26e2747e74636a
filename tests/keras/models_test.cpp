#include <gtest/gtest.h>

#include <filesystem>

#include "holdfast/holdfast.h"
#include "holdfast/keras/models/outline.h"
#include "tests/refused.h"

namespace holdfast::keras {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Two inputs, one of them through a shared layer twice.
struct Branches {
  Tensor a = Input({.shape = {8}, .name = "a"}), b = Input({.shape = {8}, .name = "b"});
  layers::Dense shared{
      {.units = 4, .activation = "relu", .kernel_initializer = "ones", .name = "shared"}};
  Tensor joined = layers::Concatenate({.name = "join"})({shared(a), shared(b)});
  Tensor out = layers::Dense({.units = 2, .kernel_initializer = "ones", .name = "out"})(joined);
  Ref<FunctionalLayer> model = make_ref<FunctionalLayer>();
  Branches() {
    model->set_options({.name = "branches"});
    model->set_graph(Nested::list({a, b}), out);
  }
};

TEST(ModelsTest, ASummaryTellsShapesParametersAndCost) {
  Sequential model({layers::Dense({.units = 64, .name = "first"}),
                    layers::Dropout({.rate = 0.5, .name = "drop"}),
                    layers::Dense({.units = 10, .name = "last"})},
                   {.name = "digits"});
  std::string unbuilt = summary_text(*model);
  EXPECT_TRUE(has(unbuilt, "0 (unbuilt)")) << unbuilt;
  model->build_once(Shape{kUnknown, 784});
  std::string text = summary_text(*model);
  EXPECT_TRUE(has(text, "Model: \"digits\"")) << text;
  EXPECT_TRUE(has(text, "first (Dense)")) << text;
  EXPECT_TRUE(has(text, "(None, 64)")) << text;
  EXPECT_TRUE(has(text, "50,240")) << text;
  EXPECT_TRUE(has(text, " Total params: 50,890 (198.79 KB)")) << text;
  EXPECT_TRUE(has(text, " Trainable params: 50,890")) << text;
  EXPECT_TRUE(has(text, " Non-trainable params: 0 (0.00 B)")) << text;
  EXPECT_FALSE(has(text, "Connected to")) << text;
  // 2 * 784 * 64 + 64 and 2 * 64 * 10 + 10; four bytes for each number that layers give.
  EXPECT_TRUE(has(text, "101.71 K")) << text;
  EXPECT_TRUE(has(text, " FLOPs: 101.71 K")) << text;
  EXPECT_TRUE(has(text, " Activations: 552.00 B")) << text;
}

TEST(ModelsTest, ASummaryOfAGraphTellsWhatIsJoinedToWhat) {
  Branches b;
  std::string text = summary_text(*b.model, {.show_trainable = true});
  EXPECT_TRUE(has(text, "Connected to")) << text;
  EXPECT_TRUE(has(text, "a (InputLayer)")) << text;
  EXPECT_TRUE(has(text, "a[0][0], b[0][0]")) << text;
  EXPECT_TRUE(has(text, "shared[0][0],")) << text;
  EXPECT_TRUE(has(text, "Trainable")) << text;
  std::string part = summary_text(*b.model, {.layer_range = std::pair("join", "out")});
  EXPECT_FALSE(has(part, "InputLayer")) << part;
  EXPECT_EQ(refused([&] { summary_text(*b.model, {.layer_range = std::pair("x", "out")}); }),
            Code::E1203);
  EXPECT_EQ(refused([&] { summary_text(*b.model, {.line_length = 20}); }), Code::E1103);
}

TEST(ModelsTest, CostsCountProductsAndSums) {
  auto flops = [](const AnyLayer& layer, const Shape& in) {
    Tensor x = Input({.shape = in});
    return cost_of(*node_of(layer(x))).flops;
  };
  EXPECT_EQ(flops(layers::Dense({.units = 5, .use_bias = false}), {3}), 2 * 3 * 5);
  EXPECT_EQ(flops(layers::Dense({.units = 5, .use_bias = false}), {7, 3}), 2 * 7 * 3 * 5);
  EXPECT_EQ(flops(layers::Conv2D({.filters = 4, .kernel_size = 3, .use_bias = false}), {8, 8, 2}),
            2 * 6 * 6 * 4 * 3 * 3 * 2);
  EXPECT_EQ(flops(layers::DepthwiseConv2D({.kernel_size = 3, .use_bias = false}), {8, 8, 2}),
            2 * 6 * 6 * 2 * 3 * 3);
  EXPECT_EQ(flops(layers::Flatten(), {8, 8, 2}), 0);
}

TEST(ModelsTest, AskingForASummaryLeavesLossesAlone) {
  layers::ActivityRegularization penalty({.l2 = 1});
  Sequential model({penalty});
  model(Tensor::of<float>({1, 2, 3, 4}, Shape{2, 2}));
  ASSERT_EQ(model->losses().size(), 1u);
  summary_text(*model);
  EXPECT_EQ(model->losses().size(), 1u);
  for (const Tensor& t : model->losses()) EXPECT_FALSE(t.is_symbolic());
}

TEST(ModelsTest, AClonesLayersAreNewAndSharedOnesStayShared) {
  Branches b;
  Ref<ModelLayer> copy = clone_model(*b.model);
  EXPECT_EQ(copy->name(), "branches");
  EXPECT_EQ(copy->variables().size(), 4u);
  EXPECT_NE(copy->get_layer("shared").get(), b.shared.ref().get());
  std::vector<Variable> from = b.model->variables(), to = copy->variables();
  for (size_t i = 0; i < from.size(); ++i) to[i].assign(from[i].read());
  Nested x = Nested::list({ones({3, 8}), ones({3, 8}) * 2.0f});
  EXPECT_EQ(copy->run(x, {}).tensor().to_vector<float>(),
            b.model->run(x, {}).tensor().to_vector<float>());
}

TEST(ModelsTest, AClonesLayersMayBeOthersAndCalledInOtherWays) {
  Branches b;
  CloneOptions same{
      .clone_function = [](Layer& old) { return Ref<Layer>(&old); },
      .call_function = [](Layer& l, const LayerCall& call, std::span<const Tensor> in) -> Nested {
        return call.replay_on(l, in, {}).map([](const Tensor& t) { return t * 2; });
      }};
  Ref<ModelLayer> copy = clone_model(*b.model, same);
  EXPECT_EQ(copy->get_layer("shared").get(), b.shared.ref().get());
  Nested x = Nested::list({ones({1, 8}), ones({1, 8})});
  Tensor once = b.model->run(x, {}).tensor(), again = copy->run(x, {}).tensor();
  EXPECT_NE(once.to_vector<float>(), again.to_vector<float>());
  Sequential chain({layers::Dense({.units = 2})});
  EXPECT_EQ(refused([&] { clone_model(*chain, {.call_function = same.call_function}); }),
            Code::E1104);
  EXPECT_EQ(refused([&] { clone_model(*b.model, {.input_tensors = ones({1, 8})}); }), Code::E1104);
}

TEST(ModelsTest, ModelsAreDrawn) {
  Branches b;
  std::string dot = model_to_dot(*b.model, {.show_shapes = true, .show_layer_activations = true});
  EXPECT_TRUE(has(dot, "digraph \"branches\"")) << dot;
  EXPECT_TRUE(has(dot, "shared (Dense)\\nActivation: relu\\nInput shape: (None, 8)")) << dot;
  EXPECT_TRUE(has(dot, "n0 -> n2;")) << dot;
  for (const char* way : {"TB", "BT", "LR", "RL"})
    for (const char* lines : {"ortho", "curved", "polyline"}) {
      std::string svg = model_to_svg(*b.model, {.rankdir = way, .splines = lines});
      EXPECT_TRUE(has(svg, "out (Dense)") && has(svg, "</svg>") && !has(svg, "nan")) << svg;
    }
  EXPECT_EQ(refused([&] { model_to_dot(*b.model, {.rankdir = "UP"}); }), Code::E1203);
  std::string path = (std::filesystem::temp_directory_path() / "holdfast_plot.png").string();
  EXPECT_EQ(refused([&] { plot_model(*b.model, path); }), Code::E1105);
  Sequential unbuilt({layers::Dense({.units = 2})});
  EXPECT_EQ(refused([&] { model_to_dot(*unbuilt); }), Code::E1104);
}

TEST(ModelsTest, ModelsInsideAreDrawnWithTheirLayers) {
  Tensor x = Input({.shape = {4}});
  Sequential inner({layers::Dense({.units = 3, .name = "deep"})}, {.name = "inner"});
  auto model = make_ref<FunctionalLayer>();
  model->set_graph(x, inner(x));
  EXPECT_FALSE(has(model_to_dot(*model), "deep"));
  std::string dot = model_to_dot(*model, {.expand_nested = true});
  EXPECT_TRUE(has(dot, "subgraph cluster_0") && has(dot, "deep")) << dot;
  std::string text = summary_text(*model, {.expand_nested = true});
  EXPECT_TRUE(has(text, "└ deep (Dense)")) << text;
}

TEST(ModelsTest, AFunctionIsALayer) {
  Variable scale(3.0f);
  layers::Lambda times({.function = [scale](const Tensor& x) { return x * scale; }, .name = "by"});
  Sequential model({times});
  EXPECT_EQ(model(ones({2})).to_vector<float>(), (std::vector<float>{3, 3}));
  scale.assign(5.0f);
  EXPECT_EQ(model(ones({2})).to_vector<float>(), (std::vector<float>{5, 5}));
  EXPECT_EQ(refused([&] { times->get_config(); }), Code::E1105);
  EXPECT_EQ(refused([] { layers::Lambda(layers::LambdaOptions{}); }), Code::E1104);
  layers::Lambda sum({.function = [](const Nested& in, const CallOptions&) {
    return Nested(in[0].tensor() + in[1].tensor());
  }});
  EXPECT_EQ(sum({ones({2}), ones({2})}).to_vector<float>(), (std::vector<float>{2, 2}));
}

}  // namespace
}  // namespace holdfast::keras
