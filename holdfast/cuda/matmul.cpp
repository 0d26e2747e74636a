// Matrix products through cuBLASLt. Its matrices lie column by column, ours row by row: what it
// sees of a row-major [m, n] is the transpose, so it is asked for y' = b' a'.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>

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

  auto key() const { return std::tuple(dtype, m, n, k, ta, tb, batch, step_a, step_b); }
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

struct Prepared {
  Description description;
  Layout a, b, y;  // as cuBLASLt names its first and second factor
  cublasLtMatmulAlgo_t algorithm;
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

Status prepare(cublasLtHandle_t handle, const Product& p, const uint32_t (&alignment)[3],
               Prepared& out) {
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

  cublasLtMatmulPreference_t raw = nullptr;
  HOLDFAST_LT(cublasLtMatmulPreferenceCreate(&raw));
  Preference preference(raw);
  size_t workspace = kWorkspace;
  HOLDFAST_LT(cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                   &workspace, sizeof workspace));
  constexpr cublasLtMatmulPreferenceAttributes_t kAlignments[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  for (int i = 0; i < 4; ++i)
    HOLDFAST_LT(cublasLtMatmulPreferenceSetAttribute(
        raw, kAlignments[i], &alignment[std::min(i, 2)], sizeof alignment[0]));
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  HOLDFAST_LT(cublasLtMatmulAlgoGetHeuristic(handle, d, out.a.get(), out.b.get(), out.y.get(),
                                             out.y.get(), raw, 1, &best, &found));
  if (!found) return {Code::E1105, "cuBLASLt has no algorithm for this product"};
  out.algorithm = best.algo;
  return {};
}

// What one GPU keeps between products.
struct Engine {
  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;
  Tensor workspace;  // one is enough: products follow each other on the one stream
  std::map<std::tuple<decltype(Product{}.key()), uint32_t, uint32_t, uint32_t>, Prepared> prepared;
};

Engine& engine_of(CudaDevice& d) {
  static std::mutex mutex;
  static auto* engines = new std::map<int, Engine>;
  std::lock_guard lock(mutex);
  return (*engines)[d.index()];
}

// The largest power of two up to 256 that an address is a multiple of: views start at any element.
uint32_t alignment_of(const void* p) {
  auto a = reinterpret_cast<uintptr_t>(p);
  return static_cast<uint32_t>(std::min<uintptr_t>(a & (~a + 1), 256));
}

Status multiply(CudaDevice& device, const Product& p, const Tensor& a, const Tensor& b,
                const Tensor& y) {
  if (y.size() == 0) return {};
  if (p.k == 0) {
    HOLDFAST_CUDA(
        cudaMemsetAsync(y.mutable_raw(), 0, static_cast<size_t>(y.bytes()), device.stream()));
    return {};
  }
  Engine& e = engine_of(device);
  std::lock_guard lock(e.mutex);
  if (!e.handle) HOLDFAST_LT(cublasLtCreate(&e.handle));
  if (!e.workspace.defined())
    e.workspace = empty(uint8, Shape{static_cast<int64_t>(kWorkspace)}, &device);
  uint32_t alignment[3] = {alignment_of(b.raw()), alignment_of(a.raw()), alignment_of(y.raw())};
  auto key = std::tuple(p.key(), alignment[0], alignment[1], alignment[2]);
  auto it = e.prepared.find(key);
  if (it == e.prepared.end()) {
    Prepared fresh;
    if (Status s = prepare(e.handle, p, alignment, fresh); !s.ok()) return s;
    it = e.prepared.emplace(key, std::move(fresh)).first;
  }
  Prepared& r = it->second;
  float one = 1, zero = 0;
  double one64 = 1, zero64 = 0;
  bool wide = p.dtype == DType::kFloat64;
  const void *alpha = wide ? static_cast<void*>(&one64) : &one,
             *beta = wide ? static_cast<void*>(&zero64) : &zero;
  HOLDFAST_LT(cublasLtMatmul(e.handle, r.description.get(), alpha, b.raw(), r.a.get(), a.raw(),
                             r.b.get(), beta, y.mutable_raw(), r.y.get(), y.mutable_raw(),
                             r.y.get(), &r.algorithm, e.workspace.mutable_raw(), kWorkspace,
                             device.stream()));
  return {};
}

bool flag(const Call& c, const char* name) {
  return c.op.attr_index(name) >= 0 && c.op.attr(c.attrs(), name).b();
}

Product product_of(const Call& c, const char* transpose_a, const char* transpose_b) {
  const Tensor &a = c.in(0), &b = c.in(1);
  Product p{};
  p.dtype = a.dtype();
  p.ta = flag(c, transpose_a);
  p.tb = flag(c, transpose_b);
  p.m = a.dim(p.ta ? -1 : -2);
  p.k = a.dim(p.ta ? -2 : -1);
  p.n = b.dim(p.tb ? -2 : -1);
  p.batch = 1;
  return p;
}

Status run_matmul(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  // For real numbers the adjoint is the transpose.
  Product p = product_of(c, "transpose_a", "transpose_b");
  p.ta = p.ta || flag(c, "adjoint_a");
  p.tb = p.tb || flag(c, "adjoint_b");
  return multiply(*device, p, c.in(0), c.in(1), c.out());
}

int64_t batch_of(const Tensor& t) {
  int64_t n = 1;
  for (int i = 0; i + 2 < t.rank(); ++i) n *= t.dim(i);
  return n;
}

Status run_batch_matmul(Call& c) {
  CudaDevice* device;
  if (Status s = enter(c, device); !s.ok()) return s;
  Product p = product_of(c, "adj_x", "adj_y");
  int64_t batch_a = batch_of(c.in(0)), batch_b = batch_of(c.in(1));
  p.batch = std::max(batch_a, batch_b);
  p.step_a = batch_a == 1 ? 0 : p.m * p.k;
  p.step_b = batch_b == 1 ? 0 : p.k * p.n;
  return multiply(*device, p, c.in(0), c.in(1), c.out());
}

const char* refuse_products(const Call& c) {
  return cublaslt().missing.empty() ? refuse_misaligned(c) : cublaslt().missing.c_str();
}

const char* refuse_batches(const Call& c) {
  const Tensor &a = c.in(0), &b = c.in(1);
  if (a.dtype() != b.dtype() || c.out_dtype() != a.dtype())
    return "factors or result of several dtypes";
  bool shared = batch_of(a) == 1 || batch_of(b) == 1, same = a.rank() == b.rank();
  for (int i = 0; same && i + 2 < a.rank(); ++i) same = a.dim(i) == b.dim(i);
  return shared || same ? refuse_products(c) : "batches that broadcast against each other";
}

}  // namespace

void add_matmul_kernels() {
  Kernel k{"cublaslt", DeviceKind::kCuda, guarded<run_matmul>, kFloats,
           guarded_refusal<refuse_products>};
  if (find_op("MatMul")) add_kernel("MatMul", k);
  k.run = guarded<run_batch_matmul>;
  k.refuse = guarded_refusal<refuse_batches>;
  for (const char* op : {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
    if (find_op(op)) add_kernel(op, k);
}

}  // namespace holdfast::cuda
