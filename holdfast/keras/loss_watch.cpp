#include "holdfast/keras/loss_watch.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/keras/step_scope.h"
#include "holdfast/keras/training.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::keras {
namespace {

struct WatchAttrs {
  Attr<RefCounted> watch;
};

LossWatch& watch_of(const Call& c) {
  auto* watch = dynamic_cast<LossWatch*>(c.attrs<WatchAttrs>().watch());
  if (!watch) fail(Code::E1104, "WatchLoss: `watch` is not one");
  return *watch;
}

void infer_watch(Infer&) {}

Status run_watch(Call& c) {
  const Tensor& loss = c.in();
  double value = 0;
  visit_floats(loss.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < loss.size() && std::isfinite(value); ++i)
      value = static_cast<double>(loss.raw<T>()[i]);
  });
  if (!std::isfinite(value)) watch_of(c).see(value);
  return {};
}

[[maybe_unused]] const Op watch_op = RAW_OP(WatchLoss)
                                         .doc("Tells a watch of a loss that is not finite.")
                                         .inputs("loss: F")
                                         .dtypes(kFloats, "F")
                                         .outputs("")
                                         .attr("watch")
                                         .attrs<&WatchAttrs::watch>()
                                         .infer(infer_watch)
                                         .kernel("watch", run_watch)
                                         .stateful()
                                         .no_gradient();

// What numbers a tensor has.
struct Range {
  int64_t nan = 0, inf = 0, all = 0;
  double least = INFINITY, most = -INFINITY;  // of the finite ones
  bool finite() const { return nan == 0 && inf == 0; }
};

bool has_floats(const Tensor& t) {
  return t.defined() && !t.is_symbolic() && is_floating(t.dtype()) && t.rep()->buffer;
}

Range range_of(const Tensor& given) {
  Range out;
  if (!has_floats(given)) return out;
  const Tensor t = copy_to(given, cpu());
  visit_floats(t.dtype(), [&]<class T>(T) {
    const T* at = t.raw<T>();
    for (int64_t i = 0, n = t.size(); i < n; ++i) {
      auto v = static_cast<double>(at[i]);
      if (std::isnan(v))
        ++out.nan;
      else if (std::isinf(v))
        ++out.inf;
      else
        out.least = std::min(out.least, v), out.most = std::max(out.most, v);
    }
  });
  out.all = t.size();
  return out;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}
std::string range_text(const Range& r) {
  if (r.least > r.most) return r.nan ? "NaN alone" : "Inf alone";
  std::string out = r.least == r.most
                        ? number(r.least)
                        : cat("numbers from ", number(r.least), " to ", number(r.most));
  if (r.inf) out += ", with Inf among them";
  if (r.nan) out += ", with NaN among them";
  return out;
}

// An op that gave what is not finite.
struct Bad {
  const OpDef* op = nullptr;
  std::string scope;  // the layer that it is part of
  Where where = nullptr;
  Range out;
  std::vector<Range> in;
  std::vector<uint64_t> operands;
};

// Looks at what each op gives.
class Looking final : public Tape {
 public:
  void ran(const OpDef& op, std::span<const Tensor> in, const Attrs&,
           std::span<const Tensor> out) override {
    if (nan_.op) return;
    for (const Tensor& t : out) {
      Range r = range_of(t);
      if (r.finite()) continue;
      Bad bad{&op, context().name_scope, t.born() ? t.born() : here(), r, {}, {}};
      for (const Tensor& operand : in) {
        bad.in.push_back(range_of(operand));
        bad.operands.push_back(operand.defined() ? operand.id() : 0);
      }
      if (r.inf && !r.nan) infinite_.emplace(t.id(), bad);
      if (!first_.op) first_ = bad;
      if (r.nan) {
        nan_ = std::move(bad);
        return;
      }
    }
  }
  // The op to tell of, and where its Inf came from, if that is what it had.
  const Bad& found(bool nan) const { return nan && nan_.op ? nan_ : first_; }
  const Bad* origin(const Bad& bad) const {
    for (uint64_t id : bad.operands)
      if (auto it = infinite_.find(id); it != infinite_.end()) return source(it->second);
    return nullptr;
  }

 private:
  const Bad* source(const Bad& bad) const {
    const Bad* now = &bad;
    for (int i = 0; i < 1000; ++i) {
      const Bad* before = nullptr;
      for (uint64_t id : now->operands)
        if (auto it = infinite_.find(id); it != infinite_.end()) before = &it->second;
      if (!before || before == now) break;
      now = before;
    }
    return now;
  }
  Bad nan_, first_;
  std::unordered_map<uint64_t, Bad> infinite_;
};

