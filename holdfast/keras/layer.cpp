#include "holdfast/keras/layer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_set>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/exec/branch_terms.h"
#include "holdfast/graph/trace.h"
#include "holdfast/keras/built_for.h"
#include "holdfast/keras/foreign.h"
#include "holdfast/keras/keeps_inputs.h"
#include "holdfast/keras/layer_function.h"
#include "holdfast/keras/made.h"
#include "holdfast/keras/metric.h"
#include "holdfast/keras/optimizer.h"
#include "holdfast/keras/seed_generator.h"
#include "holdfast/keras/symbol.h"
#include "holdfast/keras/watching.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {

ClassDef& Layer::def() {
  static ClassDef& d =
      Declare<Layer>("layers.Layer", "What every layer is.")
          .option<&LayerOptions::activity_regularizer>("activity_regularizer", false)
          .layer_options()
          .keywords();
  return d;
}

namespace {

thread_local std::optional<bool> training_in_force;
thread_local Layer* outermost = nullptr;

// Losses that any layer holds: where there are none, a call need not look for them in all layers.
std::atomic<int64_t> losses_held = 0;

void let_go(SharedList<Tensor>& losses) {
  if (losses.read()->empty()) return;
  int64_t gone = 0;
  losses.change([&](std::vector<Tensor>& all) {
    gone = static_cast<int64_t>(all.size());
    all.clear();
  });
  losses_held -= gone;
}

std::string scope_of(const std::string& name) { return cat(context().name_scope, name, "/"); }

struct LayerNames {
  std::mutex mutex;
  std::map<std::string, int64_t> given;
};
LayerNames& layer_names() {
  static auto* names = new LayerNames;
  return *names;
}

}  // namespace

LayerHooks& layer_hooks() {
  static auto* hooks = new LayerHooks{};
  return *hooks;
}

const Nested* CallOptions::find(std::string_view name) const {
  for (const Nested::Entry& e : named)
    if (e.first == name) return e.second.is_none() ? nullptr : &e.second;
  return nullptr;
}

std::string unique_layer_name(const std::string& base) {
  LayerNames& names = layer_names();
  std::lock_guard lock(names.mutex);
  int64_t number = names.given[base]++;
  return number ? cat(base, "_", number) : base;
}

void reset_layer_names() {
  LayerNames& names = layer_names();
  std::lock_guard lock(names.mutex);
  names.given.clear();
}

Layer::~Layer() {
  forget_watched(*this);
  let_go(added_losses_);
}

void Layer::hold_given_layers() {
  std::vector<Ref<Layer>> given;
  for (const Option& o : definition().options) {
    const Config value = o.get(option_place());
    auto* stands = value.live() ? dynamic_cast<const StandsFor*>(value.live()) : nullptr;
    if (auto* f = stands ? dynamic_cast<LayerFunction*>(stands->function.get()) : nullptr)
      if (std::find(given.begin(), given.end(), f->layer) == given.end()) given.push_back(f->layer);
  }
  given_layers_ = std::move(given);
}

void Layer::configured() { set_options(LayerOptions(common_)); }

void Layer::set_options(const LayerOptions& o) {
  common_ = o;
  hold_given_layers();
  if (!o.name.empty()) {
    named_ = true;
    set_name(o.name, scope_of(o.name));
  }
  note_change(*this);
}

void Layer::note_own_method() {
  ++own_methods_;
  note_change(*this);
}

void Layer::set_policy(const Policy& policy) {
  common_.dtype = policy;
  if (const Option* own = definition().find("dtype"))
    own->set(option_place(), policy.name, cat("`dtype` of ", described()));
  note_change(*this);
}

void Layer::name_it() {
  if (named_) return;
  named_ = true;
  std::string kind = class_name();
  if (kind == definition().name && !definition().inner_name.empty()) kind = definition().inner_name;
  std::string name = unique_layer_name(snake_case(kind));
  set_name(name, scope_of(name));
}

std::string Layer::class_name() const {
  if (&definition() != &def()) return definition().name;
  return plain_class_name(typeid(*this));
}

std::string Layer::described() const { return cat("layer `", name(), "` (", class_name(), ")"); }
std::string Layer::text() const { return described(); }

