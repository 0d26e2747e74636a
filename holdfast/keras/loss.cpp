#include "holdfast/keras/loss.h"

#include <algorithm>
#include <array>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_loss.h"
#include "holdfast/keras/layer.h"
#include "holdfast/keras/sample_weights.h"
#include "holdfast/keras/watching.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"
#include "holdfast/ops/slicing.h"

namespace holdfast::keras {
namespace {

constexpr std::array kReductions = {"sum_over_batch_size", "sum", "mean", "mean_with_sample_weight",
                                    "none"};

Tensor in_dtype(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }

bool is_mean(const std::optional<std::string>& r) {
  return r && (*r == "sum_over_batch_size" || *r == "mean");
}

// What a mask does to weights. Under a mean those that count weigh more, so that the sum over all
// examples is divided by the number of those that count.
Tensor weights_of(const Tensor& mask, DType dtype, const std::optional<std::string>& reduction) {
  Tensor counts = in_dtype(mask, dtype);
  if (!is_mean(reduction)) return counts;
  return counts * divide_no_nan(cast(size(mask), dtype), reduce_sum(counts));
}

// A function of another language that is used as a loss.
class FunctionLoss final : public Loss, public StandsFor {
 public:
  explicit FunctionLoss(Ref<ForeignFunction> f) : StandsFor(std::move(f)) {
    configure({.name = function->name()});
  }
  void visit(Visitor& see) const override {
    Loss::visit(see);
    see.child(function);
  }
  std::string class_name() const override { return "LossFunctionWrapper"; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    auto [labels, predictions] = same_rank(y_true, y_pred);
    return function->of(std::array{labels, predictions});
  }
  Tensor call_parts(const Nested& y_true, const Nested& y_pred) override {
    auto* nested = dynamic_cast<const TakesNested*>(function.get());
    return nested ? nested->of_nested(std::array{y_true, y_pred})
                  : Loss::call_parts(y_true, y_pred);
  }
  Config config() const override { return function->config(); }
};

// A loss of ours compares number by number: what an op inside refuses is said of labels and
// predictions.
void refuse_shapes(const Loss& loss, const Tensor& labels, const Tensor& given, const Error& e) {
  const Shape &t = labels.shape(), &p = given.shape();
  bool shapes = e.code() == Code::E1102 && !e.diagnostic().op.empty();  // an op refused
  if (!shapes || &loss.definition() == &Loss::def() || !t.has_rank() || !p.has_rank()) return;
  bool same = t.rank() == p.rank();
  for (int i = 0; same && i < t.rank(); ++i) same = t[i] == p[i] || t[i] < 0 || p[i] < 0;
  if (same) return;
  Diagnostic d;
  d.code = Code::E1102;
  d.op = loss.name();
  d.headline =
      cat("loss `", loss.name(), "`: `y` has the shape ", t.text(), ", the model gave ", p.text());
  d.labels.push_back(used_here("used here"));
  d.why = "labels and predictions are compared number by number, so their shapes must fit";
  bool last = t.rank() == p.rank() && t.rank() > 1 && t[t.rank() - 1] != p[p.rank() - 1];
  d.fixes.push_back(manual_fix(
      last ? cat("give the model's last layer ", t[t.rank() - 1], " units, or labels of ",
                 p[p.rank() - 1], " numbers each")
      : p.rank() > t.rank()
          ? "make one axis of those that are too many, with a `Flatten` or a global pooling layer "
            "before the last one"
          : cat("give labels of the shape ", p.text())));
  raise(std::move(d));
}

}  // namespace

LossHooks& loss_hooks() {
  static auto* hooks = new LossHooks{};
  return *hooks;
}

ClassDef& Loss::def() {
  static ClassDef& d = Declare<Loss>("losses.Loss", "What every loss is.")
                           .option<&LossOptions::name>("name")
                           .option<&LossOptions::reduction>("reduction")
                           .option<&LossOptions::dtype>("dtype", false);
  return d;
}

void Loss::set_options(LossOptions o) {
  const auto& r = o.reduction;
  if (r && std::find(kReductions.begin(), kReductions.end(), *r) == kReductions.end())
    unknown_identifier(cat("`reduction` of ", class_name()), *r,
                       {kReductions.begin(), kReductions.end()});
  if (o.dtype != DType::kInvalid && !is_floating(o.dtype))
    fail(Code::E1101, cat("`dtype` of ", class_name(), " is ", holdfast::name(o.dtype),
                          ", expected a dtype of floats"));
  common_ = std::move(o);
  note_change(*this);
}

void Loss::visit(Visitor& see) const {
  for (const Option& o : definition().options)
    if (Object* live = o.get(Declared::option_place()).live()) see.object(*live);
}

std::string Loss::class_name() const {
  return &definition() != &def() ? definition().name : plain_class_name(typeid(*this));
}
std::string Loss::name() const {
  return common_.name.empty() ? snake_case(class_name()) : common_.name;
}
std::string Loss::described() const { return cat("loss `", name(), "` (", class_name(), ")"); }
DType Loss::dtype() const { return common_.dtype == DType::kInvalid ? floatx() : common_.dtype; }

ConfigDict Loss::get_config() const {
  ConfigDict own = declared_config(*this), out{{"name", name()}};
  if (const Config* reduction = own.find("reduction")) out.set("reduction", *reduction);
  for (const auto& [key, value] : own)
    if (!out.has(key)) out.set(key, value);
  return out;
}
Config Loss::config() const { return ConfigObject{class_name(), get_config(), registered_name()}; }

Tensor Loss::call(const Tensor&, const Tensor&) {
  fail(Code::E1105, cat(described(), " has no `call`"),
       "a loss computes what its `call` says, and this class has none",
       {manual_fix("override `call(y_true, y_pred)`")});
}

bool Loss::own_value(const Nested&, const Nested&, const Tensor&, Tensor&) { return false; }

Tensor Loss::call_parts(const Nested& y_true, const Nested& y_pred) {
  const std::vector<Tensor> labels = y_true.leaves(), given = y_pred.leaves();
  for (const std::vector<Tensor>* all : {&labels, &given})
    for (const Tensor& t : *all)
      if (!t.shape().compatible((*all)[0].shape()))
        fail(Code::E1102,
             cat("loss `", name(), "` is for parts of the shapes ", (*all)[0].shape().text(),
                 " and ", t.shape().text(), ", expected parts of one shape"),
             "it compares two tensors, and parts of one shape can be one tensor",
             {manual_fix("give `compile` a loss for each part")});
  // Behind the axis of the examples, so that each example has one weight.
  const int64_t axis = given[0].shape().has_rank() && given[0].rank() > 1 ? 1 : 0;
  return call(stack(labels, {.axis = axis}), stack(given, {.axis = axis}));
}

Tensor Loss::of_parts(const Nested& y_true, const Nested& y_pred, const Tensor& sample_weight) {
  goes_by(*this);
  Tensor own;
  if (own_value(y_true, y_pred, sample_weight, own)) return own;
  DType d = dtype();
  auto as_labels = [&](const Tensor& t) { return takes_classes() ? t : in_dtype(t, d); };
  NameScope names(name());
  Tensor losses = call_parts(y_true.map(as_labels),
                             y_pred.map([&](const Tensor& t) { return in_dtype(t, d); }));
  Tensor weights = sample_weight.defined() ? in_dtype(sample_weight, d) : Tensor();
  return reduce_weighted(in_dtype(losses, d), weights, mask_of(losses), reduction());
}

Tensor Loss::operator()(const In& y_true, const In& y_pred, const MaybeIn& sample_weight,
                        const MaybeIn& mask) {
  goes_by(*this);
  Tensor own, weight = sample_weight ? sample_weight->tensor() : Tensor();
  return own_value(y_true.tensor(), y_pred.tensor(), weight, own)
             ? own
             : reduced(y_true, y_pred, sample_weight, mask);
}

Tensor Loss::reduced(const In& y_true, const In& y_pred, const MaybeIn& sample_weight,
                     const MaybeIn& mask) {
  DType d = dtype();
  Tensor given = y_pred.tensor(d), labels = y_true.tensor(takes_classes() ? DType::kInvalid : d);
  NameScope names(name());
  Tensor counts = mask ? mask->tensor() : mask_of(given);
  Tensor losses;
  try {
    losses = call(takes_classes() ? labels : in_dtype(labels, d), in_dtype(given, d));
  } catch (const Error& e) {
    refuse_shapes(*this, labels, given, e);
    throw;
  }
  if (Tensor own = mask_of(losses); own.defined())
    counts = counts.defined() ? logical_and(cast(counts, boolean), own) : own;
  return reduce_weighted(in_dtype(losses, d), sample_weight ? sample_weight->tensor(d) : Tensor(),
                         counts, reduction());
}

Tensor reduce_weighted(Tensor values, Tensor weights, Tensor mask,
                       const std::optional<std::string>& reduction) {
  DType d = values.dtype();
  if (weights.defined()) weights = in_dtype(weights, d);
  if (mask.defined()) {
    Tensor counts = weights_of(mask, d, reduction);
    if (weights.defined()) {
      auto [c, w] = same_rank(counts, weights);
      weights = for_each_step(w, c) * c;
    } else {
      weights = counts;
    }
  }
  if (weights.defined()) {
    std::tie(values, weights) = same_rank(values, weights);
    weights = for_each_step(weights, values);
    values = values * weights;
  }
  const Shape& s = values.shape();
  bool whole = s.has_rank() && (s.rank() == 0 || (s.rank() == 1 && s[0] == 0));
  if (!reduction || *reduction == "none" || whole) return values;
  if (*reduction == "sum") return reduce_sum(values);
  if (!is_mean(reduction) && weights.defined())
    return divide_no_nan(reduce_sum(values), reduce_sum(weights));
  bool empty = s.has_rank() && std::find(s.dims().begin(), s.dims().end(), 0) != s.dims().end();
  return empty ? reduce_sum(values) : reduce_mean(values);
}

std::pair<Tensor, Tensor> same_rank(const Tensor& a, const Tensor& b) {
  if (!a.shape().has_rank() || !b.shape().has_rank() || a.rank() == b.rank()) return {a, b};
  if (a.rank() == b.rank() + 1 && a.dim(-1) == 1)
    return b.rank() == 1 ? std::pair(a, expand_dims(b, -1))
                         : std::pair(squeeze(a, {.axis = -1}), b);
  if (b.rank() == a.rank() + 1 && b.dim(-1) == 1)
    return a.rank() == 1 ? std::pair(expand_dims(a, -1), b)
                         : std::pair(a, squeeze(b, {.axis = -1}));
  return {a, b};
}

Ref<Loss> Loss::from(const Ref<Object>& object, const std::string& what) {
  if (!object) return {};
  if (auto* l = dynamic_cast<Loss*>(object.get())) return Ref<Loss>(l);
  if (auto* f = dynamic_cast<ForeignFunction*>(object.get()))
    return make_ref<FunctionLoss>(Ref<ForeignFunction>(f));
  fail(Code::E1104,
       cat(what, " is ", object->text(), ", expected a loss's name, a loss or a function"));
}

Ref<Loss> loss(const Config& described) {
  return Loss::from(object_from(described, Loss::kFolder, "a loss"), "a loss");
}

}  // namespace holdfast::keras
