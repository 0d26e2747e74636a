// Ops whose CUDA kernel is an expression: those of one instruction, and those that are lists
// already.
#include <mutex>
#include <unordered_map>

#include "holdfast/cuda/error.h"
#include "holdfast/cuda/ops.h"
#include "holdfast/cuda/program.h"
#include "holdfast/op/op.h"
#include "holdfast/tensor/variable_state.h"

namespace holdfast::cuda {
namespace {

constexpr DTypes kComputed = kReals | kBools;
constexpr size_t kMostOperands = 3;

// The list of one instruction over operands of these dtypes.
const Expr& list_of(const OpDef& op, Does does, std::span<const DType> in, DType out) {
  static std::mutex mutex;
  static auto* known = new std::unordered_map<uint64_t, Ref<Expr>>;
  uint64_t key = static_cast<uint64_t>(does) << 8 | static_cast<uint64_t>(op.scalar);
  for (DType d : in) key = key << 8 | static_cast<uint64_t>(d);
  key = key << 8 | static_cast<uint64_t>(out);
  std::lock_guard lock(mutex);
  Ref<Expr>& list = (*known)[key];
  if (list) return *list;
  list = make_ref<Expr>();
  InlineVector<int, kMostOperands> operands;
  for (DType d : in) operands.push_back(list->input(d));
  list->store(
      list->add(op, {}, {}, {.does = does, .scalar = op.scalar, .numbers = {}}, operands, out));
  return *list;
}

// Ops that must refuse some values: a kernel would have to report back, so the CPU does them.
bool checks_values(Scalar s) {
  return s == Scalar::kDiv || s == Scalar::kTruncateDiv || s == Scalar::kFloorDiv ||
         s == Scalar::kFloorMod || s == Scalar::kTruncateMod || s == Scalar::kPow;
}

using DTypeList = InlineVector<DType, kMostOperands>;

// The list of an elementwise op: operands are inputs, then attributes as numbers.
const Expr& list_of(const Types& t) {
  DTypeList in;
  for (int i = 0; i < info(t.op.scalar).arity; ++i) in.push_back(t.dtype(i < t.inputs() ? i : 0));
  return list_of(t.op, Does::kScalar, in, t.out_dtype());
}

const char* refuse_elementwise(const Types& t) {
  DType d = t.dtype();
  if (!loop_for(t.op.scalar, d)) return "not computed for this dtype";
  if (is_integer(d) && checks_values(t.op.scalar)) return "integers are checked on the host";
  static const Shape one;
  InlineVector<Operand, kMostOperands> in;
  for (int i = 0; i < info(t.op.scalar).arity; ++i)
    in.push_back(i < t.inputs() ? Operand{&t.shape(i), t.on_host(i)} : Operand{&one, true});
  return cuda_program(list_of(t)).refuse(*static_cast<CudaDevice*>(t.device), in, t.out_shape());
}

Status run_elementwise_op(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  InlineVector<Tensor, kMostOperands> in;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.in(i));
  for (int i = c.inputs(); i < info(c.op.scalar).arity; ++i)
    in.push_back(
        Tensor::scalar(number_in(c.attrs(), static_cast<size_t>(i - c.inputs())), c.in().dtype()));
  const Expr& list = list_of(c.types());
  return cuda_program(list).run(*device, list, in, {&c.out(), 1}, c.out_shape());
}

// One instruction over `Inputs` operands, of which the first is input `First`.
template <Does What, int First, int Inputs>
Status run_one(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  std::span<const Tensor> in(&c.in(First), Inputs);
  DTypeList dtypes;
  for (const Tensor& t : in) dtypes.push_back(t.dtype());
  const Expr& list = list_of(c.op, What, dtypes, c.out_dtype());
  return cuda_program(list).run(*device, list, in, {&c.out(), 1}, c.out_shape());
}

const char* refuse_strings(const Types& t) {
  return kPlain.has(t.dtype(1)) ? nullptr : "strings live on the host";
}
const char* refuse_cast(const Types& t) {
  return kComputed.has(t.out_dtype()) ? nullptr
                                      : "complex numbers and strings are cast on the host";
}

Status run_zeros(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  Tensor& y = c.out();
  if (y.bytes())
    HOLDFAST_CUDA(
        cudaMemsetAsync(y.mutable_raw(), 0, static_cast<size_t>(y.bytes()), device->stream()));
  return {};
}

// What a list runs over.
const Shape& domain_of(const Expr& e, const Shape& first_output) {
  return e.row() ? e.domain() : first_output;
}

// Inputs from `first` on; a reason where one is elsewhere and no number.
const char* operands_of(const Types& t, int first, std::vector<Operand>& out) {
  for (int i = first; i < t.inputs(); ++i) {
    if (t.on_host(i) && t.shape(i).size() != 1) return "an operand is on another device";
    out.push_back({&t.shape(i), t.on_host(i)});
  }
  return nullptr;
}

const char* refuse_fused(const Types& t) {
  const Expr& e = expr_of(t.attrs());
  const Shape& domain = domain_of(e, t.out_shape());
  std::vector<Operand> in;
  if (const char* why = operands_of(t, 0, in)) return why;
  for (int i = 0; i < t.outputs(); ++i)
    if (!e.per_row(static_cast<size_t>(i)) && t.out_shape(i) != domain)
      return "outputs of several shapes";
  return cuda_program(e).refuse(*static_cast<CudaDevice*>(t.device), in, domain);
}

Status run_fused(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  const Expr& e = expr_of(c.attrs());
  InlineVector<Tensor, 4> out;
  for (int i = 0; i < c.outputs(); ++i) {
    AtSite site(e.where_of(static_cast<size_t>(i)));
    out.push_back(c.out(i));
  }
  std::span<const Tensor> in(c.inputs() ? &c.in(0) : nullptr, static_cast<size_t>(c.inputs()));
  return cuda_program(e).run(*device, e, in, out, domain_of(e, c.out_shape()));
}

const char* refuse_update(const Types& t) {
  std::vector<Operand> in;
  if (const char* why = operands_of(t, 1, in)) return why;
  const Shape now = t.variable(0).second;
  if (!now.is_full()) return "the variable has no value yet";
  in.push_back({&now});
  return cuda_program(expr_of(t.attrs())).refuse(*static_cast<CudaDevice*>(t.device), in, now);
}

// The value after an update is a tensor of its own: kernels are promised that what they write lies
// apart from what they read.
Status run_update(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  const Expr& e = expr_of(c.attrs());
  return variable_state(c.in())->update([&](Tensor& now) -> Status {
    if (!now.defined() || now.device() != device)
      return {Code::E0706, cat("the value of ", variable_state(c.in())->text(), " left ",
                               device->short_name(), " while it was updated")};
    Tensors in;
    for (int i = 1; i < c.inputs(); ++i) in.push_back(c.in(i));
    in.push_back(now);
    Tensor fresh = empty(now.dtype(), now.shape(), device);
    Status s = cuda_program(e).run(*device, e, in, {&fresh, 1}, fresh.shape());
    if (s.ok()) now = fresh;
    return s;
  });
}

void add(const char* op, size_t inputs, Kernel k) {
  const OpDef* def = find_op(op);
  if (def && def->inputs.size() == inputs) add_kernel(op, k);
}

void add_expression_kernels() {
  for (const OpDef* op : all_ops()) {
    if (!op->elementwise) continue;
    auto arity = static_cast<size_t>(info(op->scalar).arity);
    if (op->inputs.empty() || op->inputs.size() > arity || arity > kMostOperands ||
        op->inputs.size() + op->attrs.size() < arity)
      continue;
    add_kernel(op->name, {"expr", DeviceKind::kCuda, guarded<run_elementwise_op>, kComputed,
                          guarded_refusal<refuse_elementwise>});
  }
  add("BroadcastTo", 2,
      {"expr", DeviceKind::kCuda, guarded<run_one<Does::kSame, 0, 1>>, kPlain, nullptr});
  add("Fill", 2,
      {"expr", DeviceKind::kCuda, guarded<run_one<Does::kSame, 1, 1>>, kIndices,
       guarded_refusal<refuse_strings>});
  add("Cast", 1,
      {"expr", DeviceKind::kCuda, guarded<run_one<Does::kCast, 0, 1>>, kComputed,
       guarded_refusal<refuse_cast>});
  add("SelectV2", 3,
      {"expr", DeviceKind::kCuda, guarded<run_one<Does::kSelect, 0, 3>>, kBools,
       guarded_refusal<refuse_strings>});
  add_kernel(fused_op().name, {"program", DeviceKind::kCuda, guarded<run_fused>, kPlain,
                               guarded_refusal<refuse_fused>});
  add_kernel(fused_update_op().name, {"program", DeviceKind::kCuda, guarded<run_update>, kAll,
                                      guarded_refusal<refuse_update>});
  add("ZerosLike", 1, {"memset", DeviceKind::kCuda, guarded<run_zeros>, kPlain, nullptr});
}

const AddsKernels added(add_expression_kernels);

}  // namespace
}  // namespace holdfast::cuda