void Layer::visit(Visitor& see) const {
  see.children(given_layers_);
  ModuleObject::visit(see);
  for (const Weight& w : definition().weights)
    if (const Variable& v = w.get(*this); v.defined()) see.object(*v.state());
  for (const Option& o : definition().options)
    if (Object* live = o.get(const_cast<Layer*>(this)->option_place()).live()) see.object(*live);
  for (const auto& [v, rule] : regularized_) {
    see.object(*v.state());
    see.child(rule);
  }
  if (definition().options.data() != def().options.data())
    see.child(common_.activity_regularizer.function);
}

void Layer::clear() {
  ModuleObject::clear();
  given_layers_.clear();
  for (const Weight& w : definition().weights) w.set(*this, Variable());
  for (const Option& o : definition().options)
    if (o.get(option_place()).live()) o.set(option_place(), Config(), o.name);
  common_.activity_regularizer = {};
  regularized_.clear();
  let_go(added_losses_);
}

CallScope::CallScope(Layer& layer, std::optional<bool> training)
    : names_((layer.name_it(), layer.name())),
      training_(training ? training : training_in_force),
      around_(training_in_force),
      outermost_(outermost) {
  training_in_force = training_;
  goes_by(layer);
  if (!outermost) {
    outermost = &layer;
    layer.clear_losses();
  }
}
CallScope::~CallScope() {
  training_in_force = around_;
  outermost = outermost_;
}
std::optional<bool> CallScope::training_now() { return training_in_force; }

namespace {

// Whether a layer has its inputs and weights in the dtype that it computes in: unless its class, or
// a program in another language, says no.
bool casts(const Layer& layer) {
  if (dynamic_cast<const KeepsInputs*>(&layer)) return false;
  Config said;
  bool own = layer.shared() && layer_hooks().attribute &&
             layer_hooks().attribute(layer, "_autocast", said);
  return !own || said.as_bool("`autocast`");
}

}  // namespace

Tensor Layer::as_input(const Tensor& t) const {
  bool cast_it = t.defined() && is_floating(t.dtype()) && is_floating(compute_dtype()) &&
                 t.dtype() != compute_dtype();
  if (!cast_it || !casts(*this)) return t;
  Tensor out = cast(t, compute_dtype());
  if (Tensor mask = mask_of(t); mask.defined()) set_mask(out, mask);  // for layers inside
  return out;
}

Nested Layer::run(const Nested& given, CallOptions o) {
  name_it();
  if (given.is_none())
    fail(Code::E1104, cat(described(), ": `inputs` is an empty tensor, expected one with a value"));
  if (uses_symbols(given, o)) return call_on_symbols(*this, given, o);
  CallScope scope(*this, o.training);
  o.training = scope.training();
  Nested inputs = given.is_tensor() ? Nested(as_input(given.tensor()))
                                    : given.map([&](const Tensor& t) { return as_input(t); });
  if (o.mask.is_none()) o.mask = masks_of(given);
  if (!built_) build_once(shapes_to_build(inputs, o));
  Nested outputs;
  try {
    outputs = call_all(inputs, o);
  } catch (const Error& e) {
    refuse_other_shapes(*this, inputs, e);
    throw;
  }
  if (!called_eagerly_ && !current_trace()) called_eagerly_ = here();
  finish(inputs, o.mask, outputs);
  return outputs;
}

void Layer::finish(const Nested& inputs, const Nested& mask, const Nested& outputs) {
  if (const auto& rule = common_.activity_regularizer; rule)
    for (const Tensor& t : outputs.leaves()) {
      // A penalty counts once for each example; of no examples there is none.
      Tensor batch = cast(at(shape(t), 0), t.dtype());
      add_loss(divide_no_nan((*rule)(t), batch));
    }
  if (supports_masking()) set_masks(outputs, compute_mask(inputs, mask));
}

std::vector<Shape> Layer::shapes_to_build(const Nested& inputs, const CallOptions&) const {
  std::vector<Shape> out;
  for (const Tensor& t : inputs.leaves()) out.push_back(t.shape());
  return out;
}

Layer::Layer() = default;
Layer::Layer(const LayerOptions& o) { set_options(o); }

void Layer::set_built_for(std::vector<Shape> inputs) {
  built_for_ = std::move(inputs);
  built_ = true;
}

void Layer::build_once(const Shape& inputs) { build_once(std::vector<Shape>{inputs}); }

