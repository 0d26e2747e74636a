#include "holdfast/op/context.h"

#include <atomic>

namespace holdfast {
namespace {

Interpreter* g_eager = nullptr;
std::atomic<DevicePolicy> g_policy{DevicePolicy::kWarn};

Device* default_device() {
  static Device* d = [] {
    Device* gpu = find_device(DeviceKind::kCuda, 0);
    return gpu ? gpu : cpu();
  }();
  return d;
}

}  // namespace

Context& context() {
  static thread_local Context c;
  return c;
}

Device* current_device() {
  Device* d = context().device;
  return d ? d : default_device();
}

void set_device_policy(DevicePolicy p) { g_policy = p; }
DevicePolicy device_policy() { return g_policy; }
void set_eager(Interpreter* i) { g_eager = i; }
Interpreter* eager() { return g_eager; }

DeviceScope::DeviceScope(Device* device) : was_(context().device), placed_(context().placed) {
  context().device = device;
  context().placed = site().where;
}
DeviceScope::~DeviceScope() {
  context().device = was_;
  context().placed = placed_;
}

void apply(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs, Tensors& out) {
  Context& c = context();
  Interpreter* who = c.interpreter ? c.interpreter : g_eager;
  who->run(op, in, attrs, out);
  for (Observer* o : c.observers) o->ran(op, in, attrs, out);
}

}  // namespace holdfast
