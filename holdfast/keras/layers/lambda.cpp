#include "holdfast/keras/layers/lambda.h"

#include "holdfast/base/text.h"

namespace holdfast::keras::layers {

void LambdaLayer::configure(const LambdaOptions& o) {
  if (!o.function.call) fail(Code::E1104, "Lambda: `function` is not given");
  function_ = o.function;
  take_options(o);
}

Nested LambdaLayer::call_all(const Nested& inputs, const CallOptions& o) {
  return function_.call(inputs, o);
}

ConfigDict LambdaLayer::get_config() const {
  fail(Code::E1105, cat(described(), " has no config"),
       "it holds a function of the program, and a file holds no code",
       {manual_fix("make it a class of its own: derive it from `keras::Layer`")});
}

}  // namespace holdfast::keras::layers
