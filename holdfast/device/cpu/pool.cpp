#include "holdfast/device/cpu/pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "holdfast/device/cpu/slabs.h"

namespace holdfast {
namespace {

constexpr size_t kCacheFrom = 64 << 10;  // smaller blocks are malloc's business
// Larger ones are mapped, in huge pages where there are any; those between come from slabs of them.
constexpr size_t kMapFrom = Slabs::kHuge;
// AddressSanitizer watches what lies around a block of malloc's.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kSlabFrom = kMapFrom;
#else
constexpr size_t kSlabFrom = kCacheFrom;
#endif
constexpr size_t kAlign = 64;

// Steps of an eighth: at most 12 % is lost, and blocks of nearly equal size are exchangeable.
size_t round_up(size_t bytes) {
  if (bytes < kCacheFrom) return (bytes + kAlign - 1) & ~(kAlign - 1);
  size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

// Never destroyed, as the pool is not.
Slabs& slabs() {
  static auto* s = new Slabs;
  return *s;
}

void* fresh(size_t bytes) {
  if (bytes < kSlabFrom) return std::aligned_alloc(kAlign, bytes);
  if (bytes < kMapFrom) return slabs().take(bytes);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

void give_back(void* p, size_t bytes) noexcept {
  if (bytes < kSlabFrom)
    std::free(p);
  else if (bytes < kMapFrom)
    slabs().give_back(p);
  else
    munmap(p, bytes);
}

}  // namespace

struct Pool::Bins {
  std::mutex mutex;
  std::map<size_t, std::vector<void*>> free;
  size_t cached = 0;
  size_t most_cached = static_cast<size_t>(system_memory()) / 4;
};

Pool::Pool() : bins_(new Bins) {}

Pool& Pool::get() {
  static Pool* p = new Pool;  // tensors in statics may be freed after any destructor of ours
  return *p;
}

void* Pool::allocate(size_t bytes, size_t* rounded) {
  size_t want = round_up(bytes ? bytes : 1);
  *rounded = want;
  if (want >= kCacheFrom) {
    std::lock_guard lock(bins_->mutex);
    // A block that is a quarter larger serves too: the memory of plans comes in sizes of its own.
    for (auto it = bins_->free.lower_bound(want);
         it != bins_->free.end() && it->first <= want + want / 4; ++it) {
      if (it->second.empty()) continue;
      void* p = it->second.back();
      it->second.pop_back();
      bins_->cached -= it->first;
      *rounded = it->first;
      return p;
    }
  }
  if (void* p = fresh(want)) return p;
  trim();
  return fresh(want);
}

void Pool::free(void* p, size_t rounded) noexcept {
  if (rounded >= kCacheFrom) {
    std::lock_guard lock(bins_->mutex);
    if (bins_->cached + rounded <= bins_->most_cached) {
      try {
        bins_->free[rounded].push_back(p);
        bins_->cached += rounded;
        return;
      } catch (const std::bad_alloc&) {
        // No room even for the list: the block goes back to the system.
      }
    }
  }
  give_back(p, rounded);
}

void Pool::trim() {
  std::lock_guard lock(bins_->mutex);
  for (auto& [bytes, blocks] : bins_->free)
    for (void* p : blocks) give_back(p, bytes);
  bins_->free.clear();
  bins_->cached = 0;
}

size_t Pool::cached() const {
  std::lock_guard lock(bins_->mutex);
  return bins_->cached;
}

int64_t system_memory() {
  static const int64_t bytes = [] {
    int64_t n = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    int64_t group = 0;
    if (std::ifstream in("/sys/fs/cgroup/memory.max"); in >> group && group > 0 && group < n)
      n = group;
    return n;
  }();
  return bytes;
}

}  // namespace holdfast
