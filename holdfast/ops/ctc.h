// Connectionist temporal classification: losses for sequences whose alignment is not known.
#pragma once

#include <tuple>

#include "holdfast/op/in.h"

namespace holdfast::nn {

struct CtcLossOptions {
  bool logits_time_major = true;  // logits [time, batch, classes], else [batch, time, classes]
  int64_t blank_index = 0;        // negative: from the last class
};
/// -log of the probability that the logits say the labels: summed over all ways to spread each row
/// of `labels` [batch, length] over the steps, with blanks between, and each label said once or
/// more.
HOLDFAST_API Tensor ctc_loss(const In& labels, const In& logits, const In& label_length,
                             const In& logit_length, const CtcLossOptions& = {});
/// Rows of labels without repeats of the label before, padded with 0, and their new lengths.
HOLDFAST_API std::tuple<Tensor, Tensor> collapse_repeated(const In& labels, const In& seq_length);
/// The different labels of each row, padded with 0, and for each label which of them it is.
HOLDFAST_API std::tuple<Tensor, Tensor> ctc_unique_labels(const In& labels);

}  // namespace holdfast::nn
