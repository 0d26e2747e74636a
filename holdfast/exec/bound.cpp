#include "holdfast/exec/bound.h"

#include <mutex>

#include "holdfast/base/text.h"
#include "holdfast/exec/attribute_record.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/refuse.h"

namespace holdfast::detail {

class BoundPlace::Held final : public RefCounted {
 public:
  Held(std::string called, Ref<const BoundValue> initial)
      : name(std::move(called)), value_(std::move(initial)) {}
  Ref<const BoundValue> get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }
  void set(Ref<const BoundValue> value) {
    std::lock_guard lock(mutex_);
    std::swap(value_, value);
  }
  const std::string name;

 private:
  mutable std::mutex mutex_;
  Ref<const BoundValue> value_;
};

BoundPlace::BoundPlace(std::string name, Ref<const BoundValue> initial)
    : held_(make_ref<Held>(std::move(name), std::move(initial))) {}
BoundPlace::BoundPlace(const BoundPlace&) = default;
BoundPlace::~BoundPlace() = default;
const std::string& BoundPlace::name() const { return held_->name; }

Ref<const BoundValue> BoundPlace::read() const {
  Ref<const BoundValue> now = held_->get();
  if (AttributeRecord* record = AttributeRecord::current()) record->went_by(*this, now);
  return now;
}

void BoundPlace::replace(Ref<const BoundValue> value) const {
  if (Tracer* tracer = current_trace())
    fail(Code::E1105, cat(name(), " is assigned while `", tracer->scope()->name, "` is traced"),
         "the code runs once for all calls, so it would be assigned once",
         {manual_fix("assign it outside, or make it a `Bound<Tensor>` or a Variable: what is "
                     "assigned to these is so at each call")});
  held_->set(std::move(value));
}

Operand number_operand(bool v) { return Operand(In(v)); }
Operand number_operand(int64_t v) { return Operand(In(v)); }
Operand number_operand(uint64_t v) { return Operand(In(v)); }
Operand number_operand(double v) { return Operand(In(v)); }

}  // namespace holdfast::detail
