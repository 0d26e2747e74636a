// The CPU as a device: buffers from the pool, copies by memcpy.
#include "holdfast/device/cpu/cpu_device.h"

#include <atomic>
#include <cstring>
#include <new>

#include "holdfast/base/recycle.h"
#include "holdfast/base/text.h"
#include "holdfast/device/cpu/account.h"
#include "holdfast/device/cpu/pool.h"

namespace holdfast {
namespace {

std::atomic<int64_t> g_fail_in{0};

// Counts down towards the allocation that a test wants to fail.
bool told_to_fail() {
  if (g_fail_in.load(std::memory_order_relaxed) == 0) return false;
  return g_fail_in.fetch_sub(1) == 1;
}

class PoolBuffer final : public Buffer {
 public:
  PoolBuffer(Device* d, void* p, size_t bytes, size_t rounded)
      : Buffer(d, p, bytes), rounded_(rounded) {}

 protected:
  ~PoolBuffer() override {
    Account::get().leave(bytes_);
    Pool::get().free(data_, rounded_);
  }

 private:
  size_t rounded_;
};

// Header and elements in one block: for the many tensors of a few numbers.
class SmallBuffer final : public Buffer {
 public:
  static constexpr size_t kMost = 1024;
  SmallBuffer(Device* d, size_t bytes) : Buffer(d, this + 1, bytes) {}
  struct Payload {
    size_t bytes;
  };
  static void* operator new(size_t self, Payload data) {
    return fits(data.bytes) ? take_block() : ::operator new(self + data.bytes);
  }
  static void operator delete(void* p, Payload data) {  // for a constructor that throws
    fits(data.bytes) ? give_block(p) : ::operator delete(p);
  }
  static void operator delete(SmallBuffer* p, std::destroying_delete_t) {
    size_t bytes = p->bytes_;
    p->~SmallBuffer();
    if (fits(bytes))
      give_block(p);
    else
      ::operator delete(p);
  }

 protected:
  ~SmallBuffer() override { Account::get().leave(bytes_); }

 private:
  static bool fits(size_t bytes);
};

bool SmallBuffer::fits(size_t bytes) { return sizeof(SmallBuffer) + bytes <= kRecycled; }

}  // namespace

void fail_allocation(int64_t n) { g_fail_in = n; }

Status CpuDevice::allocate(size_t bytes, Ref<Buffer>& out) {
  if (told_to_fail() || !Account::get().admit(bytes)) return no_memory(bytes);
  if (bytes <= SmallBuffer::kMost) {
    Buffer* fresh = new (SmallBuffer::Payload{bytes}) SmallBuffer(this, bytes);
    fresh->retain_first();
    out = Ref<Buffer>::take(fresh);
    return {};
  }
  size_t rounded = 0;
  void* p = Pool::get().allocate(bytes, &rounded);
  if (!p) {
    Account::get().leave(bytes);
    return no_memory(bytes);
  }
  out = make_ref<PoolBuffer>(this, p, bytes, rounded);
  return {};
}

Status CpuDevice::no_memory(size_t bytes) const {
  MemoryStats s = memory();
  return {Code::E0702, cat("no memory for ", bytes, " bytes on ", short_name()),
          cat(s.live, " bytes are live in tensors; the limit is ", s.limit)};
}

Status CpuDevice::copy_from_host(Buffer& to, size_t offset, const void* from, size_t bytes) {
  if (bytes) std::memcpy(static_cast<char*>(to.data()) + offset, from, bytes);
  return {};
}

Status CpuDevice::copy_to_host(void* to, const Buffer& from, size_t offset, size_t bytes) {
  if (bytes) std::memcpy(to, static_cast<const char*>(from.data()) + offset, bytes);
  return {};
}

Status CpuDevice::copy_within(Buffer& to, size_t to_offset, const Buffer& from, size_t offset,
                              size_t bytes) {
  return copy_from_host(to, to_offset, static_cast<const char*>(from.data()) + offset, bytes);
}

MemoryStats CpuDevice::memory() const {
  const Account& a = Account::get();
  return {a.live(), a.peak(), static_cast<int64_t>(Pool::get().cached()), a.limit(), a.count()};
}
void CpuDevice::set_memory_limit(int64_t bytes) { Account::get().set_limit(bytes); }
void CpuDevice::reset_peak() { Account::get().reset_peak(); }
std::string CpuDevice::description() const { return cat("CPU, ", system_memory() >> 20, " MiB"); }

}  // namespace holdfast
