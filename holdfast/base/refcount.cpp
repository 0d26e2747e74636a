#include "holdfast/base/refcount.h"

namespace holdfast {

void RefCounted::release_shared() const noexcept {
  int64_t before = count_.fetch_sub(1, std::memory_order_acq_rel);
  if (before == 1)
    destroy();
  else if (before < 0)
    released(before - kElsewhere);
}

void RefCounted::tell_retained(int64_t count) const noexcept { retained(count - kElsewhere); }

}  // namespace holdfast
