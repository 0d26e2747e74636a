// Reductions over the middle axis of [outer, size, inner], dense. The middle is cut into pieces by
// its size alone, pieces are joined in a fixed order: results do not depend on the run.
//
// inner = 1: a block (short rows: a warp) walks a piece of a row. Otherwise 32 columns side by
// side, eight threads down each.
#include "holdfast/cuda/kernel_math.cuh"

namespace holdfast::cuda {
namespace {

constexpr int kWarps = 8, kRowThreads = 32 * kWarps;
constexpr int64_t kRowPiece = 32768, kColumnPiece = 2048, kShortRow = 512;

template <class R, class In, class Out, int Warps>
__global__ void __launch_bounds__(32 * kWarps)
    reduce_rows(const In* __restrict__ in, Out* __restrict__ out, int64_t rows, int64_t size,
                int64_t piece, int64_t pieces, double divisor, bool mean) {
  using A = Accumulator<In>;
  constexpr int kTeam = 32 * Warps;
  const int64_t team = Warps == 1 ? int64_t(blockIdx.x) * kWarps + threadIdx.x / 32 : blockIdx.x;
  const int lane = threadIdx.x % kTeam;
  if (team >= rows * pieces) return;
  const int64_t row = team / pieces, begin = team % pieces * piece,
                end = begin + piece < size ? begin + piece : size;
  const In* from = in + row * size;
  A v[4];
#pragma unroll
  for (int u = 0; u < 4; ++u) v[u] = R::template first<A>();
  int64_t i = begin + lane;
  for (; i + 3 * kTeam < end; i += 4 * kTeam) {
#pragma unroll
    for (int u = 0; u < 4; ++u) v[u] = R::join(v[u], A(from[i + u * kTeam]));
  }
  for (; i < end; i += kTeam) v[0] = R::join(v[0], A(from[i]));
  A all = join_block<R, Warps>(R::join(R::join(v[0], v[1]), R::join(v[2], v[3])));
  if (lane == 0) out[team] = Out(mean ? A(all / divisor) : all);
}

template <class R, class In, class Out>
__global__ void __launch_bounds__(32 * kWarps)
    reduce_columns(const In* __restrict__ in, Out* __restrict__ out, int64_t size, int64_t inner,
                   int64_t piece, int64_t pieces, int64_t across, double divisor, bool mean) {
  using A = Accumulator<In>;
  __shared__ A parts[kWarps][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  int64_t block = blockIdx.x;
  const int64_t column = block % across * 32 + x;
  block /= across;
  const int64_t which = block % pieces, outer = block / pieces;
  const int64_t begin = which * piece, end = begin + piece < size ? begin + piece : size;
  A v = R::template first<A>();
  if (column < inner) {
    const In* from = in + outer * size * inner + column;
    for (int64_t i = begin + y; i < end; i += kWarps) v = R::join(v, A(from[i * inner]));
  }
  parts[y][x] = v;
  __syncthreads();
  if (y != 0 || column >= inner) return;
#pragma unroll
  for (int w = 1; w < kWarps; ++w) v = R::join(v, parts[w][x]);
  out[(outer * pieces + which) * inner + column] = Out(mean ? A(v / divisor) : v);
}

template <class R, class In, class Out>
cudaError_t launch(const In* in, Out* out, int64_t outer, int64_t size, int64_t inner,
                   int64_t piece, double divisor, bool mean, cudaStream_t stream) {
  int64_t pieces = size > piece ? (size + piece - 1) / piece : 1;
  if (inner == 1) {
    bool brief = size <= kShortRow;
    int64_t teams = outer * pieces, blocks = brief ? (teams + kWarps - 1) / kWarps : teams;
    if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
    auto* kernel = brief ? &reduce_rows<R, In, Out, 1> : &reduce_rows<R, In, Out, kWarps>;
    kernel<<<static_cast<unsigned>(blocks), kRowThreads, 0, stream>>>(in, out, outer, size, piece,
                                                                      pieces, divisor, mean);
  } else {
    int64_t across = (inner + 31) / 32, blocks = across * pieces * outer;
    if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
    reduce_columns<R, In, Out><<<static_cast<unsigned>(blocks), kRowThreads, 0, stream>>>(
        in, out, size, inner, piece, pieces, across, divisor, mean);
  }
  return cudaGetLastError();
}

int64_t piece_of(int64_t inner) { return inner == 1 ? kRowPiece : kColumnPiece; }

template <class R, class T, class Out>
cudaError_t run(const T* in, Out* out, void* scratch, int64_t outer, int64_t size, int64_t inner,
                double divisor, bool mean, cudaStream_t stream) {
  using A = Accumulator<T>;
  int64_t piece = piece_of(inner), pieces = (size + piece - 1) / piece;
  if (pieces <= 1) return launch<R>(in, out, outer, size, inner, piece, divisor, mean, stream);
  auto* parts = static_cast<A*>(scratch);
  if (cudaError_t e = launch<R>(in, parts, outer, size, inner, piece, 1, false, stream)) return e;
  return launch<R>(static_cast<const A*>(parts), out, outer, pieces, inner, pieces, divisor, mean,
                   stream);
}

template <class T, class Out>
cudaError_t pick(Reduction r, const T* in, Out* out, void* scratch, int64_t outer, int64_t size,
                 int64_t inner, double divisor, cudaStream_t stream) {
  bool mean = r == Reduction::kMean;
  switch (r) {
    case Reduction::kProd:
      return run<ProductOf>(in, out, scratch, outer, size, inner, divisor, mean, stream);
    case Reduction::kMax:
      return run<MaximumOf>(in, out, scratch, outer, size, inner, divisor, mean, stream);
    case Reduction::kMin:
      return run<MinimumOf>(in, out, scratch, outer, size, inner, divisor, mean, stream);
    default: return run<SumOf>(in, out, scratch, outer, size, inner, divisor, mean, stream);
  }
}

}  // namespace

size_t reduce_scratch(Element e, int64_t outer, int64_t size, int64_t inner) {
  int64_t piece = piece_of(inner), pieces = (size + piece - 1) / piece;
  if (pieces <= 1) return 0;
  return visit(e, [&]<class T>(T*) {
    return sizeof(Accumulator<T>) * static_cast<size_t>(outer * pieces * inner);
  });
}

cudaError_t reduce(Reduction r, Element e, bool kept, bool keep, const void* in, void* out,
                   void* scratch, int64_t outer, int64_t size, int64_t inner, int64_t count,
                   cudaStream_t stream) {
  auto divisor = static_cast<double>(count);
  return visit(e, [&]<class T>(T*) {
    auto to = [&]<class In>(const In* from) {
      if (keep)
        return pick(r, from, static_cast<Accumulator<T>*>(out), scratch, outer, size, inner,
                    divisor, stream);
      return pick(r, from, static_cast<T*>(out), scratch, outer, size, inner, divisor, stream);
    };
    return kept ? to(static_cast<const Accumulator<T>*>(in)) : to(static_cast<const T*>(in));
  });
}

}  // namespace holdfast::cuda
