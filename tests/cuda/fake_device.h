// A GPU without a GPU: memory that the host may not touch (it faults) and no kernel of its own.
// What the frame does about placement, copies, fallbacks and variables is the same as on a real
// one.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <mutex>

#include "holdfast/device/device.h"

namespace slice {

using namespace holdfast;

class FakeDevice final : public Device {
 public:
  FakeDevice() : Device(DeviceKind::kCuda, 0) {}

  Status allocate(size_t bytes, Ref<Buffer>& out) override {
    size_t length = (bytes + 4095) / 4096 * 4096 + 4096;
    void* p = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return {Code::E0702, "no address space for the fake GPU"};
    out = make_ref<FakeBuffer>(this, p, bytes, length);
    return {};
  }
  Status copy_from_host(Buffer& to, size_t offset, const void* from, size_t bytes) override {
    Open open(to);
    if (bytes) std::memcpy(static_cast<char*>(to.data()) + offset, from, bytes);
    return {};
  }
  Status copy_to_host(void* to, const Buffer& from, size_t offset, size_t bytes) override {
    Open open(from);
    if (bytes) std::memcpy(to, static_cast<const char*>(from.data()) + offset, bytes);
    return {};
  }
  Status copy_within(Buffer&, size_t, const Buffer&, size_t, size_t) override {
    return {Code::E1105, "not on a fake GPU"};
  }
  Status synchronize() override { return {}; }
  MemoryStats memory() const override { return {}; }
  void set_memory_limit(int64_t) override {}
  void reset_peak() override {}
  std::string description() const override { return "no GPU: pages that fault"; }

 private:
  class FakeBuffer final : public Buffer {
   public:
    FakeBuffer(Device* d, void* p, size_t bytes, size_t length)
        : Buffer(d, p, bytes), length_(length) {}
    size_t length() const { return length_; }

   protected:
    ~FakeBuffer() override { munmap(data_, length_); }

   private:
    size_t length_;
  };

  // Makes a buffer's pages readable for the time of a copy.
  struct Open {
    explicit Open(const Buffer& b) : lock(mutex()), buffer(static_cast<const FakeBuffer&>(b)) {
      mprotect(buffer.data(), buffer.length(), PROT_READ | PROT_WRITE);
    }
    ~Open() { mprotect(buffer.data(), buffer.length(), PROT_NONE); }
    static std::mutex& mutex() {
      static std::mutex m;
      return m;
    }
    std::lock_guard<std::mutex> lock;
    const FakeBuffer& buffer;
  };
};

}  // namespace slice
