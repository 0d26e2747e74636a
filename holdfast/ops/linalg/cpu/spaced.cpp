#include "holdfast/ops/linalg/cpu/spaced.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "holdfast/base/parallel.h"
#include "holdfast/expr/cpu/instruction_sets.h"

namespace holdfast::gemm {
namespace {

// GFLOP/s of m x k x n on one core of an EPYC with AVX2, the right operand's rows n apart and moved
// apart (of a transposed left one the rows are m long):
//
//   128 x 784 x 512     67    98        128 x 2048 x 256    87    97
//   128 x 512 x 1024    45    96        256 x 256 x 256     95   100
//   T 512 x 128 x 512   61    93        T 2048 x 512 x 128  42    85
constexpr int64_t kSpace = 16;               // floats: a cache line
constexpr int64_t kMost = int64_t{1} << 22;  // what a thread may keep: 16 MB
constexpr int64_t kGrain = int64_t{1} << 15;

// The larger the power of two, the fewer places there are and the fewer uses pay for a copy: 32 of
// rows 1024 apart, 256 of rows 128 apart.
bool unlucky(int64_t step, int64_t uses) {
  int64_t power = std::min<int64_t>(step & -step, 1024);
  return power >= 128 && uses >= 32 * 1024 / power;
}

}  // namespace

bool Spaced::in_place(int64_t m, int64_t n) {
  // oneDNN's own rule for AVX2. With AVX-512 it looks at how far rows are apart, and packs them.
  return best_isa() == Isa::kAvx2 &&
         1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n) >= 0.0038;
}

Spaced::Spaced(Role role, const float* from, int64_t rows, int64_t step, int64_t uses)
    : data_(from), step_(step) {
  if (!unlucky(step, uses) || rows * (step + kSpace) > kMost) return;
  thread_local struct {
    std::unique_ptr<float[]> data;
    int64_t size = 0;
  } kept[2];
  auto& mine = kept[role];
  step_ = step + kSpace;
  if (mine.size < rows * step_) {
    mine.data.reset(new float[static_cast<size_t>(rows * step_)]);
    mine.size = rows * step_;
  }
  float* to = mine.data.get();
  parallel_for(rows, kGrain / step + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(to + i * step_, from + i * step, sizeof(float) * static_cast<size_t>(step));
  });
  data_ = to;
}

}  // namespace holdfast::gemm
