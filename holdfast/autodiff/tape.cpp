#include "holdfast/autodiff/tape.h"

#include <algorithm>
#include <set>

#include "holdfast/autodiff/backward.h"
#include "holdfast/autodiff/recorder.h"
#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/stand_in.h"
#include "holdfast/op/written_call.h"

namespace holdfast {
namespace {

bool asks_any_number(const TapeOptions& o) { return o.persistent && o.sees_itself; }

thread_local size_t t_orders_inside = 0;

// What the program calls the parts of `tape.gradient(y, x)`, where its line says so.
GradientNames names_in_line() {
  Where at = here();
  if (!at || at->origin != Origin::kCpp) return {};
  auto call = written_call(locate(at).source, "gradient");
  if (!call || call->arguments.size() != 2) return {};
  return {.target = call->arguments[0], .source = call->arguments[1], .tape = call->object};
}

// Values were computed under the tape, and a symbol of a model crept into what they lead to: the
// gradient would be that of a part.
void refuse_stand_ins(const std::vector<Tensor>& targets, const std::vector<Source>& sources,
                      Where opened) {
  auto refuse = stand_ins().refuse;
  bool values = std::ranges::any_of(
      sources, [](const Source& s) { return s.variable().defined() || !s.type().is_symbolic(); });
  if (!refuse || !values) return;
  for (const Tensor& y : targets) {
    if (!y.is_symbolic()) continue;
    try {
      refuse(stand_ins().made_before(y, opened));
    } catch (Error& e) {
      Diagnostic d = e.diagnostic();
      d.labels.push_back({Role::kStored, locate(y.born()), "it is taken in here", false});
      raise(std::move(d));
    }
  }
}

}  // namespace

GradientTape::GradientTape(TapeOptions o, Opened) : recorder_(make_owned<Recorder>(o)) {
  recorder_->opened = here();
  if (!o.paused) start();
}

GradientTape::~GradientTape() { stop(); }

void GradientTape::start() {
  if (recorder_->on) return;
  recorder_->on = true;
  recorder_->thread = &context();
  recorder_->thread->tapes.push_back(recorder_.get());
}

void GradientTape::stop() {
  if (!recorder_->on) return;
  recorder_->on = false;
  auto& list = recorder_->thread->tapes;  // also when a tape dies on another thread than it ran on
  for (size_t i = list.size(); i-- > 0;)
    if (list[i] == recorder_.get()) {
      list.erase(i);
      break;
    }
}

bool GradientTape::recording() const { return recorder_->on; }
void GradientTape::watch_tensor(const Tensor& t) { recorder_->watch(t.id()); }
void GradientTape::watch_variable(const Variable& v) { recorder_->watch_variable(v.handle()); }

void GradientTape::reset() {
  bool on = recorder_->on;
  stop();
  auto opened = recorder_->opened;
  recorder_ = make_owned<Recorder>(recorder_->options);
  recorder_->opened = opened;
  if (on) start();
}

const TapeOptions& GradientTape::options() const { return recorder_->options; }
Where GradientTape::opened() const { return recorder_->opened; }
Where GradientTape::used() const { return recorder_->used; }

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> out;
  for (const Tensor& handle : recorder_->variables) out.push_back(Variable::from_handle(handle));
  std::ranges::sort(out, {}, [](const Variable& v) { return v.handle().id(); });
  return out;
}

void GradientTape::begin_use() {
  Recorder& r = *recorder_;
  if (spent()) raise(already_used(names_in_line()));
  if (!r.options.persistent) stop();
  r.used = here();
}

std::vector<Gradient> GradientTape::pull(const std::vector<Tensor>& targets,
                                         const std::vector<Source>& sources,
                                         const std::vector<Tensor>& upstream,
                                         Unconnected unconnected, bool tells) {
  for (const Tensor& y : targets) y.id();  // refuses one that refers to nothing
  refuse_stand_ins(targets, sources, opened());
  if (!upstream.empty() && upstream.size() != targets.size())
    fail(Code::E1104, cat("gradients: `upstream` has ", upstream.size(), " tensors for ",
                          targets.size(), " targets, expected one each"));
  Recorder& r = *recorder_;
  bool was_on = r.on;
  begin_use();
  BackwardSite backward;
  std::vector<Record> own;
  auto out = run_backward(r.for_use(own), r.watched, targets, sources, upstream, unconnected,
                          !r.options.persistent);
  if (was_on && r.options.persistent) start();
  bool none = tells && !targets.empty() && !out.empty() &&
              std::ranges::all_of(out, [](const Gradient& g) { return g.none(); });
  if (none) warn(explain(targets[0], sources[0], names_in_line()));
  return out;
}

Tensor GradientTape::pull_one(const Tensor& target, const Source& source, bool tells) {
  return pull({target}, {source}, {}, Unconnected::kNone, tells)[0].tensor();
}

Tensor GradientTape::pull_one(const Tensor& target, const Source& source, const GradientOptions& o,
                              bool tells) {
  std::vector<Tensor> upstream;
  if (o.output_gradients.defined()) upstream.push_back(o.output_gradients);
  return pull({target}, {source}, upstream, o.unconnected_gradients, tells)[0].tensor();
}

void GradientTape::watch_source(const Source& s) {
  if (s.variable().defined())
    watch_variable(Variable::from_handle(s.variable()));
  else
    watch_tensor(s.type());
}

std::vector<Tensor> GradientTape::each_gradient(const Tensor& target,
                                                const std::vector<Source>& sources, bool tells) {
  std::vector<Tensor> out;
  for (const Gradient& g : pull({target}, sources, {}, Unconnected::kNone, tells))
    out.push_back(g.tensor());
  return out;
}

