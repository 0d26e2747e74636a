// A GPU without a GPU: memory that the host may not touch (it faults), and no kernel of its own.
// What the frame does about placement, copies, fallbacks and variables is the same as on a real
// one. `lend_cpu_kernels` gives it those of the CPU, which run while its pages are open.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <mutex>
#include <unordered_set>

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"

namespace slice {

using namespace holdfast;

class FakeDevice final : public Device {
 public:
  FakeDevice() : Device(DeviceKind::kCuda, 0) {}

  /// All pages of the device may be touched while it lives, those that are allocated then too.
  class Open {
   public:
    Open() {
      std::lock_guard lock(mutex());
      if (opened()++ == 0)
        for (const FakeBuffer* b : live()) b->protect(PROT_READ | PROT_WRITE);
    }
    ~Open() {
      std::lock_guard lock(mutex());
      if (--opened() == 0)
        for (const FakeBuffer* b : live()) b->protect(PROT_NONE);
    }
    Open(const Open&) = delete;
  };

  Status allocate(size_t bytes, Ref<Buffer>& out) override {
    size_t length = (bytes + 4095) / 4096 * 4096 + 4096;
    std::lock_guard lock(mutex());
    void* p = mmap(nullptr, length, opened() ? PROT_READ | PROT_WRITE : PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return {Code::E0702, "no address space for the fake GPU"};
    auto made = make_ref<FakeBuffer>(this, p, bytes, length);
    live().insert(made.get());
    out = std::move(made);
    return {};
  }
  Status copy_from_host(Buffer& to, size_t offset, const void* from, size_t bytes) override {
    Open open;
    if (bytes) std::memcpy(static_cast<char*>(to.data()) + offset, from, bytes);
    return {};
  }
  Status copy_to_host(void* to, const Buffer& from, size_t offset, size_t bytes) override {
    Open open;
    if (bytes) std::memcpy(to, static_cast<const char*>(from.data()) + offset, bytes);
    return {};
  }
  Status copy_within(Buffer& to, size_t to_offset, const Buffer& from, size_t offset,
                     size_t bytes) override {
    Open open;
    if (bytes)
      std::memmove(static_cast<char*>(to.data()) + to_offset,
                   static_cast<const char*>(from.data()) + offset, bytes);
    return {};
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
    void protect(int how) const { mprotect(data_, length_, how); }

   protected:
    ~FakeBuffer() override {
      std::lock_guard lock(mutex());
      live().erase(this);
      munmap(data_, length_);
    }

   private:
    size_t length_;
  };

  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static int& opened() {
    static int n = 0;
    return n;
  }
  static std::unordered_set<const FakeBuffer*>& live() {
    static auto* all = new std::unordered_set<const FakeBuffer*>;
    return *all;
  }
};

/// The first of the op's CPU kernels that takes the call, on memory of the fake device.
inline Status run_lent(Call& c) {
  FakeDevice::Open open;
  Types t = c.types();
  DType d = t.inputs() && t.has(0) ? t.dtype() : t.outputs() ? t.out_dtype() : DType::kResource;
  std::string why;
  for (const Kernel& k : c.op.kernels) {
    if (k.device != DeviceKind::kCpu) continue;
    bool takes = k.dtypes.has(d) || d == DType::kResource || d == DType::kVariant;
    const char* refusal = takes ? (k.refuse ? k.refuse(t) : nullptr) : "dtype";
    if (!refusal && !k.prepare) return k.run(c);
    if (!refusal) {
      Preparation made = k.prepare(t);
      if (made.ready) return k.run_prepared(c, *made.ready);
      refusal = made.refusal;
    }
    why += cat(k.name, ": ", refusal, "; ");
  }
  return {Code::E1105, cat(c.op.name, " has no kernel for this call"), why};
}

/// To every op that runs on devices and has no kernel for one like this.
inline void lend_cpu_kernels() {
  for (const OpDef* op : all_ops()) {
    bool has_cpu = false, has_own = false;
    for (const Kernel& k : op->kernels) (k.device == DeviceKind::kCpu ? has_cpu : has_own) = true;
    if (has_cpu && !has_own && !op->traits.host)
      add_kernel(op->name, {.name = "lent", .device = DeviceKind::kCuda, .run = run_lent});
  }
}

}  // namespace slice
