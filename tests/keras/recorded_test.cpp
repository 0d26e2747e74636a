// Layers against what the real Keras gave: `tests/python/keras_reference` has the figures and the
// script that made them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "holdfast/holdfast.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/model.h"

namespace holdfast::keras {
namespace {

// -- the numbers: the same rules as in rules.py

int64_t elements(const Shape& s) { return s.size(); }

template <class F>
Tensor by_rule(const Shape& s, F f) {
  std::vector<float> out(static_cast<size_t>(elements(s)));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(f(static_cast<int64_t>(i)));
  return reshape(constant(out), s);
}
Tensor input(const Shape& s, int64_t k) {
  return by_rule(s, [&](int64_t i) {
    return static_cast<double>((i * 377 + 11 + 170 * k) % 1009) / 504.0 - 1;
  });
}
Tensor weight(const Shape& s, int64_t k, const std::string& name) {
  bool positive = name.find("variance") != std::string::npos;
  return by_rule(s, [&](int64_t i) {
    double v = static_cast<double>((i * 29 + 13 * (k + 1)) % 89) / 44.5 - 1;
    return positive ? std::abs(v) + 0.5 : v;
  });
}
double factor(size_t i) {
  return static_cast<float>(static_cast<double>((i * 23 + 5) % 71) / 35.0 - 1);
}
Tensor factors(const Shape& s) {
  return by_rule(s, [](int64_t i) { return factor(static_cast<size_t>(i)); });
}

struct Sums {
  double plain = 0, weighed = 0, absolute = 0;
};
Sums sums(const std::vector<float>& values) {
  Sums out;
  for (size_t i = 0; i < values.size(); ++i) {
    double v = values[i];
    out.plain += v;
    out.weighed += v * factor(i);
    out.absolute += std::abs(v);
  }
  return out;
}

// -- what is compared

Shape shape_in(const Config& c) {
  Shape out;
  OptionType<Shape>::set(out, c, "a shape");
  return out;
}

void expect_near(double got, double want, double scale, const std::string& what) {
  EXPECT_NEAR(got, want, 2e-5 * (1 + scale)) << what;
}
void expect_sums(const Tensor& got, const Config& want, const std::string& what) {
  Sums s = sums(cast(got, float32).to_vector<float>());
  const Config::List& w = want.as_list();
  double scale = w[2].as_number();
  expect_near(s.plain, w[0].as_number(), scale, what + ", the sum");
  expect_near(s.weighed, w[1].as_number(), scale, what + ", the weighed sum");
  expect_near(s.absolute, w[2].as_number(), scale, what + ", the sum of absolutes");
}
void expect_result(const Tensor& got, const ConfigDict& want, const std::string& what) {
  EXPECT_EQ(got.shape(), shape_in(*want.find("shape"))) << what;
  EXPECT_EQ(name(got.dtype()), want.find("dtype")->as_text()) << what;
  if (!(got.shape() == shape_in(*want.find("shape")))) return;
  if (const Config* values = want.find("values")) {
    std::vector<float> v = cast(got, float32).to_vector<float>();
    for (size_t i = 0; i < v.size(); ++i) {
      double w = values->as_list()[i].as_number();
      expect_near(v[i], w, std::abs(w), cat(what, ", element ", i));
    }
  } else {
    expect_sums(got, *want.find("sums"), what);
  }
}

// A config's value is the same, or says the same.
bool same(const Config& ours, const Config& theirs) {
  if (ours == theirs) return true;
  auto linear = [](const Config& c) {
    return c.is_null() || (c.kind() == Config::Kind::kText && c.as_text() == "linear");
  };
  if (linear(ours) && linear(theirs)) return true;
  if (ours.kind() == Config::Kind::kObject && theirs.kind() == Config::Kind::kObject)
    return ours.as_object().class_name == theirs.as_object().class_name;
  auto is_number = [](const Config& c) {
    return c.kind() == Config::Kind::kInteger || c.kind() == Config::Kind::kNumber;
  };
  return is_number(ours) && is_number(theirs) && ours.as_number() == theirs.as_number();
}

struct Case {
  const ConfigDict& all;
  const Config& at(const char* key) const {
    const Config* c = all.find(key);
    if (!c) fail(Code::E1104, cat("a case has no `", key, "`"));
    return *c;
  }
  Ref<Layer> layer() const {
    ConfigObject made{at("layer").as_text(), at("options").as_dict(), {}};
    return Ref<Layer>(dynamic_cast<Layer*>(registry::make_object(made).get()));
  }
  std::vector<Tensor> inputs() const {
    std::vector<Tensor> out;
    for (const Config& s : at("inputs").as_list())
      out.push_back(input(shape_in(s), static_cast<int64_t>(out.size())));
    return out;
  }
  Nested given(const std::vector<Tensor>& tensors) const {
    return at("in_list").as_bool() ? Nested::list_of(tensors) : Nested(tensors[0]);
  }
  CallOptions options() const {
    CallOptions out;
    const Config* call = all.find("call");
    if (!call) return out;
    for (const auto& [key, value] : call->as_dict()) {
      if (key == "training")
        out.training = value.as_bool();
      else if (key == "mask")
        out.mask = mask(value);
    }
    return out;
  }
  // Rows of booleans.
  static Tensor mask(const Config& rows) {
    std::vector<Tensor> out;
    for (const Config& row : rows.as_list()) {
      if (row.kind() == Config::Kind::kBool) {
        out.push_back(constant(row.as_bool()));
        continue;
      }
      out.push_back(mask(row));
    }
    return stack(out);
  }
  void set_weights(Layer& layer) const {
    const Config::List& wanted = at("weights").as_list();
    std::vector<Variable> have = layer.variables();
    ASSERT_EQ(have.size(), wanted.size());
    for (size_t i = 0; i < have.size(); ++i) {
      const std::string& name = wanted[i].as_list()[0].as_text();
      EXPECT_TRUE(have[i].name().ends_with("/" + name)) << have[i].name() << " for " << name;
      ASSERT_EQ(have[i].shape(), shape_in(wanted[i].as_list()[1])) << name;
      have[i].assign(cast(weight(have[i].shape(), static_cast<int64_t>(i), name), have[i].dtype()));
    }
  }
};

void agrees(const Case& c) {
  Ref<Layer> layer = c.layer();
  std::vector<Tensor> x = c.inputs();
  CallOptions options = c.options();
  std::vector<Shape> shapes;
  for (const Tensor& t : x) shapes.push_back(t.shape());
  layer->build_once(shapes);
  c.set_weights(*layer);
  if (testing::Test::HasFatalFailure()) return;

  // Outputs and gradients.
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  std::vector<Tensor> y = layer->run(c.given(x), options).leaves();
  const Config::List& outputs = c.at("outputs").as_list();
  ASSERT_EQ(y.size(), outputs.size());
  std::vector<Tensor> upstream;
  std::vector<Source> sources(x.begin(), x.end());
  for (const Variable& v : layer->trainable_variables()) sources.emplace_back(v);
  for (const Tensor& t : y) upstream.push_back(cast(factors(t.shape()), t.dtype()));
  std::vector<Gradient> g = tape.gradients(y, sources, upstream, Unconnected::kZero);
  for (size_t i = 0; i < y.size(); ++i)
    expect_result(y[i], outputs[i].as_dict(), cat("output ", i));
  const Config::List& gradients = c.at("gradients").as_list();
  ASSERT_EQ(g.size(), gradients.size());
  for (size_t i = 0; i < g.size(); ++i)
    expect_sums(g[i].tensor(), gradients[i], cat("gradient ", i));
  const Config::List &after = c.at("after").as_list(), &losses = c.at("losses").as_list();
  std::vector<Variable> kept = layer->non_trainable_variables();
  ASSERT_EQ(kept.size(), after.size());
  for (size_t i = 0; i < kept.size(); ++i)
    expect_sums(kept[i].read(), after[i], kept[i].name() + " afterwards");
  std::vector<Tensor> own = layer->losses();
  ASSERT_EQ(own.size(), losses.size());
  for (size_t i = 0; i < own.size(); ++i)
    expect_near(own[i].item<float>(), losses[i].as_number(), losses[i].as_number(), "a loss");

  // The config says what Keras' says, and makes the layer again.
  ConfigDict config = layer->get_config();
  for (const auto& [key, value] : c.at("config").as_dict()) {
    const Config* ours = config.find(key);
    ASSERT_TRUE(ours) << "no `" << key << "` in " << Config(config).to_json();
    EXPECT_TRUE(same(*ours, value))
        << key << ": " << ours->to_json() << ", Keras has " << value.to_json();
  }
  Ref<Layer> twin = deserialize(Config::from_json(Config(serialize(*layer)).to_json()));
  EXPECT_EQ(Config(twin->get_config()).to_json(), Config(config).to_json());

  // Traced, and in a model whose batch is open.
  twin->build_once(shapes);
  c.set_weights(*twin);
  auto traced = function([&](Tensor first) {
    std::vector<Tensor> in = x;
    in[0] = first;
    return twin->run(c.given(in), options).leaves()[0];
  });
  expect_result(traced(x[0]), outputs[0].as_dict(), "traced");
  Ref<Layer> third = c.layer();
  std::vector<Tensor> symbols;
  for (const Shape& s : shapes) {
    Shape open = s;
    open.dims()[0] = kUnknown;
    symbols.push_back(make_input({.batch_shape = open}));
  }
  Nested out = third->run(c.given(symbols), options);
  const Config::List& open_shapes = c.at("open_shapes").as_list();
  ASSERT_EQ(out.leaves().size(), open_shapes.size());
  for (size_t i = 0; i < open_shapes.size(); ++i) {
    // All that Keras knows of the shape; a mask has a batch of its own.
    const Shape ours = out.leaves()[i].shape(), theirs = shape_in(open_shapes[i]);
    EXPECT_EQ(ours.merged(theirs), std::optional(ours)) << "Keras has " << theirs.text();
  }
  c.set_weights(*third);
  auto model = make_ref<FunctionalLayer>();
  model->set_graph(c.given(symbols), out);
  auto replayed = function([&](Tensor first) {
    std::vector<Tensor> in = x;
    in[0] = first;
    return model->run(c.given(in), {.training = options.training}).leaves()[0];
  });
  expect_result(replayed(x[0]), outputs[0].as_dict(), "traced in a model");
}

class RecordedTest : public testing::TestWithParam<std::string> {};

TEST_P(RecordedTest, LayersGiveWhatKerasGives) {
  std::ostringstream text;
  text << std::ifstream(GetParam()).rdbuf();
  Config table = Config::from_json(text.str());
  for (const Config& each : table.as_dict().find("cases")->as_list()) {
    Case c{each.as_dict()};
    SCOPED_TRACE(cat(c.at("layer").as_text(), " ", c.at("options").to_json(), " of ",
                     c.at("inputs").to_json()));
    try {
      agrees(c);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// Those of families whose cases are listed beside them.
std::vector<std::string> tables() {
  std::vector<std::string> out;
  std::filesystem::path folder(HOLDFAST_TEST_DIR "/python/keras_reference");
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::string stem = file.path().stem().string();
    if (stem.starts_with("cases_") && file.path().extension() == ".py")
      out.push_back((folder / ("layers" + stem.substr(5) + ".json")).string());
  }
  std::sort(out.begin(), out.end());
  return out;
}
INSTANTIATE_TEST_SUITE_P(Keras, RecordedTest, testing::ValuesIn(tables()), [](const auto& table) {
  std::string stem = std::filesystem::path(table.param).stem().string();
  return stem.substr(stem.find('_') + 1);
});

}  // namespace
}  // namespace holdfast::keras
