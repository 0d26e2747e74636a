#include "holdfast/cuda/compile.h"

#include <chrono>
#include <mutex>
#include <vector>

#include "holdfast/base/text.h"
#include "holdfast/cuda/device_headers.h"  // written by the build
#include "holdfast/cuda/disk_cache.h"
#include "holdfast/cuda/libraries.h"

namespace holdfast::cuda {
namespace {

std::mutex g_mutex;
CompileStats g_stats;

constexpr const char* kHeaderNames[] = {
    "holdfast/expr/scalar_math.h",       "holdfast/expr/integer_math.h",
    "holdfast/expr/special_functions.h", "holdfast/cuda/element_types.h",
    "holdfast/cuda/scalar_device.h",     "holdfast/cuda/fold_device.h"};
constexpr const char* kHeaders[] = {kScalarMath,   kIntegerMath,  kSpecialFunctions,
                                    kElementTypes, kScalarDevice, kFoldDevice};

// Everything the machine code depends on: compiler, options, headers, source.
std::string cache_key(const std::string& source, const std::string& options) {
  static const std::string headers = [] {
    std::string all;
    for (const char* h : kHeaders) all += h;
    return cat(hash_of(all));
  }();
  int major = 0, minor = 0;
  nvrtc().nvrtcVersion(&major, &minor);
  return cat("nvrtc ", major, ".", minor, " ", options, " headers ", headers, "\n", source);
}

Status run_nvrtc(const std::string& source, const char* architecture, std::string& code) {
  const Nvrtc& n = nvrtc();
  nvrtcProgram program = nullptr;
  nvrtcResult r =
      n.nvrtcCreateProgram(&program, source.c_str(), "expr.cu",
                           static_cast<int>(std::size(kHeaders)), kHeaders, kHeaderNames);
  if (r != NVRTC_SUCCESS) return {Code::E0706, cat("NVRTC failed: ", n.nvrtcGetErrorString(r))};
  const char* options[] = {architecture, "--std=c++20", "--fmad=true"};
  r = n.nvrtcCompileProgram(program, 3, options);
  Status status;
  size_t size = 0;
  if (r != NVRTC_SUCCESS) {
    std::string log;
    if (n.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
      log.resize(size);
      n.nvrtcGetProgramLog(program, log.data());
    }
    status = {Code::E0706, cat("NVRTC did not compile a kernel: ", n.nvrtcGetErrorString(r)),
              log.substr(0, 2000)};
  } else if (n.nvrtcGetCUBINSize(program, &size) == NVRTC_SUCCESS) {
    code.resize(size);
    r = n.nvrtcGetCUBIN(program, code.data());
    if (r != NVRTC_SUCCESS) status = {Code::E0706, cat("NVRTC failed: ", n.nvrtcGetErrorString(r))};
  }
  n.nvrtcDestroyProgram(&program);
  return status;
}

}  // namespace

Status compile(const std::string& source, int architecture, std::string& code) {
  if (!nvrtc().missing.empty())
    return {Code::E0706, cat("no kernel can be compiled: ", nvrtc().missing)};
  std::string target = cat("--gpu-architecture=sm_", architecture);
  std::string key = cache_key(source, target);
  if (read_cached(key, code)) {
    std::lock_guard lock(g_mutex);
    ++g_stats.from_disk;
    return {};
  }
  auto begin = std::chrono::steady_clock::now();
  if (Status s = run_nvrtc(source, target.c_str(), code); !s.ok()) return s;
  std::string not_written = write_cached(key, code);
  std::lock_guard lock(g_mutex);
  ++g_stats.compiled;
  g_stats.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  g_stats.not_written = std::move(not_written);
  return {};
}

CompileStats compile_stats() {
  std::lock_guard lock(g_mutex);
  return g_stats;
}

}  // namespace holdfast::cuda
