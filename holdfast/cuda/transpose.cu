// out[cols, rows] = in[rows, cols]. A block moves a square tile through shared memory, so that both
// sides are read and written along their rows; one column more than needed keeps banks apart.
#include "holdfast/cuda/kernels.h"

namespace holdfast::cuda {
namespace {

constexpr int kTile = 32, kRows = 8;

template <class T>
__global__ void __launch_bounds__(kTile* kRows)
    transpose_tiles(const T* __restrict__ in, T* __restrict__ out, int64_t rows, int64_t cols) {
  __shared__ T tile[kTile][kTile + 1];
  // Tiles along the rows are taken in turns: a grid is short in that direction.
  for (int64_t at = int64_t(blockIdx.y) * kTile; at < rows; at += int64_t(gridDim.y) * kTile) {
    const int64_t from = int64_t(blockIdx.x) * kTile;
    for (int i = threadIdx.y; i < kTile; i += kRows)
      if (at + i < rows && from + threadIdx.x < cols)
        tile[i][threadIdx.x] = in[(at + i) * cols + from + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < kTile; i += kRows)
      if (from + i < cols && at + threadIdx.x < rows)
        out[(from + i) * rows + at + threadIdx.x] = tile[threadIdx.x][i];
    __syncthreads();
  }
}

template <class T>
cudaError_t run(const void* in, void* out, int64_t rows, int64_t cols, cudaStream_t stream) {
  const int64_t across = (cols + kTile - 1) / kTile, down = (rows + kTile - 1) / kTile;
  if (across > 0x7fffffff) return cudaErrorInvalidConfiguration;
  const dim3 grid(unsigned(across), unsigned(down < 65535 ? down : 65535));
  transpose_tiles<<<grid, dim3(kTile, kRows), 0, stream>>>(static_cast<const T*>(in),
                                                           static_cast<T*>(out), rows, cols);
  return cudaGetLastError();
}

}  // namespace

cudaError_t transpose(int cell, const void* in, void* out, int64_t rows, int64_t cols,
                      cudaStream_t stream) {
  return cell == 2   ? run<uint16_t>(in, out, rows, cols, stream)
         : cell == 4 ? run<uint32_t>(in, out, rows, cols, stream)
                     : cudaErrorInvalidValue;
}

}  // namespace holdfast::cuda
