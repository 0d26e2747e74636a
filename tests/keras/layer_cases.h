// Cases of layers that the real Keras ran: each is run here eagerly, in traces and after a round
// trip through its config, and its results and gradients are compared.
#pragma once

#include "holdfast/keras/model.h"
#include "reference.h"

namespace holdfast::keras::reference {

/// The numbers of a weight or an input, by its place; the same formula made the recorded figures.
inline Tensor fixed(const std::vector<int64_t>& sizes, int place) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<float>(std::sin(static_cast<double>(i) * 0.37 + place) * 0.5));
  return reshape(constant(values), sizes);
}

/// Nested lists of whole numbers as one tensor.
inline void flatten(const Config& c, size_t depth, std::vector<int32_t>& values,
                    std::vector<int64_t>& sizes) {
  if (c.kind() != Config::Kind::kList) return values.push_back(int32_t(c.as_integer()));
  if (depth == sizes.size()) sizes.push_back(int64_t(c.as_list().size()));
  for (const Config& one : c.as_list()) flatten(one, depth + 1, values, sizes);
}
inline Tensor integers(const Config& c) {
  std::vector<int32_t> values;
  std::vector<int64_t> sizes;
  flatten(c, 0, values, sizes);
  return reshape(constant(values), sizes);
}
inline Tensor mask(const Config& c) { return cast(integers(c), boolean); }

struct Case {
  explicit Case(const Config& c) : entry(c) {
    const ConfigDict& d = c.as_dict();
    what = at(c, "class").as_text() + at(c, "options").to_json();
    if (const Config* ids = d.find("ids")) {
      inputs = integers(*ids);
    } else {
      std::vector<Nested> each;
      int place = 0;
      for (const Config& s : at(c, "inputs").as_list()) each.push_back(fixed(sizes(s), place++));
      inputs = d.find("list") ? Nested::list(each) : each[0];
    }
    if (const Config* given = d.find("mask")) {
      std::vector<Nested> each;
      for (const Config& m : given->as_list())
        each.push_back(m.is_null() ? Nested() : Nested(mask(m)));
      options.mask = d.find("list") ? Nested::list(each) : each[0];
    }
    if (const Config* flags = d.find("call"))
      for (const auto& [key, value] : flags->as_dict())
        options.named.emplace_back(key, Tensor::scalar(value.as_bool(), boolean));
    if (const Config* named = d.find("named"))
      for (const auto& [key, shapes] : named->as_dict()) {
        std::vector<Nested> each;
        int place = key == "key" ? 12 : 10;
        for (const Config& s : shapes.as_list()) each.push_back(fixed(sizes(s), place++));
        options.named.emplace_back(key, key == "initial_state" ? Nested::list(each) : each[0]);
      }
    if (const Config* masks = d.find("masks"))
      for (const auto& [key, m] : masks->as_dict()) options.named.emplace_back(key, mask(m));
  }

  Ref<Layer> make() const {
    return deserialize(
        ConfigObject{at(entry, "class").as_text(), at(entry, "options").as_dict(), {}});
  }
  void set_weights(const Layer& layer) const {
    const Config::List& wanted = at(entry, "weights").as_list();
    std::vector<Variable> all = layer.variables();
    ASSERT_EQ(all.size(), wanted.size()) << what;
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i].shape(), Shape(sizes(wanted[i].as_list()[1]))) << what << " " << i;
      const std::string& name = wanted[i].as_list()[0].as_text();
      EXPECT_TRUE(all[i].name().ends_with("/" + name)) << all[i].name() << " " << name;
      all[i].assign(fixed(sizes(wanted[i].as_list()[1]), 20 + int(i)));
    }
  }
  Tensor loss(const std::vector<Tensor>& outputs) const {
    Tensor sum = Tensor::scalar(0, float32);
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::vector<int64_t> s = sizes(at(at(entry, "outputs").as_list()[i], "shape"));
      sum = sum + reduce_sum(outputs[i] * fixed(s, 30 + int(i)));
    }
    return sum;
  }
  void expect_outputs(const std::vector<Tensor>& got, const std::string& how) const {
    const Config::List& wanted = at(entry, "outputs").as_list();
    ASSERT_EQ(got.size(), wanted.size()) << what << how;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].shape(), Shape(sizes(at(wanted[i], "shape")))) << what << how;
      expect_near(got[i], numbers(at(wanted[i], "values")), 2e-5f, what + how);
    }
  }

  Config entry;
  std::string what;
  Nested inputs;
  CallOptions options;
};

