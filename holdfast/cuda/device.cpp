#include "holdfast/cuda/device.h"

#include <pthread.h>

#include <mutex>

#include "holdfast/cuda/error.h"
#include "holdfast/cuda/ops.h"

namespace holdfast::cuda {
namespace {

std::atomic<bool> g_forked{false};

}  // namespace

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(CudaDevice* d, void* p, size_t bytes, size_t rounded)
      : Buffer(d, p, bytes), rounded_(rounded) {}

 protected:
  ~CudaBuffer() override { static_cast<CudaDevice*>(device_)->pool_.free(data_, bytes_, rounded_); }

 private:
  size_t rounded_;
};

Status check_process() {
  static const int watching = pthread_atfork(nullptr, nullptr, [] { g_forked = true; });
  if (watching == 0 && !g_forked.load(std::memory_order_relaxed)) return {};
  return {Code::E0705, "a GPU was used in a forked child; it belongs to the parent",
          "a CUDA context does not survive `fork`, so no op of the child can run on a GPU"};
}

Status status_of(cudaError_t e, const char* doing) {
  if (e == cudaSuccess) return {};
  cudaGetLastError();  // what is not sticky is over once it was told
  if (e == cudaErrorMemoryAllocation) return {Code::E0702, cat("no GPU memory is left: ", doing)};
  return {Code::E0706, cat("the GPU failed: ", cudaGetErrorString(e)),
          cat(cudaGetErrorName(e), " from ", doing,
              "; GPU work runs behind the program, so an earlier op may be the cause")};
}

CudaDevice::CudaDevice(int index, const cudaDeviceProp& p)
    : Device(DeviceKind::kCuda, index),
      description_(cat(p.name, ", ", p.totalGlobalMem >> 30, " GiB")),
      architecture_(p.major * 10 + p.minor),
      multiprocessors_(p.multiProcessorCount) {}

Status CudaDevice::enter() {
  HOLDFAST_CUDA(cudaSetDevice(index()));
  if (ready_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mutex_);
  if (!stream_) HOLDFAST_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  ready_.store(true, std::memory_order_release);
  return {};
}

Status CudaDevice::allocate(size_t bytes, Ref<Buffer>& out) {
  return guard([&]() -> Status {
    if (Status s = enter(); !s.ok()) return s;
    size_t rounded = 0;
    cudaError_t why = cudaSuccess;
    void* p = pool_.allocate(bytes, rounded, why);
    if (!p && why != cudaErrorMemoryAllocation) return status_of(why, "cudaMalloc");
    if (!p) {
      MemoryStats s = memory();
      size_t left = 0, total = 0;
      cudaMemGetInfo(&left, &total);
      return {Code::E0702, cat("no memory for ", bytes, " bytes on ", short_name()),
              cat(s.live, " bytes are live in tensors",
                  s.limit ? cat("; the limit is ", s.limit) : std::string(), "; the GPU has ", left,
                  " of ", total, " bytes left")};
    }
    out = make_ref<CudaBuffer>(this, p, bytes, rounded);
    return {};
  });
}

Status CudaDevice::copy_from_host(Buffer& to, size_t offset, const void* from, size_t bytes) {
  return guard([&]() -> Status {
    if (!bytes) return {};
    if (Status s = enter(); !s.ok()) return s;
    HOLDFAST_CUDA(cudaMemcpyAsync(static_cast<char*>(to.data()) + offset, from, bytes,
                                  cudaMemcpyHostToDevice, stream_));
    // CUDA has read ordinary memory when the call returns. Memory that somebody pinned it reads
    // later.
    cudaPointerAttributes a{};
    if (cudaPointerGetAttributes(&a, from) != cudaSuccess || a.type != cudaMemoryTypeUnregistered) {
      cudaGetLastError();
      HOLDFAST_CUDA(cudaStreamSynchronize(stream_));
    }
    return {};
  });
}

Status CudaDevice::copy_to_host(void* to, const Buffer& from, size_t offset, size_t bytes) {
  return guard([&]() -> Status {
    if (!bytes) return {};
    if (Status s = enter(); !s.ok()) return s;
    HOLDFAST_CUDA(cudaMemcpyAsync(to, static_cast<const char*>(from.data()) + offset, bytes,
                                  cudaMemcpyDeviceToHost, stream_));
    HOLDFAST_CUDA(cudaStreamSynchronize(stream_));
    return {};
  });
}

Status CudaDevice::copy_within(Buffer& to, size_t to_offset, const Buffer& from, size_t offset,
                               size_t bytes) {
  return guard([&]() -> Status {
    if (!bytes) return {};
    if (Status s = enter(); !s.ok()) return s;
    HOLDFAST_CUDA(cudaMemcpyAsync(static_cast<char*>(to.data()) + to_offset,
                                  static_cast<const char*>(from.data()) + offset, bytes,
                                  cudaMemcpyDeviceToDevice, stream_));
    return {};
  });
}

Status CudaDevice::synchronize() {
  return guard([&]() -> Status {
    if (Status s = enter(); !s.ok()) return s;
    HOLDFAST_CUDA(cudaStreamSynchronize(stream_));
    return {};
  });
}

}  // namespace holdfast::cuda
