#include "holdfast/keras/no_gradients.h"

#include <algorithm>

#include "holdfast/autodiff/recorder.h"
#include "holdfast/base/text.h"
#include "holdfast/keras/step_scope.h"
#include "holdfast/op/refuse.h"

namespace holdfast::keras {
namespace {

constexpr size_t kShown = 3;  // weights of which each has its own story

}  // namespace

void refuse_no_gradients(const ModelLayer& model, const GradientTape& tape, const Tensor& loss,
                         const std::vector<Variable>& weights) {
  Diagnostic d;
  d.code = Code::E0501;
  d.op = model.name();
  d.headline = cat("no gradient of the loss reaches any weight of ", model.described());
  d.subject = describe(loss, "loss");
  StepScope* step = StepScope::current();
  std::vector<std::string> stories;
  std::vector<Where> cuts;
  for (size_t i = 0; i < weights.size() && i < kShown; ++i) {
    const std::string name = cat("`", weights[i].name(), "`");
    NoGradientReason found = tape.why_none(loss, weights[i]);
    std::string fix;
    if (found.kind == NoGradient::kCut && !found.lines.empty()) {
      int line = locate(found.lines[0]).line;
      stories.push_back(cat(name, " is cut off at ", found.op, ", line ", line));
      fix = way_past(found.op, "the loss");
      if (std::find(cuts.begin(), cuts.end(), found.lines[0]) == cuts.end()) {
        cuts.push_back(found.lines[0]);
        d.labels.push_back({Role::kCut, locate(found.lines[0]),
                            cat(found.op, " cuts ", name, " off: it has no gradient"), false});
      }
    } else if (found.kind == NoGradient::kTaken && !found.lines.empty()) {
      stories.push_back(cat(name, " is cut off where plain numbers are taken, line ",
                            locate(found.lines[0]).line));
      fix = "compute the loss by ops on the tensors themselves, not on their numbers";
      d.labels.push_back(
          {Role::kCut, locate(found.lines[0]), "plain numbers are taken here", false});
    } else {
      stories.push_back(cat("no path leads from the loss to ", name));
      fix = "compute the loss from `y_pred`, what the model gives";
    }
    if (std::none_of(d.fixes.begin(), d.fixes.end(),
                     [&](const Fix& f) { return f.title == fix; }) &&
        d.fixes.size() < 2)
      d.fixes.push_back(manual_fix(fix));
  }
  for (const std::string& s : stories) d.why += cat(d.why.empty() ? "" : "; ", s);
  if (weights.size() > kShown) d.why += cat("; ", weights.size() - kShown, " more are like them");
  if (Loc born = locate(loss.born()); born.line > 0)
    d.labels.push_back({Role::kBorn, std::move(born), "the loss is computed here", false});
  Label used = used_here("the gradients are asked for here");
  if (step && step->asked()) used.loc = locate(step->asked());
  d.labels.push_back(std::move(used));
  raise(std::move(d));
}

}  // namespace holdfast::keras
