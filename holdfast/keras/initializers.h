// Initializers: what makes the first value of a weight.
#pragma once

#include "holdfast/keras/function.h"

namespace holdfast::keras::initializers {

// Each is made with its options, and given to a layer:
// `layers::Dense({.units = 8, .kernel_initializer = initializers::HeNormal({.seed = 1})})`.
// One with a seed draws the same numbers each time, those that Keras draws on TensorFlow.

struct ConstantOptions {
  Config value = 0.0;  // a number, or a list that is broadcast to the weight's shape
};
HOLDFAST_API Ref<Initializer> Constant(const ConstantOptions& = {});
template <class T>
  requires std::is_arithmetic_v<T>
Ref<Initializer> Constant(T value) {
  return Constant({.value = static_cast<double>(value)});
}
HOLDFAST_API Ref<Initializer> Zeros();
HOLDFAST_API Ref<Initializer> Ones();

struct IdentityOptions {
  double gain = 1;
};
/// Ones on the diagonal of a matrix, times `gain`.
HOLDFAST_API Ref<Initializer> Identity(const IdentityOptions& = {});

struct RandomNormalOptions {
  double mean = 0, stddev = 0.05;
  std::optional<int64_t> seed = {};
};
HOLDFAST_API Ref<Initializer> RandomNormal(const RandomNormalOptions& = {});
/// Without numbers further than two deviations from the mean.
HOLDFAST_API Ref<Initializer> TruncatedNormal(const RandomNormalOptions& = {});

struct RandomUniformOptions {
  double minval = -0.05, maxval = 0.05;
  std::optional<int64_t> seed = {};
};
HOLDFAST_API Ref<Initializer> RandomUniform(const RandomUniformOptions& = {});

struct OrthogonalOptions {
  double gain = 1;
  std::optional<int64_t> seed = {};
};
/// Columns (rows, where there are fewer) at right angles to each other, of length `gain`.
HOLDFAST_API Ref<Initializer> Orthogonal(const OrthogonalOptions& = {});

struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in", distribution = "truncated_normal";
  std::optional<int64_t> seed = {};
  /// Which axes are inputs and outputs. Not said: the last two, times the size of the others.
  std::optional<std::vector<int64_t>> input_axes = {}, output_axes = {};
};
HOLDFAST_API Ref<Initializer> VarianceScaling(const VarianceScalingOptions& = {});

struct ScaledOptions {
  std::optional<int64_t> seed = {};
  std::optional<std::vector<int64_t>> input_axes = {}, output_axes = {};
};
HOLDFAST_API Ref<Initializer> GlorotNormal(const ScaledOptions& = {});
HOLDFAST_API Ref<Initializer> GlorotUniform(const ScaledOptions& = {});
HOLDFAST_API Ref<Initializer> HeNormal(const ScaledOptions& = {});
HOLDFAST_API Ref<Initializer> HeUniform(const ScaledOptions& = {});
HOLDFAST_API Ref<Initializer> LecunNormal(const ScaledOptions& = {});
HOLDFAST_API Ref<Initializer> LecunUniform(const ScaledOptions& = {});

}  // namespace holdfast::keras::initializers
