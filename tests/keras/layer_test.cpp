#include "holdfast/keras/layer.h"

#include <gtest/gtest.h>

#include <functional>

#include "holdfast/holdfast.h"

namespace holdfast::keras {
namespace {

struct Scale : Layer {
  Scale() = default;
  explicit Scale(float first) : start(first) {}
  void build(const Shape& inputs) override {
    scale = add_weight({.name = "scale", .shape = {inputs[-1]}, .initializer = "ones"});
  }
  Tensor call(const Tensor& x, const CallOptions& o) override {
    trained = o.training;
    return x * scale * start;
  }
  Variable scale;
  float start = 1;
  std::optional<bool> trained;
};

struct Twice : layers::DenseLayer {
  using DenseLayer::DenseLayer;
  Tensor call(const Tensor& x, const CallOptions& o) override {
    return 2 * layers::DenseLayer::call(x, o);
  }
};

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error came";
}

TEST(LayerTest, ADenseIsBuiltByItsFirstCall) {
  layers::Dense d({.units = 3, .kernel_initializer = "ones"});
  EXPECT_FALSE(d->built());
  Tensor y = d(ones({2, 4}));
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(y.to_vector<float>()[0], 4);
  EXPECT_EQ(d->variables().size(), 2u);
  EXPECT_TRUE(d->kernel.name().ends_with("/kernel")) << d->kernel.name();
  EXPECT_EQ(d(ones({2, 5, 4})).shape(), (Shape{2, 5, 3}));
}

TEST(LayerTest, ACopyOfAHandleIsTheSameLayer) {
  layers::Dense d({.units = 2});
  layers::Dense copy = d, moved = std::move(copy);
  moved(ones({1, 2}));
  EXPECT_TRUE(d->built());
  EXPECT_EQ(d, moved);
  AnyLayer any = d;
  EXPECT_EQ(any, d);
  EXPECT_FALSE(any == layers::Dense({.units = 2}));
}

TEST(LayerTest, NothingIsSliced) {
  static_assert(!std::is_copy_constructible_v<Scale> && !std::is_copy_assignable_v<Layer>);
  auto scale = make<Scale>(3.f);
  AnyLayer any = scale;                    // only the handle is one of the base
  std::vector<AnyLayer> kept{any, scale};  // and in a container
  EXPECT_EQ(kept[0](ones({1, 2})).to_vector<float>()[1], 3);
  EXPECT_EQ(scale->scale.read().size(), 2);
  Sequential model({layers::Dense({.units = 2, .kernel_initializer = "ones"}), make<Scale>(5.f),
                    Handle<Twice>(make_ref<Twice>(layers::DenseOptions{
                        .units = 1, .use_bias = false, .kernel_initializer = "ones"}))});
  EXPECT_EQ(model(ones({1, 3})).item<float>(), 2 * 2 * 3 * 5);
  EXPECT_EQ(model->trainable_variables().size(), 4u);
  EXPECT_EQ(model->submodules().size(), 3u);
  EXPECT_EQ(model.layers()[1](ones({1, 2})).to_vector<float>()[0], 5);
}

TEST(LayerTest, NamesAreThoseOfTheClassAndNeverTheSame) {
  auto a = make<Scale>(), b = make<Scale>();
  EXPECT_TRUE(a->name().starts_with("scale")) << a->name();
  EXPECT_NE(a->name(), b->name());
  EXPECT_EQ(layers::Dense({.units = 1, .name = "head"})->name(), "head");
  Sequential model({layers::Dense({.units = 1, .name = "inner"})}, {.name = "outer"});
  model(ones({1, 1}));
  EXPECT_EQ(model->variables()[0].name(), "outer/inner/kernel");
}

TEST(LayerTest, TrainingIsThatOfTheLayerAround) {
  auto scale = make<Scale>();
  Sequential model({scale});
  model(ones({1, 1}), {.training = true});
  EXPECT_EQ(scale->trained, std::optional(true));
  model(ones({1, 1}));
  EXPECT_EQ(scale->trained, std::nullopt);
}

TEST(LayerTest, ALayerThatIsNotTrainableSaysSoForAllInside) {
  layers::Dense d({.units = 2});
  Sequential model({d, layers::Dense({.units = 1})});
  model(ones({1, 2}));
  d->set_trainable(false);
  EXPECT_EQ(model->trainable_variables().size(), 2u);
  EXPECT_EQ(model->non_trainable_variables().size(), 2u);
  model->set_trainable(false);
  EXPECT_TRUE(model->trainable_variables().empty());
  EXPECT_EQ(model->variables().size(), 4u);
}

TEST(LayerTest, WrongShapesNameLayerArgumentAndWhatWasExpected) {
  layers::Dense d({.units = 2, .name = "head"});
  std::string flat = refusal([&] { d(ones({3})); });
  EXPECT_NE(flat.find("layer `head` (Dense): `inputs` has the shape [3], expected at least two"),
            std::string::npos)
      << flat;
  EXPECT_FALSE(d->built());
  d(ones({1, 4}));
  std::string other = refusal([&] { d(ones({1, 5})); });
  EXPECT_NE(other.find("layer `head` (Dense) was built for [1,4], and got [1,5]"),
            std::string::npos)
      << other;
  EXPECT_EQ(d(zeros({1, 4}, float64)).dtype(), float32);  // floats become the layer's
  EXPECT_NE(refusal([] { layers::Dense({.units = 0}); }).find("`units` is 0"), std::string::npos);
  EXPECT_NE(refusal([] { layers::Dense({.units = 1, .activation = "rely"}); }).find("\"relu\""),
            std::string::npos);
  EXPECT_NE(refusal([] { make<Layer>()(ones({1})); }).find("has no `call`"), std::string::npos);
}

TEST(LayerTest, ALayerSaysWhatItWantsOfItsInputs) {
  layers::Dense d(2);
  ASSERT_TRUE(d->input_spec().has_value());
  EXPECT_EQ(d->input_spec()->at_least, 2);
  EXPECT_TRUE(d->input_spec()->sizes.empty());
  d(ones({1, 4}));
  EXPECT_EQ(d->input_spec()->sizes, (std::vector<std::pair<int, int64_t>>{{-1, 4}}));
  EXPECT_EQ(layers::LSTM(2)->input_spec()->axes, 3);
  EXPECT_FALSE(layers::Dropout(0.5)->input_spec().has_value());
}

TEST(LayerTest, AConfigMakesTheLayerAgain) {
  layers::Dense d({.units = 3, .activation = "relu", .use_bias = false, .name = "head"});
  ConfigObject config = serialize(*d);
  EXPECT_EQ(config.class_name, "Dense");
  auto again = deserialize(Config::from_json(Config(config).to_json(2)));
  auto* dense = dynamic_cast<layers::DenseLayer*>(again.get());
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense->get_config(), d->get_config());
  EXPECT_EQ(dense->options().units, 3);
  Sequential model({d, layers::Dense({.units = 1})}, {.name = "m"});
  auto copy = deserialize(Config::from_json(Config(serialize(*model)).to_json()));
  EXPECT_EQ(copy->get_config(), model->get_config());
  ConfigDict wrong = d->get_config();
  wrong.set("unit", 3);
  EXPECT_NE(refusal([&] { make_declared(d->definition(), wrong); }).find("`unit`"),
            std::string::npos);
  wrong = d->get_config();
  wrong.set("units", "three");
  EXPECT_NE(refusal([&] {
              make_declared(d->definition(), wrong);
            }).find("`units` of Dense is the text \"three\", expected an integer"),
            std::string::npos);
}