void Layer::build_once(const std::vector<Shape>& inputs) {
  if (built_) return;
  PatientLock lock(building_);  // of several threads that call it first, one builds
  if (built_) return;
  name_it();
  build_all(inputs);
  set_built_for(inputs);
  note_made(*this);
}

void Layer::build_inner(Layer& inner, const std::vector<Shape>& inputs) {
  name_it();
  inner.name_it();
  const std::string around = context().name_scope;
  bool open = around == name() + "/" || around.ends_with(cat("/", name(), "/"));
  NameScope own(open ? around : scope_name());
  NameScope below(inner.name());
  inner.build_once(inputs);
}

void Layer::build_all(const std::vector<Shape>& inputs) {
  build(inputs.empty() ? Shape::unknown() : inputs.front());
}

Tensor Layer::call(const Tensor&, const CallOptions&) {
  fail(Code::E1105, cat(described(), " has no `call`"),
       "a layer computes what its `call` says, and this class has none",
       {manual_fix("override `call(inputs)`")});
}

Nested Layer::call_all(const Nested& inputs, const CallOptions& o) {
  return call(inputs.tensor(cat(described(), ": `inputs`")), o);
}

Shape Layer::compute_output_shape(const Shape& inputs) {
  return output_types(*this, Nested(symbol_of_type(compute_dtype(), inputs)), {})
      .first(described())
      .shape();
}

Nested Layer::compute_mask(const Nested&, const Nested& mask) { return mask; }

ConfigDict Layer::get_config() const {
  const_cast<Layer*>(this)->name_it();
  ConfigDict out{{"name", name()},
                 {"trainable", trainable()},
                 {"dtype", OptionType<Policy>::written(policy())}};
  // One that is set comes first, also where a class does not list it.
  if (activity_regularizer())
    out.set("activity_regularizer", keras::described(*activity_regularizer()));
  for (const auto& [key, value] : declared_config(*this))
    if (!out.has(key)) out.set(key, value);
  return in_key_order(out, definition());
}

Config Layer::config() const {
  ConfigObject out{class_name(), get_config(), registered_name()};
  if (Config built = get_build_config(); !built.is_null())
    out.more.set("build_config", std::move(built));
  return out;
}

Config Layer::get_build_config() const {
  if (!built_for_ || built_for_->empty()) return nullptr;
  const std::vector<Shape>& shapes = *built_for_;
  return ConfigDict{{"input_shape", shapes.size() == 1
                                        ? OptionType<Shape>::get(shapes[0])
                                        : OptionType<std::vector<Shape>>::get(shapes)}};
}

std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> out;
  for (const Variable& v : variables()) out.push_back(v.read());
  return out;
}

void Layer::set_weights(const std::vector<Tensor>& values) {
  std::vector<Variable> mine = variables();
  if (mine.size() != values.size())
    fail(Code::E1104,
         cat(described(), " has ", mine.size(), " weights, and ", values.size(), " values came"),
         built() ? "" : "it is not built yet: weights are made for the first shape it is given");
  for (size_t i = 0; i < mine.size(); ++i) {
    const bool same = values[i].defined() && values[i].shape() == mine[i].shape() &&
                      values[i].dtype() == mine[i].dtype();
    if (same) continue;
    fail(Code::E1102, cat(described(), ": the weight `", mine[i].name(), "` is ",
                          type_text(mine[i].dtype(), mine[i].shape()), ", and the value for it is ",
                          values[i].defined() ? type_text(values[i]) : "no tensor"));
  }
  for (size_t i = 0; i < mine.size(); ++i) mine[i].assign(values[i]);
}

int64_t Layer::count_params() const {
  int64_t out = 0;
  for (const Variable& v : variables()) out += v.shape().size();
  return out;
}

