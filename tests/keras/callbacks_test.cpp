#include "holdfast/keras/callbacks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "holdfast/holdfast.h"
#include "holdfast/keras/callbacks/file_pattern.h"

namespace holdfast::keras {
namespace {

namespace fs = std::filesystem;

template <class F>
void expect_refused(F f, Code code, const std::string& with) {
  try {
    f();
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(with), std::string::npos) << e.what();
  }
}

// The sums of TensorFlow's records, bit by bit.
uint32_t crc32c(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0u);
  }
  return ~crc;
}
uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

struct Folder {
  Folder() {
    static int made = 0;
    path = fs::temp_directory_path() / cat("holdfast_callbacks_", int64_t(::getpid()), "_", made++);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& e : fs::recursive_directory_iterator(path))
      if (e.is_regular_file()) out.push_back(fs::relative(e.path(), path).string());
    std::sort(out.begin(), out.end());
    return out;
  }
  fs::path path;
};

struct Data {
  Tensor x = random::normal({24, 3}, {.seed = 7});
  Tensor y = reduce_sum(x, {.axis = {1}, .keepdims = true});
};

Sequential line(const OptimizerOption& optimizer = "sgd") {
  Sequential model({layers::Dense({.units = 1, .kernel_initializer = "zeros"})});
  model->compile({.optimizer = optimizer, .loss = "mse"});
  model(Data().x);
  return model;
}

TEST(CallbacksTest, FieldsOfNamesAreFilledInAsPythonDoes) {
  std::vector<FieldValue> f{{"epoch", 7, true}, {"val_loss", 0.12345, false}, {"big", -1234567.5}};
  EXPECT_EQ(fill_in("w.{epoch:02d}-{val_loss:.2f}.keras", f, "it"), "w.07-0.12.keras");
  EXPECT_EQ(fill_in("{epoch}{{x}}", f, "it"), "7{x}");
  EXPECT_EQ(fill_in("{val_loss}", f, "it"), "0.12345");
  EXPECT_EQ(fill_in("{epoch:>4}|{epoch:<4}|{epoch:^5}|{epoch:+d}", f, "it"), "   7|7   |  7  |+7");
  EXPECT_EQ(fill_in("{big:,.1f} {val_loss:.1e} {val_loss:.1%}", f, "it"),
            "-1,234,567.5 1.2e-01 12.3%");
  EXPECT_EQ(fill_in("{big:012.1f}", f, "it"), "-001234567.5");
  expect_refused([&] { fill_in("{loss:.2f}", f, "`filepath`"); }, Code::E1104, "`loss`");
  expect_refused([&] { fill_in("{val_loss:d}", f, "`filepath`"); }, Code::E1104, "no integer");
  expect_refused([&] { fill_in("{epoch", f, "`filepath`"); }, Code::E1104, "not closed");
  expect_refused([&] { fill_in("{epoch:q}", f, "`filepath`"); }, Code::E1104, "no format");
}

TEST(CallbacksTest, FunctionsOfTheProgramAreCalled) {
  Data d;
  std::vector<std::string> told;
  callbacks::LambdaCallback each(
      {.on_epoch_begin = [&](int64_t e, Logs&) { told.push_back(cat("begin ", e)); },
       .on_epoch_end = [&](int64_t e, Logs&) { told.push_back(cat("end ", e)); },
       .on_train_end = [&](Logs&) { told.push_back("done"); }});
  fit(*line(), d.x, d.y, {.epochs = 2, .verbose = 0, .callbacks = {each}});
  EXPECT_EQ(told, (std::vector<std::string>{"begin 0", "end 0", "begin 1", "end 1", "done"}));
}

TEST(CallbacksTest, AScheduleSetsTheRateOfEachEpoch) {
  Data d;
  callbacks::LearningRateScheduler halves(
      {.schedule = [](int64_t epoch, double rate) { return epoch ? rate / 2 : 0.5; }});
  History h = fit(*line(), d.x, d.y, {.epochs = 3, .verbose = 0, .callbacks = {halves}});
  EXPECT_EQ(h["learning_rate"], (std::vector<double>{0.5, 0.25, 0.125}));
}

