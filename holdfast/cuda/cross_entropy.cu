// Cross entropy over softmax along rows: the loss of each row, and softmax less the labels. A row
// is read three times; the caches serve the repeats.
#include "holdfast/cuda/kernel_math.cuh"

namespace holdfast::cuda {
namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int64_t kShortRow = 512;

// `labels.of(row)` knows the labels of a row: what each class adds to the loss, and takes from
// softmax.
template <class T, int Warps, class L>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_rows(const T* __restrict__ in, int64_t in_row, int64_t in_step, L labels,
                       T* __restrict__ loss, T* __restrict__ back, int64_t rows, int64_t cols) {
  using A = Accumulator<T>;
  constexpr int kTeam = 32 * Warps;
  const int64_t row = Warps == 1 ? int64_t(blockIdx.x) * kWarps + threadIdx.x / 32 : blockIdx.x;
  const int lane = threadIdx.x % kTeam;
  if (row >= rows) return;
  const T* from = in + row * in_row;
  auto x = [&](int64_t i) { return A(from[i * in_step]); };
  auto weights = labels.of(row, cols, lane == 0);
  A most = MaximumOf::first<A>();
  for (int64_t i = lane; i < cols; i += kTeam) most = MaximumOf::join(most, x(i));
  most = join_block<MaximumOf, Warps>(most);
  A sum = 0;
  for (int64_t i = lane; i < cols; i += kTeam) sum += exp_of(x(i) - most);
  sum = join_block<SumOf, Warps>(sum);
  const A log_sum = log_of(sum), part = A(1) / sum;
  A lost = 0;
  for (int64_t i = lane; i < cols; i += kTeam) {
    const A shifted = x(i) - most;
    lost += weights.lost(i, log_sum - shifted);
    back[row * cols + i] = T(weights.less(i, exp_of(shifted) * part));
  }
  lost = join_block<SumOf, Warps>(lost);
  if (lane == 0) loss[row] = T(lost);
}

template <class T>
struct Distributions {
  const T* all;
  int64_t row_stride, step;

  struct Row {
    using A = Accumulator<T>;
    const T* at;
    int64_t step;
    __device__ A weight(int64_t i) const { return A(at[i * step]); }
    __device__ A lost(int64_t i, A by) const { return weight(i) * by; }
    __device__ A less(int64_t i, A soft) const { return soft - weight(i); }
  };
  __device__ Row of(int64_t row, int64_t, bool) const { return {all + row * row_stride, step}; }
};

template <class I, class A>
struct Classes {
  const I* all;
  unsigned long long* first_bad;

  struct Row {
    int64_t label;
    __device__ A lost(int64_t i, A by) const { return i == label ? by : A(0); }
    __device__ A less(int64_t i, A soft) const { return i == label ? soft - A(1) : soft; }
  };
  __device__ Row of(int64_t row, int64_t cols, bool tells) const {
    const int64_t label = all[row];
    if (tells && (label < 0 || label >= cols))
      atomicMin(first_bad, static_cast<unsigned long long>(row));
    return {label};
  }
};

template <class T, class L>
cudaError_t run(const T* in, int64_t in_row, int64_t in_step, L labels, T* loss, T* back,
                int64_t rows, int64_t cols, cudaStream_t stream) {
  const bool brief = cols <= kShortRow;
  const int64_t blocks = brief ? (rows + kWarps - 1) / kWarps : rows;
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  auto* kernel = brief ? &cross_entropy_rows<T, 1, L> : &cross_entropy_rows<T, kWarps, L>;
  kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(in, in_row, in_step, labels, loss,
                                                                 back, rows, cols);
  return cudaGetLastError();
}

// Calls f(T*) where T is a floating type.
template <class F>
cudaError_t visit_floats(Element e, F&& f) {
  return visit(e, [&]<class T>(T* t) -> cudaError_t {
    if constexpr (Accumulator<T>(1) / Accumulator<T>(2) == Accumulator<T>(0))
      return cudaErrorInvalidValue;
    else
      return f(t);
  });
}

}  // namespace

cudaError_t cross_entropy(Element e, Strided in, Strided labels, void* loss, void* back,
                          int64_t rows, int64_t cols, cudaStream_t stream) {
  return visit_floats(e, [&]<class T>(T*) {
    return run(static_cast<const T*>(in.data), in.row, in.step,
               Distributions<T>{static_cast<const T*>(labels.data), labels.row, labels.step},
               static_cast<T*>(loss), static_cast<T*>(back), rows, cols, stream);
  });
}

cudaError_t sparse_cross_entropy(Element e, const void* in, bool wide, const void* labels,
                                 void* first_bad, void* loss, void* back, int64_t rows,
                                 int64_t cols, cudaStream_t stream) {
  // All bits set: no row.
  if (cudaError_t bad = cudaMemsetAsync(first_bad, 0xff, sizeof(uint64_t), stream);
      bad != cudaSuccess)
    return bad;
  return visit_floats(e, [&]<class T>(T*) {
    auto with = [&]<class I>(const I* at) {
      return run(static_cast<const T*>(in), cols, 1,
                 Classes<I, Accumulator<T>>{at, static_cast<unsigned long long*>(first_bad)},
                 static_cast<T*>(loss), static_cast<T*>(back), rows, cols, stream);
    };
    return wide ? with(static_cast<const long long*>(labels))
                : with(static_cast<const int*>(labels));
  });
}

}  // namespace holdfast::cuda
