#include "holdfast/device/cpu/slabs.h"

#include <sys/mman.h>

#include <new>

namespace holdfast {

// On a boundary of huge pages: a mapping has one to spare, whose parts before and behind go back.
bool Slabs::open() {
  constexpr size_t kAsked = kSlab + kHuge;
  void* p = mmap(nullptr, kAsked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return false;
  auto begin = reinterpret_cast<uintptr_t>(p), at = (begin + kHuge - 1) / kHuge * kHuge;
  if (at > begin) munmap(p, at - begin);
  if (size_t behind = begin + kHuge - at) munmap(reinterpret_cast<void*>(at + kSlab), behind);
  madvise(reinterpret_cast<void*>(at), kSlab, MADV_HUGEPAGE);
  try {
    slabs_.emplace(at, Slab{});
  } catch (const std::bad_alloc&) {
    munmap(reinterpret_cast<void*>(at), kSlab);
    return false;
  }
  current_ = at;
  return true;
}

void* Slabs::take(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (current_ == 0 || slabs_[current_].used + bytes > kSlab)
    if (!open()) return nullptr;
  Slab& slab = slabs_[current_];
  void* p = reinterpret_cast<void*>(current_ + slab.used);
  slab.used += bytes;
  ++slab.live;
  return p;
}

void Slabs::give_back(void* block) noexcept {
  std::lock_guard lock(mutex_);
  auto it = --slabs_.upper_bound(reinterpret_cast<uintptr_t>(block));
  if (--it->second.live > 0) return;
  if (it->first == current_) current_ = 0;
  munmap(reinterpret_cast<void*>(it->first), kSlab);
  slabs_.erase(it);
}

size_t Slabs::mapped() const {
  std::lock_guard lock(mutex_);
  return slabs_.size() * kSlab;
}

}  // namespace holdfast
