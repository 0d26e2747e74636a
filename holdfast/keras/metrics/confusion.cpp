#include "holdfast/keras/metrics/confusion.h"

#include <limits>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/loss.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/sort.h"

namespace holdfast::keras {

void OptionType<metrics::Thresholds>::set(metrics::Thresholds& v, const Config& c,
                                          const std::string& what) {
  v = {};
  if (c.is_null()) return;
  v.single = c.kind() != Config::Kind::kList;
  if (v.single)
    v.values = {c.as_number(what)};
  else
    OptionType<std::vector<double>>::set(v.values.emplace(), c, what);
  if (v.values->empty()) fail(Code::E1103, cat(what, " is an empty list"));
  for (double t : *v.values)
    if (!(t >= 0 && t <= 1))
      fail(Code::E1103, cat(what, " has ", t, ", expected numbers between 0 and 1"));
}

namespace metrics {
namespace {

// Below every prediction: what is not among the first k.
constexpr double kNever = -1e10;

// Predictions that are not among the first k of their example are below every threshold.
Tensor only_first(const Tensor& p, int64_t k) {
  Tensor best = std::get<1>(top_k(p, {.k = k}));
  Tensor first = reduce_sum(one_hot(best, p.dim(-1), {.dtype = p.dtype()}), {.axis = -2});
  return p * first + kNever * (1 - first);
}

Tensor of_class(const Tensor& t, int64_t id) {
  return at(t, ellipsis, slice(id, id == -1 ? SliceBound(std::nullopt) : SliceBound(id + 1)));
}

}  // namespace

void Confusion::make_counters(const std::vector<Kind>& kinds, int64_t thresholds, int64_t labels) {
  static constexpr const char* kNames[] = {"true_positives", "false_positives", "true_negatives",
                                           "false_negatives"};
  if (!counters_.empty()) return;
  for (Kind k : kinds)
    counters_.emplace_back(k, add_variable(labels ? Shape{thresholds, labels} : Shape{thresholds},
                                           "zeros", kinds.size() == 1 ? "accumulator" : kNames[k]));
}

Tensor Confusion::counted(Kind kind) const {
  for (const auto& [k, v] : counters_)
    if (k == kind) return v.read();
  fail(Code::E1104, cat(described(), " has counted nothing yet"), "its constructor did not run");
}

void Confusion::count(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight,
                      const Counting& o) {
  DType d = dtype();
  auto [p, y] = same_rank(cast(y_pred, d), cast(y_true, d));
  Tensor w = weight.defined() ? cast(weight, d) : Tensor();
  if (w.defined()) {
    if (w.rank() == y.rank() + 1 && w.dim(-1) == 1) w = squeeze(w, {.axis = -1});
    while (w.rank() < y.rank()) w = expand_dims(w, -1);
  }
  if (o.top_k) p = only_first(p, *o.top_k);
  if (o.class_id) {
    if (p.rank() < 2)
      fail(Code::E1102,
           cat(described(), ": `y_pred` has the shape ", p.shape().text(),
               ", expected [examples, classes]"),
           "`class_id` chooses one of the classes");
    y = of_class(y, *o.class_id);
    p = of_class(p, *o.class_id);
    if (w.defined() && w.rank() == p.rank() && w.dim(-1) > 1) w = of_class(w, *o.class_id);
  }
  if (!o.label_weights.empty()) {
    Tensor each = cast(Tensor::of<double>(o.label_weights, {(int64_t)o.label_weights.size()}), d);
    w = w.defined() ? w * each : each * ones_like(p);
  }
  w = w.defined() ? w * ones_like(p) : ones_like(p);
  Tensor right = cast(y != 0, d) * w,
         limits = cast(Tensor::of<double>(o.thresholds, {(int64_t)o.thresholds.size()}), d);
  Tensor tp, all;  // what is above a threshold: of true labels, and of all
  if (o.labels) {
    Tensor above = cast(expand_dims(p, 0) > reshape(limits, {-1, 1, 1}), d);
    tp = reduce_sum(above * expand_dims(right, 0), {.axis = 1});
    all = reduce_sum(above * expand_dims(w, 0), {.axis = 1});
    right = reduce_sum(right, {.axis = 0});
    w = reduce_sum(w, {.axis = 0});
  } else {
    Tensor above = cast(reshape(p, {1, -1}) > expand_dims(limits, -1), d);
    Tensor sums = matmul(above, stack({reshape(right, {-1}), reshape(w, {-1})}, {.axis = 1}));
    tp = at(sums, holdfast::all, 0);
    all = at(sums, holdfast::all, 1);
    right = reduce_sum(right);
    w = reduce_sum(w);
  }
  for (const auto& [kind, v] : counters_) switch (kind) {
      case kTruePositives: v.assign_add(tp); break;
      case kFalsePositives: v.assign_add(all - tp); break;
      case kFalseNegatives: v.assign_add(right - tp); break;
      case kTrueNegatives: v.assign_add(w - right - (all - tp)); break;
    }
}

namespace {

using Kind = Confusion::Kind;

// -- one of the counts

struct CountOptions {
  Thresholds thresholds = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};

template <Kind kind>
class CountOf : public Declares<CountOptions, Confusion> {
 public:
  const ClassDef& definition() const override { return *declared; }
  void configured() override {
    Declares<CountOptions, Confusion>::configured();
    prepare();
  }
  void update_state(const Tensor& y, const Tensor& p, const Tensor& w) override {
    prepare();
    count(y, p, w, {.thresholds = limits()});
  }
  Nested result() override {
    prepare();
    Tensor out = counted(kind);
    return limits().size() == 1 ? at(out, 0) : out;
  }
  static const ClassDef* declare(const char* path, const char* doc) {
    declared = &static_cast<ClassDef&>(Declare<CountOf>(path, doc, &Metric::def())
                                           .template option<&CountOptions::thresholds>("thresholds")
                                           .template option<&CountOptions::name>("name")
                                           .template option<&CountOptions::dtype>("dtype"));
    return declared;
  }

