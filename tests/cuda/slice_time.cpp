// How fast the slice is: bytes or operations a second, by the host's clock around work that is
// waited for.
#include <dlfcn.h>

#include <cstdio>

#include "holdfast/op/context.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/linalg.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/nn.h"
#include "holdfast/ops/reduce.h"
#include "slice.h"

namespace slice {
namespace {

void bandwidth(const char* what, double bytes, double s) {
  std::printf("time: %-44s %8.1f us  %7.0f GB/s\n", what, s * 1e6, bytes / s * 1e-9);
}
void rate(const char* what, double flop, double s) {
  std::printf("time: %-44s %8.1f us  %7.1f TFLOP/s\n", what, s * 1e6, flop / s * 1e-12);
}

Tensor random(const Shape& s, DType d) {
  // A block of numbers repeated: making 64M of them one by one would take longer than the test.
  Tensor block = there(numbers({1, 1 << 16}, d));
  return reshape(broadcast_to(block, {s.size() >> 16, 1 << 16}), s);
}

}  // namespace

void time_everything(const char* path) {
  constexpr int64_t n = int64_t{64} << 20;
  double bytes = 4.0 * n;
  {
    Tensor x = random({n}, float32), y = random({n}, float32);
    bandwidth("Erf, 64M floats", 2 * bytes, seconds(10, [&] { erf(x); }));
    bandwidth("Add, 64M floats", 3 * bytes, seconds(10, [&] { x + y; }));
    bandwidth("x * 2, 64M floats", 2 * bytes, seconds(10, [&] { x * 2; }));
    Tensor m = reshape(x, {8192, 8192}), row = random({1 << 16}, float32);
    row = view_of(row, {8192});
    bandwidth("Add [8192,8192] + [8192]", 2 * bytes, seconds(10, [&] { m + row; }));
    Tensor column = reshape(row, {8192, 1});
    bandwidth("Add [8192,8192] + [8192,1]", 2 * bytes, seconds(10, [&] { m + column; }));
    bandwidth("Sum of all, 64M floats", bytes, seconds(10, [&] { reduce_sum(x); }));
    bandwidth("Sum over axis 1, [8192,8192]", bytes,
              seconds(10, [&] { reduce_sum(m, {.axis = Sizes(1)}); }));
    bandwidth("Sum over axis 0, [8192,8192]", bytes,
              seconds(10, [&] { reduce_sum(m, {.axis = Sizes(0)}); }));
    Tensor s = view_of(m, {8192, 4096});
    bandwidth("Softmax [8192,4096]", bytes, seconds(10, [&] { nn::softmax(s); }));
    Tensor a = random({n}, bfloat16), b = random({n}, bfloat16);
    bandwidth("Add, 64M bfloat16", 3 * bytes / 2, seconds(10, [&] { a + b; }));
    Tensor host = copy_to(x, cpu());
    bandwidth("host to device, pageable, 256 MiB", bytes, seconds(1, [&] { copy_to(host, gpu); }));
    bandwidth("device to host, pageable, 256 MiB", bytes, seconds(1, [&] { copy_to(x, cpu()); }));
  }
  for (DType d : {float32, bfloat16, float16, float64}) {
    int64_t k = d == float64 ? 4096 : 8192;
    Tensor a = random({k, k}, d), b = random({k, k}, d);
    double s = seconds(d == bfloat16 || d == float16 ? 10 : 3, [&] { matmul(a, b); });
    rate(cat("MatMul ", k, "^3 ", name(d)).c_str(),
         2.0 * static_cast<double>(k) * static_cast<double>(k) * static_cast<double>(k), s);
  }
  Tensor tiny = there(numbers({16})), big = there(numbers({1024, 1024}));
  std::printf("time: tiny Add, queued                    %8.2f us an op\n",
              1e6 * seconds(2000, [&] { tiny + tiny; }));
  std::printf("time: tiny Add of a host number, queued   %8.2f us an op\n",
              1e6 * seconds(2000, [&] { tiny + 1; }));
  std::printf("time: add, sum, read the scalar           %8.2f us\n",
              1e6 * seconds(200, [&] { reduce_sum(tiny + tiny).item<float>(); }));
  std::printf("time: MatMul 1024^3 float32, queued       %8.2f us\n",
              1e6 * seconds(50, [&] { matmul(big, big); }));
  MemoryStats m = gpu->memory();
  std::printf("memory: peak %lld MiB, cached %lld MiB, %lld allocations\n",
              static_cast<long long>(m.peak >> 20), static_cast<long long>(m.cached >> 20),
              static_cast<long long>(m.allocations));
  void* plugin = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  auto* told = plugin ? reinterpret_cast<void (*)(long long*, long long*, double*)>(
                            dlsym(plugin, "holdfast_cuda_compiled"))
                      : nullptr;
  if (!told) return;
  long long compiled = 0, from_disk = 0;
  double s = 0;
  told(&compiled, &from_disk, &s);
  std::printf("kernels: %lld compiled in %.2f s, %lld from disk\n", compiled, s, from_disk);
}

}  // namespace slice
