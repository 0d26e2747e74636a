#include "holdfast/keras/losses/margin.h"

#include <limits>

#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/layer.h"
#include "holdfast/keras/losses/declare.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/ctc.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras::losses {
namespace {

Tensor labels_like(const In& y_true, const Tensor& p) {
  Tensor y = y_true.tensor(p.dtype());
  return y.dtype() == p.dtype() ? y : cast(y, p.dtype());
}

// Labels that are all 0 or 1 become -1 or 1.
Tensor signed_labels(const Tensor& y) {
  Tensor binary = reduce_all(logical_or(y == 0, y == 1));
  return select(binary, 2 * y - 1, y);
}

Axes axes_of(const std::optional<std::vector<int64_t>>& axis) {
  return axis ? Axes(Sizes(*axis)) : Axes();
}

}  // namespace

Tensor hinge(const In& y_true, const In& y_pred) {
  Tensor p = y_pred.tensor(), y = signed_labels(labels_like(y_true, p));
  return reduce_mean(maximum(1 - y * p, 0), {.axis = -1});
}

Tensor squared_hinge(const In& y_true, const In& y_pred) {
  Tensor p = y_pred.tensor(), y = signed_labels(labels_like(y_true, p));
  return reduce_mean(square(maximum(1 - y * p, 0)), {.axis = -1});
}

Tensor categorical_hinge(const In& y_true, const In& y_pred) {
  Tensor p = y_pred.tensor(), y = labels_like(y_true, p);
  Tensor right = reduce_sum(y * p, {.axis = -1});
  Tensor best = reduce_max((1 - y) * p, {.axis = -1});
  return maximum(best - right + 1, 0);
}

Tensor dice(const In& y_true, const In& y_pred, const DiceOptions& o) {
  Tensor p = y_pred.tensor(), y = labels_like(y_true, p);
  ReduceOptions over{.axis = axes_of(o.axis)};
  return 1 - 2 * reduce_sum(y * p, over) / (reduce_sum(y, over) + reduce_sum(p, over) + epsilon());
}

Tensor tversky(const In& y_true, const In& y_pred, const TverskyOptions& o) {
  Tensor p = y_pred.tensor(), y = labels_like(y_true, p);
  ReduceOptions over{.axis = axes_of(o.axis)};
  Tensor both = reduce_sum(y * p, over), missed = reduce_sum((1 - p) * y, over),
         wrong = reduce_sum(p * (1 - y), over);
  return 1 - both / (both + missed * o.alpha + wrong * o.beta + epsilon());
}

Tensor circle(const In& y_true, const In& y_pred, const CircleOptions& o,
              const CircleReferences& references) {
  Tensor p = y_pred.tensor(), y = cast(y_true, int32);
  if (y.shape().has_rank() && y.rank() == 2 && y.dim(-1) == 1) y = squeeze(y, {.axis = -1});
  Tensor others = references.embeddings ? references.embeddings->tensor(p.dtype()) : p;
  Tensor other_labels = references.labels ? cast(*references.labels, int32) : y;
  Tensor distance = maximum(1 - matmul(p, others, {.transpose_b = true}), 0);
  Tensor same = expand_dims(y, -1) == expand_dims(other_labels, 0);
  Tensor different = logical_not(same);
  if (o.remove_diagonal) {
    Tensor rows = range(size(y)), columns = range(size(other_labels));
    same = logical_and(same, expand_dims(rows, -1) != expand_dims(columns, 0));
  }
  DType d = distance.dtype();
  Tensor pos_weights = maximum((o.margin + distance) * cast(same, d), 0);
  Tensor neg_weights = maximum((1 + o.margin - distance) * cast(different, d), 0);
  Tensor pos = -o.gamma * pos_weights * (o.margin - distance);
  Tensor neg = o.gamma * neg_weights * (1 - o.margin - distance);
  Tensor none = Tensor::scalar(-std::numeric_limits<double>::infinity(), d);
  Tensor out = softplus(reduce_logsumexp(select(same, pos, none), {.axis = 1}) +
                        reduce_logsumexp(select(different, neg, none), {.axis = 1}));
  set_mask(out, out > 0);
  return out;
}

