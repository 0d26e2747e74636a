#include "holdfast/base/text.h"
#include "holdfast/exec/attribute_state.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/math.h"

namespace holdfast {

using Place = TensorAttribute::Place;
using detail::BoundPlace;
using detail::BoundValue;

struct AttributeRecord::Use {
  Ref<Place> place;
  Tensor found;   // what it held when the trace first asked, under an identity of its own
  Tensor symbol;  // stands for that inside
  bool asked = false, assigned = false;
  Tensor now;  // where it was assigned
};
struct AttributeRecord::Bound : AttributeState::Bound {};

namespace {

thread_local AttributeRecord* g_record = nullptr;

[[noreturn]] void refuse_inside(const Place& place, const Scope& scope) {
  bool loop = scope.kind == ScopeKind::kLoop;
  const char* part = loop ? "the body of a loop" : "a branch";
  fail(loop ? Code::E0103 : Code::E0104,
       cat("the attribute `", place.name, "` is assigned inside ", part),
       cat(part,
           " is a graph of its own, which may run any number of times or not at all: its "
           "values have no meaning outside"),
       {manual_fix(cat("return the value from there, and assign `", place.name, "` afterwards")),
        manual_fix(cat("make `", place.name, "` a Variable: `assign` is an op, also in there"))});
}

[[noreturn]] void refuse_outside(const Place& place, const Scope& scope) {
  fail(Code::E1105,
       cat("the attribute `", place.name, "` is assigned while `", scope.name, "` is written"),
       "only a `holdfast::function` performs such an assignment again at each call",
       {manual_fix(cat("make `", place.name, "` a Variable"))});
}

bool same(const BoundValue& a, const BoundValue& b) { return &a == &b || a.facts == b.facts; }

std::string text_of(const BoundValue& v) {
  std::string out;
  for (const std::string& f : v.facts) out += cat(out.empty() ? "" : ", ", f);
  return out;
}

// Whether a tensor is as one that a trace was made for.
bool alike(const Tensor& now, const std::optional<Type>& like) {
  return now.defined() ? like && Type{now.dtype(), now.shape()} == *like : !like;
}

}  // namespace

bool AttributeState::read(std::span<Tensor> captured) const {
  for (const Bound& b : bounds)
    if (!same(*b.place.read(), *b.was)) return false;
  for (const Read& r : reads) {
    Tensor now = r.attribute.read();
    if (!alike(now, r.like)) return false;
    if (now.defined() && r.capture < captured.size()) captured[r.capture] = std::move(now);
  }
  return true;
}

void AttributeState::perform(Tensors& outputs) const {
  for (const Stored& s : stored) {
    if (const Tensor& t = outputs[s.output]; t.defined())
      s.attribute.assign(t);
    else
      s.attribute.reset();
  }
  outputs.resize(results);
}

std::optional<Retrace> AttributeState::difference() const {
  auto text = [](const std::optional<Type>& t) {
    return t ? type_text(t->dtype, t->shape) : std::string("empty");
  };
  auto changed = [](std::string part, std::string was, std::string now) {
    return Retrace{.part = std::move(part),
                   .was = std::move(was),
                   .now = std::move(now),
                   .kind = Retrace::Kind::kGuard};
  };
  for (const Bound& b : bounds)
    if (Ref<const BoundValue> now = b.place.read(); !same(*now, *b.was))
      return changed(b.place.name(), text_of(*b.was), text_of(*now));
  for (const Read& r : reads) {
    Tensor now = r.attribute.read();
    if (alike(now, r.like)) continue;
    std::optional<Type> held;
    if (now.defined()) held = Type{now.dtype(), now.shape()};
    return changed(cat("attribute ", r.attribute.name()), text(r.like), text(held));
  }
  return std::nullopt;
}

TensorAttribute::TensorAttribute(Ref<Place> place) : place_(std::move(place)) {}
TensorAttribute::TensorAttribute(const TensorAttribute&) = default;
TensorAttribute::~TensorAttribute() = default;
const std::string& TensorAttribute::name() const { return place_->name; }

TensorAttribute::TensorAttribute(std::string name, Tensor initial)
    : TensorAttribute(make_ref<Place>(std::move(name))) {
  if (initial.defined()) put(std::move(initial));
}

Tensor TensorAttribute::read() const {
  AttributeRecord* record = AttributeRecord::current();
  return record ? record->read(place_) : place_->get();
}

// A copy of an In owns its tensor.
TensorAttribute::operator Operand() const { return Operand(In(read())); }

TensorAttribute::operator bool() const {
  AttributeRecord* record = AttributeRecord::current();
  return record ? record->holds(place_) : place_->get().defined();
}

const TensorAttribute& TensorAttribute::assign(const In& value) const {
  put(value.tensor());
  return *this;
}

void TensorAttribute::reset() const { put({}); }

void TensorAttribute::put(Tensor value) const {
  if (AttributeRecord* record = AttributeRecord::current()) {
    record->assign(place_, std::move(value));
    return;
  }
  if (Tracer* other = current_trace()) refuse_outside(*place_, *other->scope());
  if (value.defined() && value.is_symbolic()) value = holdfast::value(value, place_->name);
  place_->set(std::move(value));
}

AttributeRecord::AttributeRecord(Tracer& tracer)
    : tracer_(tracer), around_(std::exchange(g_record, this)) {}

AttributeRecord::~AttributeRecord() { g_record = around_; }

AttributeRecord* AttributeRecord::current() {
  Tracer* tracer = g_record ? current_trace() : nullptr;
  return tracer && tracer->scope()->inside(g_record->tracer_.scope()) ? g_record : nullptr;
}

AttributeRecord::Use& AttributeRecord::use_of(const Ref<Place>& place) {
  for (Use& u : uses_)
    if (u.place == place) return u;
  uses_.emplace_back().place = place;
  return uses_.back();
}

bool AttributeRecord::holds(const Ref<Place>& place) {
  Use& use = use_of(place);
  if (use.assigned) return use.now.defined();
  if (!use.asked) {
    use.asked = true;
    use.found = place->get();
    // Two attributes may hold one tensor now and two tensors later.
    if (use.found.defined() && use.found.rep()->buffer)
      use.found = view_of(use.found, use.found.shape());
  }
  return use.found.defined();
}

// A symbol, also for what has a value: code that reads its numbers would freeze them.
Tensor AttributeRecord::read(const Ref<Place>& place) {
  if (!holds(place)) return {};
  Use& use = use_of(place);
  if (use.assigned) return use.now;
  if (!use.symbol.defined()) {
    Edge e = tracer_.resolve(use.found);
    if (!tracer_.release(use.found)) bug("an attribute of a trace has no node");
    use.symbol = tracer_.symbol(e);
  }
  return use.symbol;
}

void AttributeRecord::assign(const Ref<Place>& place, Tensor value) {
  Scope* scope = current_trace()->scope();
  if (scope != tracer_.scope()) refuse_inside(*place, *scope);
  if (value.defined()) tracer_.resolve(value, place->name);  // refuses what has no value here
  Use& use = use_of(place);
  use.assigned = true;
  use.now = std::move(value);
}

void AttributeRecord::went_by(const BoundPlace& place, Ref<const BoundValue> value) {
  for (const Bound& b : bounds_)
    if (b.place == place) return;
  bounds_.push_back({{place, std::move(value)}});
}

Ref<TraceState> AttributeRecord::finish(Tensors& outputs) {
  std::vector<Use> uses = std::exchange(uses_, {});
  if (uses.empty() && bounds_.empty()) return nullptr;
  auto state = make_ref<AttributeState>();
  for (Bound& b : bounds_) state->bounds.push_back(std::move(b));
  state->results = outputs.size();
  const std::vector<Capture>& captures = tracer_.graph()->captures;
  for (Use& u : uses) {
    TensorAttribute attribute(u.place);
    if (u.asked) {
      AttributeState::Read read{attribute, std::nullopt};
      if (u.found.defined()) read.like = Type{u.found.dtype(), u.found.shape()};
      for (size_t i = 0; i < captures.size() && u.symbol.defined(); ++i)
        if (captures[i].outer.id() == u.found.id()) read.capture = i;
      state->reads.push_back(std::move(read));
    }
    if (u.assigned) {
      state->stored.push_back({attribute, outputs.size()});
      outputs.push_back(std::move(u.now));
    }
  }
  return state;
}

}  // namespace holdfast
