// All ambient state of a thread, in one struct.
#pragma once

#include <span>

#include "holdfast/op/opdef.h"

namespace holdfast {

/// Runs ops: eagerly, or by writing them down.
class HOLDFAST_API Interpreter {
 public:
  virtual ~Interpreter() = default;
  /// Lets a tensor of another scope in, or throws the diagnostic that says why not.
  virtual Tensor admit(const Tensor& t) = 0;
  virtual void run(const OpDef&, std::span<const Tensor>, const Attrs&, Tensors& out) = 0;
};

/// Sees each op after it ran: tape, profiler, debugger.
class HOLDFAST_API Observer {
 public:
  virtual ~Observer() = default;
  virtual void ran(const OpDef&, std::span<const Tensor> in, const Attrs&, std::span<const Tensor> out) = 0;
};

struct Context {
  Interpreter* interpreter = nullptr;      // null: eager
  InlineVector<Observer*, 4> observers;
  Device* device = nullptr;                // null: the default, the first GPU or else the CPU
  Where placed = nullptr;                  // the line that chose it
};

/// This thread's.
HOLDFAST_API Context& context();
/// The device new tensors go to.
HOLDFAST_API Device* current_device();

enum class DevicePolicy : uint8_t { kWarn, kExplicit, kSilent };
/// What happens when operands live on two devices.
HOLDFAST_API void set_device_policy(DevicePolicy);
HOLDFAST_API DevicePolicy device_policy();

/// Registered once by exec/: how ops run when nobody traces.
HOLDFAST_API void set_eager(Interpreter*);
HOLDFAST_API Interpreter* eager();

/// Every op call, from any language, goes through here.
HOLDFAST_API void apply(const OpDef&, std::span<const Tensor>, const Attrs&, Tensors& out);

/// Puts `device` in force while it lives.
class HOLDFAST_API DeviceScope {
 public:
  explicit DeviceScope(Device* device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;

 private:
  Device* was_;
  Where placed_;
};

}  // namespace holdfast
