// Losses over logits.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct CrossEntropyOptions {
  int64_t axis = -1;
};
/// -sum(labels * log_softmax(logits)) along `axis`, where labels are probabilities.
HOLDFAST_API Tensor softmax_cross_entropy_with_logits(const In& labels, const In& logits,
                                                      const CrossEntropyOptions& = {});
/// -log_softmax(logits)[label] along the last axis.
HOLDFAST_API Tensor sparse_softmax_cross_entropy_with_logits(const In& labels, const In& logits);
/// Cross entropy of independent classes: -labels * log(p) - (1 - labels) * log(1 - p), p =
/// sigmoid(logits).
HOLDFAST_API Tensor sigmoid_cross_entropy_with_logits(const In& labels, const In& logits);
/// Likewise, with the first term weighted by `pos_weight`.
HOLDFAST_API Tensor weighted_cross_entropy_with_logits(const In& labels, const In& logits,
                                                       const In& pos_weight);
struct LogPoissonOptions {
  bool compute_full_loss = false;
};
/// exp(log_input) - log_input * targets; the full loss adds Stirling's approximation of
/// log(targets!).
HOLDFAST_API Tensor log_poisson_loss(const In& targets, const In& log_input,
                                     const LogPoissonOptions& = {});
struct AverageLossOptions {
  std::optional<In> sample_weight = {};
  Axes global_batch_size = {};
};
/// Sum of the losses over the batch size of all replicas together.
HOLDFAST_API Tensor compute_average_loss(const In& per_example_loss,
                                         const AverageLossOptions& = {});
/// Sum of a regularisation loss, shared out among the replicas.
HOLDFAST_API Tensor scale_regularization_loss(const In& regularization_loss);
/// Half the sum of squares.
HOLDFAST_API Tensor l2_loss(const In& t);

}  // namespace holdfast::nn
