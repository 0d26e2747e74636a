#pragma once

#include "holdfast/device/device.h"

namespace holdfast {

/// One logical CPU. All share one pool; they differ in name, so that placement can be seen.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(int index) : Device(DeviceKind::kCpu, index) {}

  Status allocate(size_t bytes, Ref<Buffer>& out) override;
  Status copy_from_host(Buffer& to, size_t offset, const void* from, size_t bytes) override;
  Status copy_to_host(void* to, const Buffer& from, size_t offset, size_t bytes) override;
  Status copy_within(Buffer& to, size_t to_offset, const Buffer& from, size_t offset,
                     size_t bytes) override;
  Status synchronize() override { return {}; }
  MemoryStats memory() const override;
  void set_memory_limit(int64_t bytes) override;
  void reset_peak() override;
  std::string description() const override;

 private:
  Status no_memory(size_t bytes) const;
};

}  // namespace holdfast