// The tapes of this thread, and this one.
class Taping {
 public:
  explicit Taping(Tape& t) { context().tapes.push_back(&t); }
  ~Taping() { context().tapes.pop_back(); }
  Taping(const Taping&) = delete;
};

// A function of ours as the program would write it.
std::string ours(std::string call) {
  if (language() == Language::kPython) return cat("`", module_alias(), ".", call, "`");
  for (size_t dot = 0; (dot = call.find('.', dot)) != call.npos;) call.replace(dot, 1, "::");
  return cat("`", call, "`");
}

std::string way_out(std::string_view op) {
  if (op == "Log" || op == "Log1p")
    return cat("keep what goes into the logarithm above 0: ", ours("maximum(x, 1e-7)"));
  if (op == "RealDiv" || op == "Div" || op == "Xdivy" || op == "Reciprocal")
    return cat("keep the divisor away from 0: add a small number, or use ",
               ours("math.divide_no_nan"));
  if (op == "Sqrt" || op == "Rsqrt")
    return cat("keep what is under the root above 0: ", ours("maximum(x, 1e-7)"));
  if (op == "Exp" || op == "Expm1" || op == "Pow" || op == "Cosh" || op == "Sinh")
    return cat("keep the exponent small: ", ours("clip_by_value"), ", or ",
               ours("reduce_logsumexp"), " for sums of such terms");
  if (op == "Acos" || op == "Asin" || op == "Acosh" || op == "Atanh")
    return cat("keep what goes in inside the function's range: ", ours("clip_by_value"));
  return "the numbers grow without bound: a smaller learning rate, or a `clipnorm` of 1 for the "
         "optimizer";
}

std::string in_layer(const Bad& bad) {
  std::string path = bad.scope;
  while (path.ends_with('/')) path.pop_back();
  return path.empty() ? "" : cat(" in layer `", path, "`");
}

const char* kind_of(const Range& r) { return r.nan ? "NaN" : "Inf"; }

void tell_op(Diagnostic& d, const Looking& looked, bool nan) {
  const Bad& bad = looked.found(nan);
  const Bad* origin = bad.out.nan ? looked.origin(bad) : nullptr;
  const Bad& cause = origin ? *origin : bad;
  d.op = cause.op->name;
  d.headline += cat(": ", cause.op->name, " gave ", kind_of(cause.out));
  d.labels.push_back({Role::kUsed, locate(cause.where),
                      cat(cause.op->name, in_layer(cause), " gave the first ", kind_of(cause.out)),
                      true});
  std::string got;
  bool finite = true;
  for (const Range& r : cause.in) {
    if (r.all == 0) continue;
    got += cat(got.empty() ? "" : " and ", range_text(r));
    finite = finite && r.finite();
  }
  d.why = cat(cause.op->name, in_layer(cause), " was given ", got.empty() ? "no numbers" : got,
              got.empty() ? ""
              : finite    ? ", all finite"
                          : "",
              ", and gave ", cause.out.nan + cause.out.inf, " ", kind_of(cause.out), " in ",
              cause.out.all, " elements");
  if (origin) d.why += cat("; ", bad.op->name, " made NaN of it");
  d.fixes.push_back(manual_fix(way_out(cause.op->name)));
}

// Something that a step was given and that is not finite: no op is to blame.
bool tell_given(Diagnostic& d, const Nested& batch, const ModelLayer& model) {
  std::vector<Tensor> leaves = batch.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    Range r = range_of(leaves[i]);
    if (r.finite()) continue;
    const char* what = i == 0                            ? "x"
                       : i + 1 == leaves.size() && i < 3 ? (i == 1 ? "y" : "weights")
                                                         : "a part";
    d.headline += cat(": `", what, "` of the batch has ", kind_of(r));
    d.why = cat(r.nan + r.inf, " of the ", r.all, " numbers of `", what,
                "` in this batch are not finite, so neither is what is computed from them");
    d.fixes.push_back(
        manual_fix("clean the data before training: look for numbers that are not finite"));
    return true;
  }
  for (const Variable& v : model.variables()) {
    Range r = range_of(v.state()->get());
    if (r.finite()) continue;
    d.headline += cat(": `", v.name(), "` had ", kind_of(r), " already");
    if (Loc born = locate(v.state()->born); born.line > 0)
      d.labels.push_back({Role::kBorn, std::move(born), cat("the weight `", v.name(), "`"), false});
    d.why = cat("the step before left ", r.nan + r.inf, " of the ", r.all, " numbers of `",
                v.name(), "` not finite: its loss was finite, one of its gradients was not");
    d.fixes.push_back(manual_fix(
        "a root or a norm of 0 has no finite gradient: keep it above 0 by a small number"));
    d.fixes.push_back(manual_fix(
        "or make steps smaller: the learning rate, a `clipnorm` of 1 for the optimizer"));
    return true;
  }
  return false;
}

}  // namespace

