#include "holdfast/keras/layers/recurrent/loop.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/exec/control.h"
#include "holdfast/op/context.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/list.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras::layers {
namespace {

// Steps up to which a trace writes each of them down: a loop costs something at each turn, a graph
// something for each node.
constexpr int64_t kMostUnrolled = 128;

// A mask [batch] beside a tensor [batch, ...].
Tensor beside(const Tensor& mask, const Tensor& t) {
  Tensor out = mask;
  for (int i = 1; i < t.shape().rank(); ++i) out = expand_dims(out, -1);
  return out;
}

// A step that masked rows do not take part in.
StepResult masked(const Tensor& mask, StepResult now, const Tensors& states, const Tensor& output,
                  bool zero) {
  Tensor without = zero || !output.defined() ? zeros_like(now.output) : output;
  now.output = select(beside(mask, now.output), now.output, without);
  for (size_t i = 0; i < now.states.size(); ++i)
    now.states[i] = select(beside(mask, now.states[i]), now.states[i], states[i]);
  return now;
}

TimeLoopResult unrolled(const Tensor& inputs, Tensors states, const Step& step,
                        const TimeLoopOptions& o, int64_t steps) {
  Tensors rows = unstack(inputs, {.num = steps}), masks;
  if (o.mask.defined()) masks = unstack(o.mask, {.num = steps});
  std::vector<Tensor> outputs;
  Tensor output;
  for (int64_t i = 0; i < steps; ++i) {
    auto t = static_cast<size_t>(o.backwards ? steps - 1 - i : i);
    StepResult now = step(rows[t], states);
    if (!masks.empty()) now = masked(masks[t], std::move(now), states, output, o.zero_for_mask);
    output = now.output;
    states = std::move(now.states);
    if (o.all) outputs.push_back(output);
  }
  return {output, o.all ? stack(outputs, {.axis = 1}) : Tensor(), std::move(states)};
}

TimeLoopResult looped(const Tensor& inputs, const Tensors& states, const Step& step,
                      const TimeLoopOptions& o, const Tensor& output_type) {
  Tensor steps = at(shape(inputs), 0);
  auto row = [](const Tensor& x) {
    std::vector<int64_t> sizes;
    for (int i = 1; i < x.shape().rank(); ++i) sizes.push_back(x.shape()[i]);
    return ElementType{x.dtype(), Shape(sizes)};
  };
  ElementType input = row(inputs), output{output_type.dtype(), output_type.shape()};
  Tensor rows = list_unstack(inputs), masks;
  if (o.mask.defined()) masks = list_unstack(o.mask);
  // The step's number, the outputs so far, the one before, the states.
  std::vector<Tensor> start{Tensor::scalar(0, int32),
                            list_reserve(output, o.all ? steps : Tensor::scalar(0, int32)),
                            output_type};
  start.insert(start.end(), states.begin(), states.end());
  Tensors end = while_loop(
      LoopFn([&](std::span<const Tensor> v) -> Tensors { return {v[0] < steps}; }),
      LoopFn([&](std::span<const Tensor> v) -> Tensors {
        Tensor t = o.backwards ? steps - 1 - v[0] : v[0];
        Tensors before(v.begin() + 3, v.end());
        StepResult now = step(list_get(rows, t, input), before);
        if (masks.defined())
          now = masked(list_get(masks, t, row(o.mask)), std::move(now), before, v[2],
                       o.zero_for_mask);
        Tensors out{v[0] + 1, o.all ? list_set(v[1], v[0], now.output) : v[1], now.output};
        for (Tensor& s : now.states) out.push_back(std::move(s));
        return out;
      }),
      std::span<const Tensor>(start));
  TimeLoopResult result{end[2], {}, Tensors(end.begin() + 3, end.end())};
  if (o.all) result.all = swap_batch_and_time(list_stack(end[1], output));
  return result;
}

}  // namespace

Tensor swap_batch_and_time(const Tensor& x) {
  std::vector<int64_t> order{1, 0};
  for (int i = 2; i < x.shape().rank(); ++i) order.push_back(i);
  return transpose(x, {.perm = order});
}

TimeLoopResult over_time(const Tensor& inputs, const Tensors& states, const Step& step,
                         const TimeLoopOptions& o) {
  int64_t steps = inputs.shape()[0];
  if (steps == 0) fail(Code::E1102, "a recurrent layer is given sequences of no steps");
  bool each = steps > 0 && (o.unroll || !inputs.is_symbolic() || steps <= kMostUnrolled);
  if (each) return unrolled(inputs, states, step, o, steps);
  // What a step gives has to be known before the loop.
  Tensor like = o.output_like.defined() ? o.output_like : step(at(inputs, 0), states).output;
  return looped(inputs, states, step, o, zeros_like(like));
}

}  // namespace holdfast::keras::layers
