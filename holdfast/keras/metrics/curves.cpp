// Metrics over all thresholds: the area under a curve, and one share where another is kept.
#include <algorithm>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/metrics/confusion.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras::metrics {
namespace {

using Kind = Confusion::Kind;
const std::vector<Kind> kAll = {Kind::kTruePositives, Kind::kFalsePositives, Kind::kTrueNegatives,
                                Kind::kFalseNegatives};

// From 0 to 1 in equal steps.
std::vector<double> even(int64_t n) {
  std::vector<double> out{0};
  for (int64_t i = 1; i < n - 1; ++i)
    out.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
  out.push_back(1);
  return out;
}

// -- one share where another is kept

enum class At : uint8_t { kSensitivity, kSpecificity, kPrecision, kRecall };

struct AtOptions {
  double value = 0;
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};

// The best `wanted` over thresholds at which `kept` is at least the value.
template <At wanted, At kept>
class BestAt : public Declares<AtOptions, Confusion> {
 public:
  const ClassDef& definition() const override { return *declared; }
  void configured() override {
    Declares<AtOptions, Confusion>::configured();
    prepare();
  }
  void check() override {
    const auto& o = options_;
    if (!(o.value >= 0 && o.value <= 1))
      fail(Code::E1103, cat(definition().name, ": `", definition().options[0].name, "` is ",
                            o.value, ", expected a number between 0 and 1"));
    if (o.num_thresholds < 1)
      fail(Code::E1103, cat(definition().name, ": `num_thresholds` is ", o.num_thresholds,
                            ", expected at least 1"));
  }
  void update_state(const Tensor& y, const Tensor& p, const Tensor& w) override {
    prepare();
    count(y, p, w, {.thresholds = limits(), .class_id = options_.class_id});
  }
  Nested result() override {
    prepare();
    Tensor best = share(wanted), zero = zeros_like(best);
    return maximum(reduce_max(select(share(kept) >= options_.value, best, zero)), 0);
  }
  static const ClassDef* declare(const char* path, const char* value, const char* doc) {
    declared =
        &static_cast<ClassDef&>(Declare<BestAt>(path, doc, &Metric::def())
                                    .template required<&AtOptions::value>(value)
                                    .template option<&AtOptions::num_thresholds>("num_thresholds")
                                    .template option<&AtOptions::class_id>("class_id")
                                    .template option<&AtOptions::name>("name")
                                    .template option<&AtOptions::dtype>("dtype")
                                    .key_before("class_id", "num_thresholds")
                                    .key_before(value));
    return declared;
  }

 private:
  std::vector<double> limits() const {
    return options_.num_thresholds == 1 ? std::vector<double>{0.5} : even(options_.num_thresholds);
  }
  void prepare() { make_counters(kAll, static_cast<int64_t>(limits().size())); }
  Tensor share(At of) const {
    Kind right = of == At::kSpecificity ? Kind::kTrueNegatives : Kind::kTruePositives;
    bool missed = of == At::kSensitivity || of == At::kRecall;
    Tensor hits = counted(right);
    return divide_no_nan(hits,
                         hits + counted(missed ? Kind::kFalseNegatives : Kind::kFalsePositives));
  }
  static inline const ClassDef* declared = nullptr;
};

[[maybe_unused]] const ClassDef* best[] = {
    BestAt<At::kSensitivity, At::kSpecificity>::declare(
        "metrics.SensitivityAtSpecificity", "specificity",
        "The best sensitivity where specificity is at least a number."),
    BestAt<At::kSpecificity, At::kSensitivity>::declare(
        "metrics.SpecificityAtSensitivity", "sensitivity",
        "The best specificity where sensitivity is at least a number."),
    BestAt<At::kPrecision, At::kRecall>::declare(
        "metrics.PrecisionAtRecall", "recall",
        "The best precision where recall is at least a number."),
    BestAt<At::kRecall, At::kPrecision>::declare(
        "metrics.RecallAtPrecision", "precision",
        "The best recall where precision is at least a number."),
};

// -- the area under a curve

struct AucOptions {
  std::optional<int64_t> num_thresholds = 200;
  std::string curve = "ROC", summation_method = "interpolation", name = {};
  DType dtype = DType::kInvalid;
  std::optional<std::vector<double>> thresholds = {};
  bool multi_label = false;
  std::optional<int64_t> num_labels = {};
  std::optional<std::vector<double>> label_weights = {};
  bool from_logits = false;
};

class Auc : public Declares<AucOptions, Confusion> {
 public:
  const ClassDef& definition() const override;
  void configured() override {
    Declares<AucOptions, Confusion>::configured();
    if (!options_.multi_label || options_.num_labels) prepare(options_.num_labels.value_or(0));
  }
  void check() override {
    auto& o = options_;
    // Both ends are thresholds too.
    if (o.thresholds) o.num_thresholds = static_cast<int64_t>(o.thresholds->size()) + 2;
    if (!o.num_thresholds) fail(Code::E1104, "AUC has neither `num_thresholds` nor `thresholds`");
    if (*o.num_thresholds < 2)
      fail(Code::E1103,
           cat("AUC: `num_thresholds` is ", *o.num_thresholds, ", expected at least 2"));
    if (o.curve != "ROC" && o.curve != "PR" && o.curve != "PRGAIN")
      unknown_identifier("`curve` of AUC", o.curve, {"ROC", "PR", "PRGAIN"});
    if (o.summation_method != "interpolation" && o.summation_method != "minoring" &&
        o.summation_method != "majoring")
      unknown_identifier("`summation_method` of AUC", o.summation_method,
                         {"interpolation", "minoring", "majoring"});
    if (o.num_labels && !o.multi_label)
      fail(Code::E1104, "AUC: `num_labels` is given, but `multi_label` is not true",
           "labels have counts of their own only where there are several");
  }
  void update_state(const Tensor& y, const Tensor& y_pred, const Tensor& w) override {
    const auto& o = options_;
    if (o.multi_label && (y_pred.rank() != 2 || y_pred.dim(1) < 1))
      fail(Code::E1102, cat(described(), ": `y_pred` has the shape ", y_pred.shape().text(),
                            ", expected [examples, labels]"));
    int64_t labels = o.multi_label ? y_pred.dim(1) : 0;
    prepare(labels);
    Tensor p = cast(y_pred, dtype());
    std::vector<double> each;
    if (!o.multi_label && o.label_weights) each = *o.label_weights;
    count(y, o.from_logits ? sigmoid(p) : p, w,
          {.thresholds = limits(), .labels = labels, .label_weights = each});
  }
  Nested result() override {
    const auto& o = options_;
    if (!o.multi_label) prepare(0);
    Tensor tp = counted(Kind::kTruePositives), fp = counted(Kind::kFalsePositives),
           tn = counted(Kind::kTrueNegatives), fn = counted(Kind::kFalseNegatives);
    if (o.curve == "PR" && o.summation_method == "interpolation") return area(between(tp, fp, fn));
    Tensor recall = divide_no_nan(tp, tp + fn), x, y;
    if (o.curve == "ROC") {
      x = divide_no_nan(fp, fp + tn);
      y = recall;
    } else if (o.curve == "PR") {
      x = recall;
      y = divide_no_nan(tp, tp + fp);
    } else {
      Tensor scale = divide_no_nan(tp + fn, tn + fp), none = tp == 0;
      x = maximum(select(none, zeros_like(tp), 1 - scale * divide_no_nan(fn, tp)), 0);
      y = select(none, ones_like(tp), 1 - scale * divide_no_nan(fp, tp));
    }
    Tensor left = front(y), right = back(y);
    Tensor heights = o.summation_method == "interpolation" ? (left + right) / 2
                     : o.summation_method == "minoring"    ? minimum(left, right)
                                                           : maximum(left, right);
    return area((front(x) - back(x)) * heights);
  }

