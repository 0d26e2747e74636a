// What models say in C++ when something does not fit, and what simply works.
#include <gtest/gtest.h>

#include <cmath>

#include "holdfast/holdfast.h"
#include "holdfast/keras/loss_watch.h"
#include "holdfast/keras/training.h"
#include "tests/refused.h"

namespace holdfast::keras {
namespace {

struct Refusal {
  Code code{};
  std::string text;
};
template <class F>
Refusal refusal(F f) {
  try {
    f();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {};
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Ref<FunctionalLayer> model_of(const Nested& inputs, const Nested& outputs) {
  auto model = make_ref<FunctionalLayer>();
  model->set_graph(inputs, outputs);
  return model;
}

TEST(KerasMessages, EveryInputThatIsMissingIsNamedAtOnce) {
  Tensor a = Input({.shape = {2}, .name = "a"}), b = Input({.shape = {2}, .name = "b"}),
         c = Input({.shape = {2}, .name = "c"});
  Refusal r = refusal([&] { model_of(a, a + b * c); });
  EXPECT_EQ(r.code, Code::E0301);
  EXPECT_TRUE(has(r.text, "`b` and `c`")) << r.text;
}

TEST(KerasMessages, AModelInsideIsTakenApartForItsLayers) {
  Tensor inner_input = Input({.shape = {2}});
  layers::Dense mid({.units = 3, .kernel_initializer = "ones"});
  Tensor hidden = mid(inner_input);
  auto inner = model_of(inner_input, hidden * 2.0f);
  Tensor x = Input({.shape = {2}});
  Tensor out = inner->run(x, {}).tensor() + 1.0f;
  auto probe = model_of(x, Nested::list({hidden, out}));
  GradientTape tape({.persistent = true});
  Nested got = probe->run(ones({1, 2}), {});
  Tensor slope = tape.gradient(got[1].tensor(), got[0].tensor());
  EXPECT_EQ(got[0].tensor().to_vector<float>(), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(got[1].tensor().to_vector<float>(), (std::vector<float>{5, 5, 5}));
  EXPECT_EQ(slope.to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

TEST(KerasMessages, AVariableBesideASymbolIsReadAtEachCall) {
  Variable v(2.0f);
  Tensor x = Input({.shape = {1}});
  auto model = model_of(x, x * v);
  EXPECT_EQ(model->run(ones({1, 1}), {}).tensor().item<float>(), 2.0f);
  v.assign(7.0f);
  EXPECT_EQ(model->run(ones({1, 1}), {}).tensor().item<float>(), 7.0f);
  ASSERT_EQ(model->trainable_variables().size(), 1u);
  EXPECT_EQ(model->trainable_variables()[0], v);
}

struct Penalty : Layer {
  Tensor call(const Tensor& x, const CallOptions&) override {
    return cond(
        reduce_sum(x) > 0.0f,
        [&] {
          add_loss(reduce_sum(x));
          return x;
        },
        [&] { return -x; });
  }
};

TEST(KerasMessages, ALossInABranchIsZeroWhereTheOtherSideIsTaken) {
  auto layer = make_ref<Penalty>();
  auto total = function([&](Tensor x) {
    layer->run(x, {});
    return layer->losses().at(0);
  });
  EXPECT_EQ(total(ones({2, 2})).item<float>(), 4.0f);
  EXPECT_EQ(total(-ones({2, 2})).item<float>(), 0.0f);
}

TEST(KerasMessages, ASymbolInATracedFunctionHasNoValue) {
  Tensor x = Input({.shape = {2}});
  Tensor hidden = layers::Dense({.units = 1})(x);
  auto f = function([&](Tensor t) { return reduce_sum(t) + reduce_sum(hidden); });
  Refusal r = refusal([&] { f(ones({2})); });
  EXPECT_EQ(r.code, Code::E0206);
  EXPECT_TRUE(has(r.text, "add_loss")) << r.text;
}

TEST(KerasMessages, AShapeThatALayerWasNotBuiltFor) {
  layers::Dense dense({.units = 2, .name = "head"});
  dense(ones({1, 8}));
  Refusal r = refusal([&] { dense(ones({4, 5})); });
  EXPECT_EQ(r.code, Code::E1201);
  EXPECT_TRUE(has(r.text, "`head`") && has(r.text, "[1,8]") && has(r.text, "[4,5]")) << r.text;
}

std::string last_warning;

TEST(KerasMessages, TheFirstNaNIsTracedToItsOp) {
  set_warning_sink([](const Diagnostic&, const std::string& text) { last_warning = text; });
  Tensor x = Input({.shape = {1}});
  auto model = model_of(x, log(layers::Dense({.units = 1, .kernel_initializer = "ones"})(x)));
  model->compile({.optimizer = "sgd", .loss = "mse"});
  Tensor data = Tensor::of<float>({1, 1, -4, 1}, {4, 1});
  History h = fit(*model, data, ones({4, 1}), {.batch_size = 1, .verbose = 0, .shuffle = false});
  set_warning_sink(nullptr);
  EXPECT_TRUE(std::isnan(h["loss"].back()));
  EXPECT_TRUE(has(last_warning, "W1204") && has(last_warning, "Log gave NaN") &&
              has(last_warning, "step 3"))
      << last_warning;
}

TEST(KerasMessages, LossesAndMetricsFitTheOutputs) {
  Tensor x = Input({.shape = {1}});
  layers::Dense a({.units = 1, .name = "a"}), b({.units = 1, .name = "b"});
  auto model = model_of(x, Nested::list({a(x), b(x)}));
  Nested y = Nested::list({ones({2, 1}), ones({2, 1})});
  model->compile({.optimizer = "sgd", .loss = {{{"a", "mse"}, {"c", "mse"}}}});
  EXPECT_EQ(refusal([&] { fit(*model, ones({2, 1}), y, {.verbose = 0}); }).code, Code::E1203);
  model->compile(
      {.optimizer = "sgd", .loss = "mse", .output_metrics = {{"b", {"mae"}}, {"d", {"mae"}}}});
  EXPECT_EQ(refusal([&] { fit(*model, ones({2, 1}), y, {.verbose = 0}); }).code, Code::E1203);
}

TEST(KerasMessages, TwoLayersOfOneName) {
  Tensor x = Input({.shape = {1}});
  layers::Dense a({.units = 1, .name = "same"}), b({.units = 1, .name = "same"});
  Refusal r = refusal([&] { model_of(x, b(a(x))); });
  EXPECT_EQ(r.code, Code::E1104);
  EXPECT_TRUE(has(r.text, "two layers of the name `same`")) << r.text;
}

}  // namespace
}  // namespace holdfast::keras
