// What an op is: one record that eager execution, tracing, gradients, docs and tests all read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/status.h"
#include "holdfast/device/device.h"
#include "holdfast/op/arg_value.h"
#include "holdfast/op/attr.h"
#include "holdfast/tensor/resource.h"

namespace holdfast {

struct FusedForm;
struct OpDef;
class Grad;
class Types;
enum class Fold : uint8_t;
enum class Scalar : uint8_t;

/// The attributes of a call of `op`, by the names of `A`'s fields; the op must have said `A`.
template <class A>
A attrs_of(const OpDef& op, const Attrs& attrs);

/// An input of an op.
struct InputDef {
  std::string name;
  std::string group = "T";  // inputs of one group share a dtype
  size_t first = 0;         // the first input of the group, found at registration
  DTypes dtypes = kAll;
  bool list = false;      // takes any number of tensors; only the last input may
  bool optional = false;  // may be an empty Tensor
  bool host = false;      // small integers that shape rules read: always on the host
  const ResourceKind* resource = nullptr;  // of a handle: what it must lead to
  bool value = false;  // one number, wherever it lives: it may stay on the host and does not say
                       // where the op runs
};

struct AttrDef {
  std::string name;
  Arg default_value;
  bool required = true;
};

/// What the shape rule sees and says. The only shape code there is.
class HOLDFAST_API Infer {
 public:
  Infer(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs)
      : op_(op), inputs_(inputs), attrs_(attrs) {}

  const OpDef& op() const { return op_; }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const { return i < inputs() && inputs_[static_cast<size_t>(i)].defined(); }
  const Tensor& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  DType dtype(int i = 0) const { return input(i).dtype(); }
  const Shape& shape(int i = 0) const { return input(i).shape(); }
  template <class A>
  A attrs() const {
    return attrs_of<A>(op_, attrs_);
  }
  const Attrs& attrs() const { return attrs_; }
  /// The numbers in an integer input, if they are known now.
  std::optional<Dims> ints(int i) const;
  /// The same as far as they are known: kUnknown for the others; nothing if not even their number
  /// is.
  std::optional<Dims> sizes(int i) const;
  /// Whether the rule asked for the numbers in input `i`.
  bool asked_for(int i) const { return asked_ >> (i < 31 ? i : 31) & 1; }
  /// Axis `a` of input `i`, made non-negative; refuses one out of range.
  int axis(int64_t a, int input, const char* argument = "axis", int extra = 0) const;
  /// Refuses input `i` unless its rank is in [low, high]; high -1: no upper bound.
  void need_rank(int i, int low, int high = -1) const;

  /// Adds an output.
  void output(DType d, Shape s);

  /// Throws: argument, what came, what was expected; the frame adds op, operands and lines.
  [[noreturn]] void bad_shape(int input, std::string expected) const;
  [[noreturn]] void bad_shape(int input, std::string expected, std::vector<Fix> fixes) const;
  [[noreturn]] void bad_value(std::string argument, std::string got, std::string expected) const;
  [[noreturn]] void bad_value(std::string argument, std::string got, std::string expected,
                              std::vector<Fix> fixes) const;
  [[noreturn]] void bad_dtype(int input, std::string expected) const;
  [[noreturn]] void unsupported(std::string combination, std::string supported) const;

  InlineVector<DType, 4> dtypes;
  InlineVector<Shape, 2> shapes;

 private:
  const OpDef& op_;
  std::span<const Tensor> inputs_;
  const Attrs& attrs_;
  mutable uint32_t asked_ = 0;  // one bit for each input whose numbers were asked for
};

/// One execution, as a kernel sees it. Outputs are allocated when first asked for.
class HOLDFAST_API Call {
 public:
  Call(const OpDef& of, std::span<const Tensor> inputs, const Attrs& attrs, const Infer& inferred,
       Device* on, Tensors& outputs)
      : op(of),
        device(on),
        inputs_(inputs),
        attrs_(attrs),
        inferred_(inferred),
        outputs_(outputs) {}

  int inputs() const { return static_cast<int>(inputs_.size()); }
  const Tensor& in(int i = 0) const { return inputs_[static_cast<size_t>(i)]; }
  bool has(int i) const { return i < inputs() && inputs_[static_cast<size_t>(i)].defined(); }
  template <class A>
  A attrs() const {
    return attrs_of<A>(op, attrs_);
  }
  const Attrs& attrs() const { return attrs_; }
  int outputs() const { return static_cast<int>(inferred_.dtypes.size()); }
  /// What is known of it without a look at any memory.
  Types types() const;
  /// Output `i`, of the inferred shape.
  Tensor& out(int i = 0);
  /// Output `i` of a shape that only the data could tell.
  Tensor& out(int i, const Shape& shape);
  /// Makes output `i` be `t` (a view of an input, or the input itself).
  void set_out(int i, Tensor t) { outputs_[static_cast<size_t>(i)] = std::move(t); }
  DType out_dtype(int i = 0) const { return inferred_.dtypes[static_cast<size_t>(i)]; }
  const Shape& out_shape(int i = 0) const { return inferred_.shapes[static_cast<size_t>(i)]; }
  /// The numbers in an integer input on the host.
  Dims ints(int i) const;
  /// Scratch memory on the device for the time of the call.
  Tensor scratch(DType, const Shape&) const;