// A weight has its first value once, also if the layer is first called while a function is traced.
Variable Layer::add_weight(const WeightOptions& o) {
  name_it();
  DType dtype = o.dtype == DType::kInvalid ? this->dtype() : o.dtype;
  std::string what = cat(described(), ": `add_weight(\"", o.name, "\")`");
  if (!o.shape.has_rank() || !o.shape.is_full())
    fail(Code::E1102, cat(what, " got the shape ", o.shape.text(), ", expected known sizes"),
         "the shape of a weight depends on what the layer is given, and that is not known yet",
         {manual_fix("make the weight in `build`, from dimensions that are known")});
  Ref<Initializer> make = o.initializer.function;
  if (!make) make = initializer(is_floating(dtype) ? "glorot_uniform" : "zeros");
  InterpreterScope eagerly(nullptr);
  NoTapes unseen;
  Tensor first = (*make)(o.shape, dtype);
  if (first.dtype() != dtype || !(first.shape() == o.shape))
    fail(Code::E1102,
         cat(what, ": the initializer gave ", holdfast::name(first.dtype()), first.shape().text(),
             ", expected ", holdfast::name(dtype), o.shape.text()));
  // In a call the layer's scope is open already, and is that of the model around it.
  const std::string& around = context().name_scope;
  bool open = around == name() + "/" || around.ends_with(cat("/", name(), "/"));
  NameScope whole(open ? around : scope_name());
  ConstraintOption rule = o.constraint;
  // One of the variable's own, not the option's: a collector sees who holds it where one does.
  if (auto* stands = dynamic_cast<const StandsFor*>(rule.function.get()))
    rule.set(Config(Ref<Object>(stands->function)), what);
  Variable made(
      first,
      {.trainable = o.trainable, .name = o.name, .dtype = dtype, .constraint = rule.function});
  hold(made);
  if (!trainable()) note_made_frozen(made);
  if (o.regularizer) regularized_.emplace_back(made, o.regularizer.function);
  if (!o.autocast) not_cast_.push_back(made.state());
  return made;
}

void Layer::replace(const Variable& before, const Variable& now) {
  ModuleObject::replace(before, now);
  if (before.defined() && now.defined()) {
    for (auto& [weight, rule] : regularized_)
      if (weight == before) weight = now;
    std::replace(not_cast_.begin(), not_cast_.end(), before.state(), now.state());
  } else if (before.defined()) {
    std::erase_if(regularized_, [&](const auto& each) { return each.first == before; });
    std::erase(not_cast_, before.state());
  }
  note_change(*this);
}

Tensor Layer::read(const Variable& weight) const {
  Tensor value = weight.read();
  if (is_floating(value.dtype()) && value.dtype() != compute_dtype())
    for (VariableState* kept : not_cast_)
      if (kept == weight.state()) return value;
  return as_input(value);
}

void Layer::add_loss(const Tensor& loss) {
  if (!loss.defined()) fail(Code::E1104, cat(described(), ": `add_loss` got an empty tensor"));
  // A call that is traced for its shapes alone computes nothing.
  if (Tracer* writes = current_trace(); writes && writes->scope()->kind == ScopeKind::kBuild)
    return;
  ++losses_held;
  added_losses_.change([&](std::vector<Tensor>& all) { all.push_back(loss); });
  // After a branch its value is known under another name, and is 0 where the other side was taken.
  Ref<Layer> self(this);
  BranchTerms::add({.value = loss,
                    .retract = [self, id = loss.id()] { LayerCall::drop_loss(*self, id); },
                    .instead = [self](const Tensor& known) { self->add_loss(known); }});
}

void LayerCall::drop_loss(Layer& l, uint64_t id) {
  size_t gone = 0;
  l.added_losses_.change([&](std::vector<Tensor>& all) {
    gone = std::erase_if(all, [&](const Tensor& t) { return t.id() == id; });
  });
  losses_held -= static_cast<int64_t>(gone);
}

std::vector<Ref<Layer>> Layer::inner_layers() const {
  std::vector<Ref<Layer>> out;
  for (const Ref<ModuleObject>& m : submodules())
    if (auto* layer = dynamic_cast<Layer*>(m.get())) out.emplace_back(layer);
  return out;
}

std::vector<Tensor> Layer::losses() const {
  std::vector<Tensor> out;
  auto take = [&](const Layer& layer) {
    for (const Tensor& t : *layer.added_losses_.read()) out.push_back(t);
  };
  auto penalties = [&](const Layer& layer) {
    goes_by_training(layer);
    for (const auto& [weight, rule] : layer.regularized_)
      if (layer.trainable() && is_trained(weight)) out.push_back((*rule)(weight.read()));
  };
  std::vector<Ref<Layer>> inside = inner_layers();
  take(*this);
  for (const Ref<Layer>& l : inside) take(*l);
  penalties(*this);
  for (const Ref<Layer>& l : inside) penalties(*l);
  return out;
}

