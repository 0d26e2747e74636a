// Matrix products through cuBLASLt. Its matrices lie column by column, ours row by row: what it
// sees of a row-major [m, n] is the transpose, so it is asked for y' = b' a'.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "holdfast/cuda/device.h"
#include "holdfast/cuda/error.h"
#include "holdfast/cuda/libraries.h"
#include "holdfast/cuda/ops.h"
#include "holdfast/op/op.h"

namespace holdfast::cuda {
namespace {

constexpr size_t kWorkspace = 32 << 20;

struct Product {
  DType dtype;
  int64_t m, n, k;
  bool ta, tb;
  int64_t batch = 1, step_a = 0,
          step_b = 0;  // elements from one matrix of the batch to the next; 0: shared
};

Status lt_status(cublasStatus_t s, const char* doing) {
  if (s == CUBLAS_STATUS_SUCCESS) return {};
  return {s == CUBLAS_STATUS_ALLOC_FAILED ? Code::E0702 : Code::E0706,
          cat("cuBLASLt failed: ", cublaslt().cublasLtGetStatusString(s)), doing};
}
#define HOLDFAST_LT(call)                                                 \
  do {                                                                    \
    if (cublasStatus_t s_ = cublaslt().call; s_ != CUBLAS_STATUS_SUCCESS) \
      return lt_status(s_, #call);                                        \
  } while (0)

// Deleters, so that a failure half-way leaks nothing.
template <auto Member>
struct Destroy {
  template <class T>
  void operator()(T* p) const {
    (cublaslt().*Member)(p);
  }
};
using Description =
    std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<&CublasLt::cublasLtMatmulDescDestroy>>;
using Layout =
    std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<&CublasLt::cublasLtMatrixLayoutDestroy>>;
using Preference = std::unique_ptr<cublasLtMatmulPreferenceOpaque_t,
                                   Destroy<&CublasLt::cublasLtMatmulPreferenceDestroy>>;

// How well operands and result may lie: as blocks of the pool do, for the widest loads, or as a
// view that begins with any element.
constexpr uint32_t kAlignments[] = {256, 16, 1};

struct Algorithm {
  cublasLtMatmulAlgo_t algo;
  size_t workspace = 0;
};

struct LtProduct final : Prepared {
  Product p{};
  cublasLtHandle_t handle = nullptr;  // the GPU's, which lives as long as the process
  Description description;
  Layout a, b, y;  // as cuBLASLt names its first and second factor
  Algorithm algorithms[std::size(kAlignments)];

  bool has_work() const { return p.batch && p.m && p.n && p.k; }
};

bool tf32_wanted() {
  static const bool on = [] {
    const char* said = std::getenv("HOLDFAST_TF32");
    return said && std::string_view(said) == "on";
  }();
  return on;
}

cudaDataType type_of(DType d) {
  return d == DType::kFloat16    ? CUDA_R_16F
         : d == DType::kBFloat16 ? CUDA_R_16BF
         : d == DType::kFloat64  ? CUDA_R_64F
                                 : CUDA_R_32F;
}

Status make_layout(Layout& out, const Product& p, int64_t rows, int64_t cols, int64_t step) {
  cublasLtMatrixLayout_t l = nullptr;
  HOLDFAST_LT(cublasLtMatrixLayoutCreate(&l, type_of(p.dtype), static_cast<uint64_t>(rows),
                                         static_cast<uint64_t>(cols), rows));
  out.reset(l);
  if (p.batch == 1) return {};
  if (p.batch > INT32_MAX)
    return {Code::E1105, cat("a batch of ", p.batch, " products is more than one launch covers")};
  auto count = static_cast<int32_t>(p.batch);
  HOLDFAST_LT(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                               sizeof count));
  HOLDFAST_LT(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                               &step, sizeof step));
  return {};
}

// The first algorithm of the heuristics for operands that lie so.
Status find_algorithm(const LtProduct& r, uint32_t alignment, Algorithm& out) {
  cublasLtMatmulPreference_t raw = nullptr;
  HOLDFAST_LT(cublasLtMatmulPreferenceCreate(&raw));
  Preference preference(raw);
  size_t workspace = kWorkspace;
  HOLDFAST_LT(cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                   &workspace, sizeof workspace));
  for (auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    HOLDFAST_LT(cublasLtMatmulPreferenceSetAttribute(raw, which, &alignment, sizeof alignment));
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  HOLDFAST_LT(cublasLtMatmulAlgoGetHeuristic(r.handle, r.description.get(), r.a.get(), r.b.get(),
                                             r.y.get(), r.y.get(), raw, 1, &best, &found));
  if (!found) return {Code::E1105, "cuBLASLt has no algorithm for this product"};
  out = {best.algo, best.workspaceSize};
  return {};
}

Status describe(LtProduct& out) {
  const Product& p = out.p;
  bool wide = p.dtype == DType::kFloat64;
  cublasLtMatmulDesc_t d = nullptr;
  cublasComputeType_t compute = wide ? CUBLAS_COMPUTE_64F
                                : p.dtype == DType::kFloat32 && tf32_wanted()
                                    ? CUBLAS_COMPUTE_32F_FAST_TF32
                                    : CUBLAS_COMPUTE_32F;
  HOLDFAST_LT(cublasLtMatmulDescCreate(&d, compute, wide ? CUDA_R_64F : CUDA_R_32F));
  out.description.reset(d);
  cublasOperation_t first = p.tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                    second = p.ta ? CUBLAS_OP_T : CUBLAS_OP_N;
  HOLDFAST_LT(cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first));
  HOLDFAST_LT(
      cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second));
  if (Status s = make_layout(out.a, p, p.tb ? p.k : p.n, p.tb ? p.n : p.k, p.step_b); !s.ok())
    return s;
  if (Status s = make_layout(out.b, p, p.ta ? p.m : p.k, p.ta ? p.k : p.m, p.step_a); !s.ok())
    return s;
  if (Status s = make_layout(out.y, p, p.n, p.m, p.m * p.n); !s.ok()) return s;
  for (size_t i = 0; i < std::size(kAlignments); ++i) {
    uint32_t least = std::max(kAlignments[i], static_cast<uint32_t>(size_of(p.dtype)));
    if (Status s = find_algorithm(out, least, out.algorithms[i]); !s.ok()) return s;
  }
  return {};
}

