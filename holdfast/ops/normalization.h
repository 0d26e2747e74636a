// Moments and normalisation.
#pragma once

#include <string>
#include <tuple>

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct MomentsOptions {
  MaybeIn shift = {};  // takes part in no formula: the variance is taken around the mean
  bool keepdims = false;
};
/// Mean and variance over axes.
HOLDFAST_API std::tuple<Tensor, Tensor> moments(const In& x, const Sizes& axes,
                                                const MomentsOptions& = {});
struct WeightedMomentsOptions {
  bool keepdims = false;
};
/// Mean and variance over axes, each element counted with its weight.
HOLDFAST_API std::tuple<Tensor, Tensor> weighted_moments(const In& x, const Sizes& axes,
                                                         const In& frequency_weights,
                                                         const WeightedMomentsOptions& = {});
struct SufficientStatisticsOptions {
  MaybeIn shift = {};
  bool keepdims = false;
};
/// Count, sum and sum of squares over axes, of `x - shift` where a shift is given; and the shift.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor, Tensor> sufficient_statistics(
    const In& x, const Sizes& axes, const SufficientStatisticsOptions& = {});
/// Mean and variance from sufficient statistics.
HOLDFAST_API std::tuple<Tensor, Tensor> normalize_moments(const In& counts, const In& mean_ss,
                                                          const In& variance_ss,
                                                          const MaybeIn& shift = {});
/// (x - mean) / sqrt(variance + variance_epsilon) * scale + offset.
HOLDFAST_API Tensor batch_normalization(const In& x, const In& mean, const In& variance,
                                        const MaybeIn& offset, const MaybeIn& scale,
                                        double variance_epsilon);
struct FusedBatchNormOptions {
  MaybeIn mean = {}, variance = {};
  double epsilon = 0.001;
  std::string data_format = "NHWC";
  bool is_training = true;
  double exponential_avg_factor = 1.0;
};
/// Batch normalisation in one step; returns y and the running mean and variance.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> fused_batch_norm(const In& x, const In& scale,
                                                                 const In& offset,
                                                                 const FusedBatchNormOptions& = {});
struct LayerNormOptions {
  double epsilon = 0.001;
};
/// Each row over `scale`'s axes brought to mean 0 and variance 1, times `scale`, plus `offset`.
HOLDFAST_API Tensor layer_normalization(const In& x, const In& scale, const In& offset,
                                        const LayerNormOptions& = {});

}  // namespace holdfast::nn
