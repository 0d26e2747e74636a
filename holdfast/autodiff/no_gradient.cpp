// What is said of a gradient that is not there, and of one that a tape no longer has.
#include <algorithm>

#include "holdfast/autodiff/recorder.h"
#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/op.h"
#include "holdfast/op/refuse.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast {
namespace {

constexpr size_t kShownLines = 3;

std::string quoted(const std::string& name, const char* otherwise) {
  return name.empty() ? otherwise : cat("`", name, "`");
}

// A headline that is complete on its line, also where names are long.
std::string fitting(const std::string& head, const std::string& reason, const char* shorter) {
  constexpr size_t kColumns = 100 - std::string_view("warning[W0502]: ").size();
  return cat(head, ": ", head.size() + 2 + reason.size() <= kColumns ? reason : shorter);
}

void label_born(Diagnostic& d, const Source& source, const std::string& name) {
  bool variable = source.variable().defined();
  Loc born = variable ? locate(variable_state(source.variable())->born)
                      : describe(source.type(), name).born;
  if (born.line <= 0) return;
  const char* op = source.type().rep()->op;
  std::string from = !variable && *op ? cat(" from ", op) : "";
  std::string type = type_text(source.type().dtype(), source.type().shape());
  d.labels.push_back({Role::kBorn, std::move(born),
                      cat("born here: ", variable ? "Variable " : "", name, ", ", type, from),
                      false});
}

}  // namespace

std::string way_past(std::string_view op, std::string_view target) {
  const OpDef* known = find_op(op);
  Flat flat = known ? known->traits.flat : Flat::kNo;
  if (flat == Flat::kChoice)
    return cat("choose softly: `", written(Advice::kSoftmax), "` has a gradient where ", op,
               " has none");
  if (flat == Flat::kStep)
    return cat("let the gradient pass straight through ", op, ": `",
               written(Advice::kStraightThrough), "`");
  return cat("compute ", target, " by ops that have gradients, in place of ", op);
}

