// One GPU as a device: memory from a pool, and one stream on which everything happens in order.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>

#include "holdfast/cuda/pool.h"
#include "holdfast/op/opdef.h"

namespace holdfast::cuda {

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, const cudaDeviceProp& properties);

  Status allocate(size_t bytes, Ref<Buffer>& out) override;
  Status copy_from_host(Buffer& to, size_t offset, const void* from, size_t bytes) override;
  Status copy_to_host(void* to, const Buffer& from, size_t offset, size_t bytes) override;
  Status copy_within(Buffer& to, size_t to_offset, const Buffer& from, size_t offset,
                     size_t bytes) override;
  Status synchronize() override;
  MemoryStats memory() const override { return pool_.stats(); }
  void set_memory_limit(int64_t bytes) override { pool_.set_limit(bytes); }
  void reset_peak() override { pool_.reset_peak(); }
  std::string description() const override { return description_; }

  /// Makes this GPU the thread's current one and sees that its stream exists. Before any other use.
  Status enter();
  /// Valid after `enter`.
  cudaStream_t stream() const { return stream_; }
  /// 90 for compute capability 9.0.
  int architecture() const { return architecture_; }
  int multiprocessors() const { return multiprocessors_; }

 private:
  friend class CudaBuffer;
  std::string description_;
  int architecture_, multiprocessors_;
  std::mutex mutex_;
  std::atomic<bool> ready_{false};
  cudaStream_t stream_ = nullptr;
  Pool pool_;
};

/// The device of a call that runs on a GPU, entered.
inline Status enter(Call& c, CudaDevice*& device) {
  device = static_cast<CudaDevice*>(c.device);
  return device->enter();
}

}  // namespace holdfast::cuda
