// Models, layers, losses, metrics and optimizers as C++ programs hold and use them.
#include <gtest/gtest.h>
#include <holdfast/holdfast.h>

#include <filesystem>
#include <sstream>

#include "../refused.h"

namespace holdfast::keras {
namespace {

using layers::Dense;

Tensor line(int64_t rows) { return reshape(linspace(-1.0, 1.0, rows), {rows, 1}); }

TEST(KerasHandles, AModelIsCompiledFitTriedAndAsked) {
  // Seeds of its own: one for the program would stay for the tests that follow.
  Sequential model({Dense(8, {.activation = "tanh",
                              .kernel_initializer = initializers::GlorotUniform({.seed = 1})}),
                    Dense(1, {.kernel_initializer = initializers::GlorotUniform({.seed = 2})})});
  model.compile({.optimizer = optimizers::Adam(0.05),
                 .loss = losses::MeanSquaredError(),
                 .metrics = {"mae", metrics::RootMeanSquaredError()}});
  Tensor x = line(32), y = x * x;
  History history =
      model.fit(x, y, {.batch_size = 8, .epochs = 40, .verbose = 0, .shuffle = false});
  EXPECT_LT(history["loss"].back(), history["loss"].front() / 2);
  Logs logs = model.evaluate(x, y, {.verbose = 0});
  EXPECT_NEAR(logs["loss"], logs["root_mean_squared_error"] * logs["root_mean_squared_error"],
              1e-4);
  Tensor predicted = model.predict(x, {.batch_size = 5, .verbose = 0});
  EXPECT_NEAR(reduce_mean(square(predicted - y)).to_double(), logs["loss"], 1e-5);
  EXPECT_EQ(refused([&] { (void)logs["los"]; }), Code::E1203);
}

TEST(KerasHandles, ADatasetTrainsAndTries) {
  Sequential model({Input({.shape = {1}}), Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.3), .loss = "mse"});
  Tensor x = line(20), y = 2 * x + 1;
  auto batches = data::Dataset::from_tensor_slices({x, y}).shuffle(20, {.seed = 1}).batch(5);
  History history = model.fit(batches, {.epochs = 30, .verbose = 0, .validation_data = batches});
  EXPECT_LT(history["val_loss"].back(), 1e-3);
  EXPECT_EQ(history["loss"].size(), 30u);
  EXPECT_LT(model.evaluate(batches, {.verbose = 0})["loss"], 1e-3);
  Tensor predicted = model.predict(data::Dataset::from_tensor_slices(x).batch(7), {.verbose = 0});
  EXPECT_EQ(predicted.shape(), (Shape{20, 1}));
  // An endless one needs a number of steps.
  EXPECT_EQ(refused([&] { model.fit(batches.repeat(), {.verbose = 0}); }), Code::E1104);
  History some = model.fit(batches.repeat(), {.epochs = 2, .verbose = 0, .steps_per_epoch = 3});
  EXPECT_EQ(some.epoch.size(), 2u);
  EXPECT_EQ(refused([&] { model.fit(batches, {.verbose = 0, .validation_split = 0.5}); }),
            Code::E1104);
  EXPECT_EQ(refused([&] { model.fit(batches, {.verbose = 0, .sample_weight = y}); }), Code::E1104);
}

TEST(KerasHandles, CallsOnSymbolsAreAModel) {
  Tensor a = Input({.shape = {2}}), b = Input({.shape = {3}});
  Tensor joined = layers::Concatenate()({a, b});
  Tensor sum = Dense(1, {.use_bias = false, .kernel_initializer = "ones"})(joined);
  Model model({a, b}, sum);
  EXPECT_EQ(model.layers().size(), 2u);
  Tensor of_both = model({ones({4, 2}), ones({4, 3})});
  EXPECT_TRUE(reduce_all(of_both == 5));
  Model two({a, b}, {sum, joined});
  Nested given = two(Nested(ones({4, 2}), ones({4, 3})));
  EXPECT_EQ(given[1].tensor().shape(), (Shape{4, 5}));
  EXPECT_EQ(refused([&] { Model made(a, sum); }), Code::E0301);
  two.compile({.optimizer = "sgd", .loss = {{"dense", "mse"}, {"concatenate", "mae"}}});
}

struct Doubling : ModelLayer {
  Tensor call(const Tensor& inputs, const CallOptions&) override { return dense(inputs) * 2; }
  Dense dense{1};
};

TEST(KerasHandles, AProgramsOwnModelIsTrained) {
  auto model = make<Doubling>();
  model.compile({.optimizer = "adam", .loss = [](Tensor y, Tensor p) { return abs(y - p); }});
  History history = model.fit(line(8), line(8), {.epochs = 3, .verbose = 0});
  EXPECT_EQ(history["loss"].size(), 3u);
  Model any = model;
  EXPECT_EQ(any->name(), model.name());
  EXPECT_TRUE(any == model);
}

struct Counts : Callback {
  void on_epoch_end(int64_t, Logs& logs) override {
    ++epochs;
    if (logs["loss"] < 1e9) model()->stop_training = true;
  }
  int epochs = 0;
};
struct Worst : Loss {
  Tensor call(const Tensor& y, const Tensor& p) override {
    return reduce_max(abs(y - p), {.axis = -1});
  }
};
struct Batches : Metric {
  void update_state(const Tensor&, const Tensor&, const Tensor&) override { count.assign_add(1); }
  Nested result() override { return count.read(); }
  Variable count = add_variable({}, "zeros", "count");
};

TEST(KerasHandles, ObjectsOfAProgramsOwnClasses) {
  Sequential model({Dense(1)});
  model.compile({.loss = make<Worst>(), .metrics = {make<Batches>()}});
  auto counts = make<Counts>();
  History history = model.fit(line(8), line(8),
                              {.batch_size = 2, .epochs = 9, .verbose = 0, .callbacks = {counts}});
  EXPECT_EQ(counts->epochs, 1);
  EXPECT_EQ(history["batches"].back(), 4);
}

TEST(KerasHandles, TheFirstTwoOptionsNeedNoName) {
  EXPECT_EQ(layers::Embedding(10, 4)->options().output_dim, 4);
  layers::Conv2D square_kernel(8, 3, {.padding = "same"});
  EXPECT_EQ(square_kernel->options().filters, 8);
  EXPECT_EQ(square_kernel->options().kernel_size.sizes, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(square_kernel->options().padding, "same");
  // Several values in braces are the second option, not the options from the first one on.
  layers::Conv2D wide(8, {3, 5});
  EXPECT_EQ(wide->options().filters, 8);
  EXPECT_EQ(wide->options().kernel_size.sizes, (std::vector<int64_t>{3, 5}));
  Dense relu(2, "relu", {.kernel_initializer = "ones"});
  EXPECT_TRUE(reduce_all(relu(constant({{-1., -2.}})) == 0));
  EXPECT_EQ(optimizers::SGD(0.1, 0.9)->options().momentum, 0.9);
  EXPECT_EQ(Input({28, 28, 1}).shape(), (Shape{-1, 28, 28, 1}));
  EXPECT_EQ(refused([] { Dense(8, 3); }), Code::E1104);
  EXPECT_EQ(refused([] { Dense(8, {3, 5}); }), Code::E1104);
  EXPECT_EQ(refused([] { layers::RepeatVector(1, 2); }), Code::E1104) << "one too many";
}

TEST(KerasHandles, TheFirstOptionNeedsNoName) {
  EXPECT_EQ(Dense(3)->options().units, 3);
  EXPECT_EQ(Dense(3, {.activation = "relu", .name = "mine"}).name(), "mine");
  EXPECT_EQ(layers::Dropout(0.25)->options().rate, 0.25);
  EXPECT_NEAR(optimizers::SGD(0.5)->learning_rate().to_double(), 0.5, 1e-7);
  Tensor x = constant({-1., 2.});
  EXPECT_TRUE(reduce_all(layers::Activation("relu")(x) == constant({0., 2.})));
  EXPECT_EQ(refused([] { Dense made("many"); }), Code::E1104);
  EXPECT_EQ(refused([] { AnyLayer made(3); }), Code::E1104);
}

TEST(KerasHandles, CodeStandsForAnActivation) {
  Dense squared(2, {.activation = [](Tensor x) { return x * x; },
                    .use_bias = false,
                    .kernel_initializer = "ones"});
  EXPECT_TRUE(reduce_all(squared(fill({1, 3}, 2.0f)) == 36));
  EXPECT_EQ(refused([&] { (void)squared->get_config(); }), Code::E1105);
}

TEST(KerasHandles, WeightsAreTakenAndGiven) {
  Sequential model({Dense(2)});
  EXPECT_EQ(refused([&] { model->set_weights({ones({3, 2}), zeros({2})}); }), Code::E1104);
  model.build({-1, 3});
  EXPECT_EQ(model->count_params(), 8);
  model->set_weights({fill({3, 2}, 2.0f), ones({2})});
  EXPECT_TRUE(reduce_all(model(ones({1, 3})) == 7));
  EXPECT_EQ(refused([&] { model->set_weights({ones({3, 2}), zeros({3})}); }), Code::E1102);
  EXPECT_TRUE(reduce_all(model->get_weights()[0] == 2)) << "nothing changed";
  EXPECT_EQ(model.trainable_variables().size(), 2u);
}

TEST(KerasHandles, AModelComesBackFromItsFile) {
  auto folder = std::filesystem::temp_directory_path() / "holdfast_handles";
  std::filesystem::create_directories(folder);
  Sequential model({Dense(2, {.activation = "relu"}), Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(line(8), line(8), {.verbose = 0});
  model.save(folder / "m.keras");
  Model loaded = load_model(folder / "m.keras");
  Tensor before = model.predict(line(3), {.verbose = 0});
  EXPECT_TRUE(reduce_all(loaded(line(3)) == before));
  loaded.fit(line(8), line(8), {.verbose = 0});
  EXPECT_TRUE(reduce_any(loaded(line(3)) != before));
  model.save_weights(folder / "m.weights.h5");
  loaded.load_weights(folder / "m.weights.h5");
  EXPECT_TRUE(reduce_all(loaded(line(3)) == before));
  holdfast::save(model, folder / "m.safetensors");
  holdfast::load(loaded, folder / "m.safetensors");
  std::filesystem::remove_all(folder);
}

TEST(KerasHandles, AnOptimizerMovesVariables) {
  Variable v(2.0f), w(3.0f);
  optimizers::SGD sgd(0.5);
  std::vector<Variable> both{v, w};
  {
    GradientTape tape;
    Tensor loss = v * v + w;
    sgd.apply_gradients(tape.gradient(loss, both), both);
  }
  EXPECT_EQ(v.read().item<float>(), 0);
  EXPECT_EQ(w.read().item<float>(), 2.5f);
  sgd.apply_gradients({{constant(1.0f), w}});
  EXPECT_EQ(w.read().item<float>(), 2);
  sgd->apply_gradients(std::vector<Tensor>{constant(2.0f)}, {w});
  EXPECT_EQ(w.read().item<float>(), 1);
  EXPECT_EQ(refused([&] { sgd.apply_gradients(std::vector<Tensor>{}, both); }), Code::E1104);
}

TEST(KerasHandles, MetricsGatherAndSay) {
  metrics::Mean mean;
  mean.update_state({2.0});
  mean.update_state(constant({4., 6.}));
  EXPECT_EQ(mean.result().tensor().item<float>(), 4);
  EXPECT_TRUE(mean.result() > 3.5);
  mean.reset_state();
  EXPECT_EQ(Tensor(mean.result()).item<float>(), 0);

  Tensor y = constant({0., 0., 1., 1.}), p = constant({0.1, 0.6, 0.35, 0.8});
  metrics::AUC auc({.num_thresholds = 1000});
  auc.update_state(y, p);
  EXPECT_NEAR(auc.result().tensor().to_double(), 0.75, 1e-3);
  metrics::Precision precision({.thresholds = {0.5}});
  precision.update_state(y, p);
  EXPECT_EQ(precision.result().tensor().item<float>(), 0.5f);
  metrics::RecallAtPrecision at({.at_least = 0.9});
  at.update_state(y, p);
  EXPECT_NEAR(at.result().tensor().to_double(), 0.5, 1e-6);
}

// Each is of the class it is called by, and takes its options.
template <class M>
void is(const M& metric, const std::string& name) {
  EXPECT_EQ(metric->class_name(), name);
}
TEST(KerasHandles, EveryMetricHasAType) {
  using namespace metrics;
  is(Accuracy(), "Accuracy");
  is(BinaryAccuracy({.threshold = 0.3}), "BinaryAccuracy");
  is(BinaryCrossentropy({.from_logits = true}), "BinaryCrossentropy");
  is(BinaryIoU({.target_class_ids = {1}}), "BinaryIoU");
  is(CategoricalAccuracy(), "CategoricalAccuracy");
  is(CategoricalCrossentropy({.label_smoothing = 0.1}), "CategoricalCrossentropy");
  is(CategoricalHinge(), "CategoricalHinge");
  is(ConcordanceCorrelation(), "ConcordanceCorrelation");
  is(CosineSimilarity({.axis = 0}), "CosineSimilarity");
  is(F1Score({.average = "macro"}), "F1Score");
  is(FBetaScore({.beta = 2}), "FBetaScore");
  is(FalseNegatives(), "FalseNegatives");
  is(FalsePositives({.thresholds = {0.1, 0.2}}), "FalsePositives");
  is(Hinge(), "Hinge");
  is(IoU({.num_classes = 3, .target_class_ids = {0}}), "IoU");
  is(KLDivergence(), "KLDivergence");
  is(LogCoshError(), "LogCoshError");
  is(MeanAbsoluteError({.name = "mine"}), "MeanAbsoluteError");
  is(MeanAbsolutePercentageError(), "MeanAbsolutePercentageError");
  is(MeanIoU({.num_classes = 3}), "MeanIoU");
  is(MeanSquaredError({.dtype = float64}), "MeanSquaredError");
  is(MeanSquaredLogarithmicError(), "MeanSquaredLogarithmicError");
  is(OneHotIoU({.num_classes = 3, .target_class_ids = {0}}), "OneHotIoU");
  is(OneHotMeanIoU({.num_classes = 3}), "OneHotMeanIoU");
  is(PearsonCorrelation(), "PearsonCorrelation");
  is(Poisson(), "Poisson");
  is(PrecisionAtRecall({.at_least = 0.5}), "PrecisionAtRecall");
  is(R2Score(), "R2Score");
  is(Recall({.top_k = 2}), "Recall");
  is(RootMeanSquaredError(), "RootMeanSquaredError");
  is(SensitivityAtSpecificity({.at_least = 0.5}), "SensitivityAtSpecificity");
  is(SparseCategoricalAccuracy(), "SparseCategoricalAccuracy");
  is(SparseCategoricalCrossentropy({.ignore_class = 0}), "SparseCategoricalCrossentropy");
  is(SparseTopKCategoricalAccuracy({.k = 2}), "SparseTopKCategoricalAccuracy");
  is(SpecificityAtSensitivity({.at_least = 0.5}), "SpecificityAtSensitivity");
  is(SquaredHinge(), "SquaredHinge");
  is(TopKCategoricalAccuracy({.k = 2}), "TopKCategoricalAccuracy");
  is(TrueNegatives(), "TrueNegatives");
  is(TruePositives(), "TruePositives");
  EXPECT_EQ(refused([] { AUC made({.curve = "ROCK"}); }), Code::E1203);
}

struct Block : Module {
  Dense dense = module(Dense(2));
};

TEST(KerasHandles, LayersPrintAndAreHeldByModules) {
  Block block;
  block.dense(ones({1, 3}));
  EXPECT_EQ(block.variables().size(), 2u);
  std::ostringstream out;
  out << Dense(3, {.name = "d"}) << '|' << Sequential({Dense(1)}, {.name = "s"}) << '|'
      << Nested(constant({1, 2}), constant(3)) << '|' << data::Dataset::range(3).element_spec();
  EXPECT_EQ(out.str(), "layer `d` (Dense)|layer `s` (Sequential)|([1 2], 3)|int64[]");
  optimizers::schedules::ExponentialDecay decay(
      {.initial_learning_rate = 0.5, .decay_steps = 10, .decay_rate = 0.25});
  EXPECT_NEAR(decay(10).to_double(), 0.125, 1e-6);
}

}  // namespace
}  // namespace holdfast::keras
