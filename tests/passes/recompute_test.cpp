#include "holdfast/passes/recompute.h"

#include <gtest/gtest.h>

#include "holdfast/autodiff/tape.h"
#include "holdfast/exec/fast_plan.h"
#include "holdfast/exec/function.h"
#include "holdfast/graph/verify.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/passes/passes.h"

namespace holdfast {
namespace {

Tensor numbers(const Dims& shape, float first) {
  Tensor sizes = empty(int32, Shape{static_cast<int64_t>(shape.size())}, cpu());
  int64_t size = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    sizes.mutable_raw<int32_t>()[i] = static_cast<int32_t>(shape[i]);
    size *= shape[i];
  }
  return reshape(sin(cast(range(0, size), float32) + first), sizes) * 0.3f;
}

// Runs what `f` was traced to with the pass and without; returns the bytes needed at once with it,
// over those without.
double share_of_memory(const Ref<Graph>& graph, const std::vector<Tensor>& inputs,
                       const RecomputeLimits& limits, bool want_change) {
  Ref<Graph> before = optimised(*graph), after = clone(*before);
  EXPECT_EQ(recompute(*after, limits), want_change);
  verify(*after, "after the pass");
  Ref<Plan> plain = Plan::build(before), twice = Plan::build(after);
  Tensors want, got;
  plain->run(inputs, want);
  twice->run(inputs, got);
  EXPECT_EQ(want.size(), got.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(want[i].to_vector<float>(), got[i].to_vector<float>()) << "output " << i;
  return static_cast<double>(twice->fast()->memory().most_live) /
         static_cast<double>(plain->fast()->memory().most_live);
}

// The gradients of a chain of layers, of which every weight is an argument.
Ref<Graph> chain_of_layers(int layers, Tensor (*activation)(const Tensor&),
                           std::vector<Tensor>& inputs) {
  constexpr int64_t kBatch = 256, kWidth = 128;
  inputs = {numbers({kBatch, kWidth}, 0.5f)};
  for (int i = 0; i < layers; ++i)
    inputs.push_back(numbers({kWidth, kWidth}, static_cast<float>(i)));
  auto code = function([=](std::span<const Tensor> in) {
    GradientTape tape;
    std::vector<Source> weights(in.begin() + 1, in.end());
    for (const Tensor& w : in.subspan(1)) tape.watch(w);
    Tensor h = in[0];
    for (const Tensor& w : in.subspan(1)) h = activation(matmul(h, w));
    Tensors out;
    for (const Gradient& g : tape.gradients({reduce_mean(h * h)}, weights))
      out.push_back(g.tensor());
    return out;
  });
  return clone(code.concrete_for(inputs)->graph());
}

TEST(Recompute, LayersOfAChainBitForBit) {
  std::vector<Tensor> inputs;
  Ref<Graph> g = chain_of_layers(24, [](const Tensor& x) { return nn::relu(x); }, inputs);
  EXPECT_LT(share_of_memory(g, inputs, {0, 0.1, 0.1}, true), 0.85);
  EXPECT_LT(share_of_memory(g, inputs, {0, 0.3, 0.1}, true), 0.6);
}

TEST(Recompute, WhatIsCheapComesFirst) {
  std::vector<Tensor> inputs;
  Ref<Graph> g =
      chain_of_layers(12, [](const Tensor& x) { return x * sigmoid(x) + tanh(x); }, inputs);
  Ref<Graph> after = optimised(*g);
  ASSERT_TRUE(recompute(*after, {0, 0.05, 0.1}));
  for (const Ref<Node>& n : after->nodes) EXPECT_FALSE(n->again && n->is("MatMul")) << n->name;
  EXPECT_LT(share_of_memory(g, inputs, {0, 0.05, 0.1}, true), 0.9);
}

TEST(Recompute, NothingWhereItGainsTooLittleOrIsNotNeeded) {
  std::vector<Tensor> inputs;
  Ref<Graph> g = chain_of_layers(12, [](const Tensor& x) { return nn::relu(x); }, inputs);
  EXPECT_EQ(share_of_memory(g, inputs, {0, 0.1, 0.9}, false), 1);
  EXPECT_EQ(share_of_memory(g, inputs, {int64_t{1} << 30, 1, 0}, false), 1);
  EXPECT_EQ(share_of_memory(g, inputs, {}, false), 1);
}

}  // namespace
}  // namespace holdfast
