// Lambda: a function of the program as a layer.
#pragma once

#include "holdfast/keras/handle.h"

namespace holdfast::keras::layers {

/// A function of a tensor, or of whatever a call is given.
struct LambdaFunction {
  using Call = holdfast::Callback<Nested(const Nested& inputs, const CallOptions&)>;
  LambdaFunction() = default;
  template <class F>
    requires std::is_invocable_r_v<Nested, F&, const Nested&, const CallOptions&>
  LambdaFunction(F f) : call(std::move(f)) {}
  template <class F>
    requires(std::is_invocable_r_v<Tensor, F&, const Tensor&> &&
             !std::is_invocable_r_v<Nested, F&, const Nested&, const CallOptions&>)
  LambdaFunction(F f)
      : call([f = std::move(f)](const Nested& inputs, const CallOptions&) mutable {
          return Nested(f(inputs.tensor("`inputs` of a Lambda")));
        }) {}
  Call call = {};
};

struct LambdaOptions {
  LambdaFunction function = {};
  bool trainable = true;
  Policy dtype = {};
  std::string name = {};
};

/// Calls the function. Variables that it uses from outside are read in each call; a file holds no
/// code, so the layer has no config.
class HOLDFAST_API LambdaLayer : public Layer {
 public:
  using Options = LambdaOptions;
  void configure(const LambdaOptions& o);
  std::string class_name() const override { return "Lambda"; }
  Nested call_all(const Nested& inputs, const CallOptions&) override;
  ConfigDict get_config() const override;

 private:
  LambdaFunction function_;
};

/// `Lambda({.function = [](const Tensor& x) { return x * 2; }})`.
using Lambda = Handle<LambdaLayer>;

}  // namespace holdfast::keras::layers
