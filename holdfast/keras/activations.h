// Activations: functions of C++, and by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/keras/function.h"

namespace holdfast::keras::activations {

struct AlphaOptions {
  double alpha = 1;
};
/// x, and alpha * (e^(x / alpha) - 1) where x < 0.
HOLDFAST_API Tensor celu(const Tensor& x, const AlphaOptions& = {});
/// x, and alpha * (e^x - 1) where x < 0.
HOLDFAST_API Tensor elu(const Tensor& x, const AlphaOptions& = {});
HOLDFAST_API Tensor exponential(const Tensor& x);
struct GeluOptions {
  bool approximate = false;
};
HOLDFAST_API Tensor gelu(const Tensor& x, const GeluOptions& = {});
struct AxisOptions {
  int64_t axis = -1;
};
/// The first half of an axis times the sigmoid of the second.
HOLDFAST_API Tensor glu(const Tensor& x, const AxisOptions& = {});
struct ShrinkOptions {
  double threshold = 0.5;
};
/// x where it is further than `threshold` from 0, else 0.
HOLDFAST_API Tensor hard_shrink(const Tensor& x, const ShrinkOptions& = {});
/// relu6(x + 3) / 6.
HOLDFAST_API Tensor hard_sigmoid(const Tensor& x);
/// x * hard_sigmoid(x).
HOLDFAST_API Tensor hard_silu(const Tensor& x);
/// x, cut at -1 and 1.
HOLDFAST_API Tensor hard_tanh(const Tensor& x);
struct LeakyReluOptions {
  double negative_slope = 0.2;
};
HOLDFAST_API Tensor leaky_relu(const Tensor& x, const LeakyReluOptions& = {});
HOLDFAST_API Tensor linear(const Tensor& x);
HOLDFAST_API Tensor log_sigmoid(const Tensor& x);
struct SoftmaxOptions {
  Sides axis = -1;  // one, or several
};
HOLDFAST_API Tensor log_softmax(const Tensor& x, const SoftmaxOptions& = {});
/// x * tanh(softplus(x)).
HOLDFAST_API Tensor mish(const Tensor& x);
struct ReluOptions {
  double negative_slope = 0;
  std::optional<double> max_value = {};
  double threshold = 0;  // what is not above it becomes 0, or falls by `negative_slope`
};
HOLDFAST_API Tensor relu(const Tensor& x, const ReluOptions& = {});
HOLDFAST_API Tensor relu6(const Tensor& x);
HOLDFAST_API Tensor selu(const Tensor& x);
HOLDFAST_API Tensor sigmoid(const Tensor& x);
HOLDFAST_API Tensor silu(const Tensor& x);
/// x moved towards 0 by `threshold`, and 0 where that would pass it.
HOLDFAST_API Tensor soft_shrink(const Tensor& x, const ShrinkOptions& = {});
HOLDFAST_API Tensor softmax(const Tensor& x, const SoftmaxOptions& = {});
HOLDFAST_API Tensor softplus(const Tensor& x);
HOLDFAST_API Tensor softsign(const Tensor& x);
/// 0 up to -1, x from 1 on, and (x + 1)^2 / 4 between.
HOLDFAST_API Tensor sparse_plus(const Tensor& x);
/// 0 up to -1, 1 from 1 on, and (x + 1) / 2 between.
HOLDFAST_API Tensor sparse_sigmoid(const Tensor& x);
/// The point of the simplex that is nearest to x: as softmax, with zeros.
HOLDFAST_API Tensor sparsemax(const Tensor& x, const AxisOptions& = {});
struct SquareplusOptions {
  double b = 4;
};
/// (x + sqrt(x^2 + b)) / 2.
HOLDFAST_API Tensor squareplus(const Tensor& x, const SquareplusOptions& = {});
HOLDFAST_API Tensor tanh(const Tensor& x);
/// x - tanh(x).
HOLDFAST_API Tensor tanh_shrink(const Tensor& x);
struct ThresholdOptions {
  double threshold = 0, default_value = 0;
};
/// x where it is above `threshold`, else `default_value`.
HOLDFAST_API Tensor threshold(const Tensor& x, const ThresholdOptions&);

/// An activation that has a name.
struct HOLDFAST_API Named {
  std::string name, doc;
  std::vector<Option> options;
  Tensor (*call)(const Tensor& x, const Named&, const ConfigDict& options);
  /// What an option is that is not given.
  Config (*standard)(const Option&);

  /// With options by name; unknown and missing ones are refused.
  Tensor operator()(const Tensor& x, const ConfigDict& given = {}) const {
    return call(x, *this, given);
  }
};
/// In the order of their names.
HOLDFAST_API const std::vector<Named>& all();
/// Null where there is none of that name.
HOLDFAST_API const Named* named(const std::string& name);
HOLDFAST_API Ref<Activation> find(const std::string& name);

}  // namespace holdfast::keras::activations
