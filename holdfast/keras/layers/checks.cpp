#include "holdfast/keras/layers/checks.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {

void need_at_least(int64_t value, int64_t least, const char* option, const std::string& of) {
  if (value < least)
    fail(Code::E1103, cat(of, ": `", option, "` is ", value, ", expected at least ", least));
}

Tensor as_factor(const Layer& layer, const Tensor& inputs) {
  bool whole = is_integer(inputs.dtype()) || inputs.dtype() == boolean;
  return whole ? cast(inputs, layer.compute_dtype()) : layer.as_input(inputs);
}

void refuse_quantized(const char* of, const Config& config) {
  if (!config.is_null())
    fail(Code::E1105, cat(of, ": `quantization_config` is given, and kernels are not quantized"),
         "weights of few bits are not made yet", {manual_fix("leave `quantization_config` out")});
}

void need_axes(const Layer& layer, const Shape& inputs, int axes, const std::string& layout) {
  if (!inputs.has_rank() || inputs.rank() == axes) return;
  fail(Code::E1102,
       cat(layer.described(), ": `inputs` has the shape ", inputs.text(), ", expected ", axes,
           " axes"),
       cat("received ", inputs.rank(), inputs.rank() == 1 ? " axis" : " axes", ", expected ", axes,
           ": ", layout),
       {manual_fix(
           inputs.rank() + 1 == axes
               ? cat("add the axis that is missing: of channels, `",
                     language() == Language::kPython ? cat("x[..., ", module_alias(), ".newaxis]")
                                                     : "holdfast::expand_dims(x, -1)",
                     "`, or of the batch, `", written(Advice::kNewAxis, {"x"}), "`")
               : cat("give inputs of ", axes, " axes: a `Reshape` layer before it makes them"))});
}

void need_size(const Layer& layer, const Shape& inputs, int axis, int64_t size,
               const std::string& why) {
  if (!inputs.has_rank() || size < 0 || inputs[axis] < 0 || inputs[axis] == size) return;
  fail(Code::E1102,
       cat(layer.described(), ": `inputs` has the shape ", inputs.text(), ", expected ", size,
           " along axis ", axis),
       cat("expected ", size, " along axis ", axis, ", received ", inputs[axis], ": ", why),
       {manual_fix("give inputs of that size, or use a layer of their own")});
}

int64_t known_size(const Layer& layer, const Shape& inputs, int axis, const std::string& why) {
  if (inputs.has_rank() && inputs[axis] >= 0) return inputs[axis];
  fail(Code::E1102,
       cat(layer.described(), ": `inputs` has the shape ", inputs.text(),
           ", expected a known size of axis ", axis),
       why);
}

void need_built(const Layer& layer, const Variable& weight, const char* name) {
  if (weight.defined()) return;
  fail(Code::E1104, cat(layer.described(), " has no `", name, "`"),
       "`build` makes it, and a class that overrides `build` has to call the one it overrides",
       {manual_fix(cat("call `",
                       written(Advice::kBuildBase, {cat(layer.definition().name, "Layer")}),
                       "` in `build`"))});
}

int axis_of(const Layer& layer, const Shape& inputs, int64_t axis) {
  int64_t at = axis < 0 ? axis + inputs.rank() : axis;
  if (at < 0 || at >= inputs.rank())
    fail(Code::E1102, cat(layer.described(), ": `inputs` has the shape ", inputs.text(),
                          ", which has no axis ", axis));
  return static_cast<int>(at);
}

}  // namespace holdfast::keras::layers
