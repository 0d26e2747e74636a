#include "holdfast/base/refcount.h"

namespace holdfast {

ForeignCount& foreign_count() {
  static ForeignCount hooks;
  return hooks;
}

void Adoptable::retain() const noexcept {
  uintptr_t s = state_.load(std::memory_order_relaxed);
  while (s & 1) {
    if (state_.compare_exchange_weak(s, s + 2, std::memory_order_relaxed)) return;
  }
  foreign_count().retain(reinterpret_cast<void*>(s));
}

void Adoptable::release() const noexcept {
  uintptr_t s = state_.load(std::memory_order_acquire);
  while (s & 1) {
    if (s == 3) { delete this; return; }
    if (state_.compare_exchange_weak(s, s - 2, std::memory_order_acq_rel)) return;
  }
  foreign_count().release(reinterpret_cast<void*>(s));
}

void Adoptable::adopt(void* self) const noexcept {
  uintptr_t s = state_.load(std::memory_order_acquire);
  do {
    if (!(s & 1)) return;
  } while (!state_.compare_exchange_weak(s, reinterpret_cast<uintptr_t>(self),
                                         std::memory_order_acq_rel));
  for (uintptr_t n = s >> 1; n > 0; --n) foreign_count().retain(self);
}

void* Adoptable::foreign() const noexcept {
  uintptr_t s = state_.load(std::memory_order_acquire);
  return s & 1 ? nullptr : reinterpret_cast<void*>(s);
}

}  // namespace holdfast