template <class Reset>
void run_case(const Case& c, Reset reset) {
  Ref<Layer> layer = c.make();
  layer->run(c.inputs, c.options);
  c.set_weights(*layer);
  if (::testing::Test::HasFatalFailure()) return;
  reset(*layer);
  bool ids = c.entry.as_dict().find("ids");
  std::vector<Tensor> xs = ids ? std::vector<Tensor>{} : c.inputs.leaves();
  {
    GradientTape tape;
    for (const Tensor& x : xs) tape.watch(x);
    std::vector<Tensor> outputs = layer->run(c.inputs, c.options).leaves();
    c.expect_outputs(outputs, " eagerly");
    Tensor loss = c.loss(outputs);
    const Config::List& wanted = at(c.entry, "gradients").as_list();
    std::vector<Variable> weights = layer->trainable_variables();
    ASSERT_EQ(wanted.size(), xs.size() + weights.size()) << c.what;
    std::vector<Tensor> got;
    if (!xs.empty())
      for (const auto& g : tape.gradient(loss, xs)) got.push_back(g);
    if (!weights.empty()) {
      GradientTape again;
      reset(*layer);
      Tensor value = c.loss(layer->run(c.inputs, c.options).leaves());
      for (const auto& g : again.gradient(value, weights)) got.push_back(g);
    }
    for (size_t i = 0; i < got.size(); ++i) {
      if (wanted[i].is_null()) {
        EXPECT_FALSE(got[i].defined()) << c.what << " gradient " << i;
        continue;
      }
      ASSERT_TRUE(got[i].defined()) << c.what << " gradient " << i;
      expect_near(got[i], numbers(at(wanted[i], "values")), 5e-5f,
                  c.what + " gradient " + std::to_string(i));
    }
  }
  // In a trace, and in one whose sizes are open.
  std::vector<Tensor> leaves = c.inputs.leaves();
  for (bool open : {false, true}) {
    reset(*layer);
    std::vector<Tensor> got;
    auto f = function(
        [&](std::vector<Tensor> x) {
          return layer->run(c.inputs.with_leaves(x), c.options).leaves();
        },
        {.reduce_retracing = open});
    const Config* keeps = c.entry.as_dict().find("options")->as_dict().find("stateful");
    if (open && (keeps || !c.options.named.empty() || !c.options.mask.is_none())) continue;
    if (open) {  // a batch of another size leaves the size open
      std::vector<Tensor> twice;
      for (const Tensor& t : leaves) twice.push_back(concat({t, t}, 0));
      f(twice);
    }
    got = f(leaves);
    c.expect_outputs(got, open ? " with open sizes" : " traced");
  }
  // Made again from its config.
  ConfigObject config = serialize(*layer);
  for (const auto& [key, value] : at(c.entry, "config").as_dict()) {
    const Config* own = config.config.find(key);
    ASSERT_TRUE(own) << c.what << " has no " << key;
    EXPECT_EQ(own->to_json(), value.to_json()) << c.what << " " << key;
  }
  for (const Config& key : at(c.entry, "keys").as_list())
    EXPECT_TRUE(config.config.has(key.as_text())) << c.what << " " << key.as_text();
  Ref<Layer> again = deserialize(Config::from_json(Config(config).to_json()));
  again->run(c.inputs, c.options);
  c.set_weights(*again);
  reset(*again);
  c.expect_outputs(again->run(c.inputs, c.options).leaves(), " from its config");
  EXPECT_EQ(Config(serialize(*again)).to_json(), Config(config).to_json());
}

}  // namespace holdfast::keras::reference
