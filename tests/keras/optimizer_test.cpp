#include "holdfast/keras/optimizer.h"

#include <cmath>

#include "holdfast/keras/optimizers.h"
#include "tests/keras/figures.h"
#include "tests/refused.h"

namespace holdfast::keras {
namespace {

struct AtLeastZero : Constraint {
  Tensor operator()(const Tensor& v) const override { return maximum(v, 0); }
  std::string text() const override { return "at least zero"; }
};

Ref<Optimizer> made(const ConfigDict& c) {
  std::string path = cat("optimizers.", c.find("class")->as_text());
  const ClassDef* def = find_class(path);
  if (!def) ADD_FAILURE() << path << " is not declared";
  ConfigDict config = c.find("config")->as_dict();
  for (const auto& [key, value] : ConfigDict(config))
    if (value.kind() == Config::Kind::kDict) config.set(key, Config::described(value.as_dict()));
  return Optimizer::from(make_declared(*def, config), path);
}

void expect_config(const ConfigDict& own, const ConfigDict& wanted, const std::string& what) {
  for (const auto& [key, value] : wanted) {
    ASSERT_TRUE(own.find(key)) << what << " " << key;
    const Config& got = *own.find(key);
    if (value.kind() == Config::Kind::kNumber || value.kind() == Config::Kind::kInteger) {
      EXPECT_EQ(got.as_number(), value.as_number()) << what << " " << key;
    } else if (value.kind() == Config::Kind::kList && key == "boundaries") {
      ASSERT_EQ(got.as_list().size(), value.as_list().size()) << what;
      for (size_t i = 0; i < got.as_list().size(); ++i)
        EXPECT_EQ(got.as_list()[i].as_number(), value.as_list()[i].as_number()) << what;
    } else {
      EXPECT_EQ(got.to_json(), value.to_json()) << what << " " << key;
    }
  }
}

// Five steps, eager or as one traced function; the values after each.
void run_case(const Figures& figures, const ConfigDict& c, bool traced) {
  std::string what = cat(traced ? "traced " : "", Config(c).to_json().substr(0, 160));
  Ref<Optimizer> o = made(c);
  Config m("matrix"), b("vector"), gm("matrix_gradients"), gb("vector_gradients");
  Ref<Constraint> rule = c.has("constraint") ? make_ref<AtLeastZero>() : Ref<Constraint>();
  Variable matrix(figures.array(&m), {.name = "matrix", .constraint = rule});
  Variable vector(figures.array(&b), {.name = "vector"});
  if (const Config* pattern = c.find("excluded"))
    o->exclude_from_weight_decay({}, {pattern->as_text()});
  auto step = [&](const Tensor& dm, const Tensor& db) {
    o->apply_gradients({{Gradient{dm}, matrix}, {Gradient{db}, vector}});
    return dm;
  };
  auto function_of_step = function(step);
  std::vector<Tensor> values;
  for (int i = 0; i < 5; ++i) {
    Tensor dm = at(figures.array(&gm), i), db = at(figures.array(&gb), i);
    if (traced)
      function_of_step(dm, db);
    else
      step(dm, db);
    values.push_back(reshape(matrix, {-1}));
    values.push_back(reshape(vector, {-1}));
  }
  expect_near(concat(values, 0), Figures::tensor(*c.find("values")), what, 1e-4, 1e-5);
  EXPECT_EQ(o->iterations().read().to_int(), 5) << what;
  EXPECT_NEAR(o->learning_rate().to_double(), Figures::number(*c.find("rate")), 1e-7) << what;
  std::vector<Variable> kept = o->variables();
  const Config::List& shapes = c.find("shapes")->as_list();
  ASSERT_EQ(kept.size(), shapes.size()) << what;
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(OptionType<Shape>::get(kept[i].shape()).to_json(), shapes[i].to_json()) << what << i;
  o->finalize_variable_values({matrix, vector});
  expect_near(concat({reshape(matrix, {-1}), reshape(vector, {-1})}, 0),
              Figures::tensor(*c.find("final")), what, 1e-4, 1e-5);
  expect_config(o->get_config(), c.find("described")->as_dict(), what);
}

TEST(OptimizerTest, MovesAsKerasMoves) {
  Figures figures("optimizers.json");
  for (const Config& one : figures.cases())
    if (one.as_dict().has("class"))
      for (bool traced : {false, true}) run_case(figures, one.as_dict(), traced);
}

TEST(OptimizerTest, SchedulesGiveKerasRates) {
  Figures figures("optimizers.json");
  for (const Config& one : figures.cases()) {
    const ConfigDict& c = one.as_dict();
    if (!c.has("schedule")) continue;
    std::string path = cat("optimizers.schedules.", c.find("schedule")->as_text());
    Ref<Schedule> s =
        Schedule::from(make_declared(*find_class(path), c.find("config")->as_dict()), path);
    std::vector<Tensor> rates;
    auto traced = function([&](const Tensor& step) { return (*s)(step); });
    for (const Config& step : c.find("at")->as_list()) {
      rates.push_back((*s)(constant(step.as_integer())));
      EXPECT_EQ(traced(constant(step.as_integer())).to_double(), rates.back().to_double());
    }
    expect_near(stack(rates), Figures::tensor(*c.find("rates")), one.to_json().substr(0, 160), 1e-5,
                1e-6);
    expect_config(s->get_config(), c.find("described")->as_dict(), path);
  }
}

TEST(OptimizerTest, RowsOfAnEmbeddingMoveAlone) {
  for (const char* name : {"sgd", "adagrad", "adam", "rmsprop"}) {
    Variable sparse(ones({4, 2}), {.name = "table"}), dense(ones({4, 2}), {.name = "table"});
    Ref<Optimizer> a = optimizer(name), b = optimizer(name);
    for (int i = 0; i < 3; ++i) {
      IndexedSlices g{constant({{1.f, 2.f}, {3.f, 4.f}, {0.5f, 0.5f}}), constant({1, 3, 1}),
                      constant({4, 2})};
      a->apply({Gradient{{}, g}}, {sparse});
      b->apply({Gradient{to_dense(g)}}, {dense});
    }
    expect_near(sparse.read(), dense.read(), name);
  }
}

TEST(OptimizerTest, TheRateIsSetWhileAStepIsTraced) {
  optimizers::SGD sgd({.learning_rate = 1.0});
  Variable v(constant(10.f));
  auto step = function([&](const Tensor& g) {
    sgd->apply_gradients({{Gradient{g}, v}});
    return g;
  });
  step(constant(1.f));
  EXPECT_EQ(v.read().to_double(), 9);
  sgd->set_learning_rate(0.5);
  step(constant(1.f));
  EXPECT_EQ(v.read().to_double(), 8.5);
  EXPECT_EQ(sgd->get_config().find("learning_rate")->as_number(), 0.5);
  optimizers::SGD follows({.learning_rate = schedules::ExponentialDecay(
                               {.initial_learning_rate = 1, .decay_steps = 1, .decay_rate = 0.5})});
  EXPECT_EQ(refused([&] { follows->set_learning_rate(1.0); }), Code::E1104);
}

TEST(OptimizerTest, BadOptionsAndMissingGradientsAreRefused) {
  EXPECT_EQ(refused([] { optimizers::SGD({.momentum = 2}); }), Code::E1103);
  EXPECT_EQ(refused([] { optimizers::Adam({.clipnorm = 1, .clipvalue = 1}); }), Code::E1104);
  EXPECT_EQ(refused([] { optimizers::Adam({.gradient_accumulation_steps = 1}); }), Code::E1103);
  EXPECT_EQ(refused([] { optimizer("adamm"); }), Code::E1203);
  Variable v(constant(1.f));
  EXPECT_EQ(refused([&] { optimizers::Adam()->apply_gradients({{Gradient{}, v}}); }), Code::E0501);
  EXPECT_EQ(v.read().to_double(), 1);
}

TEST(OptimizerTest, ALossScaleGrowsAndHalves) {
  optimizers::SGD inner({.learning_rate = 1.0});
  optimizers::LossScaleOptimizer scaled(
      {.inner_optimizer = inner.ref(), .initial_scale = 8, .dynamic_growth_steps = 2});
  Variable v(constant(10.f));
  EXPECT_EQ(scaled->scale_loss(constant(2.f)).to_double(), 16);
  auto step = function([&](const Tensor& g) {
    scaled->apply_gradients({{Gradient{g}, v}});
    return g;
  });
  step(constant(8.f));
  EXPECT_EQ(v.read().to_double(), 9);
  step(constant(8.f));
  EXPECT_EQ(v.read().to_double(), 8);
  EXPECT_EQ(scaled->scale().read().to_double(), 16);
  step(constant(INFINITY));
  EXPECT_EQ(v.read().to_double(), 8);
  EXPECT_EQ(scaled->scale().read().to_double(), 8);
  EXPECT_EQ(scaled->iterations().read().to_int(), 2);
}

TEST(OptimizerTest, ATracedLossHasTheScaleOfEachRun) {
  optimizers::SGD inner({.learning_rate = 1.0});
  optimizers::LossScaleOptimizer scaled(
      {.inner_optimizer = inner.ref(), .initial_scale = 8, .dynamic_growth_steps = 1});
  Variable v(constant(10.f));
  auto step = function([&](const Tensor& loss) {
    Tensor seen = scaled->scale_loss(loss);
    scaled->apply_gradients({{Gradient{seen}, v}});
    return seen;
  });
  for (double seen : {8., 16., 32.}) EXPECT_EQ(step(constant(1.f)).to_double(), seen);
  EXPECT_EQ(v.read().to_double(), 7);
}

struct Signs : Optimizer {
  void update_step(const Gradient& g, const Variable& v, Step& step) override {
    v.assign_sub(step.rate(v.dtype()) * sign(dense(g, v)));
  }
};

TEST(OptimizerTest, AProgramMayHaveItsOwn) {
  Ref<Optimizer> own = make_ref<Signs>();
  own->configure({.learning_rate = 0.5});
  Variable v(constant(1.f));
  own->apply_gradients({{Gradient{constant(-3.f)}, v}});
  EXPECT_EQ(v.read().to_double(), 1.5);
  EXPECT_EQ(own->name(), "signs");
}

}  // namespace
}  // namespace holdfast::keras
