// Softmax along rows: exp(x - most) over its sum, or x - most - log of the sum. A row is read once
// and held in shared memory where it fits, else read three times (the caches serve the repeats).
#include "holdfast/cuda/kernel_math.cuh"

namespace holdfast::cuda {
namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int64_t kMostShared = 40 << 10, kShortRow = 512;

// One team (a block, or a warp for short rows) a row.
template <class T, int Warps, bool Held, bool Logarithm>
__global__ void __launch_bounds__(kThreads)
    softmax_rows(const T* __restrict__ in, T* __restrict__ out, int64_t rows, int64_t cols) {
  using A = Accumulator<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int kTeam = 32 * Warps;
  const int64_t row = Warps == 1 ? int64_t(blockIdx.x) * kWarps + threadIdx.x / 32 : blockIdx.x;
  const int lane = threadIdx.x % kTeam;
  if (row >= rows) return;
  A* held = reinterpret_cast<A*>(memory) + (Warps == 1 ? threadIdx.x / 32 * cols : 0);
  const T* from = in + row * cols;
  A most = MaximumOf::first<A>();
  for (int64_t i = lane; i < cols; i += kTeam) {
    const A x = A(from[i]);
    if constexpr (Held) held[i] = x;  // each thread reads only what it wrote: no barrier
    most = MaximumOf::join(most, x);
  }
  most = join_block<MaximumOf, Warps>(most);
  A sum = 0;
  for (int64_t i = lane; i < cols; i += kTeam) {
    const A e = exp_of((Held ? held[i] : A(from[i])) - most);
    if constexpr (Held && !Logarithm) held[i] = e;
    sum += e;
  }
  sum = join_block<SumOf, Warps>(sum);
  const A shift = Logarithm ? log_of(sum) : A(0);
  for (int64_t i = lane; i < cols; i += kTeam) {
    if constexpr (Logarithm)
      out[row * cols + i] = T((Held ? held[i] : A(from[i])) - most - shift);
    else
      out[row * cols + i] = T((Held ? held[i] : exp_of(A(from[i]) - most)) / sum);
  }
}

template <class T, bool Logarithm>
cudaError_t run(const T* in, T* out, int64_t rows, int64_t cols, cudaStream_t stream) {
  using A = Accumulator<T>;
  const bool brief = cols <= kShortRow;
  const int64_t blocks = brief ? (rows + kWarps - 1) / kWarps : rows;
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  const int64_t bytes = cols * static_cast<int64_t>(sizeof(A)) * (brief ? kWarps : 1);
  const bool held = bytes <= kMostShared;
  auto* kernel = brief  ? &softmax_rows<T, 1, true, Logarithm>
                 : held ? &softmax_rows<T, kWarps, true, Logarithm>
                        : &softmax_rows<T, kWarps, false, Logarithm>;
  kernel<<<static_cast<unsigned>(blocks), kThreads, held ? static_cast<size_t>(bytes) : 0,
           stream>>>(in, out, rows, cols);
  return cudaGetLastError();
}

}  // namespace

cudaError_t softmax(Element e, bool logarithm, const void* in, void* out, int64_t rows,
                    int64_t cols, cudaStream_t stream) {
  return visit(e, [&]<class T>(T*) -> cudaError_t {
    if constexpr (Accumulator<T>(1) / Accumulator<T>(2) == Accumulator<T>(0))
      return cudaErrorInvalidValue;
    else {
      auto* from = static_cast<const T*>(in);
      auto* to = static_cast<T*>(out);
      return logarithm ? run<T, true>(from, to, rows, cols, stream)
                       : run<T, false>(from, to, rows, cols, stream);
    }
  });
}

}  // namespace holdfast::cuda
