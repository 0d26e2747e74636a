#include "holdfast/keras/losses/crossentropy.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_loss.h"
#include "holdfast/keras/layer.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/losses.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/nn/last_axis.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras::losses {
namespace {

Tensor clipped(const Tensor& p) { return clip_by_value(p, epsilon(), 1 - epsilon()); }

Tensor labels_like(const In& y_true, const Tensor& y_pred) {
  Tensor labels = y_true.tensor(y_pred.dtype());
  return labels.dtype() == y_pred.dtype() ? labels : cast(labels, y_pred.dtype());
}

bool may_be(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }

// The axis counted from the front; one that is not there is refused.
int class_axis(const char* loss, const Tensor& y_pred, int64_t axis) {
  int rank = y_pred.rank();
  if (axis < -rank || axis >= rank)
    fail(Code::E1103, cat(loss, ": `axis` is ", axis, ", but `y_pred` has ", rank, " axes"));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void need_shape(const char* loss, const Tensor& y_true, const Tensor& y_pred) {
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  if (!t.has_rank() || !p.has_rank()) return;
  bool same = t.rank() == p.rank();
  for (int i = 0; same && i < p.rank(); ++i) same = may_be(t[i], p[i]);
  if (same) return;
  // One label for each example beside several predictions, or the other way round.
  bool one_label = t.rank() == p.rank() - 1 || (t.rank() > 0 && t[-1] == 1);
  std::vector<Fix> fixes;
  if (one_label && p.rank() > 0 && p[-1] > 1) {
    fixes.push_back(manual_fix(
        cat("of two classes: let the model give one number, by a last layer of one unit: ",
            language() == Language::kPython ? "`Dense(1, activation=\"sigmoid\")`"
                                            : "`Dense(1, \"sigmoid\")`")));
    fixes.push_back(
        manual_fix("of classes that exclude each other: use "
                   "SparseCategoricalCrossentropy, with a softmax at the end"));
  } else if (one_label && p.rank() > 0 && p[-1] == 1) {
    if (!std::string_view(loss).starts_with("Binary"))
      fixes.push_back(manual_fix("one number for each example is BinaryCrossentropy's: use that"));
    else if (t.rank() == p.rank() - 1)
      fixes.push_back(manual_fix("give the labels a last axis: `expand_dims(labels, -1)`"));
  }
  fail(Code::E1102, cat(loss, ": `y_true` has the shape ", t.text(), ", `y_pred` ", p.text()),
       "labels and predictions of this loss have one shape", std::move(fixes));
}

Fix use_twin(const char* loss, const char* twin) {
  return manual_fix(
      cat("use ", twin, ": \"", snake_case(twin), "\" in place of \"", snake_case(loss), "\""));
}

// Labels that are numbers of classes where probabilities are wanted: one for each example, beside
// predictions of several classes.
void refuse_classes(const char* loss, const char* twin, const Tensor& y_true,
                    const Tensor& y_pred) {
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  if (!t.has_rank() || !p.has_rank() || p.rank() < 1) return;
  int64_t classes = p[p.rank() - 1];
  bool one_each =
      (t.rank() == p.rank() - 1 || (t.rank() == p.rank() && t[t.rank() - 1] == 1)) && classes > 1;
  for (int i = 0; one_each && i < p.rank() - 1; ++i) one_each = may_be(t[i], p[i]);
  if (one_each)
    fail(Code::E1202, cat(loss, ": labels are class numbers, for ", twin),
         cat("`y_true` has the shape ", t.text(), " and `y_pred` ", p.text(), ": ", loss,
             " takes a probability for each of the ", classes, " classes of an example, ", twin,
             " the number of its class"),
         {use_twin(loss, twin),
          manual_fix(cat("or make them probabilities: `",
                         written(Advice::kOneHot, {"y_true", cat(classes)}), "`"))});
  need_shape(loss, y_true, y_pred);
}

// The reverse: a label for each class where the number of one is wanted.
void refuse_probabilities(const Tensor& y_true, const Tensor& y_pred) {
  constexpr const char *loss = "SparseCategoricalCrossentropy", *twin = "CategoricalCrossentropy";
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  if (!t.has_rank() || !p.has_rank()) return;
  bool fits = t.rank() == p.rank() - 1;
  for (int i = 0; fits && i < t.rank(); ++i) fits = may_be(t[i], p[i]);
  if (fits) return;
  bool each = t.rank() == p.rank() && p.rank() > 0;
  for (int i = 0; each && i < p.rank(); ++i) each = may_be(t[i], p[i]);
  if (each)
    fail(Code::E1202, cat(loss, ": labels are probabilities, for ", twin),
         cat("`y_true` has the shape ", t.text(), " and `y_pred` ", p.text(), ": ", loss,
             " takes the number of an example's class, ", twin,
             " a probability for each class (one-hot labels, too)"),
         {use_twin(loss, twin), manual_fix(cat("or make them numbers of classes: `",
                                               written(Advice::kArgmax, {"y_true"}), "`"))});
  std::vector<int64_t> wanted;
  for (int i = 0; i + 1 < p.rank(); ++i) wanted.push_back(p[i]);
  fail(Code::E1102, cat(loss, ": `y_true` has the shape ", t.text(), ", `y_pred` ", p.text()),
       cat("a label for each example, so the shape ", Shape(wanted).text(), ", was expected"),
       {manual_fix(p.rank() > 2 && t.rank() == 1
                       ? "give one prediction for each example: a `Flatten` or a global pooling "
                         "layer before the last one"
                       : cat("give labels of the shape ", Shape(wanted).text()))});
}

// Labels moved towards a half.
Tensor smooth_binary(const Tensor& y, double by) { return by ? y * (1 - by) + by / 2 : y; }
// Labels moved towards an equal share for each class.
Tensor smooth_classes(const Tensor& y, double by) {
  if (!by) return y;
  int64_t classes = y.shape().has_rank() ? y.dim(-1) : -1;
  if (classes >= 0) return y * (1 - by) + by / static_cast<double>(classes);
  Tensor count = cast(gather(shape(y), -1 + rank(y)), y.dtype());
  return y * (1 - by) + by / count;
}

Tensor binary(const Tensor& y, const Tensor& p) {
  Tensor q = clipped(p);
  return -(y * log(q) + (1 - y) * log(1 - q));
}

}  // namespace

Tensor binary_crossentropy(const In& y_true, const In& y_pred, const BinaryCrossentropyOptions& o) {
  Tensor p = y_pred.tensor(), y = labels_like(y_true, p);
  need_shape("BinaryCrossentropy", y, p);
  y = smooth_binary(y, o.label_smoothing);
  Tensor each = o.from_logits ? nn::sigmoid_cross_entropy_with_logits(y, p) : binary(y, p);
  return reduce_mean(each, {.axis = o.axis});
}

Tensor categorical_crossentropy(const In& y_true, const In& y_pred,
                                const CategoricalCrossentropyOptions& o) {
  Tensor p = y_pred.tensor(), y = labels_like(y_true, p);
  refuse_classes("CategoricalCrossentropy", "SparseCategoricalCrossentropy", y, p);
  y = smooth_classes(y, o.label_smoothing);
  if (o.from_logits) return nn::softmax_cross_entropy_with_logits(y, p, {.axis = o.axis});
  Tensor q = clipped(p / reduce_sum(p, {.axis = o.axis, .keepdims = true}));
  return -reduce_sum(y * log(q), {.axis = o.axis});
}

namespace {

Tensor classes_last(const Tensor& p, int64_t axis) {
  if (axis == -1 || !p.shape().has_rank()) return p;
  const int classes = class_axis("SparseCategoricalCrossentropy", p, axis);
  if (classes == p.rank() - 1) return p;
  return transpose(p, {.perm = Sizes(with_last(p.rank(), classes))});
}

}  // namespace

Tensor sparse_categorical_crossentropy(const In& y_true, const In& y_pred,
                                       const SparseCategoricalCrossentropyOptions& o) {
  Tensor p = y_pred.tensor(), y = y_true.tensor();
  p = classes_last(p, o.axis);
  if (y.shape().has_rank() && p.shape().has_rank() && y.rank() == p.rank() && y.dim(-1) == 1)
    y = squeeze(y, {.axis = -1});
  refuse_probabilities(y, p);
  if (y.dtype() != int64 && y.dtype() != int32) y = cast(y, int64);
  Tensor counts;
  if (o.ignore_class) {
    counts = not_equal(y, Tensor::scalar(*o.ignore_class, y.dtype()));
    y = where(counts, y, zeros_like(y));
    p = where(expand_dims(counts, -1), p, zeros_like(p));
  }
  Tensor out = nn::sparse_softmax_cross_entropy_with_logits(y, o.from_logits ? p : log(clipped(p)));
  if (counts.defined()) {
    out = where(counts, out, zeros_like(out));
    set_mask(out, counts);
  }
  return out;
}

Tensor binary_focal_crossentropy(const In& y_true, const In& y_pred,
                                 const BinaryFocalCrossentropyOptions& o) {
  Tensor p = y_pred.tensor(), y = labels_like(y_true, p);
  need_shape("BinaryFocalCrossentropy", y, p);
  y = smooth_binary(y, o.label_smoothing);
  if (o.from_logits) p = sigmoid(p);
  Tensor right = y * p + (1 - y) * (1 - p);
  Tensor each = pow(1 - right, o.gamma) * binary(y, p);
  if (o.apply_class_balancing) each = (y * o.alpha + (1 - y) * (1 - o.alpha)) * each;
  return reduce_mean(each, {.axis = o.axis});
}

Tensor categorical_focal_crossentropy(const In& y_true, const In& y_pred,
                                      const CategoricalFocalCrossentropyOptions& o) {
  Tensor p = y_pred.tensor(), y = labels_like(y_true, p);
  refuse_classes("CategoricalFocalCrossentropy", "SparseCategoricalCrossentropy", y, p);
  y = smooth_classes(y, o.label_smoothing);
  if (o.from_logits) p = nn::softmax(p, {.axis = o.axis});
  Tensor q = clipped(p / reduce_sum(p, {.axis = o.axis, .keepdims = true}));
  return reduce_sum(pow(1 - q, o.gamma) * o.alpha * (-y * log(q)), {.axis = o.axis});
}

Tensor categorical_generalized_cross_entropy(const In& y_true, const In& y_pred,
                                             const CategoricalGeneralizedCrossEntropyOptions& o) {
  Tensor p = y_pred.tensor(), y = y_true.tensor();
  if (y.dtype() != int64 && y.dtype() != int32) y = cast(y, int64);
  int64_t classes = p.shape().has_rank() ? p.dim(-1) : -1;
  Sizes depth = classes >= 0 ? Sizes(classes) : Sizes(gather(shape(p), -1 + rank(p)));
  Tensor of_class = reduce_sum(p * one_hot(y, depth, {.dtype = p.dtype()}), {.axis = -1});
  return (1 - pow(of_class, o.q)) / o.q;
}

Tensor BinaryCrossentropyLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  auto [y, p] = same_rank(y_true, y_pred);
  return binary_crossentropy(y, p, options_);
}
Tensor CategoricalCrossentropyLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return categorical_crossentropy(y_true, y_pred, options_);
}
Tensor SparseCategoricalCrossentropyLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return sparse_categorical_crossentropy(y_true, y_pred, options_);
}
Tensor BinaryFocalCrossentropyLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  auto [y, p] = same_rank(y_true, y_pred);
  return binary_focal_crossentropy(y, p, options_);
}
Tensor CategoricalFocalCrossentropyLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  return categorical_focal_crossentropy(y_true, y_pred, options_);
}
Tensor CategoricalGeneralizedCrossEntropyLoss::call(const Tensor& y_true, const Tensor& y_pred) {
  Tensor y = y_true;
  if (y.shape().has_rank() && y_pred.shape().has_rank() && y.rank() == y_pred.rank() &&
      y.dim(-1) == 1)
    y = squeeze(y, {.axis = -1});
  return categorical_generalized_cross_entropy(y, y_pred, options_);
}
void CategoricalGeneralizedCrossEntropyLoss::check() {
  if (!(options_.q > 0 && options_.q < 1))
    fail(Code::E1103, cat("CategoricalGeneralizedCrossEntropy: `q` is ", options_.q,
                          ", expected a number between 0 and 1"));
}