TEST(LayerTest, ALoopTrainsThroughATracedStep) {
  random::set_seed(1);
  Tensor x = reshape(linspace(-1.0, 1.0, 32), {32, 1}), y = 3 * x - 1;
  Sequential model({layers::Dense({.units = 8, .activation = "tanh"}), make<Scale>(),
                    layers::Dense({.units = 1})});
  model(x);
  auto step = function([&](Tensor in, Tensor wanted) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(in, {.training = true}) - wanted));
    auto weights = model->trainable_variables();
    auto slopes = tape.gradients({loss}, {weights.begin(), weights.end()});
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(slopes[i].tensor() * 0.1f);
    return loss;
  });
  float first = step(x, y).item<float>(), last = 0;
  for (int i = 0; i < 200; ++i) last = step(x, y).item<float>();
  EXPECT_LT(last, first / 20);
}

TEST(LayerTest, AModelIsFreedWithItsLastHandle) {
  int64_t before = cpu()->memory().live;
  {
    Sequential model({layers::Dense({.units = 64}), make<Scale>()});
    model(ones({2, 64}));
    AnyLayer inner = model.layers()[0];
    model = Sequential({inner});
  }
  EXPECT_EQ(cpu()->memory().live, before);
}

TEST(LayerTest, ALayerIsHeldForAsLongAsItIsTheActivation) {
  layers::Dense dense({.units = 3, .activation = Config(Ref<Object>(layers::PReLU().ref()))});
  dense(ones({2, 4}));
  EXPECT_EQ(dense->variables().size(), 3u);
  layers::DenseOptions o = dense->options();
  o.activation = "relu";
  dense->configure(o);
  EXPECT_EQ(dense->variables().size(), 2u);
}

TEST(LayerTest, AnotherPolicyIsForCallsAndForWeightsToCome) {
  layers::Dense dense({.units = 3});
  dense->set_policy("mixed_bfloat16");
  EXPECT_EQ(dense(ones({2, 4})).dtype(), bfloat16);
  EXPECT_EQ(dense->variables()[0].dtype(), float32);
  EXPECT_EQ(dense->options().dtype.name, "mixed_bfloat16");
}

TEST(LayerTest, AModuleHoldsLayers) {
  struct Net : Module {
    Net() : Module("net") { module(Module(dense)); }
    layers::Dense dense{layers::DenseOptions{.units = 2}};
  };
  Net net;
  net.dense(ones({1, 2}));
  EXPECT_EQ(net.variables().size(), 2u);
}

}  // namespace
}  // namespace holdfast::keras
