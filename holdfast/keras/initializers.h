// Initializers: what makes the first value of a weight.
#pragma once

#include "holdfast/keras/seed.h"

namespace holdfast::keras::initializers {

// Each is made with its options, and given to a layer:
// `layers::Dense({.units = 8, .kernel_initializer = initializers::HeNormal({.seed = 1})})`.
// One with a seed draws the same numbers each time, those that Keras draws on TensorFlow.

struct ConstantOptions {
  Config value = 0.0;  // a number, or a list or array that is broadcast to the weight's shape
};
HOLDFAST_API Ref<Initializer> Constant(const ConstantOptions& = {},
                                       Caller = std::source_location::current());
template <class T>
  requires std::is_arithmetic_v<T>
Ref<Initializer> Constant(T value, Caller at = std::source_location::current()) {
  return Constant({.value = static_cast<double>(value)}, at);
}
HOLDFAST_API Ref<Initializer> Zeros(Caller = std::source_location::current());
HOLDFAST_API Ref<Initializer> Ones(Caller = std::source_location::current());

struct IdentityOptions {
  double gain = 1;
};
/// Ones on the diagonal of a matrix, times `gain`.
HOLDFAST_API Ref<Initializer> Identity(const IdentityOptions& = {},
                                       Caller = std::source_location::current());

struct STFTOptions {
  std::string side = "real";                       // or "imag"
  Config window = "hann";                          // a name, a list of numbers, or none
  std::optional<std::string> scaling = "density";  // to one energy; "spectrum": to one sum
  bool periodic = false;
};
/// Waves of all frequencies under a window, for frames of a sound: [length, 1, frequencies].
HOLDFAST_API Ref<Initializer> STFT(const STFTOptions& = {},
                                   Caller = std::source_location::current());

struct RandomNormalOptions {
  double mean = 0, stddev = 0.05;
  Seed seed = {};
};
HOLDFAST_API Ref<Initializer> RandomNormal(const RandomNormalOptions& = {},
                                           Caller = std::source_location::current());
/// Without numbers further than two deviations from the mean.
HOLDFAST_API Ref<Initializer> TruncatedNormal(const RandomNormalOptions& = {},
                                              Caller = std::source_location::current());

struct RandomUniformOptions {
  double minval = -0.05, maxval = 0.05;
  Seed seed = {};
};
HOLDFAST_API Ref<Initializer> RandomUniform(const RandomUniformOptions& = {},
                                            Caller = std::source_location::current());

struct OrthogonalOptions {
  double gain = 1;
  Seed seed = {};
};
/// Columns (rows, where there are fewer) at right angles to each other, of length `gain`.
HOLDFAST_API Ref<Initializer> Orthogonal(const OrthogonalOptions& = {},
                                         Caller = std::source_location::current());

struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in", distribution = "truncated_normal";
  Seed seed = {};
  /// Which axes are inputs and outputs. Not said: the last two, times the size of the others.
  std::optional<std::vector<int64_t>> input_axes = {}, output_axes = {};
};
HOLDFAST_API Ref<Initializer> VarianceScaling(const VarianceScalingOptions& = {},
                                              Caller = std::source_location::current());

struct ScaledOptions {
  Seed seed = {};
  std::optional<std::vector<int64_t>> input_axes = {}, output_axes = {};
};
HOLDFAST_API Ref<Initializer> GlorotNormal(const ScaledOptions& = {},
                                           Caller = std::source_location::current());
HOLDFAST_API Ref<Initializer> GlorotUniform(const ScaledOptions& = {},
                                            Caller = std::source_location::current());
HOLDFAST_API Ref<Initializer> HeNormal(const ScaledOptions& = {},
                                       Caller = std::source_location::current());
HOLDFAST_API Ref<Initializer> HeUniform(const ScaledOptions& = {},
                                        Caller = std::source_location::current());
HOLDFAST_API Ref<Initializer> LecunNormal(const ScaledOptions& = {},
                                          Caller = std::source_location::current());
HOLDFAST_API Ref<Initializer> LecunUniform(const ScaledOptions& = {},
                                           Caller = std::source_location::current());

}  // namespace holdfast::keras::initializers