Tensor ctc(const In& y_true, const In& y_pred) {
  Tensor p = y_pred.tensor(), y = cast(y_true, int32);
  if (y.shape().has_rank() && y.rank() != 2)
    fail(Code::E1102,
         cat("loss CTC: `y_true` has the shape ", y.shape().text(), ", expected [batch, labels]"));
  if (p.shape().has_rank() && p.rank() != 3)
    fail(Code::E1102, cat("loss CTC: `y_pred` has the shape ", p.shape().text(),
                          ", expected [batch, time, classes]"));
  Tensor sizes = shape(p);
  Tensor steps = fill(gather(sizes, Tensor::of<int32_t>({0})), gather(sizes, 1));
  Tensor lengths = reduce_sum(cast(y != 0, int32), {.axis = -1});
  return nn::ctc_loss(y, p, lengths, steps, {.logits_time_major = false, .blank_index = 0});
}

Tensor HingeLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  auto [y, p] = same_rank(y_true, y_pred);
  return hinge(y, p);
}
Tensor SquaredHingeLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  auto [y, p] = same_rank(y_true, y_pred);
  return squared_hinge(y, p);
}
Tensor CategoricalHingeLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  auto [y, p] = same_rank(y_true, y_pred);
  return categorical_hinge(y, p);
}
Tensor DiceLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  auto [y, p] = same_rank(y_true, y_pred);
  return dice(y, p, options_);
}
Tensor TverskyLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  auto [y, p] = same_rank(y_true, y_pred);
  return tversky(y, p, options_);
}
Tensor CircleLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return circle(y_true, y_pred, options_);
}
Tensor CTCLoss::call(const Tensor& y_true, const Tensor& y_pred) { return ctc(y_true, y_pred); }

namespace {

const ClassDef& hinge_def = plain<HingeLoss>(
    "losses.Hinge", "Loss of labels that are -1 or 1 (or 0 and 1), zero where the margin is kept.");
const ClassDef& squared_hinge_def =
    plain<SquaredHingeLoss>("losses.SquaredHinge", "The square of Hinge.");
const ClassDef& categorical_hinge_def = plain<CategoricalHingeLoss>(
    "losses.CategoricalHinge", "Hinge over classes: the right one against the best of the others.");
const ClassDef& ctc_def = plain<CTCLoss>(
    "losses.CTC", "Loss of sequences whose alignment with their labels is not known.");

const ClassDef& dice_def =
    Declare<DiceLoss>("losses.Dice", "How little two masks overlap.", &Loss::def())
        .option<&DiceOptions::reduction>("reduction")
        .option<&DiceOptions::name>("name")
        .option<&DiceOptions::axis>("axis")
        .option<&DiceOptions::dtype>("dtype", false);

const ClassDef& tversky_def =
    Declare<TverskyLoss>(
        "losses.Tversky",
        "How little two masks overlap, with weights for what is missed and what is wrong.",
        &Loss::def())
        .option<&TverskyOptions::alpha>("alpha")
        .option<&TverskyOptions::beta>("beta")
        .option<&TverskyOptions::reduction>("reduction")
        .option<&TverskyOptions::name>("name")
        .option<&TverskyOptions::axis>("axis")
        .option<&TverskyOptions::dtype>("dtype", false);

const ClassDef& circle_def =
    Declare<CircleLoss>("losses.Circle",
                        "Draws embeddings of one class together and pushes others apart.",
                        &Loss::def())
        .option<&CircleOptions::gamma>("gamma")
        .option<&CircleOptions::margin>("margin")
        .option<&CircleOptions::remove_diagonal>("remove_diagonal")
        .option<&CircleOptions::reduction>("reduction")
        .option<&CircleOptions::name>("name")
        .option<&CircleOptions::dtype>("dtype", false);

}  // namespace

const ClassDef& HingeLoss::definition() const { return hinge_def; }
const ClassDef& SquaredHingeLoss::definition() const { return squared_hinge_def; }
const ClassDef& CategoricalHingeLoss::definition() const { return categorical_hinge_def; }
const ClassDef& DiceLoss::definition() const { return dice_def; }
const ClassDef& TverskyLoss::definition() const { return tversky_def; }
const ClassDef& CircleLoss::definition() const { return circle_def; }
const ClassDef& CTCLoss::definition() const { return ctc_def; }

}  // namespace holdfast::keras::losses
