// How much predicted and true regions overlap, over their union.
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/diag.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras {
namespace {

struct IoUOptions {
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids = {};
  double threshold = 0.5;
  std::string name = {};
  DType dtype = DType::kInvalid;
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  int64_t axis = -1;
};

// Which of the family a class is: whether it is told the classes that count, whether it cuts
// predictions at a threshold, and whether labels are one-hot.
enum class Which : uint8_t { kChosen, kBinary, kMean, kOneHot, kOneHotMean };

template <Which which>
class IoU : public Declares<IoUOptions, Metric> {
 public:
  static constexpr bool kMean = which == Which::kMean || which == Which::kOneHotMean;
  static constexpr bool kOneHot = which == Which::kOneHot || which == Which::kOneHotMean;
  IoU() {
    if (which == Which::kBinary) {
      options_.num_classes = 2;
      options_.target_class_ids = {0, 1};
    }
    if (kOneHot) options_.sparse_y_true = options_.sparse_y_pred = false;
  }
  const ClassDef& definition() const override { return *declared; }
  void configured() override {
    Declares<IoUOptions, Metric>::configured();
    prepare();
  }
  void check() override {
    const auto& o = options_;
    if (o.num_classes < 1)
      fail(Code::E1103,
           cat(class_name(), ": `num_classes` is ", o.num_classes, ", expected at least 1"));
    for (int64_t id : o.target_class_ids)
      if (id < 0 || id >= o.num_classes)
        fail(Code::E1103, cat(class_name(), ": `target_class_ids` has ", id,
                              ", expected numbers from 0 to ", o.num_classes - 1));
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    prepare();
    const auto& o = options_;
    Tensor y = y_true, p = y_pred;
    if (which == Which::kBinary) p = cast(cast(p, float32) >= o.threshold, int64);
    if (!o.sparse_y_true) y = argmax(y, {.axis = o.axis});
    if (!o.sparse_y_pred) p = argmax(p, {.axis = o.axis});
    y = reshape(cast(y, int64), {-1});
    p = reshape(cast(p, int64), {-1});
    Tensor w = weight.defined() ? cast(weight, float64) : ones({}, float64);
    if (w.rank() > 1) w = reshape(w, {-1});
    w = w * ones_like(y, float64);
    // Classes that are not there count for nothing.
    auto inside = [&](const Tensor& t) {
      return logical_and(t >= 0, t < Tensor::scalar(o.num_classes));
    };
    Tensor counts = logical_and(inside(y), inside(p));
    if (o.ignore_class) counts = logical_and(counts, y != Tensor::scalar(*o.ignore_class));
    Tensor zero = zeros_like(y);
    matrix_.assign_add(confusion_matrix(
        select(counts, y, zero), select(counts, p, zero),
        {.num_classes = o.num_classes, .weights = w * cast(counts, float64), .dtype = float64}));
  }
  Nested result() override {
    prepare();
    Tensor m = matrix_.read(), both = linalg::diag_part(m);
    Tensor either = reduce_sum(m, {.axis = 0}) + reduce_sum(m, {.axis = 1}) - both;
    if (!kMean) {
      Tensor ids = Tensor::of<int64_t>(options_.target_class_ids,
                                       {static_cast<int64_t>(options_.target_class_ids.size())});
      both = gather(both, ids);
      either = gather(either, ids);
    }
    Tensor seen = reduce_sum(cast(either > 1e-9, float64));
    return cast(divide_no_nan(reduce_sum(divide_no_nan(both, either)), seen), float32);
  }
  static const ClassDef* declare(const char* path, const char* doc) {
    using O = IoUOptions;
    Declare<IoU> d(path, doc, &Metric::def());
    if (which == Which::kBinary) {
      std::move(d).template option<&O::target_class_ids>("target_class_ids");
      std::move(d).template option<&O::threshold>("threshold");
    } else {
      std::move(d).template required<&O::num_classes>("num_classes");
      if (!kMean) std::move(d).template required<&O::target_class_ids>("target_class_ids");
    }
    std::move(d).template option<&O::name>("name").template option<&O::dtype>("dtype");
    if (which != Which::kChosen)
      for (const Option& o : d.def().options)
        if (std::string_view(o.name) != "name" && std::string_view(o.name) != "dtype")
          std::move(d).key_before(o.name, "name");
    if (which != Which::kBinary) {
      std::move(d).template option<&O::ignore_class>("ignore_class");
      if (!kOneHot) std::move(d).template option<&O::sparse_y_true>("sparse_y_true");
      std::move(d)
          .template option<&O::sparse_y_pred>("sparse_y_pred")
          .template option<&O::axis>("axis");
    }
    declared = &d.def();
    return declared;
  }

 private:
  void prepare() {
    int64_t n = options_.num_classes;
    if (!matrix_.defined())
      matrix_ = add_variable({n, n}, "zeros", "total_confusion_matrix", float64);
  }
  Variable matrix_;  // in float64: counts stay exact, and weights need not be whole
  static inline const ClassDef* declared = nullptr;
};

[[maybe_unused]] const ClassDef* all[] = {
    IoU<Which::kChosen>::declare("metrics.IoU", "The overlap of chosen classes over their union."),
    IoU<Which::kBinary>::declare("metrics.BinaryIoU",
                                 "The overlap of regions above a threshold over their union."),
    IoU<Which::kMean>::declare("metrics.MeanIoU", "The mean overlap of classes over their union."),
    IoU<Which::kOneHot>::declare("metrics.OneHotIoU", "IoU of one-hot labels."),
    IoU<Which::kOneHotMean>::declare("metrics.OneHotMeanIoU", "MeanIoU of one-hot labels."),
};

}  // namespace
}  // namespace holdfast::keras
