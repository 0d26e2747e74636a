// Recurrent layers and Embedding against those of Keras.
#include "holdfast/keras/layers.h"
#include "holdfast/keras/symbol.h"
#include "layer_cases.h"

namespace holdfast::keras {
namespace {

using reference::refused;

void reset(Layer& layer) {
  if (auto* rnn = dynamic_cast<layers::RNNLayer*>(&layer)) rnn->reset_state();
}

TEST(RecurrentTest, LayersGiveWhatKerasGives) {
  const Config cases = reference::read("layers_recurrent.json");
  for (const Config& entry : cases.as_list()) {
    reference::Case c(entry);
    SCOPED_TRACE(c.what);
    reference::run_case(c, reset);
    if (HasFatalFailure()) return;
  }
}

// One kernel for all steps, or each step written down.
template <class L, class O>
void compare_with_steps(O options, int64_t batch = 3, int64_t size = 4) {
  Tensor x = reference::fixed({batch, 5, size}, 1);
  Tensor mask = reference::fixed({batch, 5}, 2) > 0;
  Tensor wanted_out, wanted_slope;
  std::vector<Tensor> weights;
  for (bool unroll : {true, false}) {
    options.unroll = unroll;
    L layer(options);
    layer(x);
    if (unroll)
      for (const Variable& v : layer->variables()) weights.push_back(v.read());
    else
      for (size_t i = 0; i < weights.size(); ++i) layer->variables()[i].assign(weights[i]);
    GradientTape tape;
    tape.watch(x);
    CallOptions how;
    how.mask = mask;
    Tensor out = layer->run(Nested(x), how).tensor();
    Tensor slope = tape.gradient(reduce_sum(square(out)), x);
    if (unroll) {
      wanted_out = out;
      wanted_slope = slope;
    } else {
      reference::expect_near(out, wanted_out.to_vector<float>(), 1e-5f, "output");
      reference::expect_near(slope, wanted_slope.to_vector<float>(), 1e-5f, "slope");
    }
  }
}
TEST(RecurrentTest, OneKernelGivesWhatStepsGive) {
  compare_with_steps<layers::LSTM>(layers::LSTMOptions{.units = 6, .return_sequences = true});
  compare_with_steps<layers::GRU>(layers::GRUOptions{.units = 6, .go_backwards = true});
  // One row, and so many that inputs and states are multiplied together.
  for (int64_t batch : {1, 30}) {
    compare_with_steps<layers::LSTM>(layers::LSTMOptions{.units = 21}, batch, 19);
    compare_with_steps<layers::GRU>(layers::GRUOptions{.units = 21}, batch, 19);
  }
}

// Open batch and time: a trace has a loop then.
TEST(RecurrentTest, SequencesOfAnyLengthGoThroughOneTrace) {
  layers::LSTM lstm({.units = 3, .return_sequences = true});
  layers::GRU gru({.units = 3, .go_backwards = true});
  layers::Bidirectional both({.layer = layers::SimpleRNN({.units = 2, .return_sequences = true})});
  auto f = function([&](Tensor x) { return gru(both(lstm(x))); }, {.reduce_retracing = true});
  Tensor weights_of = ones({2, 4, 3});
  gru(both(lstm(weights_of)));
  f(ones({2, 4, 3}));
  f(ones({3, 5, 3}));
  for (auto [batch, time] : {std::pair{4, 7}, std::pair{1, 1}, std::pair{2, 200}}) {
    Tensor x = reference::fixed({batch, time, 3}, 3);
    std::vector<float> wanted = gru(both(lstm(x))).to_vector<float>();
    reference::expect_near(f(x), wanted, 1e-5f, "open");
  }
}

TEST(RecurrentTest, GradientsGoThroughALoopOfOpenLength) {
  layers::GRU gru({.units = 3, .return_sequences = true});
  gru(ones({1, 2, 3}));
  auto f = function(
      [&](Tensor x) {
        GradientTape tape;
        tape.watch(x);
        Tensor y = reduce_sum(square(gru(x)));
        return tape.gradient(y, x);
      },
      {.reduce_retracing = true});
  f(ones({2, 3, 3}));
  for (int time : {4, 9}) {
    Tensor x = reference::fixed({3, time, 3}, time);
    GradientTape tape;
    tape.watch(x);
    Tensor y = reduce_sum(square(gru(x)));
    reference::expect_near(f(x), tape.gradient(y, x).to_vector<float>(), 1e-5f, "gradient");
  }
}

TEST(RecurrentTest, InputsOfOpenSizesMakeModels) {
  Tensor x = Input({.shape = {kUnknown, 3}});
  Tensor y = layers::LSTM({.units = 4, .return_sequences = true})(x);
  EXPECT_EQ(y.shape().rank(), 3);
  EXPECT_EQ(y.shape()[2], 4);
  EXPECT_EQ(y.shape()[0], kUnknown);
  EXPECT_EQ(y.shape()[1], kUnknown);
  Nested z = layers::GRU({.units = 4, .return_state = true})(Nested(y));
  EXPECT_EQ(z.size(), 2u);
  Tensor t = layers::TimeDistributed({.layer = layers::Dense({.units = 2})})(y);
  EXPECT_EQ(t.shape().rank(), 3);
  EXPECT_EQ(t.shape()[2], 2);
}

struct Sum : layers::CellLayer {
  Config state_size() const override { return 2; }
  Nested call_all(const Nested& inputs, const CallOptions& o) override {
    Tensor after = o.find("states")->first() + inputs.tensor();
    return Nested::tuple({after * 2, Nested::list({after})});
  }
};

TEST(RecurrentTest, AProgramsOwnCellIsRepeated) {
  auto cell = make<Sum>();
  layers::RNN rnn({.cell = cell, .return_sequences = true});
  Tensor y = rnn(ones({1, 3, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 2, 4, 4, 6, 6}));
  auto f = function([&](Tensor x) { return rnn(x); }, {.reduce_retracing = true});
  f(ones({1, 2, 2}));
  EXPECT_EQ(f(ones({1, 3, 2})).to_vector<float>(), y.to_vector<float>());
  EXPECT_NE(refused([] { layers::RNN({.cell = layers::Dense({.units = 2})}); }).find("state_size"),
            std::string::npos);
}

TEST(RecurrentTest, AStatefulLayerGoesOnWhereItStopped) {
  layers::GRU whole({.units = 3}), parts({.units = 3, .stateful = true});
  Tensor x = reference::fixed({2, 6, 4}, 1);
  whole(x);
  parts(at(x, all, slice(0, 3)));
  parts->reset_state();
  for (size_t i = 0; i < 3; ++i) parts->variables()[i].assign(whole->variables()[i].read());
  parts(at(x, all, slice(0, 3)));
  reference::expect_near(parts(at(x, all, slice(3, 6))), whole(x).to_vector<float>(), 1e-6f, "");
  EXPECT_EQ(parts->variables().size(), 3u);
  EXPECT_NE(refused([&] { parts(ones({5, 3, 4})); }).find("a batch of 2"), std::string::npos);
  Tensor open = Input({.shape = {4, 4}});
  EXPECT_NE(
      refused([&] { layers::LSTM({.units = 2, .stateful = true})(open); }).find("a known batch"),
      std::string::npos);
}

TEST(RecurrentTest, DropoutIsDrawnOnceForAllStepsAndOnlyInTraining) {
  for (int64_t implementation : {1, 2}) {
    layers::LSTM lstm({.units = 8,
                       .dropout = 0.5,
                       .recurrent_dropout = implementation == 1 ? 0.25 : 0.0,
                       .return_sequences = true,
                       .implementation = implementation});
    Tensor x = reference::fixed({2, 4, 6}, 2);
    std::vector<float> still = lstm(x).to_vector<float>();
    EXPECT_EQ(lstm(x).to_vector<float>(), still);
    EXPECT_NE(lstm(x, {.training = true}).to_vector<float>(), still);
    auto f = function([&](Tensor v) { return lstm(v, {.training = true}); });
    EXPECT_NE(f(x).to_vector<float>(), f(x).to_vector<float>());
  }
  // A kernel of ones shows the mask: the same inputs are left out at each step.
  layers::SimpleRNN rnn({.units = 1,
                         .activation = "linear",
                         .kernel_initializer = "ones",
                         .recurrent_initializer = "zeros",
                         .dropout = 0.5,
                         .return_sequences = true});
  std::vector<float> y = rnn(ones({4, 3, 5}), {.training = true}).to_vector<float>();
  for (size_t row = 0; row < 4; ++row)
    EXPECT_TRUE(y[3 * row] == y[3 * row + 1] && y[3 * row] == y[3 * row + 2]);
}

TEST(RecurrentTest, SmallFloatsComputeAndLargeOnesAreKept) {
  layers::LSTM lstm({.units = 3, .return_state = true, .dtype = "mixed_bfloat16"});
  Nested y = lstm(Nested(ones({2, 4, 3})));
  for (const Tensor& t : y.leaves()) EXPECT_EQ(t.dtype(), bfloat16);
  for (const Variable& v : lstm->variables()) EXPECT_EQ(v.dtype(), float32);
}

TEST(RecurrentTest, PenaltiesAndConstraintsOfInnerWeightsAreFound) {
  layers::Bidirectional both(
      {.layer =
           layers::LSTM({.units = 2, .kernel_regularizer = "l2", .bias_constraint = "non_neg"})});
  both(ones({1, 2, 3}));
  EXPECT_EQ(both->losses().size(), 2u);
  EXPECT_EQ(both->trainable_variables().size(), 6u);
  both->set_trainable(false);
  EXPECT_TRUE(both->trainable_variables().empty());
}

TEST(RecurrentTest, BadOptionsAndShapesAreRefusedByName) {
  auto says = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(refused([] { layers::LSTM({.units = 0}); }), "LSTM: `units` is 0");
  says(refused([] { layers::GRU({.units = 2, .dropout = 1.5}); }), "GRU: `dropout` is 1.5");
  says(refused([] { layers::LSTM({.units = 2, .use_cudnn = true}); }), "`use_cudnn` is true");
  says(refused([] { layers::GRU({.units = 2, .implementation = 3}); }), "`implementation` is 3");
  says(refused([] { layers::SimpleRNN({.units = 2})(ones({2, 3})); }), "[batch, time, size]");
  says(refused([] { layers::SimpleRNN({.units = 2})(ones({2, 0, 3})); }), "no steps");
  layers::LSTM lstm({.units = 2});
  says(refused([&] {
         lstm(ones({1, 2, 3}), {.named = {{"initial_state", Nested::list({ones({1, 2})})}}});
       }),
       "`initial_state` has 1 tensors, expected 2");
  says(refused([&] {
         lstm(ones({1, 2, 3}),
              {.named = {{"initial_state", Nested::list({ones({1, 2}), ones({1, 5})})}}});
       }),
       "`initial_state[1]` has the shape");
  says(refused([&] { lstm(ones({1, 2, 3}), {.mask = Nested(ones({1, 2, 1}))}); }), "`mask` has");
  says(refused([] { layers::Bidirectional({.layer = layers::Dense({.units = 2})}); }),
       "expected a recurrent layer");
  says(refused([] {
         layers::Bidirectional({.layer = layers::LSTM({.units = 2}), .merge_mode = "add"});
       }),
       "merge_mode");
  says(refused([] {
         layers::Bidirectional({.layer = layers::LSTM({.units = 2, .go_backwards = true})});
       }),
       "go_backwards");
  says(refused([] { layers::Embedding({.input_dim = 0, .output_dim = 2}); }), "`input_dim` is 0");
  says(refused(
           [] { layers::TimeDistributed({.layer = layers::Dense({.units = 2})})(ones({2, 3})); }),
       "expected [batch,");
  says(refused([] {
         Tensor x = Input({.shape = {kUnknown, 3}});
         layers::LSTM({.units = 2, .unroll = true})(x);
       }),
       "a known time");
  says(refused([] { layers::StackedRNNCells({.cells = {}}); }), "`cells` is empty");
}

}  // namespace
}  // namespace holdfast::keras