Diagnostic GradientTape::explain(const Tensor& target, const Source& source,
                                 const GradientNames& names) const {
  NoGradientReason found = why_none(target, source);
  const std::string y = quoted(names.target, "the target"), x = quoted(names.source, "the source"),
                    tape = names.tape.empty() ? "tape" : names.tape,
                    watch = cat("`",
                                written(Advice::kWatch,
                                        {tape, names.source.empty() ? "..." : names.source}),
                                "`");
  Diagnostic d;
  d.code = Code::W0502;
  d.severity = Severity::kWarning;
  d.op = "GradientTape.gradient";
  label_born(d, source, x);
  if (Loc at = locate(opened()); at.line > 0)
    d.labels.push_back({Role::kPlaced, std::move(at), "this tape was opened here", false});
  const bool assigned = found.op == Recorder::kAssigned;
  for (size_t i = 0; i < found.lines.size() && i < kShownLines; ++i)
    d.labels.push_back({Role::kCut, locate(found.lines[i]),
                        assigned ? "the path ends here: a Variable keeps the number"
                        : found.kind == NoGradient::kCut ? cat(found.op, " has no gradient")
                                                         : "the path ends here: plain numbers",
                        false});
  d.labels.push_back(used_here());

  // The expression that handed out numbers, as far as it is known.
  std::string taken = found.lines.empty() ? "" : source_text(found.lines[0]);
  int taken_in = found.lines.empty() ? 0 : locate(found.lines[0]).line;
  std::string head =
      cat("the gradient of ", y, " with respect to ", x, " is ", written(Advice::kNothing));
  std::string fix;
  switch (found.kind) {
    case NoGradient::kNotDifferentiable: {
      const char* dtype = name(source.type().dtype());
      d.headline = cat(head, ": ", x, " is ", dtype);
      d.why = cat("only floats and complex numbers have gradients, ", x, " is ", dtype, ".");
      fix = cat("make ", x, " a float, such as `float32`");
      break;
    }
    case NoGradient::kNotWatched:
      if (source.variable().defined()) {
        d.headline =
            fitting(head, cat(x, " was not read while the tape recorded"), "the tape saw no read");
        if (variable_state(source.variable())->trainable) {
          d.why = cat("the tape saw no read of the Variable ", x, ".");
          fix = options().watch_accessed_variables
                    ? cat("compute ", y, " from ", x, " inside the tape's block, while it records")
                    : cat("let the tape watch it: ", watch);
        } else {
          d.why = cat("a tape watches only trainable Variables by itself, and ", x, " is not one.");
          fix = cat("let the tape watch it: ", watch);
        }
      } else if (!names.replaced.empty()) {
        d.headline = cat(head, ": ", x, " replaced a Variable");
        d.why = cat("`", names.replaced,
                    " = ...` gave the Variable's name to a tensor, which no tape watches.");
        fix = "assign the new value to the Variable";
      } else {
        d.headline = cat(head, ": ", x, " is not watched");
        d.why = cat("a tape watches Variables by itself, but a constant such as ", x,
                    " only after ", watch, ".");
        fix = cat("let the tape watch it: ", watch);
      }
      break;
    case NoGradient::kCut:
      d.headline = cat(head, ": it is cut at ", found.op);
      d.why = cat(found.op, " has no derivative, so nothing before it is reached.");
      fix = way_past(found.op, y);
      break;
    case NoGradient::kTaken: {
      std::string who = quoted(taken, "the program");
      d.headline = fitting(head, cat(who, " took the numbers out"), "numbers were taken out");
      d.why = cat(who, " in line ", taken_in,
                  " hands over plain numbers, and what is computed from them does not know that "
                  "they come from ",
                  x, ".");
      fix = cat("compute ", y, " by ", written(Advice::kOps), " on the tensors themselves",
                taken.empty() ? "" : cat(", without ", who), ": ", written(Advice::kTakeNoNumbers),
                " on the way");
      break;
    }
    case NoGradient::kOffTape:
      if (TensorInfo t = describe(target, names.target); t.born.line > 0)
        d.labels.push_back({Role::kBorn, t.born, cat(y, " is computed here"), false});
      d.headline = fitting(head, cat(y, " was not computed from anything watched"),
                           "the tape did not see it");
      d.why = cat("no recorded op leads to ", y, ", nor to what it was computed from.");
      fix = cat("compute ", y, " by ", written(Advice::kOps),
                " inside the tape's block: ", written(Advice::kTakeNoNumbers));
      break;
    case NoGradient::kNoPath:
      d.headline = fitting(head, cat(y, " does not depend on ", x), "no path leads there");
      d.why = cat(y, " was computed under this tape, but not from ", x, taken.empty() ? "." : "");
      fix = cat("use ", x, " in the computation of ", y);
      if (assigned) {
        d.why = cat(quoted(taken, "the program"), " in line ", taken_in,
                    " puts a number into a Variable, and no gradient goes back through that to ", x,
                    ".");
        fix = cat("compute ", y, " from the value itself, in place of the Variable it is put into");
      } else if (!taken.empty()) {
        d.why += cat(": `", taken, "` in line ", taken_in,
                     " hands over plain numbers, which have no way back.");
        fix += cat(", in place of the numbers of `", taken, "`: ", written(Advice::kTakeNoNumbers));
      }
      break;
  }
  d.fixes.push_back(manual_fix(std::move(fix)));
  return d;
}

Diagnostic GradientTape::already_used(const GradientNames& names) const {
  std::string tape = quoted(names.tape, "the tape");
  Diagnostic d;
  d.code = Code::E0504;
  d.op = "GradientTape.gradient";
  d.headline = cat(tape, " was already used for a gradient; it is not persistent");
  if (Loc at = locate(opened()); at.line > 0)
    d.labels.push_back(
        {Role::kPlaced, std::move(at), cat(tape, " was opened here, not persistent"), false});
  if (Loc at = locate(used()); at.line > 0)
    d.labels.push_back({Role::kFirstUse, std::move(at),
                        "first gradient here; what the tape recorded was freed", false});
  d.labels.push_back(used_here("used here a second time"));
  d.why =
      "a tape that is not persistent frees its record with the first gradient, and this is the "
      "second.";
  d.fixes.push_back(manual_fix(
      cat("keep the record for more than one gradient: `", written(Advice::kPersistent), "`")));
  return d;
}

}  // namespace holdfast