  const OpDef& op;
  Device* const device;

 private:
  std::span<const Tensor> inputs_;
  const Attrs& attrs_;
  const Infer& inferred_;
  Tensors& outputs_;
};

/// What a kernel is chosen and prepared by: dtypes, shapes, attributes and devices of a call, and
/// never an address, so that what follows from it holds for every call of these types.
class HOLDFAST_API Types {
 public:
  Types(const OpDef& of, std::span<const Tensor> inputs, const Attrs& attrs, const Infer& inferred,
        Device* on)
      : op(of), device(on), inputs_(inputs), attrs_(attrs), inferred_(inferred) {}

  int inputs() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const { return i < inputs() && inputs_[static_cast<size_t>(i)].defined(); }
  DType dtype(int i = 0) const { return inputs_[static_cast<size_t>(i)].dtype(); }
  const Shape& shape(int i = 0) const { return inputs_[static_cast<size_t>(i)].shape(); }
  /// Whether input `i` is a number that stayed on the host though the call runs elsewhere.
  bool on_host(int i) const;
  /// Dtype and shape that the variable behind input `i` has now; no rank where it has no value.
  std::pair<DType, Shape> variable(int i) const;
  template <class A>
  A attrs() const {
    return attrs_of<A>(op, attrs_);
  }
  const Attrs& attrs() const { return attrs_; }
  int outputs() const { return static_cast<int>(inferred_.dtypes.size()); }
  DType out_dtype(int i = 0) const { return inferred_.dtypes[static_cast<size_t>(i)]; }
  const Shape& out_shape(int i = 0) const { return inferred_.shapes[static_cast<size_t>(i)]; }

  const OpDef& op;
  Device* const device;

