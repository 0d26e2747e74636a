#include "holdfast/keras/optimizer.h"

#include <algorithm>
#include <unordered_map>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/name_list.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/flow.h"
#include "holdfast/keras/backend.h"
#include "holdfast/keras/foreign_optimizer.h"
#include "holdfast/keras/layer.h"
#include "holdfast/keras/made.h"
#include "holdfast/keras/name_pattern.h"
#include "holdfast/keras/watching.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/reduce.h"

namespace holdfast::keras {

struct Optimizer::Tables {
  std::unordered_map<VariableState*, size_t> index;
  std::vector<NamePattern> undecayed_names;
};
Optimizer::Optimizer() : tables_(make_owned<Tables>()) {}
Optimizer::~Optimizer() { forget_watched(*this); }
namespace {

bool contains(const std::vector<VariableState*>& all, VariableState* one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

[[noreturn]] void refuse_no_gradient(const std::string& who,
                                     const std::vector<Variable>& variables) {
  constexpr size_t kShown = 3;
  Diagnostic d;
  d.code = Code::E0501;
  d.headline = cat(who, " got no gradient for any variable");
  for (size_t i = 0; i < variables.size() && i < kShown; ++i)
    if (Loc born = locate(variable_state(variables[i].handle())->born); born.line > 0)
      d.labels.push_back({Role::kBorn, std::move(born),
                          cat("born here: Variable `", variables[i].name(), "`, ",
                              type_text(variables[i].dtype(), variables[i].shape())),
                          false});
  d.labels.push_back(used_here());
  d.why = cat("all gradients are None, of ",
              name_list(variables, [](const Variable& v) { return v.name(); }));
  d.fixes.push_back(
      manual_fix("compute the loss from these variables, by ops with gradients, under the tape"));
  raise(std::move(d));
}

}  // namespace

OptimizerHooks& optimizer_hooks() {
  static auto* hooks = new OptimizerHooks{};
  return *hooks;
}

Config OptionType<LearningRate>::get(const LearningRate& v) {
  if (v.schedule) return Config(Ref<Object>(v.schedule));
  if (v.function) return Config(Ref<Object>(v.function));
  return v.number;
}
void OptionType<LearningRate>::set(LearningRate& v, const Config& c, const std::string& what) {
  v = LearningRate();
  if (c.kind() == Config::Kind::kInteger || c.kind() == Config::Kind::kNumber) {
    v.number = c.as_number(what);
    return;
  }
  if (auto* f = dynamic_cast<ForeignFunction*>(c.live()))
    v.function = Ref<ForeignFunction>(f);
  else if (c.live() || c.kind() == Config::Kind::kObject)
    v.schedule = Schedule::from(object_from(c, Schedule::kFolder, what), what);
  else
    fail(Code::E1104, cat(what, " is ", c.text(), ", expected a number, a schedule or a function"));
}

ClassDef& Optimizer::def() {
  using O = OptimizerOptions;
  static ClassDef& d = Declare<Optimizer>("optimizers.Optimizer", "What every optimizer is.")
                           .required<&O::learning_rate>("learning_rate")
                           .option<&O::weight_decay>("weight_decay")
                           .option<&O::clipnorm>("clipnorm")
                           .option<&O::clipvalue>("clipvalue")
                           .option<&O::global_clipnorm>("global_clipnorm")
                           .option<&O::use_ema>("use_ema")
                           .option<&O::ema_momentum>("ema_momentum")
                           .option<&O::ema_overwrite_frequency>("ema_overwrite_frequency")
                           .option<&O::loss_scale_factor>("loss_scale_factor")
                           .option<&O::gradient_accumulation_steps>("gradient_accumulation_steps")
                           .option<&O::name>("name");
  return d;
}

template <class F>
Tensor Optimizer::Step::once(int kind, double base, DType dtype, F make) {
  for (const Known& k : known_)
    if (k.kind == kind && k.base == base && k.dtype == dtype) return k.value;
  Tensor value = make();
  known_.push_back({kind, base, dtype, value});
  return value;
}
Tensor Optimizer::Step::rate(DType dtype) {
  return once(0, 0, dtype, [&] { return rate_.dtype() == dtype ? rate_ : cast(rate_, dtype); });
}
Tensor Optimizer::Step::number(DType dtype) {
  return once(1, 0, dtype, [&] { return cast(done_ + 1, dtype); });
}
Tensor Optimizer::Step::power(double base, DType dtype) {
  return once(2, base, dtype, [&] { return pow(Tensor::scalar(base, dtype), number(dtype)); });
}

void Optimizer::set_options(OptimizerOptions o) {
  auto refuse = [&](const char* option, const auto& value, const char* expected) {
    fail(Code::E1103, cat(class_name(), ": `", option, "` is ", value, ", expected ", expected));
  };
  if (int(o.clipnorm.has_value()) + int(o.clipvalue.has_value()) +
          int(o.global_clipnorm.has_value()) >
      1)
    fail(Code::E1104, cat(class_name(), " is told to clip gradients in two ways"),
         "`clipnorm`, `clipvalue` and `global_clipnorm` exclude each other",
         {manual_fix("give one of them")});
  if (o.gradient_accumulation_steps && *o.gradient_accumulation_steps < 2)
    refuse("gradient_accumulation_steps", *o.gradient_accumulation_steps, "at least 2, or none");
  if (o.use_ema && !(o.ema_momentum >= 0 && o.ema_momentum <= 1))
    refuse("ema_momentum", o.ema_momentum, "a number between 0 and 1");
  if (o.use_ema && o.ema_overwrite_frequency && *o.ema_overwrite_frequency < 1)
    refuse("ema_overwrite_frequency", *o.ema_overwrite_frequency, "at least 1, or none");
  bool other_slots =
      o.use_ema != common_.use_ema ||
      o.gradient_accumulation_steps.has_value() != common_.gradient_accumulation_steps.has_value();
  if (built_ && other_slots)
    fail(Code::E1104,
         cat(class_name(), ": `use_ema` and `gradient_accumulation_steps` can't be set any more"),
         "they ask for slots, and those of its variables are made",
         {manual_fix("say it when the optimizer is made")});
  if (begun_) o.learning_rate = std::move(common_.learning_rate);  // which has a way of its own
  common_ = std::move(o);
  if (!common_.name.empty()) {
    named_ = true;
    set_name(common_.name, common_.name + "/");
  }
  begin();
  note_change(*this);
}

void Optimizer::name_it() {
  if (named_) return;
  named_ = true;
  std::string name = unique_layer_name(snake_case(class_name()));
  set_name(name, name + "/");
}

std::string Optimizer::class_name() const {
  return &definition() != &def() ? definition().name : plain_class_name(typeid(*this));
}
std::string Optimizer::described() const {
  return cat("optimizer `", name(), "` (", class_name(), ")");
}

ConfigDict Optimizer::get_config() const {
  static const char* common[] = {"learning_rate",     "weight_decay",
                                 "clipnorm",          "global_clipnorm",
                                 "clipvalue",         "use_ema",
                                 "ema_momentum",      "ema_overwrite_frequency",
                                 "loss_scale_factor", "gradient_accumulation_steps"};
  ConfigDict own = declared_config(*this), out{{"name", name()}};
  for (const char* key : common)
    if (const Config* value = own.find(key)) out.set(key, *value);
  for (const auto& [key, value] : own)
    if (!out.has(key)) out.set(key, value);
  if (rate_.defined()) out.set("learning_rate", cast(rate_.state()->get(), float64).to_double());
  return out;
}
Config Optimizer::config() const {
  return ConfigObject{class_name(), get_config(), registered_name()};
}

void Optimizer::visit(Visitor& see) const {
  ModuleObject::visit(see);
  see.child(common_.learning_rate.schedule);
  see.child(common_.learning_rate.function);
  const void* options = Declared::option_place();
  if (options == &common_) return;
  for (const Option& o : definition().options)
    if (Object* live = o.get(options).live()) see.object(*live);
}
void Optimizer::clear() {
  ModuleObject::clear();
  common_.learning_rate.schedule = {};
  common_.learning_rate.function = {};
}

std::vector<Variable> Optimizer::variables() const {
  std::vector<Variable> out;
  if (counter_.defined()) out.push_back(counter_);
  if (rate_.defined()) out.push_back(rate_);
  out.insert(out.end(), kept_.begin(), kept_.end());
  return out;
}

// -- what is kept

std::string Optimizer::plain_name(const Variable& v) {
  std::string out = v.name().substr(0, v.name().find(':'));
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

Variable Optimizer::make_variable(const std::string& name, const Tensor& first) {
  name_it();
  InterpreterScope eagerly(nullptr);
  NoTapes unseen;
  NameScope scope(scope_name());
  Variable made(first, {.trainable = false, .name = name});
  hold(made);
  return made;
}

Variable Optimizer::add_variable_from_reference(const Variable& like, const std::string& name,
                                                double first) {
  if (!like.shape().is_full())
    fail(Code::E1102, cat(described(), ": variable `", like.name(), "` has the shape ",
                          like.shape().text(), ", expected known sizes"));
  InterpreterScope eagerly(nullptr);
  Tensor value = fill(like.shape(), Tensor::scalar(first, like.dtype()));
  return add_kept(cat(plain_name(like), "_", name), value);
}

Variable Optimizer::add_kept(const std::string& name, const Tensor& first) {
  kept_.push_back(make_variable(name, first));
  return kept_.back();
}

void Optimizer::begin() {
  PatientLock lock(building_);
  if (begun_) return;
  begun_ = true;
  InterpreterScope eagerly(nullptr);
  counter_ = make_variable("iteration", Tensor::scalar(int64_t{0}));
  if (common_.learning_rate.is_number())
    rate_ = make_variable("learning_rate", Tensor::scalar(common_.learning_rate.number, floatx()));
}

void Optimizer::build(const std::vector<Variable>& variables) {
  begin();
  PatientLock lock(building_);
  std::vector<Variable> fresh;
  for (const Variable& v : variables) {
    if (!v.defined()) fail(Code::E1104, cat(described(), " got an empty Variable to train"));
    if (tables_->index.try_emplace(v.state(), trained_.size() + fresh.size()).second)
      fresh.push_back(v);
  }
  if (fresh.empty()) return;
  trained_.insert(trained_.end(), fresh.begin(), fresh.end());
  if (common_.use_ema)
    for (const Variable& v : fresh) averages_.push_back(add_variable_from_reference(v, "average"));
  if (common_.gradient_accumulation_steps)
    for (const Variable& v : fresh)
      accumulated_.push_back(add_variable_from_reference(v, "gradient_accumulator"));
  next_role_ = 0;
  make_slots(fresh);
  built_ = true;
  note_made(*this);
}

void Optimizer::make_slots(const std::vector<Variable>&) {}

void Optimizer::add_slots(const std::vector<Variable>& variables,
                          const std::vector<std::string>& roles, const std::vector<double>& first) {
  if (slots_.size() < next_role_ + roles.size()) slots_.resize(next_role_ + roles.size());
  for (const Variable& v : variables)
    for (size_t i = 0; i < roles.size(); ++i)
      slots_[next_role_ + i].push_back(
          add_variable_from_reference(v, roles[i], i < first.size() ? first[i] : 0));
  next_role_ += roles.size();
}

size_t Optimizer::index_of(const Variable& v) const {
  auto it = tables_->index.find(v.state());
  if (it == tables_->index.end())
    fail(Code::E1104, cat(described(), " has not seen the variable `", v.name(), "`"),
         "what it keeps for a variable is made by `build` or by the first step",
         {manual_fix("call `build` with all variables")});
  return it->second;
}

// -- the rate and the counter

Variable Optimizer::iterations() const {
  const_cast<Optimizer*>(this)->begin();
  return counter_;
}
Tensor Optimizer::updates_done() {
  Tensor done = iterations().read();
  const auto& steps = common_.gradient_accumulation_steps;
  return steps ? floordiv(done, *steps) : done;
}

Variable Optimizer::rate_variable() {
  begin();
  return rate_;
}
Tensor Optimizer::learning_rate() {
  begin();
  const LearningRate& from = common_.learning_rate;
  if (from.schedule) return (*from.schedule)(counter_.read());
  if (from.function) return cast(from.function->of({}), floatx());
  return rate_.read();
}
void Optimizer::set_learning_rate(const LearningRate& to) {
  begin();
  if (to.is_number() && common_.learning_rate.schedule)
    fail(Code::E1104, cat(described(), " follows a schedule: its rate can't be set"),
         cat("it was made with ", common_.learning_rate.schedule->text()),
         {manual_fix("make it with a number, or give another schedule")});
  if (to.is_number() && rate_.defined()) {
    rate_.assign(to.number);
  } else if (to.is_number()) {
    rate_ = make_variable("learning_rate", Tensor::scalar(to.number, floatx()));
  } else {
    rate_ = Variable();
  }
  common_.learning_rate = to;
  note_change(*this);
}

// -- a step

void Optimizer::apply_gradients(const std::vector<Pair>& pairs) {
  std::vector<Gradient> gradients;
  std::vector<Variable> variables;
  for (const auto& [g, v] : pairs) {
    gradients.push_back(g);
    variables.push_back(v);
  }
  apply(gradients, variables);
}

void Optimizer::apply_gradients(const std::vector<Tensor>& tensors,
                                const std::vector<Variable>& variables) {
  std::vector<Gradient> gradients;
  for (const Tensor& t : tensors) gradients.push_back({t});
  apply(gradients, variables);
}

void Optimizer::apply(const std::vector<Gradient>& gradients,
                      const std::vector<Variable>& variables) {
  if (gradients.size() != variables.size())
    fail(Code::E1104, cat(described(), " got ", gradients.size(), " gradients for ",
                          variables.size(), " variables"));
  if (gradients.empty()) return;
  goes_by(*this);
  build(variables);
  NoTapes unseen;  // steps are no part of what tapes record
  std::vector<Gradient> given;
  std::vector<Variable> moved;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].none()) continue;
    given.push_back(gradients[i]);
    moved.push_back(variables[i]);
  }
  if (given.empty()) refuse_no_gradient(described(), variables);
  NameScope scope(scope_name());
  move(std::move(given), moved);
  for (const Variable& v : moved)
    if (const Ref<Constraint>& rule = v.constraint()) {
      goes_by(*rule);
      v.assign((*rule)(v.read()));
    }
  counter_.assign_add(Tensor::scalar(int64_t{1}));
}