std::vector<Tensor> GradientTape::each_gradient(const Tensor& target,
                                                std::span<const Source> sources, bool tells) {
  return each_gradient(target, std::vector<Source>(sources.begin(), sources.end()), tells);
}

std::vector<Source> GradientTape::variable_sources(const std::vector<Variable>& variables) {
  return {variables.begin(), variables.end()};
}

std::vector<Source> GradientTape::tensor_sources(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

void GradientTape::record_custom(const char* name, const std::vector<Tensor>& in,
                                 const std::vector<Tensor>& out, Backward b) {
  for (Tape* tape : context().tapes)
    if (auto* r = dynamic_cast<Recorder*>(tape)) r->record_custom(name, in, out, b);
  if (Interpreter* writer = context().interpreter) writer->custom(name, in, out, b);
}

// A tape's gradient is seen by the tapes around it, and by itself if it is persistent.
size_t GradientTape::orders(std::span<const Tensor> inputs) {
  size_t n = 0;
  for (Tape* tape : context().tapes) {
    auto* r = dynamic_cast<Recorder*>(tape);
    if (!r ||
        std::none_of(inputs.begin(), inputs.end(), [&](const Tensor& t) { return r->watches(t); }))
      continue;
    if (asks_any_number(r->options)) return kAnyNumber;
    ++n;
  }
  return n;
}

void GradientTape::record_call(const char* name, const std::vector<Tensor>& in,
                               const std::vector<Level>& levels,
                               const std::optional<Level>& beyond) {
  size_t level = 0;
  auto& all = context().tapes;
  for (size_t i = all.size(); i-- > 0;) {
    auto* r = dynamic_cast<Recorder*>(all[i]);
    if (!r || std::none_of(in.begin(), in.end(), [&](const Tensor& t) { return r->watches(t); }))
      continue;
    level = asks_any_number(r->options) ? levels.size() + 1 : level + 1;
    if (level <= levels.size()) {
      const Level& l = levels[level - 1];
      r->record_custom(name, in, l.outputs, l.backward, l.paths);
      continue;
    }
    r->record_levels(name, in, levels);
    if (beyond) r->record_custom(name, in, beyond->outputs, beyond->backward);
  }
}

GradientTape::Inside::Inside(size_t orders) : was_(std::exchange(t_orders_inside, orders)) {}
GradientTape::Inside::~Inside() { t_orders_inside = was_; }

size_t GradientTape::Inside::orders() { return t_orders_inside; }

void GradientTape::accessed(std::span<const Tensor> handles,
                            const Callback<Ref<RefCounted>()>& lease) {
  for (Tape* tape : context().tapes) {
    auto* r = dynamic_cast<Recorder*>(tape);
    if (!r || !r->options.watch_accessed_variables) continue;
    bool more = false;
    for (const Tensor& t : handles)
      if (variable_state(t)->trainable) more = r->watch_variable(t) || more;
    if (more && lease) r->leases.push_back(lease());
  }
}

bool GradientTape::watched(std::span<const Tensor> inputs) {
  for (Tape* tape : context().tapes)
    if (auto* r = dynamic_cast<Recorder*>(tape))
      for (const Tensor& t : inputs)
        if (r->watches(t)) return true;
  return false;
}

void GradientTape::taken(const Tensor& t) {
  for (Tape* tape : context().tapes)
    if (auto* r = dynamic_cast<Recorder*>(tape);
        r && r->watches(t) && r->taken.size() < Recorder::kMostTaken)
      r->taken.push_back({here(), r->leading_to(t.id()), false});
}

std::set<uint64_t> GradientTape::Recorder::leading_to(uint64_t id) const {
  // Records stand in the order they were made: one look back finds all that led to `id`.
  std::set<uint64_t> found{id};
  for (size_t i = records.size(); i-- > 0;) {
    const Record& r = records[i];
    if (std::any_of(r.out_ids.begin(), r.out_ids.end(),
                    [&](uint64_t out) { return found.count(out) > 0; }))
      found.insert(r.in_ids.begin(), r.in_ids.end());
  }
  return found;
}

const char* const GradientTape::Recorder::kAssigned = "Assign";

NoGradientReason GradientTape::why_none(const Tensor& target, const Source& source) const {
  const Recorder& r = *recorder_;
  if (!is_differentiable(source.type().dtype())) return {NoGradient::kNotDifferentiable, "", {}};
  if (!r.watched.has(source.id())) return {NoGradient::kNotWatched, "", {}};
  if (int32_t cut = r.dead.find(target.id()); cut >= 0) {
    const Cut& c = r.cuts[static_cast<size_t>(cut)];
    return {NoGradient::kCut, c.op, {c.where}};
  }
  NoGradientReason out{
      r.watched.has(target.id()) ? NoGradient::kNoPath : NoGradient::kOffTape, "", {}};
  auto add = [&](bool assigned) {
    for (const Recorder::Taken& t : r.taken)
      if (t.assigned == assigned && t.where && t.from.count(source.id()) > 0 &&
          std::find(out.lines.begin(), out.lines.end(), t.where) == out.lines.end())
        out.lines.push_back(t.where);
  };
  add(false);
  if (!out.lines.empty() && out.kind == NoGradient::kOffTape) out.kind = NoGradient::kTaken;
  if (out.lines.empty() && out.kind == NoGradient::kNoPath) {
    add(true);
    if (!out.lines.empty()) out.op = Recorder::kAssigned;
  }
  return out;
}

}  // namespace holdfast