namespace {

template <class L>
Declare<L> crossentropy(const char* path, const char* doc) {
  return Declare<L>(path, doc, &Loss::def());
}

using Binary = BinaryCrossentropyOptions;
const ClassDef& binary_def =
    crossentropy<BinaryCrossentropyLoss>("losses.BinaryCrossentropy",
                                         "Crossentropy of labels that are 0 or 1.")
        .option<&Binary::from_logits>("from_logits")
        .option<&Binary::label_smoothing>("label_smoothing")
        .option<&Binary::axis>("axis")
        .option<&Binary::reduction>("reduction")
        .option<&Binary::name>("name")
        .option<&Binary::dtype>("dtype", false)
        .known_as({"bce", "BCE"});

using Categorical = CategoricalCrossentropyOptions;
const ClassDef& categorical_def =
    crossentropy<CategoricalCrossentropyLoss>(
        "losses.CategoricalCrossentropy",
        "Crossentropy of labels that are probabilities of classes (one-hot labels, too).")
        .option<&Categorical::from_logits>("from_logits")
        .option<&Categorical::label_smoothing>("label_smoothing")
        .option<&Categorical::axis>("axis")
        .option<&Categorical::reduction>("reduction")
        .option<&Categorical::name>("name")
        .option<&Categorical::dtype>("dtype", false);

using Sparse = SparseCategoricalCrossentropyOptions;
const ClassDef& sparse_def =
    crossentropy<SparseCategoricalCrossentropyLoss>("losses.SparseCategoricalCrossentropy",
                                                    "Crossentropy of labels that are numbers of "
                                                    "classes.")
        .option<&Sparse::from_logits>("from_logits")
        .option<&Sparse::ignore_class>("ignore_class")
        .option<&Sparse::reduction>("reduction")
        .option<&Sparse::axis>("axis", false)
        .option<&Sparse::name>("name")
        .option<&Sparse::dtype>("dtype", false);

using BinaryFocal = BinaryFocalCrossentropyOptions;
const ClassDef& binary_focal_def =
    crossentropy<BinaryFocalCrossentropyLoss>(
        "losses.BinaryFocalCrossentropy",
        "Binary crossentropy in which examples that are right already count less.")
        .key_before("apply_class_balancing")
        .key_before("alpha")
        .key_before("gamma")
        .option<&BinaryFocal::apply_class_balancing>("apply_class_balancing")
        .option<&BinaryFocal::alpha>("alpha")
        .option<&BinaryFocal::gamma>("gamma")
        .option<&BinaryFocal::from_logits>("from_logits")
        .option<&BinaryFocal::label_smoothing>("label_smoothing")
        .option<&BinaryFocal::axis>("axis")
        .option<&BinaryFocal::reduction>("reduction")
        .option<&BinaryFocal::name>("name")
        .option<&BinaryFocal::dtype>("dtype", false);

using CategoricalFocal = CategoricalFocalCrossentropyOptions;
const ClassDef& categorical_focal_def =
    crossentropy<CategoricalFocalCrossentropyLoss>(
        "losses.CategoricalFocalCrossentropy",
        "Categorical crossentropy in which examples that are right already count less.")
        .key_before("alpha")
        .key_before("gamma")
        .option<&CategoricalFocal::alpha>("alpha")
        .option<&CategoricalFocal::gamma>("gamma")
        .option<&CategoricalFocal::from_logits>("from_logits")
        .option<&CategoricalFocal::label_smoothing>("label_smoothing")
        .option<&CategoricalFocal::axis>("axis")
        .option<&CategoricalFocal::reduction>("reduction")
        .option<&CategoricalFocal::name>("name")
        .option<&CategoricalFocal::dtype>("dtype", false);

using Generalized = CategoricalGeneralizedCrossEntropyOptions;
const ClassDef& generalized_def =
    crossentropy<CategoricalGeneralizedCrossEntropyLoss>(
        "losses.CategoricalGeneralizedCrossEntropy",
        "Between crossentropy and the mean absolute error, so that wrong labels count less.")
        .option<&Generalized::q>("q")
        .option<&Generalized::reduction>("reduction")
        .option<&Generalized::name>("name")
        .option<&Generalized::dtype>("dtype", false);

}  // namespace

const ClassDef& BinaryCrossentropyLoss::definition() const { return binary_def; }
const ClassDef& CategoricalCrossentropyLoss::definition() const { return categorical_def; }
const ClassDef& SparseCategoricalCrossentropyLoss::definition() const { return sparse_def; }
const ClassDef& BinaryFocalCrossentropyLoss::definition() const { return binary_focal_def; }
const ClassDef& CategoricalFocalCrossentropyLoss::definition() const {
  return categorical_focal_def;
}
const ClassDef& CategoricalGeneralizedCrossEntropyLoss::definition() const {
  return generalized_def;
}

}  // namespace holdfast::keras::losses
