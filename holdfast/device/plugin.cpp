#include "holdfast/device/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/build_id.h"  // written by the build

namespace holdfast {
namespace {

void warn_unusable(const std::string& path, const std::string& why) {
  Diagnostic d;
  d.code = Code::W0707;
  d.severity = Severity::kWarning;
  d.headline = cat("the CUDA plugin can't be used: ", why);
  d.why = cat(
      path, " was opened because a CUDA driver is installed; without it every op runs on the CPU");
  d.fixes.push_back(manual_fix("build and install the plugin and libholdfast.so together"));
  d.fixes.push_back(manual_fix("HOLDFAST_CUDA_PLUGIN=off keeps it closed and says nothing"));
  warn(std::move(d));
}

std::string beside_us(const char* file) {
  Dl_info where{};
  if (!dladdr(reinterpret_cast<const void*>(&build_id), &where) || !where.dli_fname) return {};
  std::string path = where.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? file : path.substr(0, slash + 1) + file;
}

void load_cuda() {
  const char* said = std::getenv("HOLDFAST_CUDA_PLUGIN");
  std::string path = said ? said : "";
  if (path == "off") return;
  bool chosen = !path.empty();
  if (!chosen) path = beside_us("libholdfast_cuda.so");
  if (path.empty() || (!chosen && access(path.c_str(), R_OK) != 0)) return;  // built without CUDA
  // Whoever names a plugin wants it opened; ours is of no use without a driver.
  if (!chosen && !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) return;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return warn_unusable(path, why ? why : "it does not open");
  }
  auto entry = reinterpret_cast<PluginEntry>(dlsym(library, "holdfast_plugin"));
  if (!entry) return warn_unusable(path, "it has no entry `holdfast_plugin`");
  char why[512] = "";
  // The library stays open for good: devices, kernels and buffers point into it.
  if (entry(build_id(), why, sizeof why) < 0) warn_unusable(path, why);
}

}  // namespace

const char* build_id() { return HOLDFAST_BUILD_ID; }

void load_plugins() {
  static std::atomic<bool> loaded{false};
  if (loaded.load(std::memory_order_acquire)) return;
  // Recursive: whatever a plugin does while it loads may ask for devices, and sees those added so
  // far.
  static std::recursive_mutex mutex;
  static bool begun = false;
  std::lock_guard lock(mutex);
  if (begun) return;
  begun = true;
  try {
    load_cuda();
  } catch (...) {
    loaded.store(true, std::memory_order_release);  // HOLDFAST_DIAG=error raises the warning, once
    throw;
  }
  loaded.store(true, std::memory_order_release);
}

}  // namespace holdfast
