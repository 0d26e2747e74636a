// Where tensors live and kernels run. The CPU is built in; others come from plugins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/status.h"
#include "holdfast/tensor/buffer.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

enum class DeviceKind : uint8_t { kCpu, kCuda };
inline constexpr int kNumDeviceKinds = 2;

/// Bytes of one device, as `tf.config.experimental.get_memory_info` tells them.
struct MemoryStats {
  int64_t live = 0;    // in tensors now
  int64_t peak = 0;    // most that ever were
  int64_t cached = 0;  // kept for reuse
  int64_t limit = 0;   // 0: none
  int64_t allocations = 0;
};

class HOLDFAST_API Device {
 public:
  Device(DeviceKind kind, int index) : kind_(kind), index_(index) {}
  virtual ~Device() = default;

  DeviceKind kind() const { return kind_; }
  int index() const { return index_; }
  /// "CPU:0"
  std::string short_name() const;
  /// "/job:localhost/replica:0/task:0/device:CPU:0"
  std::string name() const { return "/job:localhost/replica:0/task:0/device:" + short_name(); }

  /// Uninitialised memory. On failure the status names the bytes asked for.
  virtual Status allocate(size_t bytes, Ref<Buffer>& out) = 0;
  virtual Status copy_from_host(Buffer& to, size_t offset, const void* from, size_t bytes) = 0;
  virtual Status copy_to_host(void* to, const Buffer& from, size_t offset, size_t bytes) = 0;
  virtual Status copy_within(Buffer& to, size_t to_offset, const Buffer& from, size_t offset,
                             size_t bytes) = 0;
  /// Waits until everything asked for is done.
  virtual Status synchronize() = 0;
  virtual MemoryStats memory() const = 0;
  virtual void set_memory_limit(int64_t bytes) = 0;
  virtual void reset_peak() = 0;
  /// A line for people: "NVIDIA H200, 139 GiB".
  virtual std::string description() const = 0;

 private:
  DeviceKind kind_;
  int index_;
};

/// All devices of this process, CPUs first. The first call loads the plugins; fixed once the first
/// op ran.
HOLDFAST_API const std::vector<Device*>& devices();
/// The device of that kind and index, or null.
HOLDFAST_API Device* find_device(DeviceKind, int index);
HOLDFAST_API Device* cpu(int index = 0);
/// Adds a plugin's device. Called while plugins load.
HOLDFAST_API void add_device(Device*);
/// Splits the CPU into `n` logical devices. Fails once more than one exists and tensors live there.
HOLDFAST_API void set_logical_cpus(int n);

/// A fresh tensor on `device`, elements not set (strings are empty, and on the host). Throws E0702
/// when memory ends, E1102 when the shape is too large for any memory.
HOLDFAST_API Tensor empty(DType, const Shape&, Device* device);
namespace detail {
HOLDFAST_API Tensor copied_to(const Tensor& t, Device* device);
}
/// `t` on `device`; `t` itself if it is there already.
[[gnu::always_inline]] inline Tensor copy_to(
    const Tensor& t, Device* device,
    const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::copied_to(t, device);
}

/// Makes the `n`-th allocation from now fail (1: the next); 0 stops that. For tests.
HOLDFAST_API void fail_allocation(int64_t n);

}  // namespace holdfast