TEST(CallbacksTest, SeveralStepsAreToldOfAtOnce) {
  Data d;
  Sequential model = line();
  model->compile({.optimizer = "sgd", .loss = "mse", .steps_per_execution = 4});
  std::vector<int64_t> begins, ends;
  callbacks::LambdaCallback each(
      {.on_train_batch_begin = [&](int64_t b, Logs&) { begins.push_back(b); },
       .on_train_batch_end = [&](int64_t b, Logs&) { ends.push_back(b); }});
  fit(*model, d.x, d.y, {.batch_size = 4, .epochs = 1, .verbose = 0, .callbacks = {each}});
  EXPECT_EQ(begins, (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(ends, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(model->compiled().optimizer()->iterations().read().to_double(), 6);
}

TEST(CallbacksTest, CheckpointsAreSavedUnderTheirNumbers) {
  Data d;
  Folder folder;
  callbacks::ModelCheckpoint all(
      {.filepath = folder.file("sub/{epoch:02d}.weights.h5"), .save_weights_only = true});
  callbacks::ModelCheckpoint often({.filepath = folder.file("b{batch}e{epoch}.weights.h5"),
                                    .save_weights_only = true,
                                    .save_freq = 2});
  Sequential model = line();
  fit(*model, d.x, d.y, {.batch_size = 8, .epochs = 2, .verbose = 0, .callbacks = {all, often}});
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"b1e2.weights.h5", "b2e1.weights.h5", "b3e2.weights.h5",
                                      "sub/01.weights.h5", "sub/02.weights.h5"}));
  callbacks::ModelCheckpoint best({.filepath = folder.file("best.keras"),
                                   .monitor = "loss",
                                   .save_best_only = true,
                                   .initial_value_threshold = -1});
  fit(*model, d.x, d.y, {.epochs = 1, .verbose = 0, .callbacks = {best}});
  EXPECT_FALSE(fs::exists(folder.file("best.keras")));  // nothing is better than that
  expect_refused([&] { callbacks::ModelCheckpoint({.filepath = "a.h5"}); }, Code::E1104, ".keras");
}

TEST(CallbacksTest, ACompiledModelComesBackWithItsOptimizer) {
  Data d;
  Folder folder;
  Sequential model = line("adam");
  fit(*model, d.x, d.y, {.epochs = 2, .verbose = 0});
  save_model(*model, folder.file("m.keras"));
  Model loaded = load_model(folder.file("m.keras"));
  auto& again = dynamic_cast<ModelLayer&>(*loaded);
  ASSERT_TRUE(again.is_compiled());
  Optimizer &old = *model->compiled().optimizer(), &now = *again.compiled().optimizer();
  EXPECT_EQ(now.iterations().read().to_double(), 2);
  ASSERT_EQ(now.variables().size(), old.variables().size());
  for (size_t i = 0; i < now.variables().size(); ++i)
    EXPECT_EQ(cast(now.variables()[i].read(), float32).to_vector<float>(),
              cast(old.variables()[i].read(), float32).to_vector<float>());
  Model plain = load_model(folder.file("m.keras"), {.compile = false});
  EXPECT_FALSE(dynamic_cast<ModelLayer&>(*plain).is_compiled());
}

