#include "holdfast/cuda/pool.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace holdfast::cuda {
namespace {

constexpr size_t kAlign = 512, kSmall = 1 << 20, kSlab = 8 << 20;

// Steps of an eighth: at most 12 % is lost, and blocks of nearly equal size are exchangeable.
size_t round_up(size_t bytes) {
  size_t step = std::max(kAlign, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

}  // namespace

void* Pool::allocate(size_t bytes, size_t& rounded, cudaError_t& why) {
  why = cudaErrorMemoryAllocation;
  if (bytes > size_t{1} << 62) return nullptr;
  rounded = round_up(bytes ? bytes : 1);
  std::lock_guard lock(mutex_);
  auto n = static_cast<int64_t>(bytes);
  if (stats_.limit && n > stats_.limit - stats_.live) return nullptr;
  void* p = take_cached(rounded, rounded);
  if (!p && rounded <= kSmall) {
    p = carve(rounded, why);
  } else if (!p) {
    why = cudaMalloc(&p, rounded);
    if (why == cudaErrorMemoryAllocation && stats_.cached) {
      cudaGetLastError();
      trim();
      why = cudaMalloc(&p, rounded);
    }
    if (why != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
  }
  if (!p) return nullptr;
  stats_.live += n;
  stats_.peak = std::max(stats_.peak, stats_.live);
  ++stats_.allocations;
  return p;
}

// A cached block of that size, or one up to a quarter larger.
void* Pool::take_cached(size_t want, size_t& rounded) {
  auto it = bins_.lower_bound(want);
  while (it != bins_.end() && it->second.empty()) ++it;
  bool fits =
      it != bins_.end() && (it->first == want || (want > kSmall && it->first <= want + want / 4));
  if (!fits) return nullptr;
  void* p = it->second.back();
  it->second.pop_back();
  rounded = it->first;
  stats_.cached -= static_cast<int64_t>(rounded);
  return p;
}

void* Pool::carve(size_t want, cudaError_t& why) {
  if (slab_left_ < want) {
    void* fresh = nullptr;
    why = cudaMalloc(&fresh, kSlab);
    if (why != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
    slab_ = static_cast<char*>(fresh);  // what was left of the last one is lost: under an eighth
    slab_left_ = kSlab;
  }
  void* p = slab_;
  slab_ += want;
  slab_left_ -= want;
  return p;
}

void Pool::free(void* p, size_t bytes, size_t rounded) noexcept {
  std::lock_guard lock(mutex_);
  stats_.live -= static_cast<int64_t>(bytes);
  try {
    bins_[rounded].push_back(p);
    stats_.cached += static_cast<int64_t>(rounded);
  } catch (const std::bad_alloc&) {
    // No host memory for the list: the block is lost to us, and nothing else breaks.
  }
}

// Gives large cached blocks back. cudaFree waits for the device, so nothing still uses them.
void Pool::trim() {
  for (auto& [size, blocks] : bins_) {
    if (size <= kSmall) continue;
    for (void* p : blocks) cudaFree(p);
    stats_.cached -= static_cast<int64_t>(size * blocks.size());
    blocks.clear();
  }
}

MemoryStats Pool::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void Pool::set_limit(int64_t bytes) {
  std::lock_guard lock(mutex_);
  stats_.limit = std::max<int64_t>(bytes, 0);
}

void Pool::reset_peak() {
  std::lock_guard lock(mutex_);
  stats_.peak = stats_.live;
}

}  // namespace holdfast::cuda