 private:
  std::span<const Tensor> inputs_;
  const Attrs& attrs_;
  const Infer& inferred_;
};

inline Types Call::types() const { return Types(op, inputs_, attrs_, inferred_, device); }

/// What a kernel made for calls of the same types: primitives, tables, the way it goes. Calls on
/// several threads share it at a time; it holds no tensor and no device.
class Prepared : public RefCounted {};

/// What came of preparing: something that is ready, or why not.
struct Preparation {
  template <class T>
  Preparation(Ref<T> made) : ready(std::move(made)) {}
  Preparation(const char* why) : refusal(why) {}
  Ref<const Prepared> ready;
  const char* refusal = nullptr;
};

using InferFn = void (*)(Infer&);
using KernelFn = Status (*)(Call&);
using RefuseFn = const char* (*)(const Types&);  // null: accepted; else the reason
using PrepareFn = Preparation (*)(const Types&);
using PreparedFn = Status (*)(Call&, const Prepared&);
using GradFn = Tensors (*)(Grad&);
using OverwriteFn = int (*)(const OpDef&, const Attrs&);
/// The input whose memory output `out` of a call of these types looks into; kFresh: memory of its
/// own; kElsewhere: that of somebody else, such as a variable.
inline constexpr int kFresh = -1, kElsewhere = -2;
using AliasFn = int (*)(const Types&, int out);
/// Operations on numbers that one run takes, by the shapes of inputs and of output 0, all known.
using FlopsFn = double (*)(std::span<const Shape> inputs, const Shape& output);
/// The loop of an instruction for inputs and a result of these dtypes; false, and why, where there
/// is none.
using FuseFn = bool (*)(const OpDef&, const Attrs&, std::span<const DType> in, DType out,
                        FusedForm& form, const char*& why);

/// A way to compute an op. Tried in order; the first that does not refuse runs. It has either
/// `run`, or `prepare` and `run_prepared`: what was prepared once runs for every call of the same
/// types.
struct Kernel {
  const char* name;
  DeviceKind device = DeviceKind::kCpu;
  KernelFn run = nullptr;
  DTypes dtypes = kAll;  // of input 0 (or of output 0 where there is no input)
  RefuseFn refuse = nullptr;
  PrepareFn prepare = nullptr;
  PreparedFn run_prepared = nullptr;
};

/// out[i] = f(in[0][i], in[1][i], ...) for dense operands of one dtype and n elements.
using Loop = void (*)(const void* const* in, void* out, int64_t n);

/// Of an op with a `data_format`: where it has images, whose channels stand before or behind.
struct Images {
  uint32_t inputs = 0;  // one bit for each input that is one
  uint32_t sizes = 0;   // one bit for each input that holds the sizes of one
  bool gives = false;   // output 0 is one
  bool begins =
      false;  // runs faster with channels last, so that it pays to move them; others go on
};

/// What an op tells of its input's shape, without a look at the elements.
enum class OfShape : uint8_t {
  kNothing,
  kRank,
  kSize,
  kShape,   // of each input
  kFilled,  // one number everywhere
};

/// What an op does to the variable behind input 0, and nothing else, with the numbers of input 1.
enum class Update : uint8_t { kNone, kSet, kAdd, kSubtract };

/// Why a gradient ends at an op: its result goes in steps, or is a choice among its elements.
enum class Flat : uint8_t { kNo, kStep, kChoice };

/// What an op does with the graphs in its attributes.
enum class Control : uint8_t { kNone, kBranch, kLoop };

/// What passes and the frame may know of an op.
struct Traits {
  bool commutative = false;
  bool stateful = false;     // may not be dropped, merged or reordered
  bool view = false;         // output 0 shares input 0's memory
  bool host = false;         // runs on the host whatever the device (strings, shapes)
  bool no_gradient = false;  // says so: a gradient ends here on purpose
  bool reads = false;        // reads state and changes none: may be dropped when nobody needs it
  bool rearranges = false;  // each element of an output is one of an input's, whatever their values
  bool replaceable = false;  // is there to be given another value than its input
  bool moves = false;        // is how a program copies between devices: no warning when it does
  bool reshapes = false;     // gives the elements of input 0 in their order, in another shape
  bool broadcasts = false;   // repeats input 0 along axes, and does nothing else
  bool keeps_apart = false;  // gives its input as a tensor of its own, never merged or folded away
  bool order_shows = false;  // commutes, but among floats which of two zeros it gives depends on it
  bool draws = false;        // draws from the stream that its first attributes, the seeds, choose
  bool reads_variable = false;  // gives the value of the variable behind input 0
  bool asks_only = false;       // asks about a variable without need of a value
  Update update = Update::kNone;
  OfShape of_shape = OfShape::kNothing;
  Flat flat = Flat::kNo;
  Control control = Control::kNone;
};

struct HOLDFAST_API OpDef {
  std::string name;
  std::string doc;
  std::vector<InputDef> inputs;
  std::vector<AttrDef> attrs;
  std::vector<std::string> outputs{"output"};
  InferFn infer = nullptr;
  GradFn gradient = nullptr;
  std::vector<Kernel> kernels;
  bool prepares = false;  // one of them does
  Traits traits;
  Scalar scalar{};              // for elementwise ops: the scalar instruction
  bool elementwise = false;     // one-element operands may stay on the host, whatever the device
  const Loop* plain = nullptr;  // by dtype: the loop that is all there is to it, for operands of
                                // one dtype and shape
  bool plain_gives_bool = false;
  OverwriteFn overwrites =
      nullptr;  // the input whose memory output 0 may take if it is not needed any more; -1: none
  AliasFn alias = nullptr;  // none: as `view` and `reads` say
  std::optional<Images> images;
  std::optional<Fold> fold;  // of a reduction over axes: how elements are joined
  FlopsFn flops = nullptr;   // of what takes longer than its operands take to arrive
  FuseFn fuse = nullptr;     // of an op that runs element by element without a scalar instruction
  uint32_t keeps_inputs = ~0u;   // which inputs the gradient looks at, one bit each
  uint32_t keeps_outputs = ~0u;  // likewise outputs

  int attr_index(const char* name) const;
  /// The attribute called `name`, found by looking for it: for passes, not for kernels.
  const Arg& attr(const Attrs& attrs, const char* name) const;
  Arg& attr(Attrs& attrs, const char* name) const;

  InlineVector<const void*, 2> attr_structs;  // those its attributes may be read by
  /// Throws: the op's file did not say this struct.
  [[noreturn]] void no_such_struct() const;
};

/// Whether the attributes of `op` may be read by `A`.
template <class A>
bool has_attrs(const OpDef& op) {
  for (const void* said : op.attr_structs)
    if (said == &detail::kAttrsOf<A>) [[likely]]
      return true;
  return false;
}

template <class A>
A attrs_of(const OpDef& op, const Attrs& attrs) {
  if (!has_attrs<A>(op)) [[unlikely]]
    op.no_such_struct();
  return detail::attrs_at<A>(attrs.data());
}

/// Number `i` among the attributes of an elementwise op, which are operands behind its inputs.
inline double number_in(const Attrs& attrs, size_t i) { return attrs[i].f(); }

}  // namespace holdfast
