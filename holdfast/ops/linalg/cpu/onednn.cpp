#include "holdfast/ops/linalg/cpu/onednn.h"

#if defined(HOLDFAST_ONEDNN) && defined(HOLDFAST_OPENMP)

#include <cpuid.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>

#include "holdfast/base/signals.h"
#include "holdfast/ops/nn/onednn/engine.h"

namespace holdfast::gemm {

struct BatchPrimitive {
  dnnl::memory::desc a, b, c;
  dnnl::matmul run;
  size_t scratch = 0;
};

namespace {

using onednn::engine;

// Some virtual machines offer AMX but hide the leaf that describes its tiles; oneDNN then
// configures none and its kernels die of an illegal instruction. The limit must be set before
// anybody makes a primitive.
const bool limited = [] {
  unsigned most = 0, b = 0, c = 0, d = 0, tiles = 0;
  __cpuid(0, most, b, c, d);
  if (most >= 0x1d) {
    unsigned a = 0;
    __cpuid_count(0x1d, 1, a, tiles, c, d);
  }
  if (tiles == 0) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_fp16);
  return tiles == 0;
}();

// Null where the library has nothing that is fast.
std::shared_ptr<const BatchPrimitive> compile(const Product& p, int64_t count, bool shared) {
  using dnnl::memory;
  auto type = p.dtype == DType::kFloat32 ? memory::data_type::f32 : memory::data_type::bf16;
  auto desc = [&](int64_t n, int64_t rows, int64_t columns, bool transposed) {
    return memory::desc({n, rows, columns}, type,
                        transposed ? memory::dims{rows * columns, 1, rows}
                                   : memory::dims{rows * columns, columns, 1});
  };
  auto out = std::make_shared<BatchPrimitive>();
  out->a = desc(count, p.m, p.k, p.read_a.transposed);
  out->b = desc(shared ? 1 : count, p.k, p.n, p.read_b.transposed);
  out->c = desc(count, p.m, p.n, false);
  // The scratchpad is ours: oneDNN's own one may not be used by two threads at a time.
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::matmul::primitive_desc pd(engine(), out->a, out->b, out->c, attr, /*allow_empty=*/true);
  if (!pd || std::string_view(pd.impl_info_str()).find("ref") != std::string_view::npos)
    return nullptr;
  out->scratch = pd.scratchpad_desc().get_size();
  out->run = dnnl::matmul(pd);
  return out;
}

}  // namespace

bool onednn_gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                 const float* b, int64_t ldb, float* c, int64_t ldc) {
  SignalsWait wait;
  return dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, lda, b, ldb, 0, c, ldc) ==
         dnnl_success;
}

bool onednn_batch(const Product& p, const Batch& batch, const void* a, const void* b, void* c,
                  int threads, const BatchPrimitives& kept) {
  if (!batch.a_in_order || !(batch.b_shared || batch.b_in_order)) return false;
  try {
    const auto& prepared =
        kept.get({p.dtype, threads}, [&] { return compile(p, batch.size, batch.b_shared); });
    if (!prepared) return false;
    thread_local std::unique_ptr<char[]> scratch;
    thread_local size_t scratch_bytes = 0;
    if (scratch_bytes < prepared->scratch + 64) {
      scratch.reset(new char[prepared->scratch + 64]);
      scratch_bytes = prepared->scratch + 64;
    }
    auto aligned =
        reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(scratch.get()) + 63) & ~uintptr_t{63});
    dnnl::memory::desc pad({static_cast<int64_t>(prepared->scratch)}, dnnl::memory::data_type::u8,
                           dnnl::memory::dims{1});
    std::unordered_map<int, dnnl::memory> args{
        {DNNL_ARG_SRC, {prepared->a, engine(), const_cast<void*>(a)}},
        {DNNL_ARG_WEIGHTS, {prepared->b, engine(), const_cast<void*>(b)}},
        {DNNL_ARG_DST, {prepared->c, engine(), c}}};
    if (prepared->scratch) args.insert({DNNL_ARG_SCRATCHPAD, {pad, engine(), aligned}});
    SignalsWait wait;
    prepared->run.execute(onednn::stream(), args);
    return true;
  } catch (const dnnl::error&) {
    return false;  // the caller has another way
  }
}

}  // namespace holdfast::gemm

#else

namespace holdfast::gemm {
bool onednn_gemm(bool, bool, int64_t, int64_t, int64_t, const float*, int64_t, const float*,
                 int64_t, float*, int64_t) {
  return false;
}
bool onednn_batch(const Product&, const Batch&, const void*, const void*, void*, int,
                  const BatchPrimitives&) {
  return false;
}
}  // namespace holdfast::gemm

#endif