void Optimizer::move(std::vector<Gradient> gradients, const std::vector<Variable>& variables) {
  if (const auto& scale = common_.loss_scale_factor)
    for (Gradient& g : gradients) {
      Tensor& values = g.slices ? g.slices->values : g.dense;
      values = values / *scale;
    }
  if (const auto& steps = common_.gradient_accumulation_steps) {
    Tensor now = floormod(counter_.read() + 1, *steps) == 0;
    for (size_t i = 0; i < gradients.size(); ++i)
      gradients[i] = Gradient{dense(gradients[i], variables[i])};
    auto sum = [&](size_t i) { return accumulated_[index_of(variables[i])]; };
    cond(
        now,
        [&] {
          std::vector<Gradient> mean;
          for (size_t i = 0; i < gradients.size(); ++i)
            mean.push_back(Gradient{(gradients[i].dense + sum(i)) / static_cast<double>(*steps)});
          update_all(std::move(mean), variables);
          for (const Variable& a : accumulated_) a.assign(zeros_like(a.read()));
        },
        [&] {
          for (size_t i = 0; i < gradients.size(); ++i) sum(i).assign_add(gradients[i].dense);
        });
  } else {
    update_all(std::move(gradients), variables);
  }
  if (common_.use_ema) average();
}

void Optimizer::update_all(std::vector<Gradient> gradients,
                           const std::vector<Variable>& variables) {
  gradients = clipped(std::move(gradients));
  Step step(learning_rate(), updates_done());
  decay_weights(variables, step);
  begin_step(step);
  for (size_t i = 0; i < gradients.size(); ++i) update_step(gradients[i], variables[i], step);
}

