// Ops whose CUDA kernel is an expression.
#include "holdfast/cuda/error.h"
#include "holdfast/cuda/expr.h"
#include "holdfast/cuda/ops.h"
#include "holdfast/expr/expr.h"
#include "holdfast/op/op.h"

namespace holdfast::cuda {
namespace {

constexpr DTypes kComputed = kReals | kBools;

// Ops that must refuse some values: a kernel would have to report back, so the CPU does them.
bool checks_values(Scalar s) {
  return s == Scalar::kDiv || s == Scalar::kTruncateDiv || s == Scalar::kFloorDiv ||
         s == Scalar::kFloorMod || s == Scalar::kTruncateMod || s == Scalar::kPow;
}

// The operands of the instruction: inputs, then attributes as numbers.
InlineVector<Tensor, kMostOperands> operands(const Call& c) {
  InlineVector<Tensor, kMostOperands> all;
  for (int i = 0; i < c.inputs(); ++i) all.push_back(c.in(i));
  for (int i = c.inputs(); i < info(c.op.scalar).arity; ++i)
    all.push_back(
        Tensor::scalar(number_in(c.attrs(), static_cast<size_t>(i - c.inputs())), c.in().dtype()));
  return all;
}

const char* refuse_elementwise(const Call& c) {
  DType d = c.in().dtype();
  if (!loop_for(c.op.scalar, d)) return "not computed for this dtype";
  if (is_integer(d) && checks_values(c.op.scalar)) return "integers are checked on the host";
  if (const char* why = refuse_misaligned(c)) return why;
  return refuse_expression(*static_cast<CudaDevice*>(c.device), info(c.op.scalar).expression,
                           operands(c), c.out_dtype(), c.out_shape());
}

Status run_elementwise_op(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  return run_expression(*device, info(c.op.scalar).expression, operands(c), c.out());
}

// The first `Inputs` operands through `Expression`.
constexpr char kSame[] = "x", kSelect[] = "x ? y : z";
template <const char* Expression, int First, int Inputs>
Status run_one(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  return run_expression(*device, Expression, {&c.in(First), Inputs}, c.out());
}

const char* refuse_select(const Call& c) {
  DType d = c.in(1).dtype();
  return kComputed.has(d) ? refuse_misaligned(c) : "not computed for this dtype";
}

const char* refuse_fill(const Call& c) {
  return kPlain.has(c.in(1).dtype()) ? nullptr : "strings live on the host";
}
const char* refuse_cast(const Call& c) {
  return kComputed.has(c.out_dtype()) ? refuse_misaligned(c)
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

void add(const char* op, size_t inputs, Kernel k) {
  const OpDef* def = find_op(op);
  if (def && def->inputs.size() == inputs) add_kernel(op, k);
}

}  // namespace

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
      {"expr", DeviceKind::kCuda, guarded<run_one<kSame, 0, 1>>, kPlain,
       guarded_refusal<refuse_misaligned>});
  add("Fill", 2,
      {"expr", DeviceKind::kCuda, guarded<run_one<kSame, 1, 1>>, kIndices,
       guarded_refusal<refuse_fill>});
  add("Cast", 1,
      {"expr", DeviceKind::kCuda, guarded<run_one<kSame, 0, 1>>, kComputed,
       guarded_refusal<refuse_cast>});
  add("SelectV2", 3,
      {"expr", DeviceKind::kCuda, guarded<run_one<kSelect, 0, 3>>, kBools,
       guarded_refusal<refuse_select>});
  add("ZerosLike", 1, {"memset", DeviceKind::kCuda, guarded<run_zeros>, kPlain, nullptr});
}

}  // namespace holdfast::cuda