void LossWatch::look(const Tensor& loss, const std::vector<Variable>& weights) {
  if (current_device() != cpu() || !is_floating(loss.dtype())) return;
  weights_ = weights;
  Tensors none;
  NoTapes unseen;
  apply(*find_op("WatchLoss"), Tensors{loss}, Attrs{Arg(Ref<RefCounted>(this))}, none);
}

void LossWatch::reset() {
  fired_ = false;
  before_.clear();
}

void LossWatch::see(double) {
  if (fired_) return;
  // References alone: who changes a value that somebody else holds changes a copy.
  for (const Variable& v : weights_)
    if (Tensor now = v.state()->get(); now.defined()) before_.emplace_back(v, std::move(now));
  fired_ = true;
}

SmallStates::SmallStates(const ModelLayer& model) {
  constexpr int64_t kSmall = 64;  // bytes
  for (const Variable& v : model.non_trainable_variables())
    if (Tensor now = v.state()->get();
        now.defined() && now.size() * static_cast<int64_t>(size_of(now.dtype())) <= kSmall)
      before_.emplace_back(v, Tensor());
}

void SmallStates::note() {
  for (auto& [v, value] : before_) value = v.state()->get();
}

void report_not_finite(ModelLayer& model, const Nested& batch, const LossWatch& watch,
                       const SmallStates& states, const StepPlace& place) {
  std::vector<std::pair<Variable, Tensor>> after;
  std::unordered_set<const VariableState*> seen;
  auto remember = [&](const std::vector<Variable>& all) {
    for (const Variable& v : all)
      if (seen.insert(v.state()).second) after.emplace_back(v, v.state()->get());
  };
  remember(model.variables());
  if (model.is_compiled()) {
    if (const Ref<Optimizer>& o = model.compiled().optimizer()) remember(o->variables());
    for (const Ref<Metric>& m : model.compiled().metrics()) remember(m->variables());
  }
  for (const auto& [v, value] : watch.before()) v.state()->set(value);
  for (const auto& [v, value] : states.before())
    if (value.defined()) v.state()->set(value);

  Diagnostic d;
  d.code = Code::W1204;
  d.severity = Severity::kWarning;
  Looking looked;
  bool nan = true, told = false, ran = false;
  std::string failed;
  {
    InterpreterScope eagerly(nullptr);
    NoTapes alone;
    Taping looking(looked);
    StepScope step(false);
    try {
      Range r = range_of(training_loss(model, batch));
      nan = r.nan > 0;
      ran = true;
      d.headline =
          cat("the loss is ", kind_of(r), " in epoch ", place.epoch + 1, ", step ", place.step + 1);
      if (r.finite()) {
        d.headline =
            cat("the loss was not finite in epoch ", place.epoch + 1, ", step ", place.step + 1);
        d.why = "a second run of the step over the same batch gave a finite one: chance has a part";
        told = true;
      }
    } catch (const std::exception& e) {
      failed = e.what();
    }
    if (!ran) {
      d.headline =
          cat("the loss is not finite in epoch ", place.epoch + 1, ", step ", place.step + 1);
      d.why = cat("the step could not be run once more to look for the op: ",
                  failed.substr(0, failed.find('\n')));
      told = true;
    }
  }
  if (!told) told = tell_given(d, batch, model);
  if (!told && looked.found(nan).op) tell_op(d, looked, nan);
  for (const auto& [v, value] : after) v.state()->set(value);
  bool primary =
      std::any_of(d.labels.begin(), d.labels.end(), [](const Label& l) { return l.primary; });
  Label asked = used_here("training was asked for here");
  asked.loc = locate(place.asked);
  asked.primary = !primary;
  if (asked.loc.line > 0) d.labels.push_back(std::move(asked));
  d.subject.name = "loss";
  d.subject.op = d.op;
  warn(std::move(d));
}

}  // namespace holdfast::keras