// One for each GPU: any number of threads may use it at a time.
Status handle_of(CudaDevice& d, cublasLtHandle_t& out) {
  static std::mutex mutex;
  static auto* handles = new std::map<int, cublasLtHandle_t>;
  if (Status s = d.enter(); !s.ok()) return s;
  std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = (*handles)[d.index()];
  if (!handle) HOLDFAST_LT(cublasLtCreate(&handle));
  out = handle;
  return {};
}

// Which of `kAlignments` all three keep.
size_t alignment_of(const void* a, const void* b, const void* y) {
  uintptr_t together = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                       reinterpret_cast<uintptr_t>(y);
  size_t i = 0;
  while (together % kAlignments[i]) ++i;
  return i;
}

Preparation prepared(const Types& t, const Product& p) {
  if (!cublaslt().missing.empty()) return cublaslt().missing.c_str();
  auto r = make_ref<LtProduct>();
  r->p = p;
  if (!r->has_work()) return r;
  if (!handle_of(*static_cast<CudaDevice*>(t.device), r->handle).ok())
    return "cuBLASLt does not start";
  if (!describe(*r).ok()) return "cuBLASLt has no algorithm for this product";
  return r;
}

Status run_product(Call& c, const Prepared& made) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  const auto& r = static_cast<const LtProduct&>(made);
  const Tensor &a = c.in(0), &b = c.in(1), &y = c.out();
  if (!r.has_work()) {  // sums of nothing
    if (y.bytes())
      HOLDFAST_CUDA(
          cudaMemsetAsync(y.mutable_raw(), 0, static_cast<size_t>(y.bytes()), device->stream()));
    return {};
  }
  const Algorithm& best = r.algorithms[alignment_of(a.raw(), b.raw(), y.raw())];
  Tensor workspace = c.scratch(uint8, Shape{static_cast<int64_t>(best.workspace)});
  float one = 1, zero = 0;
  double one64 = 1, zero64 = 0;
  bool wide = r.p.dtype == DType::kFloat64;
  const void *alpha = wide ? static_cast<void*>(&one64) : &one,
             *beta = wide ? static_cast<void*>(&zero64) : &zero;
  HOLDFAST_LT(cublasLtMatmul(r.handle, r.description.get(), alpha, b.raw(), r.a.get(), a.raw(),
                             r.b.get(), beta, y.mutable_raw(), r.y.get(), y.mutable_raw(),
                             r.y.get(), &best.algo, workspace.mutable_raw(), best.workspace,
                             device->stream()));
  return {};
}

bool flag(const Types& t, const char* name) {
  return t.op.attr_index(name) >= 0 && t.op.attr(t.attrs(), name).b();
}

Product product_of(const Types& t, const char* transpose_a, const char* transpose_b) {
  const Shape &a = t.shape(0), &b = t.shape(1);
  Product p{};
  p.dtype = t.dtype();
  p.ta = flag(t, transpose_a);
  p.tb = flag(t, transpose_b);
  p.m = a[p.ta ? -1 : -2];
  p.k = a[p.ta ? -2 : -1];
  p.n = b[p.tb ? -2 : -1];
  p.batch = 1;
  return p;
}

Preparation prepare_matmul(const Types& t) {
  // For real numbers the adjoint is the transpose.
  Product p = product_of(t, "transpose_a", "transpose_b");
  p.ta = p.ta || flag(t, "adjoint_a");
  p.tb = p.tb || flag(t, "adjoint_b");
  return prepared(t, p);
}

int64_t batch_of(const Shape& s) {
  int64_t n = 1;
  for (int i = 0; i + 2 < s.rank(); ++i) n *= s[i];
  return n;
}

Preparation prepare_batches(const Types& t) {
  if (t.dtype(0) != t.dtype(1) || t.out_dtype() != t.dtype())
    return "factors or result of several dtypes";
  const Shape &a = t.shape(0), &b = t.shape(1);
  int64_t batch_a = batch_of(a), batch_b = batch_of(b);
  bool same = a.rank() == b.rank();
  for (int i = 0; same && i + 2 < a.rank(); ++i) same = a[i] == b[i];
  if (batch_a != 1 && batch_b != 1 && !same) return "batches that broadcast against each other";
  Product p = product_of(t, "adj_x", "adj_y");
  p.batch = batch_a == 1 ? batch_b : batch_a;
  p.step_a = batch_a == 1 ? 0 : p.m * p.k;
  p.step_b = batch_b == 1 ? 0 : p.k * p.n;
  return prepared(t, p);
}

void add(const char* op, PrepareFn prepare) {
  if (find_op(op))
    add_kernel(op, {.name = "cublaslt",
                    .device = DeviceKind::kCuda,
                    .dtypes = kFloats,
                    .prepare = prepare,
                    .run_prepared = guarded_prepared<run_product>});
}

void add_matmul_kernels() {
  add("MatMul", guarded_preparation<prepare_matmul>);
  for (const char* op : {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
    add(op, guarded_preparation<prepare_batches>);
}

const AddsKernels added(add_matmul_kernels);

}  // namespace
}  // namespace holdfast::cuda
