#include "holdfast/keras/activations.h"

#include "holdfast/ops/activations.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"

namespace holdfast::keras::activations {
namespace {

class Named final : public Activation {
 public:
  Named(const std::string& name, Function f) : name_(name), f_(f) {}
  Tensor operator()(const Tensor& x) const override { return f_(x); }
  Config config() const override { return name_; }
  std::string text() const override { return "the activation " + name_; }

 private:
  const std::string& name_;
  Function f_;
};

}  // namespace

const std::vector<std::pair<std::string, Function>>& all() {
  static const auto* list = new std::vector<std::pair<std::string, Function>>{
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
  return *list;
}

Ref<Activation> find(const std::string& name) {
  for (const auto& [known, f] : all())
    if (known == name) return make_ref<Named>(known, f);
  return {};
}

}  // namespace holdfast::keras::activations
