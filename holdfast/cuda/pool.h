// The caching allocator of one GPU: cudaMalloc costs more than most kernels, and cudaFree waits for
// all of them.
//
// A block may be freed while the stream still works on it. That is safe because a device has one
// stream: whoever gets the block next uses it later on the same stream.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <vector>

#include "holdfast/device/device.h"

namespace holdfast::cuda {

class Pool {
 public:
  /// Memory on the current device; null when there is none. `rounded` is what `free` wants back.
  void* allocate(size_t bytes, size_t& rounded, cudaError_t& why);
  void free(void* p, size_t bytes, size_t rounded) noexcept;
  MemoryStats stats() const;
  void set_limit(int64_t bytes);
  void reset_peak();

 private:
  void* carve(size_t want, cudaError_t& why);
  void* take_cached(size_t want, size_t& rounded);
  void trim();

  mutable std::mutex mutex_;
  std::map<size_t, std::vector<void*>> bins_;
  char* slab_ = nullptr;  // small blocks are cut from it and never go back
  size_t slab_left_ = 0;
  MemoryStats stats_;
};

}  // namespace holdfast::cuda
