#include "holdfast/keras/loss.h"

#include "holdfast/keras/layer.h"
#include "holdfast/keras/losses.h"
#include "tests/keras/figures.h"
#include "tests/refused.h"

namespace holdfast::keras {
namespace {

Ref<Loss> made(const ConfigDict& c) {
  std::string path = cat("losses.", c.find("class")->as_text());
  const ClassDef* def = find_class(path);
  if (!def) ADD_FAILURE() << path << " is not declared";
  return Loss::from(make_declared(*def, c.find("config")->as_dict()), path);
}

TEST(LossTest, GivesWhatKerasGives) {
  Figures figures("losses.json");
  for (const Config& one : figures.cases()) {
    const ConfigDict& c = one.as_dict();
    std::string what = one.to_json().substr(0, 200);
    Ref<Loss> loss = made(c);
    Tensor y = figures.array(c.find("y_true")), p = figures.array(c.find("y_pred"));
    Tensor w = figures.array(c.find("sample_weight")), m = figures.array(c.find("mask"));
    Tensor wanted = Figures::tensor(*c.find("result"));
    MaybeIn weight = w.defined() ? MaybeIn(w) : MaybeIn(),
            mask = m.defined() ? MaybeIn(m) : MaybeIn();
    expect_near((*loss)(y, p, weight, mask), wanted, what);
    auto step =
        function([&](const Tensor& a, const Tensor& b) { return (*loss)(a, b, weight, mask); });
    expect_near(step(y, p), wanted, cat("traced ", what));
    for (const auto& [key, value] : c.find("described")->as_dict()) {
      ConfigDict own = loss->get_config();
      ASSERT_TRUE(own.find(key)) << what << key;
      if (value.kind() == Config::Kind::kNumber) {
        EXPECT_EQ(own.find(key)->as_number(), value.as_number()) << what;
      } else {
        EXPECT_EQ(own.find(key)->to_json(), value.to_json()) << what;
      }
    }
  }
}

TEST(LossTest, IsKnownByItsNames) {
  EXPECT_EQ(loss("mse")->class_name(), "MeanSquaredError");
  EXPECT_EQ(loss("MAE")->class_name(), "MeanAbsoluteError");
  EXPECT_EQ(loss("kl_divergence")->class_name(), "KLDivergence");
  EXPECT_EQ(loss("Huber")->name(), "huber_loss");
  EXPECT_EQ(loss("bce")->name(), "binary_crossentropy");
  EXPECT_EQ(refused([] { loss("mean_square_error"); }), Code::E1203);
  EXPECT_EQ(refused([] { losses::Huber({.reduction = "product"}); }), Code::E1203);
}

TEST(LossTest, TakesOutputsThatLieInOnePlaceTogether) {
  Tensor y = constant({{0.f}, {1.f}}), p = constant({{1.f}, {1.f}}), q = constant({{3.f}, {1.f}});
  Ref<Loss> mse = loss("mse");
  Nested labels = Nested::list({y, y}), given = Nested::list({p, q});
  EXPECT_EQ(mse->of_parts(labels, given).to_double(), 2.5);  // a mean over both
  EXPECT_EQ(mse->of_parts(labels, given, constant({2.f, 0.f})).to_double(), 5);
  Nested unlike = Nested::list({p, ones({2, 3})});
  EXPECT_EQ(refused([&] { mse->of_parts(labels, unlike); }), Code::E1102);
}

TEST(LossTest, ComesBackFromItsConfig) {
  losses::CategoricalCrossentropy made({.from_logits = true, .label_smoothing = 0.25});
  Ref<Loss> again = loss(made->config());
  Tensor y = one_hot(constant({1, 0}), 3), p = constant({{1.f, 2.f, 3.f}, {0.f, 1.f, 0.f}});
  EXPECT_EQ((*again)(y, p).to_double(), made(y, p).to_double());
  EXPECT_EQ(again->get_config(), made->get_config());
}

TEST(LossTest, LabelsThatFitTheTwinAreRecognised) {
  auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error came";
  };
  Tensor classes = constant({0, 2, 1}), p = fill({3, 4}, 0.25f);
  std::string dense = message([&] { losses::CategoricalCrossentropy()(classes, p); });
  EXPECT_NE(dense.find("SparseCategoricalCrossentropy"), std::string::npos) << dense;
  EXPECT_NE(dense.find("one_hot(y_true, 4)"), std::string::npos) << dense;
  std::string sparse =
      message([&] { losses::SparseCategoricalCrossentropy()(one_hot(classes, 4), p); });
  EXPECT_NE(sparse.find("use CategoricalCrossentropy"), std::string::npos) << sparse;
  std::string neither = message([&] { losses::CategoricalCrossentropy()(ones({3, 5}), p); });
  EXPECT_NE(neither.find("[3,5], `y_pred` [3,4]"), std::string::npos) << neither;
}

struct Quartic : Loss {
  Tensor call(const Tensor& y, const Tensor& p) override {
    return reduce_mean(square(square(y - p)), {.axis = -1});
  }
};

TEST(LossTest, AProgramMayHaveItsOwn) {
  Ref<Loss> own = make_ref<Quartic>();
  EXPECT_EQ(own->name(), "quartic");
  EXPECT_EQ((*own)(constant({{1, 2}}), constant({{3.f, 2.f}})).to_double(), 8);
}

TEST(LossTest, GradientsGoThrough) {
  Tensor y = constant({0, 2}), x = constant({{1.f, 2.f, 3.f}, {0.f, 1.f, -1.f}});
  GradientTape tape;
  tape.watch(x);
  Tensor l = losses::SparseCategoricalCrossentropy()(y, nn::softmax(x));
  Tensor g = tape.gradient(l, x);
  Tensor wanted = (nn::softmax(x) - one_hot(y, 3)) / 2;
  expect_near(g, wanted, "gradient", 1e-4, 1e-5);
}

}  // namespace
}  // namespace holdfast::keras
