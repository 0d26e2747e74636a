#include "holdfast/keras/functions.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "holdfast/base/text.h"
#include "holdfast/ops/activations.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/random.h"

namespace holdfast::keras {

const ObjectClass Activation::kClass{"Activation"};
const ObjectClass Initializer::kClass{"Initializer"};

namespace {

class NamedActivation final : public Activation {
 public:
  using Function = Tensor (*)(const Tensor&);
  NamedActivation(std::string name, Function f) : name_(std::move(name)), f_(f) {}
  Tensor operator()(const Tensor& x) const override { return f_(x); }
  Config config() const override { return name_; }

 private:
  std::string name_;
  Function f_;
};

const std::map<std::string, NamedActivation::Function>& activations() {
  static const std::map<std::string, NamedActivation::Function> all{
      {"elu", [](const Tensor& x) { return nn::elu(x); }},
      {"exponential", [](const Tensor& x) { return exp(x); }},
      {"gelu", [](const Tensor& x) { return nn::gelu(x); }},
      {"linear", [](const Tensor& x) { return x; }},
      {"log_softmax", [](const Tensor& x) { return nn::log_softmax(x); }},
      {"relu", [](const Tensor& x) { return nn::relu(x); }},
      {"relu6", [](const Tensor& x) { return nn::relu6(x); }},
      {"selu", [](const Tensor& x) { return nn::selu(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"silu", [](const Tensor& x) { return nn::silu(x); }},
      {"softmax", [](const Tensor& x) { return nn::softmax(x); }},
      {"softplus", [](const Tensor& x) { return softplus(x); }},
      {"softsign", [](const Tensor& x) { return softsign(x); }},
      {"swish", [](const Tensor& x) { return nn::silu(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
  };
  return all;
}

template <class Map>
std::string names_of(const Map& map) {
  std::string out;
  for (const auto& [name, f] : map) out += cat(out.empty() ? "\"" : ", \"", name, "\"");
  return out;
}

// How far numbers of a weight spread, by how many of them meet in one sum.
struct Spread {
  double scale;
  enum Fan { kIn, kOut, kMean } fan;
  bool uniform;
};

struct InitializerKind {
  const char* class_name;
  std::optional<Spread> spread;  // none: all of one number
  double value = 0;
};

const std::map<std::string, InitializerKind>& initializers() {
  static const std::map<std::string, InitializerKind> all{
      {"glorot_normal", {"GlorotNormal", Spread{1, Spread::kMean, false}}},
      {"glorot_uniform", {"GlorotUniform", Spread{1, Spread::kMean, true}}},
      {"he_normal", {"HeNormal", Spread{2, Spread::kIn, false}}},
      {"he_uniform", {"HeUniform", Spread{2, Spread::kIn, true}}},
      {"lecun_normal", {"LecunNormal", Spread{1, Spread::kIn, false}}},
      {"lecun_uniform", {"LecunUniform", Spread{1, Spread::kIn, true}}},
      {"ones", {"Ones", {}, 1}},
      {"zeros", {"Zeros", {}, 0}},
  };
  return all;
}

// Inputs and outputs of a weight: the last two axes, times what a window sees of the others.
std::pair<double, double> fans(const Shape& s) {
  if (s.rank() == 0) return {1, 1};
  if (s.rank() == 1) return {double(s[0]), double(s[0])};
  double window = 1;
  for (int i = 0; i + 2 < s.rank(); ++i) window *= double(s[i]);
  return {window * double(s[s.rank() - 2]), window * double(s[s.rank() - 1])};
}

class NamedInitializer final : public Initializer {
 public:
  NamedInitializer(const InitializerKind& kind, std::optional<int64_t> seed)
      : kind_(kind), seed_(seed) {}

  Tensor operator()(const Shape& shape, DType dtype) const override {
    std::vector<int64_t> dims;
    for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape[i]);
    if (!kind_.spread) return fill(dims, Tensor::scalar(kind_.value, dtype));
    auto [in, out] = fans(shape);
    const Spread& s = *kind_.spread;
    double fan = s.fan == Spread::kIn ? in : s.fan == Spread::kOut ? out : (in + out) / 2;
    double variance = s.scale / std::max(1.0, fan);
    if (s.uniform) {
      double limit = std::sqrt(3 * variance);
      return random::uniform(dims,
                             {.minval = -limit, .maxval = limit, .dtype = dtype, .seed = seed_});
    }
    // A normal that is cut at two deviations has a smaller deviation than it says.
    double deviation = std::sqrt(variance) / 0.87962566103423978;
    return random::truncated_normal(dims, {.stddev = deviation, .dtype = dtype, .seed = seed_});
  }

  Config config() const override {
    ConfigDict given;
    if (kind_.spread) given.set("seed", seed_);
    return ConfigObject{kind_.class_name, std::move(given), {}};
  }

 private:
  const InitializerKind& kind_;
  std::optional<int64_t> seed_;
};

}  // namespace

Ref<Activation> activation(const std::string& name) {
  auto it = activations().find(name);
  if (it == activations().end())
    fail(Code::E1104, cat("the activation \"", name, "\" is not known"),
         cat("known are ", names_of(activations())),
         {manual_fix("use one of these names, or give a function")});
  return make_ref<NamedActivation>(it->first, it->second);
}

Ref<Initializer> initializer(const Config& described) {
  bool object = described.kind() == Config::Kind::kObject;
  const std::string& name =
      object ? described.as_object().class_name : described.as_text("an initializer");
  for (const auto& [key, kind] : initializers()) {
    if (name != key && name != kind.class_name) continue;
    std::optional<int64_t> seed;
    if (object) {
      ConfigReader read(described.as_object().config, kind.class_name);
      const Config* given = kind.spread ? read.take("seed") : nullptr;
      if (given && !given->is_null()) seed = given->as_integer(read.argument("seed"));
      read.finish();
    }
    return make_ref<NamedInitializer>(kind, seed);
  }
  fail(Code::E1104, cat("the initializer \"", name, "\" is not known"),
       cat("known are ", names_of(initializers())),
       {manual_fix("use one of these names, or give a function")});
}

}  // namespace holdfast::keras