  /// Where predictions are cut, with both ends.
  std::vector<double> limits() const {
    std::vector<double> out = even(options_.num_thresholds.value_or(2));
    if (options_.thresholds) {
      out = *options_.thresholds;
      std::sort(out.begin(), out.end());
      out.insert(out.begin(), 0);
      out.push_back(1);
    }
    // Every prediction is above the first, none above the last.
    out.front() -= epsilon();
    out.back() += epsilon();
    return out;
  }

 private:
  void prepare(int64_t labels) {
    make_counters(kAll, static_cast<int64_t>(limits().size()), labels);
  }
  static Tensor front(const Tensor& t) { return at(t, slice(0, -1)); }
  static Tensor back(const Tensor& t) { return at(t, slice(1, std::nullopt)); }
  // Precision is no line between two points of the curve, but this is.
  static Tensor between(const Tensor& tp, const Tensor& fp, const Tensor& fn) {
    Tensor found = tp + fp, more = front(tp) - back(tp);
    Tensor slope = divide_no_nan(more, maximum(front(found) - back(found), 0));
    Tensor start = back(tp) - slope * back(found);
    Tensor ratio =
        select(logical_and(front(found) > 0, back(found) > 0),
               divide_no_nan(front(found), maximum(back(found), 0)), ones_like(back(found)));
    return divide_no_nan(slope * (more + start * log(ratio)), maximum(back(tp) + back(fn), 0));
  }
  Tensor area(const Tensor& parts) const {
    if (!options_.multi_label) return reduce_sum(parts);
    Tensor each = reduce_sum(parts, {.axis = 0});
    if (!options_.label_weights) return reduce_mean(each);
    const auto& by = *options_.label_weights;
    Tensor weights = cast(Tensor::of<double>(by, {static_cast<int64_t>(by.size())}), each.dtype());
    return divide_no_nan(reduce_sum(each * weights), reduce_sum(weights));
  }
};

const ClassDef& auc =
    Declare<Auc>("metrics.AUC", "The area under a curve over thresholds.", &Metric::def())
        .option<&AucOptions::num_thresholds>("num_thresholds")
        .option<&AucOptions::curve>("curve")
        .option<&AucOptions::summation_method>("summation_method")
        .option<&AucOptions::name>("name")
        .option<&AucOptions::dtype>("dtype")
        .option<&AucOptions::thresholds>("thresholds")
        .option<&AucOptions::multi_label>("multi_label")
        .option<&AucOptions::num_labels>("num_labels")
        .option<&AucOptions::label_weights>("label_weights")
        .option<&AucOptions::from_logits>("from_logits")
        .key_before("thresholds")
        .property("thresholds", [](const Object& o) -> Config {
          Config::List out;
          for (double one : dynamic_cast<const Auc&>(o).limits()) out.emplace_back(one);
          return out;
        });
const ClassDef& Auc::definition() const { return auc; }

}  // namespace
}  // namespace holdfast::keras::metrics
