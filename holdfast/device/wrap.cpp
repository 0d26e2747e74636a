#include "holdfast/device/wrap.h"

#include "holdfast/base/checked.h"
#include "holdfast/base/text.h"
#include "holdfast/device/device.h"

namespace holdfast::detail {

Tensor wrap_bytes(DType dtype, size_t alignment, const void* data, const Shape& shape,
                  Ref<RefCounted> owner) {
  auto elements = shape.is_full() ? shape.elements() : std::nullopt;
  auto bytes = elements ? checked_mul(*elements, size_of(dtype)) : std::nullopt;
  if (!bytes) fail(Code::E1102, cat("wrap: got shape ", shape.text(), ", which no memory holds"));
  if (shape.rank() > kMaxRank)
    fail(Code::E1102, cat("wrap: got rank ", shape.rank(), ", expected at most ", kMaxRank));
  if (*bytes && !data)
    fail(Code::E1104, cat("wrap: got a null pointer for ", *elements, " elements"));
  if (reinterpret_cast<uintptr_t>(data) % alignment)
    fail(
        Code::E1104,
        cat("wrap: the address of the ", name(dtype), " elements is not a multiple of ", alignment),
        "they can't be read there", {manual_fix("copy them: `Tensor::of(span, shape)`")});
  auto let_go = [](void* token) { static_cast<RefCounted*>(token)->release(); };
  auto buffer = make_ref<ForeignBuffer>(cpu(), const_cast<void*>(data), static_cast<size_t>(*bytes),
                                        owner.get(), let_go);
  (void)owner.leak();  // the buffer's now
  Tensor out(make_ref<TensorRep>(dtype, shape, std::move(buffer)));
  out.rep()->born = here();
  out.rep()->op = "Const";
  return out;
}

void check_apart(const void* data, const void* owner, size_t bytes) {
  auto at = reinterpret_cast<uintptr_t>(data), begin = reinterpret_cast<uintptr_t>(owner);
  if (at >= begin && at < begin + bytes)
    fail(Code::E1104, "wrap: the memory is inside its owner, and moves with it",
         "the tensor would look at where it was",
         {manual_fix("hand over a std::shared_ptr of it, or copy: `constant(values)`")});
}

}  // namespace holdfast::detail
