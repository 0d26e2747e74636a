// How often predictions are right.
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/keras/loss.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras {
namespace {

Tensor as_float(const Tensor& t) { return t.dtype() == float32 ? t : cast(t, float32); }

struct NamedOptions {
  std::string name = {};
  DType dtype = DType::kInvalid;
};

class Accuracy : public Declares<NamedOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    auto [y, p] = same_rank(y_true, y_pred);
    return cast(as_float(y) == as_float(p), float32);
  }
};
ClassDef& accuracy =
    Declare<Accuracy>("metrics.Accuracy", "How often predictions equal labels.", &Metric::def())
        .option<&NamedOptions::name>("name")
        .option<&NamedOptions::dtype>("dtype");
const ClassDef& Accuracy::definition() const { return accuracy; }

struct BinaryOptions {
  std::string name = {};
  DType dtype = DType::kInvalid;
  double threshold = 0.5;
};

class BinaryAccuracy : public Declares<BinaryOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    auto [y, p] = same_rank(as_float(y_true), as_float(y_pred));
    return cast(y == cast(p > options_.threshold, float32), float32);
  }
};
ClassDef& binary =
    Declare<BinaryAccuracy>("metrics.BinaryAccuracy", "How often predictions match binary labels.",
                            &Metric::def())
        .option<&BinaryOptions::name>("name")
        .option<&BinaryOptions::dtype>("dtype")
        .option<&BinaryOptions::threshold>("threshold");
const ClassDef& BinaryAccuracy::definition() const { return binary; }

class CategoricalAccuracy : public Declares<NamedOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    return cast(argmax(y_true, {.axis = -1}) == argmax(y_pred, {.axis = -1}), float32);
  }
};
ClassDef& categorical =
    Declare<CategoricalAccuracy>("metrics.CategoricalAccuracy",
                                 "How often predictions match one-hot labels.", &Metric::def())
        .option<&NamedOptions::name>("name")
        .option<&NamedOptions::dtype>("dtype");
const ClassDef& CategoricalAccuracy::definition() const { return categorical; }

class SparseCategoricalAccuracy : public Declares<NamedOptions, MeanOfValues> {
 public:
  const ClassDef& definition() const override;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    Tensor y = y_true;
    bool last_is_one = y.rank() > 0 && y.rank() == y_pred.rank() && y.dim(y.rank() - 1) == 1;
    if (last_is_one) y = squeeze(y, {.axis = {-1}});
    return cast(cast(y, int64) == cast(argmax(y_pred, {.axis = -1}), int64), float32);
  }
};
ClassDef& sparse =
    Declare<SparseCategoricalAccuracy>(
        "metrics.SparseCategoricalAccuracy",
        "How often predictions match labels that are numbers of classes.", &Metric::def())
        .option<&NamedOptions::name>("name")
        .option<&NamedOptions::dtype>("dtype");
const ClassDef& SparseCategoricalAccuracy::definition() const { return sparse; }

}  // namespace
}  // namespace holdfast::keras
