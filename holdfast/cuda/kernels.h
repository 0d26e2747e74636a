// Launchers of the hand-written kernels. Plain types only: the .cu files know nothing of the frame.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace holdfast::cuda {

enum class Element : uint8_t { kFloat16, kBFloat16, kFloat32, kFloat64, kInt32, kInt64 };
enum class Reduction : uint8_t { kSum, kMean, kProd, kMax, kMin };

/// Bytes of scratch that `reduce` needs.
size_t reduce_scratch(Element, int64_t outer, int64_t size, int64_t inner);
/// out[outer, inner] = in[outer, size, inner] reduced over the middle; dense, outer * inner >= 1.
/// Mean divides by `count`. `keep` leaves the result in what it was computed in (float, double or
/// int64), `kept` says that the input was left so.
cudaError_t reduce(Reduction, Element, bool kept, bool keep, const void* in, void* out,
                   void* scratch, int64_t outer, int64_t size, int64_t inner, int64_t count,
                   cudaStream_t);

/// Rows of `cols` >= 1 elements: exp(x) over its sum, or the logarithm of that.
cudaError_t softmax(Element, bool logarithm, const void* in, void* out, int64_t rows, int64_t cols,
                    cudaStream_t);

/// Rows of elements, by how far rows and elements lie apart; 0 repeats one.
struct Strided {
  const void* data;
  int64_t row, step;
};
/// Rows of `cols` >= 1 elements: loss = -sum(labels * log of softmax(in)), back = softmax(in) -
/// labels.
cudaError_t cross_entropy(Element, Strided in, Strided labels, void* loss, void* back, int64_t rows,
                          int64_t cols, cudaStream_t);
/// Likewise for labels that are numbers of classes, of 64 bits where `wide`, else of 32. The 64
/// bits at `first_bad` become the first row whose label is none, or all ones.
cudaError_t sparse_cross_entropy(Element, const void* in, bool wide, const void* labels,
                                 void* first_bad, void* loss, void* back, int64_t rows,
                                 int64_t cols, cudaStream_t);

/// out[cols, rows] = in[rows, cols], both at least 1, in cells of 2 or 4 bytes.
cudaError_t transpose(int cell, const void* in, void* out, int64_t rows, int64_t cols,
                      cudaStream_t);

}  // namespace holdfast::cuda