void Layer::clear_losses() {
  if (losses_held == 0) return;
  let_go(added_losses_);
  for (const Ref<Layer>& l : inner_layers()) let_go(l->added_losses_);
}

LossesKept::LossesKept(Layer& layer) {
  std::vector<Ref<Layer>> all = layer.inner_layers();
  all.emplace_back(&layer);
  for (const Ref<Layer>& l : all) kept_.emplace_back(l, *l->added_losses_.read());
}

LossesKept::~LossesKept() {
  for (const auto& [layer, losses] : kept_) {
    let_go(layer->added_losses_);
    for (const Tensor& t : losses) layer->add_loss(t);
  }
}

void Layer::set_trainable(bool trainable) {
  auto set = [&](Layer& layer) {
    layer.common_.trainable = trainable;
    note_change(layer);
  };
  set(*this);
  for (const Ref<Layer>& l : inner_layers()) set(*l);
}

std::vector<LayerCall*> Layer::calls() const {
  std::lock_guard lock(calls_mutex_);
  return calls_;
}
void Layer::called_by(LayerCall* call, bool begins) {
  std::lock_guard lock(calls_mutex_);
  if (!begins) {
    std::erase(calls_, call);
    return;
  }
  calls_.push_back(call);
  called_on_symbol_ = here();
}

namespace {

struct Direct final : Visitor {
  void object(const Object& child) override {
    auto* held = const_cast<Object*>(&child);
    if (auto* v = dynamic_cast<VariableState*>(held)) variables.emplace_back(Ref<VariableState>(v));
    if (auto* m = dynamic_cast<ModuleObject*>(held)) modules.emplace_back(m);
  }
  std::vector<Variable> variables;
  std::vector<Ref<ModuleObject>> modules;
};

}  // namespace

namespace {

// What metrics gather and optimizers keep is no part of what a model computes with.
bool keeps_for_training(const ModuleObject& m) {
  return dynamic_cast<const Metric*>(&m) || dynamic_cast<const Optimizer*>(&m);
}

// Walks a layer and those inside it, each once: layers may refer to one another in circles.
class Gather {
 public:
  explicit Gather(bool trained, bool seeds = false) : trained_(trained), seeds_(seeds) {}
  void layer(const Layer& layer) {
    goes_by_training(layer);
    // A layer that is not trainable says so for all that is inside it.
    if (!seen_.insert(&layer).second || (trained_ && !layer.trainable())) return;
    Direct parts;
    layer.visit_all(parts);
    for (bool trained : {true, false})
      for (const Variable& v : parts.variables)
        if (v.trainable() == trained) take(v);
    if (seeds_)
      for (const Variable& v : seed_states(layer)) take(v);
    for (const Ref<ModuleObject>& m : parts.modules) {
      if (auto* inner = dynamic_cast<const Layer*>(m.get())) {
        this->layer(*inner);
      } else if (!keeps_for_training(*m) && seen_.insert(m.get()).second) {
        for (const Variable& v : trained_ ? m->trainable_variables() : m->variables()) take(v);
      }
    }
  }
  std::vector<Variable> out;

 private:
  void take(const Variable& v) {
    if ((!trained_ || is_trained(v)) && seen_.insert(v.state()).second) out.push_back(v);
  }
  bool trained_, seeds_;
  std::unordered_set<const Object*> seen_;
};

}  // namespace

std::vector<Variable> Layer::variables() const {
  Gather all(false);
  all.layer(*this);
  return std::move(all.out);
}

std::vector<Variable> variables_and_seeds(const Layer& layer) {
  Gather all(false, true);
  all.layer(layer);
  return std::move(all.out);
}

std::vector<Variable> Layer::trainable_variables() const {
  Gather all(true);
  all.layer(*this);
  return std::move(all.out);
}

std::vector<Variable> Layer::non_trainable_variables() const {
  std::unordered_set<const Object*> trained;
  for (const Variable& v : trainable_variables()) trained.insert(v.state());
  std::vector<Variable> out = variables();
  std::erase_if(out, [&](const Variable& v) { return trained.contains(v.state()); });
  return out;
}

}  // namespace holdfast::keras
