#include "holdfast/op/crossing.h"

#include "holdfast/base/text.h"
#include "holdfast/op/advice.h"
#include "holdfast/op/refuse.h"

namespace holdfast {

void two_devices(const OpDef& op, std::span<const Tensor> in, size_t i, Device* from, Device* to) {
  std::string name = operand_source(op, in, static_cast<int>(i)).text;
  auto d = about_call(Code::E0701, op, in,
                      cat("`", name, "` lives on ", from->short_name(), ", but ", op.name,
                          " runs on ", to->short_name()));
  for (TensorInfo& other : d.others)  // the story is about the one that has to move
    if (other.name == name && d.subject.name != name) std::swap(other, d.subject);
  d.why = "the device policy is explicit: no copy is made unless the program says so";
  d.fixes.push_back(manual_fix(cat("copy it under the right device: `",
                                   written(Advice::kOnDevice, {to->short_name()}), "` and there `",
                                   written(Advice::kCopy, {name}), "`")));
  raise(std::move(d));
}

void warn_copy(const OpDef& op, std::span<const Tensor> in, size_t i, Device* from, Device* to) {
  std::string name = operand_source(op, in, static_cast<int>(i)).text;
  int64_t bytes = in[i].shape().size() * size_of(in[i].dtype());
  auto d = about_call(Code::W0701, op, in,
                      cat("`", name, "` was copied from ", from->short_name(), " to ",
                          to->short_name(), ": ", bytes, " bytes"));
  d.severity = Severity::kWarning;
  d.why =
      cat(op.name, " runs on ", to->short_name(), " and its operand lives on ", from->short_name());
  d.fixes.push_back(
      manual_fix(cat("make it there: `", written(Advice::kOnDevice, {to->short_name()}), "`")));
  warn(std::move(d));
}

void warn_fallback(const OpDef& op, std::span<const Tensor> in, Device* device,
                   const std::string& refusals) {
  auto d = about_call(
      Code::W0704, op, in,
      cat(op.name, " ran on CPU:0 instead of ", device->short_name(), ", with copies both ways"));
  d.severity = Severity::kWarning;
  d.why = refusals.empty()
              ? cat("no kernel of ", op.name, " is registered for ", device->short_name())
              : refusals;
  d.fixes.push_back(manual_fix(
      cat("say so, and keep its operands there: `", written(Advice::kOnDevice, {"CPU:0"}), "`")));
  warn(std::move(d));
}

}  // namespace holdfast
