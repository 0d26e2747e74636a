// Scores over columns of predictions: F, and the coefficient of determination.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/keras/loss.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras {
namespace {

// How many columns predictions have; a shape without that is refused.
int64_t columns(const Metric& metric, const Tensor& y, const Tensor& p) {
  if (y.rank() != 2 || p.rank() != 2 || p.dim(1) < 0)
    fail(Code::E1102,
         cat(metric.described(), ": `y_true` has the shape ", y.shape().text(), ", `y_pred` ",
             p.shape().text()),
         "both have two axes, [examples, outputs], and the number of outputs is known");
  return p.dim(1);
}

struct FBetaOptions {
  std::optional<std::string> average = {};
  double beta = 1;
  std::optional<double> threshold = {};
  std::string name = "fbeta_score";
  DType dtype = DType::kInvalid;
};
struct F1Options {
  std::optional<std::string> average = {};
  std::optional<double> threshold = {};
  std::string name = "f1_score";
  DType dtype = DType::kInvalid;
};

// Between precision and recall; `beta` says how much more recall counts.
template <class O>
class FScore : public Declares<O, Metric> {
 public:
  void check() override {
    const O& o = this->options_;
    if (o.average && *o.average != "micro" && *o.average != "macro" && *o.average != "weighted")
      unknown_identifier(cat("`average` of ", this->class_name()), *o.average,
                         {"micro", "macro", "weighted"});
    if (!(beta() > 0))
      fail(Code::E1103, cat(this->class_name(), ": `beta` is ", beta(), ", expected more than 0"));
    if (o.threshold && !(*o.threshold > 0 && *o.threshold <= 1))
      fail(Code::E1103, cat(this->class_name(), ": `threshold` is ", *o.threshold,
                            ", expected a number above 0 and at most 1"));
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    const O& o = this->options_;
    DType d = this->dtype();
    Tensor y = cast(y_true, d), p = cast(y_pred, d);
    prepare(columns(*this, y, p));
    Tensor chosen = o.threshold ? p > *o.threshold
                                : logical_and(p >= reduce_max(p, {.axis = -1, .keepdims = true}),
                                              abs(p) > 1e-9);
    p = cast(chosen, d);
    auto add = [&](const Variable& to, Tensor values) {
      if (weight.defined()) values = values * expand_dims(reshape(cast(weight, d), {-1}), 1);
      to.assign_add(micro() ? reduce_sum(values) : reduce_sum(values, {.axis = 0}));
    };
    add(right_, p * y);
    add(wrong_, p * (1 - y));
    add(missed_, (1 - p) * y);
    add(weights_, y);
  }
  Nested result() override {
    if (!right_.defined()) return zeros({}, this->dtype());
    double square = beta() * beta();
    Tensor precision = right_ / (right_ + wrong_ + epsilon());
    Tensor recall = right_ / (right_ + missed_ + epsilon());
    Tensor f = precision * recall / (square * precision + recall + epsilon()) * (1 + square);
    const auto& average = this->options_.average;
    if (!average) return f;
    if (*average != "weighted") return reduce_mean(f);
    return reduce_sum(f * weights_ / (reduce_sum(weights_) + epsilon()));
  }

