#include "holdfast/keras/layers/identity.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/layers/checks.h"
#include "holdfast/keras/layers/numbers.h"
#include "holdfast/keras/layers/spatial/spatial.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::layers {
namespace {

ClassDef& identity_layer =
    Declare<IdentityLayer>("layers.Identity", "What it is given.", &Layer::def()).layer_options();
ClassDef& masking =
    Declare<MaskingLayer>("layers.Masking",
                          "Steps whose elements all are `mask_value` are left out by the layers "
                          "that follow.",
                          &Layer::def())
        .option<&MaskingOptions::mask_value>("mask_value")
        .layer_options();
ClassDef& activity_regularization =
    Declare<ActivityRegularizationLayer>(
        "layers.ActivityRegularization",
        "What it is given, with a penalty on it: `l1` times its absolutes, `l2` times its squares.",
        &Layer::def())
        .option<&ActivityRegularizationOptions::l1>("l1")
        .option<&ActivityRegularizationOptions::l2>("l2")
        .layer_options();
ClassDef& rescaling =
    Declare<RescalingLayer>("layers.Rescaling", "`inputs * scale + offset`.", &Layer::def())
        .required<&RescalingOptions::scale>("scale")
        .option<&RescalingOptions::offset>("offset")
        .layer_options();

}  // namespace

const ClassDef& IdentityLayer::definition() const { return identity_layer; }
const ClassDef& MaskingLayer::definition() const { return masking; }
const ClassDef& ActivityRegularizationLayer::definition() const { return activity_regularization; }
const ClassDef& RescalingLayer::definition() const { return rescaling; }

Tensor MaskingLayer::kept(const Tensor& inputs, bool keepdims) const {
  const Shape& s = inputs.shape();
  if (s.has_rank() && s.rank() < 1)
    fail(Code::E1102,
         cat(described(), ": `inputs` has the shape ", s.text(), ", expected at least one axis"));
  Tensor numbers = as_factor(*this, inputs);
  return reduce_any(not_equal(numbers, options_.mask_value), {.axis = {-1}, .keepdims = keepdims});
}

Tensor MaskingLayer::call(const Tensor& inputs, const CallOptions&) {
  Tensor x = inputs.dtype() == boolean ? cast(inputs, int32) : inputs;
  return x * cast(kept(inputs, true), x.dtype());
}

Nested MaskingLayer::compute_mask(const Nested& inputs, const Nested&) {
  return kept(inputs.tensor(), false);
}

Tensor ActivityRegularizationLayer::call(const Tensor& inputs, const CallOptions&) {
  const ActivityRegularizationOptions& o = options_;
  if (!is_floating(inputs.dtype()))
    fail(Code::E1101,
         cat(described(), ": `inputs` is ", holdfast::name(inputs.dtype()), ", expected floats"));
  Tensor loss = zeros({}, inputs.dtype());
  if (o.l1 != 0) loss = loss + o.l1 * reduce_sum(abs(inputs));
  if (o.l2 != 0) loss = loss + o.l2 * reduce_sum(square(inputs));
  bool examples = !inputs.shape().has_rank() || inputs.shape().rank() > 0;
  add_loss(examples ? loss / cast(at(shape(inputs), 0), inputs.dtype()) : loss);
  return inputs;
}

void RescalingLayer::check() {
  numbers(options_.scale, float32, "`scale` of Rescaling");
  numbers(options_.offset, float32, "`offset` of Rescaling");
}

Tensor RescalingLayer::call(const Tensor& inputs, const CallOptions&) {
  DType dtype = is_floating(compute_dtype()) ? compute_dtype() : inputs.dtype();
  auto value = [&](const Config& c, const char* what) {
    Tensor t = numbers(c, dtype, cat("`", what, "` of Rescaling"));
    // One for each channel, of images whose channels come first.
    if (t.rank() == 1 && image_data_format() == "channels_first") t = reshape(t, {-1, 1, 1});
    return t;
  };
  return cast(inputs, dtype) * value(options_.scale, "scale") + value(options_.offset, "offset");
}

}  // namespace holdfast::keras::layers