TEST(CallbacksTest, TrainingGoesOnWhereItWasInterrupted) {
  Data d;
  Folder folder;
  Sequential model = line("adam");
  BackupAndRestoreOptions how{.backup_dir = folder.file("backup")};
  callbacks::LambdaCallback breaks({.on_epoch_begin = [](int64_t epoch, Logs&) {
    if (epoch == 3) throw std::runtime_error("interrupted");
  }});
  callbacks::BackupAndRestore backup(how);
  EXPECT_THROW(fit(*model, d.x, d.y, {.epochs = 5, .verbose = 0, .callbacks = {backup, breaks}}),
               std::runtime_error);
  std::vector<float> before = model->variables()[0].read().to_vector<float>();
  Sequential again = line("adam");
  std::vector<float> restored;
  callbacks::LambdaCallback looks({.on_epoch_begin = [&](int64_t epoch, Logs&) {
    if (epoch == 3) restored = again->variables()[0].read().to_vector<float>();
  }});
  History h =
      fit(*again, d.x, d.y,
          {.epochs = 5, .verbose = 0, .callbacks = {callbacks::BackupAndRestore(how), looks}});
  EXPECT_EQ(h.epoch, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(restored, before);
  EXPECT_FALSE(fs::exists(folder.file("backup")));  // it is done
}

TEST(CallbacksTest, TrainingGoesOnInTheMiddleOfAnEpoch) {
  Folder folder;
  Data d;
  auto pipeline = [&] {
    return data::Dataset::from_tensor_slices(Nested::tuple({d.x, d.y})).shuffle(24).batch(4);
  };
  auto fresh = [] {
    random::set_seed(5);
    Sequential model({Input({3}), layers::Dense(4), layers::Dropout(0.4), layers::Dense(1)});
    model.compile({.optimizer = "adam", .loss = "mse"});
    return model;
  };
  auto weights = [](const Sequential& model) {
    std::vector<std::vector<float>> out;
    for (const Tensor& t : model.get_weights()) out.push_back(t.to_vector<float>());
    return out;
  };
  FitOptions o{.epochs = 3, .verbose = 0};
  Sequential whole = fresh();
  whole.fit(pipeline(), o);
  o.callbacks = {
      callbacks::BackupAndRestore({.backup_dir = folder.file("backup"), .save_freq = 2})};
  int told = 0;
  o.callbacks.push_back(callbacks::LambdaCallback({.on_train_batch_end = [&](int64_t, Logs&) {
    if (++told == 9) throw std::runtime_error("interrupted");
  }}));
  EXPECT_THROW(fresh().fit(pipeline(), o), std::runtime_error);
  o.callbacks.pop_back();
  Sequential again = fresh();
  again.fit(pipeline(), o);
  EXPECT_EQ(weights(again), weights(whole));
  EXPECT_EQ(again->compiled().optimizer()->iterations().read().item<int64_t>(), 18);
}

TEST(CallbacksTest, EvaluationUsesTheMovingAverages) {
  Data d;
  Sequential model = line(optimizers::SGD({.learning_rate = 0.1, .use_ema = true}).ref());
  std::vector<float> trained;
  struct Look : Callback {
    void on_test_begin(Logs&) override { at = model()->variables()[0].read().to_vector<float>(); }
    std::vector<float> at;
  };
  auto look = make_ref<Look>();
  callbacks::LambdaCallback after({.on_epoch_end = [&](int64_t, Logs&) {
    trained = model->variables()[0].read().to_vector<float>();
  }});
  fit(*model, d.x, d.y,
      {.epochs = 2,
       .verbose = 0,
       .callbacks = {callbacks::SwapEMAWeights(), look, after},
       .validation_data = Nested::tuple({d.x, d.y})});
  EXPECT_NE(look->at, trained);
  Sequential plain = line();
  expect_refused(
      [&] {
        evaluate(*plain, d.x, d.y, {.verbose = 0, .callbacks = {callbacks::SwapEMAWeights()}});
      },
      Code::E1104, "use_ema");
}

TEST(CallbacksTest, EventsAreRecordsWithTheirSums) {
  Data d;
  Folder folder;
  callbacks::TensorBoard board({.log_dir = folder.file("logs"), .update_freq = 2});
  fit(*line(), d.x, d.y,
      {.batch_size = 8,
       .epochs = 2,
       .verbose = 0,
       .callbacks = {board},
       .validation_data = Nested::tuple({d.x, d.y})});
  std::vector<std::string> names = folder.names();
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].substr(0, 31), "logs/train/events.out.tfevents.");
  EXPECT_EQ(names[1].substr(0, 36), "logs/validation/events.out.tfevents.");
  for (const auto& [name, tags] :
       {std::pair(names[0], std::vector<std::string>{"brain.Event:2", "epoch_loss", "batch_loss",
                                                     "epoch_learning_rate", "graph_keras_model"}),
        std::pair(names[1], std::vector<std::string>{"evaluation_loss_vs_iterations"})}) {
    std::ifstream in(folder.file(name), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {}), all;
    size_t at = 0;
    while (at + 16 <= bytes.size()) {
      auto number = [&](size_t from, int count) {
        uint64_t out = 0;
        for (int i = count; i-- > 0;)
          out = out << 8 | static_cast<uint8_t>(bytes[from + size_t(i)]);
        return out;
      };
      uint64_t size = number(at, 8);
      EXPECT_EQ(number(at + 8, 4), masked(crc32c(bytes.substr(at, 8))));
      std::string event = bytes.substr(at + 12, size);
      EXPECT_EQ(number(at + 12 + size, 4), masked(crc32c(event)));
      all += event;
      at += 16 + size;
    }
    EXPECT_EQ(at, bytes.size());
    for (const std::string& tag : tags) EXPECT_NE(all.find(tag), std::string::npos) << tag;
  }
  expect_refused([&] { callbacks::TensorBoard({.histogram_freq = 1}); }, Code::E1105,
                 "histogram_freq");
}

