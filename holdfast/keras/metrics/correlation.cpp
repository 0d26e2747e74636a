// How labels and predictions go together.
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/keras/loss.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras {
namespace {

struct CorrelationOptions {
  std::string name = {};
  DType dtype = DType::kInvalid;
  Config axis = -1;  // or several
};

Tensor in_dtype(const Tensor& t, DType d) { return t.dtype() == d ? t : cast(t, d); }

class Correlation : public Declares<CorrelationOptions, MeanOfValues> {
 public:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    auto [y, p] = same_rank(in_dtype(y_true, dtype()), in_dtype(y_pred, dtype()));
    return of(y, p, axes());
  }

 protected:
  virtual Tensor of(const Tensor& y, const Tensor& p, const std::vector<int64_t>& axes) const = 0;

 private:
  std::vector<int64_t> axes() const {
    const Config& a = options_.axis;
    if (a.kind() != Config::Kind::kList) return {a.as_integer("`axis` of a correlation")};
    std::vector<int64_t> out;
    for (const Config& one : a.as_list()) out.push_back(one.as_integer("`axis` of a correlation"));
    return out;
  }
  void check() override { axes(); }
};

Tensor kept_mean(const Tensor& x, const std::vector<int64_t>& axes) {
  return reduce_mean(x, {.axis = axes, .keepdims = true});
}
Tensor variance(const Tensor& x, const std::vector<int64_t>& axes) {
  return kept_mean(square(x - kept_mean(x, axes)), axes);
}

class PearsonCorrelation : public Correlation {
 public:
  PearsonCorrelation() { options_.name = "pearson_correlation"; }
  const ClassDef& definition() const override;

 protected:
  Tensor of(const Tensor& y, const Tensor& p, const std::vector<int64_t>& axes) const override {
    Tensor a = (y - kept_mean(y, axes)) / sqrt(variance(y, axes));
    Tensor b = (p - kept_mean(p, axes)) / sqrt(variance(p, axes));
    return reduce_mean(a * b, {.axis = axes});
  }
};

class ConcordanceCorrelation : public Correlation {
 public:
  ConcordanceCorrelation() { options_.name = "concordance_correlation"; }
  const ClassDef& definition() const override;

 protected:
  // The labels are taken from the mean of the predictions, as Keras does it.
  Tensor of(const Tensor& y, const Tensor& p, const std::vector<int64_t>& axes) const override {
    Tensor y_mean = kept_mean(y, axes), p_mean = kept_mean(p, axes);
    Tensor together = (y - p_mean) * (p - p_mean);
    Tensor apart = variance(y, axes) + variance(p, axes) + square(y_mean - p_mean);
    return reduce_mean(together * 2 / (apart + epsilon()), {.axis = axes});
  }
};

using O = CorrelationOptions;
ClassDef& pearson =
    Declare<PearsonCorrelation>("metrics.PearsonCorrelation",
                                "How nearly predictions are on a line over labels.", &Metric::def())
        .option<&O::name>("name")
        .option<&O::dtype>("dtype")
        .option<&O::axis>("axis");
ClassDef& concordance =
    Declare<ConcordanceCorrelation>("metrics.ConcordanceCorrelation",
                                    "How nearly predictions are the labels.", &Metric::def())
        .option<&O::name>("name")
        .option<&O::dtype>("dtype")
        .option<&O::axis>("axis");
const ClassDef& PearsonCorrelation::definition() const { return pearson; }
const ClassDef& ConcordanceCorrelation::definition() const { return concordance; }

}  // namespace
}  // namespace holdfast::keras