 private:
  double beta() const {
    if constexpr (requires { this->options_.beta; })
      return this->options_.beta;
    else
      return 1;
  }
  bool micro() const { return this->options_.average == "micro"; }
  void prepare(int64_t outputs) {
    if (right_.defined()) return;
    Shape shape = micro() ? Shape{} : Shape{outputs};
    right_ = this->add_variable(shape, "zeros", "true_positives");
    wrong_ = this->add_variable(shape, "zeros", "false_positives");
    missed_ = this->add_variable(shape, "zeros", "false_negatives");
    weights_ = this->add_variable(shape, "zeros", "intermediate_weights");
  }
  Variable right_, wrong_, missed_, weights_;
};

class FBetaScore : public FScore<FBetaOptions> {
 public:
  const ClassDef& definition() const override;
};
const ClassDef& f_beta =
    Declare<FBetaScore>("metrics.FBetaScore",
                        "The mean of precision and recall, in which recall counts `beta` times.",
                        &Metric::def())
        .option<&FBetaOptions::average>("average")
        .option<&FBetaOptions::beta>("beta")
        .option<&FBetaOptions::threshold>("threshold")
        .option<&FBetaOptions::name>("name")
        .option<&FBetaOptions::dtype>("dtype");
const ClassDef& FBetaScore::definition() const { return f_beta; }

class F1Score : public FScore<F1Options> {
 public:
  const ClassDef& definition() const override;
};
const ClassDef& f1 =
    Declare<F1Score>("metrics.F1Score", "The harmonic mean of precision and recall.", &f_beta)
        .option<&F1Options::average>("average")
        .option<&F1Options::threshold>("threshold")
        .option<&F1Options::name>("name")
        .option<&F1Options::dtype>("dtype");
const ClassDef& F1Score::definition() const { return f1; }

struct R2Options {
  std::optional<std::string> class_aggregation = "uniform_average";
  int64_t num_regressors = 0;
  std::string name = "r2_score";
  DType dtype = DType::kInvalid;
};

class R2Score : public Declares<R2Options, Metric> {
 public:
  const ClassDef& definition() const override;
  void check() override {
    const auto& a = options_.class_aggregation;
    if (a && *a != "uniform_average" && *a != "variance_weighted_average")
      unknown_identifier("`class_aggregation` of R2Score", *a,
                         {"uniform_average", "variance_weighted_average"});
    if (options_.num_regressors < 0)
      fail(Code::E1103,
           cat("R2Score: `num_regressors` is ", options_.num_regressors, ", expected at least 0"));
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    DType d = dtype();
    auto [y, p] = same_rank(cast(y_true, d), cast(y_pred, d));
    prepare(columns(*this, y, p));
    Tensor w = weight.defined() ? cast(weight, d) : ones({}, d);
    if (w.rank() == 1) w = expand_dims(w, 1);
    w = w * ones_like(y);
    sum_.assign_add(reduce_sum(y * w, {.axis = 0}));
    squares_.assign_add(reduce_sum(y * y * w, {.axis = 0}));
    residual_.assign_add(reduce_sum(square(y - p) * w, {.axis = 0}));
    count_.assign_add(reduce_sum(w, {.axis = 0}));
    samples_.assign_add(cast(size(y), d));
  }
  Nested result() override {
    if (!sum_.defined()) return zeros({}, dtype());
    Tensor total = squares_ - sum_ * (sum_ / count_), raw = 1 - residual_ / total;
    raw = select(is_inf(raw), zeros_like(raw), raw);
    const auto& a = options_.class_aggregation;
    Tensor score = !a                        ? raw
                   : *a == "uniform_average" ? reduce_mean(raw)
                                             : reduce_sum(total * raw) / reduce_sum(total);
    if (options_.num_regressors == 0) return score;
    // Adjusted for the number of regressors, where there are examples enough.
    auto regressors = static_cast<double>(options_.num_regressors);
    Tensor free = samples_ - regressors - 1;
    Tensor adjusted = 1 - (1 - score) * (samples_ - 1) / free;
    return select(free > 0, adjusted, score);
  }

 private:
  void prepare(int64_t outputs) {
    if (sum_.defined()) return;
    samples_ = add_variable({}, "zeros", "num_samples");
    squares_ = add_variable({outputs}, "zeros", "squared_sum");
    sum_ = add_variable({outputs}, "zeros", "sum");
    residual_ = add_variable({outputs}, "zeros", "residual");
    count_ = add_variable({outputs}, "zeros", "count");
  }
  Variable samples_, squares_, sum_, residual_, count_;
};
const ClassDef& r2 =
    Declare<R2Score>("metrics.R2Score", "How much of the variance predictions explain.",
                     &Metric::def())
        .option<&R2Options::class_aggregation>("class_aggregation")
        .option<&R2Options::num_regressors>("num_regressors")
        .option<&R2Options::name>("name")
        .option<&R2Options::dtype>("dtype");
const ClassDef& R2Score::definition() const { return r2; }

}  // namespace
}  // namespace holdfast::keras