TEST(CallbacksTest, StoppingEarlyTellsWhen) {
  Data d;
  callbacks::EarlyStopping early({.monitor = "loss", .min_delta = 100, .patience = 1});
  History h = fit(*line(), d.x, d.y, {.epochs = 9, .verbose = 0, .callbacks = {early}});
  EXPECT_EQ(h.epoch.size(), 2u);
  EXPECT_EQ(early->stopped_epoch(), 1);
}

TEST(CallbacksTest, WhatIsBetterGoesByTheMetricOfAnOutput) {
  Data data;
  Tensor input = Input({.shape = {3}});
  Model model(input, Nested::list({layers::Dense({.units = 1, .name = "accent"})(input),
                                   layers::Dense({.units = 1, .name = "b"})(input)}));
  model.compile({.optimizer = optimizers::SGD(0.0),
                 .loss = "mse",
                 .output_metrics = {{"accent", {"mae"}}, {"b", {"accuracy"}}}});
  auto best = [&](const std::string& name) {
    callbacks::EarlyStopping stopping({.monitor = name, .patience = 9});
    auto grows = callbacks::LambdaCallback(
        {.on_epoch_end = [name](int64_t epoch, Logs& logs) { logs.set(name, double(epoch)); }});
    model.fit(data.x, Nested::list({data.y, data.y}),
              {.epochs = 3, .verbose = 0, .callbacks = {grows, stopping}});
    return stopping->monitor().best_yet();
  };
  EXPECT_EQ(best("accent_loss"), 0);  // whatever the output is called
  EXPECT_EQ(best("accent_mae"), 0);
  EXPECT_EQ(best("b_accuracy"), 2);
}

TEST(CallbacksTest, MetricsOfSeveralNumbersAreTold) {
  Data data;
  Tensor classes = one_hot(cast(range(24) % 3, int32), 3);
  Tensor input = Input({.shape = {3}});
  Model model(input, layers::Dense({.units = 3, .activation = "softmax"})(input));
  model.compile({.optimizer = "sgd",
                 .loss = "categorical_crossentropy",
                 .metrics = {metrics::F1Score({.name = "each"}), "accuracy"}});
  History history = model.fit(data.x, classes, {.epochs = 2, .verbose = 0});
  ASSERT_EQ(history.arrays.size(), 1u);
  EXPECT_EQ(history.arrays[0].first, "each");
  EXPECT_EQ(history.arrays[0].second.size(), 2u);
  Logs logs = model.evaluate(data.x, classes, {.verbose = 0});
  std::string order;
  logs.each([&](const std::string& name, const auto&) { order += name + " "; });
  EXPECT_EQ(order, "loss each accuracy ");
  EXPECT_EQ(logs.arrays()[0].values.shape(), Shape({3}));
}

}  // namespace
}  // namespace holdfast::keras