void Optimizer::update_step(const Gradient&, const Variable&, Step&) {
  fail(Code::E1105, cat(described(), " has no `update_step`"),
       "an optimizer moves variables as its `update_step` says, and this class has none",
       {manual_fix("override `update_step`")});
}

std::vector<Gradient> Optimizer::clipped(std::vector<Gradient> gradients) const {
  const auto& o = common_;
  if (!o.clipnorm && !o.clipvalue && !o.global_clipnorm) return gradients;
  for (Gradient& g : gradients) g = Gradient{g.tensor()};
  if (o.global_clipnorm) {
    std::vector<Tensor> all;
    for (const Gradient& g : gradients) all.push_back(g.dense);
    Tensors out = clip_by_global_norm(all, *o.global_clipnorm);
    for (size_t i = 0; i < gradients.size(); ++i) gradients[i].dense = out[i];
  }
  for (Gradient& g : gradients) {
    if (o.clipnorm) g.dense = clip_by_norm(g.dense, *o.clipnorm);
    if (o.clipvalue) g.dense = clip_by_value(g.dense, -*o.clipvalue, *o.clipvalue);
  }
  return gradients;
}

Tensor Optimizer::dense(const Gradient& g, const Variable& v) {
  Tensor out = g.tensor();
  return out.dtype() == v.dtype() ? out : cast(out, v.dtype());
}

