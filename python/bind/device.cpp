#include "holdfast/device/device.h"

#include "holdfast/base/parallel.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

Device* named(const std::string& kind, int index) {
  Device* d = find_device(kind == "GPU" ? DeviceKind::kCuda : DeviceKind::kCpu, index);
  if (!d) type_error("there is no device " + kind + ":" + std::to_string(index));
  return d;
}

// Device scopes of this thread; Python's `with tf.device` pushes and pops.
std::vector<std::unique_ptr<DeviceScope>>& scopes() {
  static thread_local std::vector<std::unique_ptr<DeviceScope>> stack;
  return stack;
}

}  // namespace

void bind_device(nb::module_& m) {
  m.def("devices", [] {
    nb::list out;
    for (Device* d : devices()) {
      nb::dict x;
      x["kind"] = d->kind() == DeviceKind::kCpu ? "CPU" : "GPU";
      x["index"] = d->index();
      x["name"] = d->name();
      x["description"] = d->description();
      out.append(x);
    }
    return out;
  });
  m.def("set_logical_cpus", [](int n) {
    run([&] {
      mark();
      set_logical_cpus(n);
      return 0;
    });
  });
  m.def(
      "push_device",
      [](nb::handle kind, int index) {
        run([&] {
          mark();
          Device* d = kind.is_none() ? nullptr : named(nb::cast<std::string>(kind), index);
          scopes().push_back(std::make_unique<DeviceScope>(d));
          return 0;
        });
      },
      "kind"_a.none(), "index"_a);
  m.def("pop_device", [] {
    if (!scopes().empty()) scopes().pop_back();
  });
  m.def("current_device", [] { return current_device()->name(); });
  m.def("memory_info", [](const std::string& kind, int index) {
    return run([&] {
      MemoryStats s = named(kind, index)->memory();
      nb::dict d;
      d["current"] = s.live;
      d["peak"] = s.peak;
      d["cached"] = s.cached;
      d["limit"] = s.limit;
      d["allocations"] = s.allocations;
      return d;
    });
  });
  m.def("set_memory_limit", [](const std::string& kind, int index, int64_t bytes) {
    run([&] {
      named(kind, index)->set_memory_limit(bytes);
      return 0;
    });
  });
  m.def("reset_peak", [](const std::string& kind, int index) {
    run([&] {
      named(kind, index)->reset_peak();
      return 0;
    });
  });
  m.def("fail_allocation", &fail_allocation);
  m.def("set_device_policy", [](const std::string& p) {
    set_device_policy(p == "explicit" ? DevicePolicy::kExplicit
                      : p == "silent" ? DevicePolicy::kSilent
                                      : DevicePolicy::kWarn);
  });
  m.def("set_num_threads", &set_num_threads);
  m.def("num_threads", &num_threads);
  m.def("set_deterministic", &set_deterministic);
  m.def("deterministic", &deterministic);
}

}  // namespace holdfast::py
