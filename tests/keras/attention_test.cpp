// Layers of attention against those of Keras.
#include "holdfast/keras/layers.h"
#include "holdfast/keras/symbol.h"
#include "layer_cases.h"

namespace holdfast::keras {
namespace {

using reference::fixed;
using reference::refused;

TEST(AttentionTest, LayersGiveWhatKerasGives) {
  const Config cases = reference::read("layers_attention.json");
  for (const Config& entry : cases.as_list()) {
    reference::Case c(entry);
    SCOPED_TRACE(c.what);
    reference::run_case(c, [](Layer&) {});
    if (HasFatalFailure()) return;
  }
}

TEST(AttentionTest, SequencesOfAnyLengthGoThroughOneTrace) {
  layers::MultiHeadAttention heads({.num_heads = 2, .key_dim = 3});
  layers::GroupQueryAttention groups(
      {.head_dim = 2, .num_query_heads = 4, .num_key_value_heads = 2});
  auto attend = [&](Tensor x) {
    Tensor y = heads(x, {.named = {{"value", x}, {"use_causal_mask", constant(true)}}});
    return groups(y, {.named = {{"value", x}}});
  };
  attend(ones({1, 2, 4}));
  auto f = function(attend, {.reduce_retracing = true});
  f(ones({1, 2, 4}));
  f(ones({2, 3, 4}));
  for (int time : {1, 5}) {
    Tensor x = fixed({3, time, 4}, time);
    reference::expect_near(f(x), attend(x).to_vector<float>(), 1e-5f, "open");
  }
  Tensor x = Input({.shape = {kUnknown, 4}});
  Tensor y = heads(x, {.named = {{"value", x}}});
  EXPECT_EQ(y.shape().rank(), 3);
  EXPECT_EQ(y.shape()[2], 4);
}

TEST(AttentionTest, APlaceThatMayLookAtNothingGetsZeros) {
  layers::MultiHeadAttention heads({.num_heads = 1, .key_dim = 2});
  Tensor x = fixed({1, 2, 3}, 1), none = cast(reshape(constant({0, 0, 1, 1}), {1, 2, 2}), boolean);
  Nested y = heads(Nested(x), {.named = {{"value", x},
                                         {"attention_mask", none},
                                         {"return_attention_scores", constant(true)}}});
  std::vector<float> scores = y[1].tensor().to_vector<float>();
  EXPECT_EQ(scores[0], 0);
  EXPECT_EQ(scores[1], 0);
  EXPECT_NEAR(scores[2] + scores[3], 1, 1e-6);
}

TEST(AttentionTest, DropoutIsForTraining) {
  layers::Attention plain({.dropout = 0.5});
  layers::MultiHeadAttention heads({.num_heads = 2, .key_dim = 2, .dropout = 0.5});
  Tensor x = fixed({2, 6, 4}, 2);
  auto run = [&](bool training) {
    Tensor y = plain({x, x}, {.training = training});
    return heads(y, {.training = training, .named = {{"value", x}}}).to_vector<float>();
  };
  EXPECT_EQ(run(false), run(false));
  EXPECT_NE(run(true), run(true));
}

TEST(AttentionTest, SmallFloatsComputeAndLargeOnesAreKept) {
  layers::MultiHeadAttention heads({.num_heads = 2, .key_dim = 2, .dtype = "mixed_bfloat16"});
  Tensor x = fixed({1, 3, 4}, 2);
  EXPECT_EQ(heads(x, {.named = {{"value", x}}}).dtype(), bfloat16);
  for (const Variable& v : heads->variables()) EXPECT_EQ(v.dtype(), float32);
}

TEST(AttentionTest, BadOptionsAndShapesAreRefusedByName) {
  auto says = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  Tensor x = ones({1, 2, 4});
  says(refused([] { layers::MultiHeadAttention({.num_heads = 0, .key_dim = 2}); }),
       "`num_heads` is 0");
  says(refused([] {
         layers::MultiHeadAttention({.num_heads = 1, .key_dim = 2, .flash_attention = true});
       }),
       "`flash_attention` is true");
  says(refused([] {
         layers::GroupQueryAttention(
             {.head_dim = 2, .num_query_heads = 3, .num_key_value_heads = 2});
       }),
       "`num_query_heads` is 3");
  says(refused([&] { layers::MultiHeadAttention({.num_heads = 1, .key_dim = 2})(x); }),
       "called without `value`");
  says(refused([&] {
         layers::MultiHeadAttention({.num_heads = 1, .key_dim = 2})(
             x, {.named = {{"value", ones({1, 4})}}});
       }),
       "`value` has the shape");
  says(refused([&] {
         layers::MultiHeadAttention({.num_heads = 1, .key_dim = 2})(
             x, {.named = {{"value", x}, {"key", ones({1, 3, 4})}}});
       }),
       "`value` has the shape");
  says(refused([&] {
         layers::MultiHeadAttention({.num_heads = 1, .key_dim = 2})(
             x, {.named = {{"value", x}, {"use_causal_mask", ones({2})}}});
       }),
       "`use_causal_mask` is");
  says(refused([&] { layers::Attention()({x}); }), "[query, value]");
  says(refused([] { layers::Attention({.score_mode = "sum"}); }), "score_mode");
  says(refused([] { layers::Attention({.dropout = 1}); }), "`dropout` is 1");
}

}  // namespace
}  // namespace holdfast::keras