 private:
  std::vector<double> limits() const {
    return options_.thresholds.values.value_or(std::vector<double>{0.5});
  }
  void prepare() { make_counters({kind}, static_cast<int64_t>(limits().size())); }
  static inline const ClassDef* declared = nullptr;
};

[[maybe_unused]] const ClassDef* counts[] = {
    CountOf<Kind::kTruePositives>::declare("metrics.TruePositives",
                                           "How many true labels were predicted."),
    CountOf<Kind::kFalsePositives>::declare("metrics.FalsePositives",
                                            "How many false labels were predicted as true."),
    CountOf<Kind::kTrueNegatives>::declare("metrics.TrueNegatives",
                                           "How many false labels were predicted as false."),
    CountOf<Kind::kFalseNegatives>::declare("metrics.FalseNegatives",
                                            "How many true labels were missed."),
};

// -- precision and recall

struct ShareOptions {
  Thresholds thresholds = {};
  std::optional<int64_t> top_k = {}, class_id = {};
  std::string name = {};
  DType dtype = DType::kInvalid;
};

// The share of true positives among them and one kind of mistake.
template <Kind mistake>
class ShareOf : public Declares<ShareOptions, Confusion> {
 public:
  const ClassDef& definition() const override { return *declared; }
  void configured() override {
    Declares<ShareOptions, Confusion>::configured();
    prepare();
  }
  void update_state(const Tensor& y, const Tensor& p, const Tensor& w) override {
    prepare();
    count(y, p, w,
          {.thresholds = limits(), .top_k = options_.top_k, .class_id = options_.class_id});
  }
  Nested result() override {
    prepare();
    Tensor right = counted(Kind::kTruePositives);
    Tensor out = divide_no_nan(right, right + counted(mistake));
    return limits().size() == 1 ? at(out, 0) : out;
  }
  static const ClassDef* declare(const char* path, const char* doc) {
    declared = &static_cast<ClassDef&>(Declare<ShareOf>(path, doc, &Metric::def())
                                           .template option<&ShareOptions::thresholds>("thresholds")
                                           .template option<&ShareOptions::top_k>("top_k")
                                           .template option<&ShareOptions::class_id>("class_id")
                                           .template option<&ShareOptions::name>("name")
                                           .template option<&ShareOptions::dtype>("dtype"));
    return declared;
  }

 private:
  std::vector<double> limits() const {
    return options_.thresholds.values.value_or(std::vector<double>{options_.top_k ? kNever : 0.5});
  }
  void prepare() {
    make_counters({Kind::kTruePositives, mistake}, static_cast<int64_t>(limits().size()));
  }
  static inline const ClassDef* declared = nullptr;
};

[[maybe_unused]] const ClassDef* shares[] = {
    ShareOf<Kind::kFalsePositives>::declare("metrics.Precision",
                                            "How many of the predicted labels are true."),
    ShareOf<Kind::kFalseNegatives>::declare("metrics.Recall",
                                            "How many of the true labels are predicted."),
};

}  // namespace
}  // namespace metrics
}  // namespace holdfast::keras
