// All ambient state of a thread, in one struct.
#pragma once

#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/callback.h"
#include "holdfast/tensor/tensor.h"

namespace holdfast {

struct OpDef;
class Scope;
class Arg;
using Attrs = InlineVector<Arg, 2>;  // op/arg.h

/// Something with a gradient of its own: what arrives for the outputs, turned into what leaves for
/// the inputs.
using Backward = Callback<std::vector<Tensor>(const std::vector<Tensor>& upstream)>;

/// Runs ops: eagerly, or by writing them down.
class HOLDFAST_API Interpreter {
 public:
  virtual ~Interpreter() = default;
  /// What it writes into; null when it runs ops at once.
  virtual Scope* scope() const { return nullptr; }
  virtual void run(const OpDef&, std::span<const Tensor>, const Attrs&, Tensors& out) = 0;
  /// Is told that `out` was computed from `in` by something with a gradient of its own.
  virtual void custom(const char*, const std::vector<Tensor>&, const std::vector<Tensor>&,
                      const Backward&) {}
  /// Is told that code which writes ops went by what is known of `t` beforehand: by its numbers,
  /// or by its sizes alone. What it wrote holds only while that does.
  virtual void went_by(const Tensor&, [[maybe_unused]] bool numbers) {}
};

/// Tells whoever writes ops now, if anybody does; see `Interpreter::went_by`.
HOLDFAST_API void went_by_numbers(const Tensor& t);
HOLDFAST_API void went_by_sizes(const Tensor& t);

/// Remembers ops of its thread by their values, run or written down: what gradients are made of.
/// Who wants to know when ops begin and end, on any thread, is an Observer (op/observer.h).
class HOLDFAST_API Tape {
 public:
  virtual ~Tape() = default;
  virtual void ran(const OpDef&, std::span<const Tensor> in, const Attrs&,
                   std::span<const Tensor> out) = 0;
};

struct Context {
  Interpreter* interpreter = nullptr;  // who runs ops whose operands all have values; null: eager
  InlineVector<Tape*, 4> tapes;
  Device* device = nullptr;  // null: the default, the first GPU or else the CPU
  Where placed = nullptr;    // the line that chose it
  Where lifted = nullptr;    // the line that left the trace for code that runs once
  std::string name_scope;    // what names of nodes begin with: "" or "outer/inner/"
  std::string op_name;       // what the user calls the op that is being called, if they do
};

/// Puts `interpreter` in force for ops on values while it lives; null: eager.
class HOLDFAST_API InterpreterScope {
 public:
  explicit InterpreterScope(Interpreter* interpreter);
  ~InterpreterScope();
  InterpreterScope(const InterpreterScope&) = delete;

 private:
  Interpreter* was_;
};

/// No tape sees ops while it lives: they see the whole as one.
class HOLDFAST_API NoTapes {
 public:
  NoTapes();
  ~NoTapes();
  NoTapes(const NoTapes&) = delete;

 private:
  InlineVector<Tape*, 4> were_;
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

/// Puts a device in force while it lives: `DeviceScope on("CPU:1");`. One that is not there is
/// refused.
class HOLDFAST_API DeviceScope {
 public:
  [[gnu::always_inline]] explicit DeviceScope(
      Device* device, const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    enter(device);
  }
  [[gnu::always_inline]] explicit DeviceScope(
      std::string_view name, const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    enter(named(name));
  }
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;

 private:
  void enter(Device* device);
  static Device* named(std::string_view name);
  Device* was_;
  Where placed_;
};

}  // namespace holdfast
