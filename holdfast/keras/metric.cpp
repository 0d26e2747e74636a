#include "holdfast/keras/metric.h"

#include <array>

#include "holdfast/base/text.h"
#include "holdfast/graph/name_scope.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_metric.h"
#include "holdfast/keras/layer.h"
#include "holdfast/keras/loss.h"
#include "holdfast/keras/made.h"
#include "holdfast/keras/metrics/mean.h"
#include "holdfast/keras/sample_weights.h"
#include "holdfast/keras/watching.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras {

ClassDef& Metric::def() {
  static ClassDef& d = Declare<Metric>("metrics.Metric", "What every metric is.")
                           .option<&MetricOptions::dtype>("dtype")
                           .option<&MetricOptions::name>("name");
  return d;
}

MetricHooks& metric_hooks() {
  static auto* hooks = new MetricHooks{};
  return *hooks;
}

namespace {

[[maybe_unused]] const ClassDef& declared = Metric::def();

// The mean of what a loss, or a function of another language, gives.
class LossMetric final : public MeanOfValues {
 public:
  explicit LossMetric(Ref<Loss> loss) : loss_(std::move(loss)) {
    configure({.name = loss_->name()});
  }
  void visit(Visitor& see) const override {
    MeanOfValues::visit(see);
    see.child(loss_);
  }
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    return loss_->call(y_true, y_pred);
  }
  Config config() const override { return loss_->config(); }
  // A function of a program's may be anything, and need not be a loss.
  std::string class_name() const override {
    return dynamic_cast<const StandsFor*>(loss_.get()) ? "MeanMetricWrapper" : "LossMetric";
  }

 private:
  Ref<Loss> loss_;
};

}  // namespace

void Metric::set_options(const MetricOptions& o) {
  common_ = o;
  if (!o.name.empty()) {
    named_ = true;
    set_name(o.name, cat(context().name_scope, o.name, "/"));
  }
  note_change(*this);
}

void Metric::name_it() {
  if (named_) return;
  named_ = true;
  std::string name = snake_case(class_name());
  set_name(name, cat(context().name_scope, name, "/"));
}

void Metric::rename(const std::string& name) {
  named_ = true;
  set_name(name, scope_name());
}

DType Metric::dtype() const { return common_.dtype == DType::kInvalid ? floatx() : common_.dtype; }
std::string Metric::class_name() const {
  return &definition() != &def() ? definition().name : plain_class_name(typeid(*this));
}
std::string Metric::described() const { return cat("metric `", name(), "` (", class_name(), ")"); }

void Metric::visit(Visitor& see) const {
  ModuleObject::visit(see);
  for (const Variable& v : mine_) see.object(*v.state());
  for (const Option& o : definition().options)
    if (Object* live = o.get(const_cast<Metric*>(this)->option_place()).live()) see.object(*live);
}

void Metric::clear() {
  ModuleObject::clear();
  mine_.clear();
}

Variable Metric::add_variable(const Shape& shape, const InitializerOption& make,
                              const std::string& name, DType wanted) {
  name_it();
  InterpreterScope eagerly(nullptr);
  NoTapes unseen;
  DType of = wanted == DType::kInvalid ? dtype() : wanted;
  NameScope scope(scope_name());
  Variable made((*make)(shape, of), {.trainable = false, .name = name, .dtype = of});
  hold(made);
  mine_.push_back(made);
  note_made(*this);
  return made;
}

void Metric::update_state(const Tensor&, const Tensor&, const Tensor&) {
  fail(Code::E1105, cat(described(), " has no `update_state`"),
       "a metric says there what it gathers of a batch");
}

Nested Metric::result() {
  fail(Code::E1105, cat(described(), " has no `result`"),
       "a metric says there what its numbers mean");
}

void Metric::reset_state() {
  for (const Variable& v : variables()) v.assign(zeros_like(v.read()));
}

ConfigDict Metric::get_config() const {
  const_cast<Metric*>(this)->name_it();
  ConfigDict out{{"name", name()}, {"dtype", std::string(holdfast::name(dtype()))}};
  for (const auto& [key, value] : declared_config(*this))
    if (!out.has(key)) out.set(key, value);
  return in_key_order(out, definition());
}

Config Metric::config() const {
  return ConfigObject{class_name(), get_config(), registered_name()};
}

Ref<Metric> Metric::from(const Ref<Object>& object, const std::string& what) {
  if (!object) return {};
  if (auto* m = dynamic_cast<Metric*>(object.get())) return Ref<Metric>(m);
  if (dynamic_cast<Loss*>(object.get()) || dynamic_cast<ForeignFunction*>(object.get()))
    return make_ref<LossMetric>(Loss::from(object, what));
  fail(Code::E1104, cat(what, " is ", object->text(), ", expected a metric's name or a function"));
}

void MeanOfValues::make_variables() {
  if (total_.defined()) return;
  total_ = add_variable({}, "zeros", "total");
  count_ = add_variable({}, "zeros", "count");
}

// Programs see them from the start; they are made once the metric has its name.
std::vector<Variable> MeanOfValues::variables() const {
  const_cast<MeanOfValues*>(this)->make_variables();
  return Metric::variables();
}

void MeanOfValues::update_state(const Tensor& y_true, const Tensor& y_pred,
                                const Tensor& sample_weight) {
  goes_by(*this);
  Tensor weight = sample_weight, mask = y_pred.defined() ? mask_of(y_pred) : Tensor();
  if (mask.defined()) weight = where_counted(weight, mask, dtype());
  add_values(values(y_true, y_pred), weight);
}

void MeanOfValues::add_values(const Tensor& given, Tensor weight) {
  make_variables();
  Tensor mask = mask_of(given);  // of values that are left out where weights are given
  Tensor values = given.dtype() == dtype() ? given : cast(given, dtype());
  if (weight.defined() && weight.dtype() != dtype()) weight = cast(weight, dtype());
  if (weight.defined() && mask.defined()) weight = where_counted(weight, mask, dtype());
  Samples samples = samples_of(values, weight, true);
  total_.assign_add(reduce_sum(samples.values));
  count_.assign_add(samples.weights.defined() ? reduce_sum(samples.weights)
                                              : cast(size(samples.values), dtype()));
}

Nested MeanOfValues::result() {
  make_variables();
  return divide_no_nan(total_.read(), count_.read());
}

Ref<Metric> make_mean(const std::string& name) {
  auto made = make_ref<metrics::MeanMetric>();
  made->configure({.name = name});
  return made;
}

}  // namespace holdfast::keras
