#include "holdfast/device/device.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>

#include "holdfast/base/checked.h"
#include "holdfast/base/text.h"
#include "holdfast/device/cpu/cpu_device.h"
#include "holdfast/device/elsewhere.h"
#include "holdfast/device/plugin.h"

namespace holdfast {
namespace {

struct Registry {
  Registry() { list.push_back(new CpuDevice(0)); }
  std::mutex mutex;
  std::vector<Device*> list;  // never freed: buffers point at them
  int cpus = 1;
};

Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

// Strings are objects: they are made when the buffer is, and destroyed with it.
class StringBuffer final : public Buffer {
 public:
  StringBuffer(Ref<Buffer> memory, size_t count)
      : Buffer(memory->device(), memory->data(), memory->bytes()),
        memory_(std::move(memory)),
        count_(count) {
    std::uninitialized_default_construct_n(static_cast<std::string*>(data_), count_);
  }

 protected:
  ~StringBuffer() override { std::destroy_n(static_cast<std::string*>(data_), count_); }

 private:
  Ref<Buffer> memory_;
  size_t count_;
};

std::string out_of_memory_why(const Status& s) {
  std::string why = s.why();
  auto live = largest_live(10);
  if (live.empty()) return why;
  why += "; largest: ";
  for (size_t i = 0; i < live.size(); ++i) {
    Loc at = locate(live[i].born);
    if (i) why += ", ";
    why += cat(live[i].bytes, " bytes ", name(live[i].dtype), live[i].shape.text());
    if (!at.file.empty()) why += cat(" from ", short_path(at.file), ":", at.line);
  }
  return why;
}

}  // namespace

std::atomic<bool> detail::g_memory_elsewhere{false};

std::string Device::short_name() const {
  return cat(kind_ == DeviceKind::kCpu ? "CPU:" : "GPU:", index_);
}

const std::vector<Device*>& devices() {
  load_plugins();
  return registry().list;
}

Device* find_device(DeviceKind kind, int index) {
  for (Device* d : devices())
    if (d->kind() == kind && d->index() == index) return d;
  return nullptr;
}

Device* cpu(int index) {
  static Device* first = registry().list[0];  // needs no plugin, and is asked for while one loads
  return index == 0 ? first : find_device(DeviceKind::kCpu, index);
}

void add_device(Device* d) {
  std::lock_guard lock(registry().mutex);
  registry().list.push_back(d);
}

void set_logical_cpus(int n) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (n < 1)
    fail(Code::E1103,
         cat("set_logical_device_configuration: got ", n, " logical CPUs, expected 1 or more"));
  constexpr int kMost = 4096;  // each has pools of its own, and stands in lists that are searched
  if (n > kMost)
    fail(Code::E1103, cat("set_logical_device_configuration: got ", n,
                          " logical CPUs, expected at most ", kMost));
  if (n < r.cpus)
    fail(Code::E1103,
         cat("set_logical_device_configuration: ", r.cpus, " logical CPUs exist already"),
         "tensors may live on them, so their number can only grow");
  for (; r.cpus < n; ++r.cpus) r.list.insert(r.list.begin() + r.cpus, new CpuDevice(r.cpus));
}

static void need_device(const Device* device) {
  if (device) [[likely]]
    return;
  fail(Code::E1104, "a device that is not there was named",
       "`cpu(i)` and `find_device` give null for a device that this machine does not have",
       {manual_fix("choose one of `devices()`")});
}

Tensor empty(DType dtype, const Shape& shape, Device* device) {
  need_device(device);
  if (dtype == DType::kString && device->kind() != DeviceKind::kCpu) device = cpu();
  auto n = shape.elements();
  auto bytes = n ? checked_mul(*n, size_of(dtype)) : std::nullopt;
  if (!bytes) {
    fail(Code::E1102, cat("a ", name(dtype), " tensor of shape ", shape.text(),
                          " has more bytes than can be counted"));
  }
  if (device->kind() != DeviceKind::kCpu || device->index()) [[unlikely]]
    detail::g_memory_elsewhere.store(true, std::memory_order_relaxed);
  Ref<Buffer> buffer;
  if (Status s = device->allocate(static_cast<size_t>(*bytes), buffer); !s.ok()) {
    Diagnostic d;
    d.code = s.code();
    d.headline = cat(s.headline(), ", for a ", name(dtype), shape.text());
    d.why = out_of_memory_why(s);
    d.labels.push_back(used_here());
    raise(std::move(d));
  }
  if (dtype == DType::kString)
    buffer = make_ref<StringBuffer>(std::move(buffer), static_cast<size_t>(*n));
  auto rep = make_ref<TensorRep>(dtype, shape, std::move(buffer));
  if (static_cast<size_t>(*bytes) >= kLedgerBytes) rep->buffer->list(rep->born, dtype, shape);
  return Tensor(std::move(rep));
}

Tensor detail::copied_to(const Tensor& t, Device* device) {
  need_device(device);
  Device* from = t.device();
  if (from == device) return t;
  if (!from) {
    Diagnostic d;
    d.code = t.is_symbolic() ? Code::E0203 : Code::E1104;
    d.headline = cat("a ", name(t.dtype()), t.shape().text(), " that has no value yet was read");
    d.labels.push_back(
        {Role::kBorn, locate(t.born()), cat("born here, from ", t.rep()->op), false});
    d.labels.push_back(used_here("its numbers are needed here"));
    d.why = "a graph is being written; its tensors have no values until it runs";
    d.fixes.push_back(
        manual_fix("give the numbers as plain values, or compute with the tensor itself"));
    raise(std::move(d));
  }
  if (t.dtype() == DType::kString && device->kind() != DeviceKind::kCpu)
    return t;  // objects live on the host
  Tensor out = empty(t.dtype(), t.shape(), device);
  auto bytes = static_cast<size_t>(t.bytes());
  auto offset = static_cast<size_t>(t.rep()->offset);
  if (t.dtype() == DType::kString) {
    std::copy_n(t.raw<std::string>(), t.size(), out.mutable_raw<std::string>());
  } else if (from->kind() == DeviceKind::kCpu) {
    device->copy_from_host(*out.rep()->buffer, 0, t.raw(), bytes).check();
  } else if (device->kind() == DeviceKind::kCpu) {
    from->copy_to_host(out.mutable_raw(), *t.rep()->buffer, offset, bytes).check();
  } else {
    // Between two accelerators, by way of the host; a plugin may know better later.
    Tensor host = copy_to(t, cpu());
    return copy_to(host, device);
  }
  out.rep()->born = t.born();
  out.rep()->op = t.rep()->op;
  out.rep()->variable_born = t.rep()->variable_born;
  out.rep()->from_variable = t.rep()->from_variable;
  return out;
}

}  // namespace holdfast
