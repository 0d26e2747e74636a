// The one entry of libholdfast_cuda.so.
#include <cstdio>
#include <cstring>
#include <utility>

#include "holdfast/build_id.h"  // written by the build
#include "holdfast/cuda/compile.h"
#include "holdfast/cuda/device.h"
#include "holdfast/cuda/error.h"
#include "holdfast/cuda/ops.h"
#include "holdfast/cuda/program.h"

namespace holdfast::cuda {
namespace {

constinit const AddsKernels* g_first = nullptr;

void say(char* why, int size, const char* text) {
  if (size > 0) std::snprintf(why, static_cast<size_t>(size), "%s", text);
}

int add_devices(char* why, int size) {
  int count = 0;
  cudaError_t e = cudaGetDeviceCount(&count);
  if (e == cudaErrorNoDevice || (e == cudaSuccess && count == 0)) return 0;
  if (e == cudaErrorInsufficientDriver) {
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return 0;  // no driver at all
    say(why, size,
        cat("the driver serves CUDA ", driver / 1000, ".", driver % 1000 / 10,
            ", the plugin needs ", CUDART_VERSION / 1000, ".0")
            .c_str());
    return -1;
  }
  if (e != cudaSuccess) {
    say(why, size, cat("CUDA does not start: ", cudaGetErrorString(e)).c_str());
    return -1;
  }
  int added = 0;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    if (cudaGetDeviceProperties(&p, i) != cudaSuccess || p.major < 8)
      continue;  // our kernels need sm_80's bfloat16
    add_device(new CudaDevice(i, p));
    ++added;
  }
  return added;
}

}  // namespace

AddsKernels::AddsKernels(void (*add)()) : add_(add), next_(std::exchange(g_first, this)) {}
void AddsKernels::all() {
  for (const AddsKernels* a = g_first; a; a = a->next_) a->add_();
}

}  // namespace holdfast::cuda

extern "C" [[gnu::visibility("default")]] int holdfast_plugin(const char* build_id, char* why,
                                                              int why_size) {
  using namespace holdfast::cuda;
  if (std::strcmp(build_id, HOLDFAST_BUILD_ID) != 0) {
    if (why_size > 0)
      std::snprintf(why, static_cast<size_t>(why_size),
                    "it was built for `%s`, the library is `%s`", HOLDFAST_BUILD_ID, build_id);
    return -1;
  }
  try {
    if (auto s = check_process(); !s.ok()) return 0;
    int devices = add_devices(why, why_size);
    if (devices <= 0) return devices;
    AddsKernels::all();
    return devices;
  } catch (const std::exception& e) {
    say(why, why_size, e.what());
    return -1;
  } catch (...) {
    say(why, why_size, "it failed while loading");
    return -1;
  }
}

/// How many kernels this process compiled or found on disk, and what that took. For tests and
/// `holdfast doctor`.
extern "C" [[gnu::visibility("default")]] void holdfast_cuda_compiled(long long* compiled,
                                                                      long long* from_disk,
                                                                      double* seconds) {
  holdfast::cuda::CompileStats s = holdfast::cuda::compile_stats();
  *compiled = s.compiled;
  *from_disk = s.from_disk;
  *seconds = s.seconds;
}

/// How many launches expressions made in this process. For tests.
extern "C" [[gnu::visibility("default")]] long long holdfast_cuda_launches() {
  return holdfast::cuda::program_launches();
}