// -- weight decay and moving averages

void Optimizer::exclude_from_weight_decay(const std::vector<Variable>& variables,
                                          const std::vector<std::string>& patterns) {
  std::vector<NamePattern> names;
  for (const std::string& p : patterns) names.emplace_back(p, cat(described(), ": `var_names`"));
  tables_->undecayed_names = std::move(names);
  undecayed_.clear();
  for (const Variable& v : variables) undecayed_.push_back(v.state());
}

bool Optimizer::decays(const Variable& v) const {
  if (contains(undecayed_, v.state())) return false;
  return std::none_of(tables_->undecayed_names.begin(), tables_->undecayed_names.end(),
                      [&](const NamePattern& p) { return p.is_in(v.name()); });
}

void Optimizer::decay_weights(const std::vector<Variable>& variables, Step& step) {
  if (!common_.weight_decay) return;
  for (const Variable& v : variables)
    if (decays(v)) v.assign_sub(v.read() * (*common_.weight_decay * step.rate(v.dtype())));
}

void Optimizer::average() {
  Tensor done = updates_done(), begun = done != 0;
  for (size_t i = 0; i < trained_.size(); ++i) {
    const Variable &v = trained_[i], &a = averages_[i];
    Tensor momentum = cast(begun, v.dtype()) * common_.ema_momentum;
    a.assign(momentum * a + (1 - momentum) * v);
  }
  if (!common_.ema_overwrite_frequency) return;
  cond(
      floormod(done + 1, *common_.ema_overwrite_frequency) == 0,
      [&] {
        for (size_t i = 0; i < trained_.size(); ++i) trained_[i].assign(averages_[i].read());
      },
      [] {});
}

void Optimizer::finalize_variable_values(const std::vector<Variable>& variables) {
  if (!common_.use_ema) return;
  for (const Variable& v : variables) v.assign(averages_[index_of(v)].read());
}

Tensor Optimizer::scale_loss(const Tensor& loss) {
  return common_.loss_scale_factor ? loss * *common_.loss_scale_factor : loss;
}

Ref<Optimizer> Optimizer::from(const Ref<Object>& object, const std::string& what) {
  if (!object) return {};
  if (auto* o = dynamic_cast<Optimizer*>(object.get())) return Ref<Optimizer>(o);
  fail(Code::E1104,
       cat(what, " is ", object->text(), ", expected an optimizer's name or an optimizer"));
}

Ref<Optimizer> optimizer(const Config& described) {
  return Optimizer::from(object_from(described, Optimizer::kFolder, "an optimizer"),
                         "an optimizer");
}

}  // namespace holdfast::keras
