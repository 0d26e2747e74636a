// Losses over logits.
#pragma once

#include <tuple>

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
  MaybeIn sample_weight = {};
  Axes global_batch_size = {};
};
/// Sum of the losses over the batch size of all replicas together.
HOLDFAST_API Tensor compute_average_loss(const In& per_example_loss,
                                         const AverageLossOptions& = {});
/// Sum of a regularisation loss, shared out among the replicas.
HOLDFAST_API Tensor scale_regularization_loss(const In& regularization_loss);
/// Half the sum of squares.
HOLDFAST_API Tensor l2_loss(const In& t);

struct NceOptions {
  int64_t num_true = 1;  // true classes of each example
  // Classes that somebody drew, and how often the true ones and they were to be expected: all three
  // or none. Where none are given, `num_sampled` are drawn by `log_uniform_candidate_sampler`.
  MaybeIn sampled = {}, true_expected_count = {}, sampled_expected_count = {};
  bool remove_accidental_hits = false;     // whether drawn classes that are true ones do not count
  std::string partition_strategy = "div";  // how shards of `weights` hold classes
  std::optional<int64_t> seed = {};
};
/// Noise-contrastive estimation: each true class against `num_sampled` drawn ones, as independent
/// decisions. `weights` are rows by class, perhaps in shards.
HOLDFAST_API Tensor nce_loss(const Ins& weights, const Ins& biases, const In& labels,
                             const In& inputs, int64_t num_sampled, int64_t num_classes,
                             const NceOptions& = {});
/// As for `nce_loss`.
struct SampledSoftmaxOptions {
  int64_t num_true = 1;
  MaybeIn sampled = {}, true_expected_count = {}, sampled_expected_count = {};
  bool remove_accidental_hits = true;
  std::string partition_strategy = "div";
  std::optional<int64_t> seed = {};
};
/// The cross entropy over the true classes and `num_sampled` drawn ones instead of all.
HOLDFAST_API Tensor sampled_softmax_loss(const Ins& weights, const Ins& biases, const In& labels,
                                         const In& inputs, int64_t num_sampled, int64_t num_classes,
                                         const SampledSoftmaxOptions& = {});
/// Where drawn classes are true ones: the example, the number of the drawn class, and -FLT_MAX to
/// be added to its logit.
HOLDFAST_API std::tuple<Tensor, Tensor, Tensor> compute_accidental_hits(
    const In& true_classes, const In& sampled_candidates, int64_t num_true);

}  // namespace holdfast::nn
