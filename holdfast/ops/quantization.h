// Quantization, pretended: floats that are what integers of a few bits would keep of them.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "holdfast/op/in.h"

namespace holdfast::quantization {

struct FakeQuantArgsOptions {
  double min = -6, max = 6;
  int64_t num_bits = 8;       // 2 to 16
  bool narrow_range = false;  // without the lowest integer
};
/// `inputs` cut off at `min` and `max`, which are moved so that zero is exact, and rounded to one
/// of 2 ** num_bits steps.
HOLDFAST_API Tensor fake_quant_with_min_max_args(const In& inputs,
                                                 const FakeQuantArgsOptions& = {});
/// `gradients` where `inputs` are not cut off.
HOLDFAST_API Tensor fake_quant_with_min_max_args_gradient(const In& gradients, const In& inputs,
                                                          const FakeQuantArgsOptions& = {});

struct FakeQuantOptions {
  int64_t num_bits = 8;
  bool narrow_range = false;
};
/// The same with ranges that tensors say, which have gradients too.
HOLDFAST_API Tensor fake_quant_with_min_max_vars(const In& inputs, const In& min, const In& max,
                                                 const FakeQuantOptions& = {});
/// The gradients of `inputs`, `min` and `max`.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> fake_quant_with_min_max_vars_gradient(
    const In& gradients, const In& inputs, const In& min, const In& max,
    const FakeQuantOptions& = {});
/// The same with a range for each element of the last axis.
HOLDFAST_API Tensor fake_quant_with_min_max_vars_per_channel(const In& inputs, const In& min,
                                                             const In& max,
                                                             const FakeQuantOptions& = {});
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> fake_quant_with_min_max_vars_per_channel_gradient(
    const In& gradients, const In& inputs, const In& min, const In& max,
    const FakeQuantOptions& = {});

struct QuantizeAndDequantizeOptions {
  bool signed_input = true;  // integers below zero too
  int64_t num_bits = 8;
  bool range_given = false;                 // else the range is that of `input`
  std::string round_mode = "HALF_TO_EVEN";  // or "HALF_UP"
  bool narrow_range = false;                // as many integers below zero as above
  std::optional<int64_t> axis = {};         // along which each has a range of its own
};
/// `input` rounded to integers of `num_bits` and back; zero stays zero. The gradient passes where
/// `input` is from `input_min` to `input_max`.
HOLDFAST_API Tensor quantize_and_dequantize_v2(const In& input, const In& input_min,
                                               const In& input_max,
                                               const QuantizeAndDequantizeOptions& = {});
/// The same with a gradient that always passes.
HOLDFAST_API Tensor quantize_and_dequantize(const In& input, const In& input_min,
                                            const In& input_max,
                                            const QuantizeAndDequantizeOptions& = {});

}  // namespace holdfast::quantization
