// A step, repeated over the time of sequences.
#pragma once

#include "holdfast/base/callback.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast::keras::layers {

/// What a step gives: its output, and the states after it.
struct StepResult {
  Tensor output;
  Tensors states;
};
using Step = holdfast::Callback<StepResult(const Tensor& inputs, const Tensors& states)>;

struct TimeLoopOptions {
  bool backwards = false;
  bool unroll = false;         // write each step down, where the number of steps is known
  bool all = true;             // the outputs of all steps are wanted
  bool zero_for_mask = false;  // at masked steps the output is 0, not that of the step before
  Tensor mask = {};            // [time, batch], bool
  Tensor output_like = {};     // a tensor of the shape that a step gives, if there is one
};

struct TimeLoopResult {
  Tensor last;     // the output of the last step
  Tensor all;      // [batch, time, ...], in the order in which the steps ran
  Tensors states;  // after the last step
};

/// Runs `step` for each row of `inputs` [time, batch, ...]. At masked steps nothing changes.
TimeLoopResult over_time(const Tensor& inputs, const Tensors& states, const Step& step,
                         const TimeLoopOptions&);

/// The first two axes the other way round.
Tensor swap_batch_and_time(const Tensor& x);

}  // namespace holdfast::keras::layers
