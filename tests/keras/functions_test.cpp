// Activations, initializers, regularizers and constraints against those of Keras.
#include <cmath>

#include "holdfast/keras/activations.h"
#include "holdfast/keras/constraints.h"
#include "holdfast/keras/initializers.h"
#include "holdfast/keras/regularizers.h"
#include "holdfast/keras/seed_generator.h"
#include "reference.h"

namespace holdfast::keras {
namespace {

using reference::at;
using reference::expect_near;
using reference::numbers;
using reference::refused;
using reference::sizes;

const Config& recorded() {
  static const auto* all = new Config(reference::read("functions.json"));
  return *all;
}
Tensor given() {
  return reshape(constant(numbers(at(recorded(), "x"))), sizes(at(recorded(), "shape")));
}

// The object of a folder that a recorded entry made, by its class and options.
Ref<Object> made(const Config& entry, const char* folder) {
  ConfigObject o{at(entry, "class").as_text(), at(entry, "options").as_dict(), {}};
  return object_from(Config(o), folder, folder);
}

// Numbers of recorded configs are rounded, and some that are floats here are integers there. What
// Keras leaves out of a config (the gain of Identity) is in ours.
void expect_config(const Object& one, const Config& entry) {
  const ConfigObject own = described(one).as_object();
  EXPECT_EQ(own.class_name, at(entry, "class").as_text());
  const ConfigDict& wanted = at(entry, "config").as_dict();
  for (const auto& [key, value] : wanted) {
    const Config* got = own.config.find(key);
    ASSERT_TRUE(got) << own.class_name << " has no " << key;
    if (got->kind() == Config::Kind::kNumber)
      EXPECT_NEAR(got->as_number(), value.as_number(), 1e-6) << own.class_name << " " << key;
    else
      EXPECT_EQ(got->to_json(), value.to_json()) << own.class_name << " " << key;
  }
}

TEST(KerasFunctionsTest, ActivationsGiveWhatKerasGives) {
  Tensor x = given();
  for (const Config& entry : at(recorded(), "activations").as_list()) {
    const std::string& name = at(entry, "name").as_text();
    const activations::Named* f = activations::named(name);
    ASSERT_TRUE(f) << name;
    const ConfigDict& options = at(entry, "options").as_dict();
    expect_near((*f)(x, options), numbers(at(entry, "y")), 2e-6f, name + Config(options).to_json());
    if (options.size() == 0)
      expect_near((*activation(name))(x), numbers(at(entry, "y")), 2e-6f, name);
  }
}

TEST(KerasFunctionsTest, EveryActivationHasAGradientAndTracesAsItRuns) {
  Tensor x = given();
  for (const activations::Named& f : activations::all()) {
    if (f.name == "threshold") continue;
    auto traced = function([&](Tensor v) { return f(v); });
    Tensor eager = f(x);
    expect_near(traced(x), eager.to_vector<float>(), 2e-6f, f.name);
    // Sizes that differ are open while it is traced again.
    auto any = function([&](Tensor v) { return f(v); }, {.reduce_retracing = true});
    any(concat({x, x}, 0));
    expect_near(any(x), eager.to_vector<float>(), 2e-6f, f.name);
    GradientTape tape;
    tape.watch(x);
    Tensor sum = reduce_sum(f(x) * f(x));
    Tensor grad = tape.gradient(sum, x);
    ASSERT_TRUE(grad.defined()) << f.name;
    EXPECT_EQ(grad.shape(), x.shape()) << f.name;
  }
}

// Keras' own sums up too much where more than one number counts, so there is nothing to compare
// with: the point of the simplex that is nearest has a common distance where it is not 0.
TEST(KerasFunctionsTest, SparsemaxIsTheNearestPointOfTheSimplex) {
  Tensor x = given();
  for (int64_t axis : {0, -1}) {
    Tensor y = activations::sparsemax(x, {.axis = axis});
    Tensor sums = reduce_sum(y, {.axis = {axis}});
    for (float one : sums.to_vector<float>()) EXPECT_NEAR(one, 1, 1e-6);
    Tensor distance = select(y > 0, x - y, zeros_like(x));
    Tensor largest = reduce_max(distance, {.axis = {axis}, .keepdims = true});
    Tensor off = select(y > 0, distance - largest, zeros_like(x));
    for (float one : off.to_vector<float>()) EXPECT_NEAR(one, 0, 1e-6);
    for (float one : select(y > 0, zeros_like(x), maximum(x - largest, 0)).to_vector<float>())
      EXPECT_NEAR(one, 0, 1e-6);
  }
  EXPECT_EQ(activations::sparsemax(constant({-1.f, 0.f, 1.f})).to_vector<float>(),
            (std::vector<float>{0, 0, 1}));
}

TEST(KerasFunctionsTest, OptionsOfActivationsAreCheckedByName) {
  Tensor x = given();
  EXPECT_NE(refused([&] {
              (*activations::named("relu"))(x, {{"slope", 1.0}});
            }).find("relu has no option `slope`"),
            std::string::npos);
  EXPECT_NE(refused([&] { (*activations::named("threshold"))(x); }).find("`threshold`"),
            std::string::npos);
  EXPECT_NE(refused([&] { activations::glu(x, {.axis = 5}); }).find("glu: `axis` is 5"),
            std::string::npos);
  EXPECT_NE(refused([&] { activations::glu(ones({2, 3})); }).find("even size"), std::string::npos);
  EXPECT_NE(refused([&] { activations::relu(x, {.max_value = -1}); }).find("`max_value` is -1"),
            std::string::npos);
  EXPECT_NE(refused([] { activation("reluu"); }).find("\"relu\""), std::string::npos);
}

TEST(KerasFunctionsTest, InitializersDrawTheNumbersOfKerasForASeed) {
  for (const Config& entry : at(recorded(), "initializers").as_list()) {
    Ref<Object> one = made(entry, "initializers");
    auto& make = dynamic_cast<Initializer&>(*one);
    std::string what = make.text() + at(entry, "options").to_json();
    Shape shape(sizes(at(entry, "shape")));
    Tensor first = make(shape, float32);
    EXPECT_EQ(first.shape(), shape) << what;
    expect_near(first, numbers(at(entry, "y")), 3e-6f, what);
    EXPECT_EQ(make(shape, float32).to_vector<float>(), first.to_vector<float>()) << what;
    expect_config(*one, entry);
    // What its config describes is the same initializer.
    Ref<Object> again = object_from(described(*one), "initializers", "one");
    EXPECT_EQ(dynamic_cast<Initializer&>(*again)(shape, float32).to_vector<float>(),
              first.to_vector<float>());
  }
}

TEST(KerasFunctionsTest, InitializersGoByAllTheirNames) {
  for (const char* name : {"constant",
                           "glorot_normal",
                           "glorot_uniform",
                           "GlorotUniform",
                           "he_normal",
                           "he_uniform",
                           "identity",
                           "IdentityInitializer",
                           "lecun_normal",
                           "lecun_uniform",
                           "ones",
                           "one",
                           "orthogonal",
                           "OrthogonalInitializer",
                           "random_normal",
                           "normal",
                           "random_uniform",
                           "uniform",
                           "truncated_normal",
                           "TruncatedNormal",
                           "variance_scaling",
                           "zeros",
                           "zero"})
    EXPECT_EQ((*initializer(name))({4, 3}, float32).shape(), (Shape{4, 3})) << name;
}

TEST(KerasFunctionsTest, DrawsWithoutASeedFollowTheGlobalOne) {
  auto draw = [] {
    random::set_seed(5);
    return (*initializers::HeNormal())({3, 4}, float32).to_vector<float>();
  };
  std::vector<float> first = draw();
  EXPECT_EQ(draw(), first);
  EXPECT_NE((*initializers::HeNormal())({3, 4}, float32).to_vector<float>(), first);
  random::set_seed({});
}

TEST(KerasFunctionsTest, InitializersMakeSmallFloatsToo) {
  for (const char* name : {"glorot_uniform", "he_normal", "orthogonal", "identity", "constant"})
    EXPECT_EQ((*initializer(name))({4, 3}, bfloat16).dtype(), bfloat16) << name;
}

TEST(KerasFunctionsTest, AConstantOfAListIsBroadcast) {
  Ref<Initializer> c = initializers::Constant({.value = Config::List{1, 2.5}});
  EXPECT_EQ((*c)({2, 2}, float32).to_vector<float>(), (std::vector<float>{1, 2.5f, 1, 2.5f}));
  EXPECT_NE(refused([] {
              initializers::Constant({.value = Config::List{1, Config::List{2}}});
            }).find("`value` of Constant"),
            std::string::npos);
}

TEST(KerasFunctionsTest, WavesUnderAWindow) {
  std::vector<float> real = (*initializers::STFT())({4, 1, 3}, float32).to_vector<float>();
  const float half = std::sqrt(0.5f);
  const float expected[] = {0, 0, 0, half, 0, -half, half, -half, half, 0, 0, 0};
  ASSERT_EQ(real.size(), 12u);
  for (size_t i = 0; i < real.size(); ++i) EXPECT_NEAR(real[i], expected[i], 1e-6) << i;
  Ref<Initializer> given = initializers::STFT({.window = Config::List{1, 2}, .scaling = {}});
  EXPECT_EQ((*given)({2, 1, 2}, float32).to_vector<float>(), (std::vector<float>{1, 1, 2, -2}));
  EXPECT_NE(refused([] { initializers::STFT({.side = "both"}); }).find("`side` of STFT"),
            std::string::npos);
}

TEST(KerasFunctionsTest, WhatInitializersCannotMakeIsRefusedByName) {
  auto refusal = [](Ref<Initializer> one, Shape shape, DType dtype) {
    return refused([&] { (*one)(shape, dtype); });
  };
  EXPECT_NE(refusal(initializers::Identity(), {3}, float32).find("Identity was asked for"),
            std::string::npos);
  EXPECT_NE(refusal(initializers::Orthogonal(), {3}, float32).find("Orthogonal was asked for"),
            std::string::npos);
  EXPECT_NE(refusal(initializers::GlorotUniform(), {3}, int32).find("GlorotUniform"),
            std::string::npos);
  EXPECT_NE(refused([] { initializers::RandomNormal({.stddev = -1}); }).find("`stddev` is -1"),
            std::string::npos);
  EXPECT_NE(refused([] { initializers::VarianceScaling({.mode = "fan"}); }).find("fan_in"),
            std::string::npos);
  EXPECT_NE(
      refusal(initializers::HeNormal({.input_axes = {{7}}, .output_axes = {{0}}}), {3, 2}, float32)
          .find("the axis 7"),
      std::string::npos);
}

TEST(KerasFunctionsTest, AnInitializerDrawsFromAStreamThatItIsGiven) {
  auto stream = make_ref<SeedGenerator>(9, "mine");
  auto drawn = [](const Seed& seed) {
    return (*initializers::RandomNormal({.seed = seed}))({3}, float32).to_vector<float>();
  };
  std::vector<float> first = drawn(stream), second = drawn(stream);
  EXPECT_EQ(first, drawn(9));  // a number is the stream's first seed
  EXPECT_NE(first, second);
  EXPECT_EQ(stream->state().read().to_vector<int64_t>(), (std::vector<int64_t>{9, 2}));
  Config written = described(*initializers::RandomNormal({.seed = stream}));
  EXPECT_NE(written.to_json().find("\"SeedGenerator\""), std::string::npos) << written.to_json();
  Ref<Object> again = object_from(written, "initializers", "an initializer");
  EXPECT_EQ(dynamic_cast<Initializer&>(*again)({3}, float32).to_vector<float>(), first);
}

TEST(KerasFunctionsTest, RegularizersGiveWhatKerasGives) {
  Tensor x = given();
  for (const Config& entry : at(recorded(), "regularizers").as_list()) {
    Ref<Object> one = made(entry, "regularizers");
    auto& rule = dynamic_cast<Regularizer&>(*one);
    expect_near(rule(x), numbers(at(entry, "y")), 3e-6f, rule.text());
    expect_config(*one, entry);
  }
  for (const char* name : {"l1", "l2", "l1_l2", "L1L2", "orthogonal_regularizer"})
    EXPECT_TRUE(RegularizerOption(name)) << name;
  EXPECT_NE(refused([] { regularizers::L2({.l2 = -1}); }).find("L2: `l2` is -1"),
            std::string::npos);
  EXPECT_NE(refused([] { regularizers::OrthogonalRegularizer({.mode = "row"}); }).find("rows"),
            std::string::npos);
  EXPECT_NE(refused([] { (*regularizers::OrthogonalRegularizer())(ones({3})); }).find("two axes"),
            std::string::npos);
}

TEST(KerasFunctionsTest, ConstraintsGiveWhatKerasGives) {
  Tensor x = given();
  for (const Config& entry : at(recorded(), "constraints").as_list()) {
    Ref<Object> one = made(entry, "constraints");
    auto& rule = dynamic_cast<Constraint&>(*one);
    expect_near(rule(x), numbers(at(entry, "y")), 3e-6f, at(entry, "class").as_text());
    expect_config(*one, entry);
  }
  for (const char* name : {"max_norm", "non_neg", "unit_norm", "min_max_norm"})
    EXPECT_TRUE(ConstraintOption(name)) << name;
  EXPECT_NE(refused([] { constraints::MaxNorm({.max_value = -1}); }).find("`max_value` is -1"),
            std::string::npos);
}

}  // namespace
}  // namespace holdfast::keras
