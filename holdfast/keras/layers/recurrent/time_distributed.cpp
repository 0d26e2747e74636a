#include "holdfast/keras/layers/recurrent/time_distributed.h"

#include "holdfast/base/text.h"
#include "holdfast/keras/layers/recurrent/loop.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

using O = TimeDistributedOptions;
ClassDef& declared =
    Declare<TimeDistributedLayer>("layers.TimeDistributed", "A layer for each step of sequences.",
                                  &Layer::def())
        .required<&O::layer>("layer")
        .layer_options()
        .option<&O::activity_regularizer>("activity_regularizer", false);

// Whether rows of a batch go through a layer each for itself, so that all steps may be one batch:
// so it is with our own layers, but for those that look at the whole batch and keep what they saw.
bool by_rows(const Layer& layer) {
  auto own = [](const Layer& l) {
    return &l.definition() != &Layer::def() &&
           !(layer_hooks().overrides && layer_hooks().overrides(l, "call"));
  };
  if (!own(layer) || !layer.non_trainable_variables().empty()) return false;
  for (const Ref<Layer>& inside : layer.inner_layers())
    if (!own(*inside)) return false;
  return true;
}

}  // namespace

TimeDistributedLayer::TimeDistributedLayer(const TimeDistributedOptions& o) { configure(o); }
const ClassDef& TimeDistributedLayer::definition() const { return declared; }

void TimeDistributedLayer::check() {
  if (!options_.layer) fail(Code::E1104, "TimeDistributed: `layer` is not given");
  options_.layer->name_it();
  hold(Ref<ModuleObject>(options_.layer.layer));
}

Shape TimeDistributedLayer::step_shape(const Shape& s) const {
  if (!s.has_rank() || s.rank() < 3)
    fail(Code::E1102,
         cat(described(), ": `inputs` is ", s.text(), ", expected [batch, time, ...]"));
  std::vector<int64_t> sizes{s[0]};
  for (int i = 2; i < s.rank(); ++i) sizes.push_back(s[i]);
  return Shape(sizes);
}

void TimeDistributedLayer::build(const Shape& inputs) {
  build_inner(*options_.layer, {step_shape(inputs)});
}

Tensor TimeDistributedLayer::call(const Tensor& x, const CallOptions& o) {
  step_shape(x.shape());
  Layer& layer = *options_.layer;
  std::vector<Tensor> masks = o.mask.leaves();
  if (!masks.empty()) {
    const Shape &m = masks[0].shape(), &s = x.shape();
    auto differs = [](int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; };
    if (m.has_rank() && (m.rank() < 2 || differs(m[0], s[0]) || differs(m[1], s[1])))
      fail(Code::E1102, cat(described(), ": `mask` has the shape ", m.text(),
                            ", and the inputs have ", s.text(), ", expected the same first two"));
  }
  if (by_rows(layer) && masks.empty()) {
    Tensor sizes = shape(x);
    Tensor flat = reshape(
        x,
        Sizes(concat({constant(std::vector<int32_t>{-1}), at(sizes, slice(2, std::nullopt))}, 0)));
    std::vector<int64_t> known{x.shape()[0] >= 0 && x.shape()[1] >= 0 ? x.shape()[0] * x.shape()[1]
                                                                      : int64_t{kUnknown}};
    for (int i = 2; i < x.shape().rank(); ++i) known.push_back(x.shape()[i]);
    Tensor y = layer.run(ensure_shape(flat, Shape(known)), {.training = o.training})
                   .tensor(layer.described());
    Tensor out = reshape(
        y, Sizes(concat({at(sizes, slice(0, 2)), at(shape(y), slice(1, std::nullopt))}, 0)));
    std::vector<int64_t> result{x.shape()[0], x.shape()[1]};
    if (!y.shape().has_rank()) return out;
    for (int i = 1; i < y.shape().rank(); ++i) result.push_back(y.shape()[i]);
    return ensure_shape(out, Shape(result));
  }
  Tensor in_time = swap_batch_and_time(x), mask_in_time;
  if (!masks.empty()) mask_in_time = swap_batch_and_time(masks[0]);
  // The number of a step goes along as a state.
  auto step = [&](const Tensor& one, const Tensors& before) -> StepResult {
    CallOptions given{.training = o.training};
    if (mask_in_time.defined()) given.mask = Nested(gather(mask_in_time, before[0]));
    return {layer.run(one, given).tensor(layer.described()), {before[0] + 1}};
  };
  return over_time(in_time, {Tensor::scalar(0, int32)}, Step(step), {}).all;
}

}  // namespace holdfast::keras::layers
