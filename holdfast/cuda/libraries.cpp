#include "holdfast/cuda/libraries.h"

#include <dlfcn.h>

#include <cstdlib>

#include "holdfast/base/text.h"

namespace holdfast::cuda {
namespace {

// Where the loader finds it, else where the toolkit lives.
void* open(const std::string& file) {
  if (void* h = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return h;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable))
      if (void* h = dlopen(cat(home, "/lib64/", file).c_str(), RTLD_NOW | RTLD_LOCAL)) return h;
  return dlopen(cat("/usr/local/cuda/lib64/", file).c_str(), RTLD_NOW | RTLD_LOCAL);
}

template <class F>
void find(void* library, const std::string& file, const char* name, F& f, std::string& missing) {
  f = reinterpret_cast<F>(dlsym(library, name));
  if (!f && missing.empty()) missing = cat(file, " has no ", name);
}

template <class Table, class Fill>
Table load(const std::string& file, Fill&& fill) {
  Table t;
  void* library = open(file);
  if (library)
    fill(t, library);
  else
    t.missing = cat(file, " was not found");
  return t;
}

}  // namespace

#define HOLDFAST_FIND(f) find(library, file, #f, t.f, t.missing);
const Nvrtc& nvrtc() {
  static const std::string file = cat("libnvrtc.so.", CUDART_VERSION / 1000);
  static const auto* found =
      new Nvrtc(load<Nvrtc>(file, [](Nvrtc& t, void* library) { HOLDFAST_NVRTC(HOLDFAST_FIND) }));
  return *found;
}
const CublasLt& cublaslt() {
  static const std::string file = cat("libcublasLt.so.", CUDART_VERSION / 1000);
  static const auto* found = new CublasLt(
      load<CublasLt>(file, [](CublasLt& t, void* library) { HOLDFAST_CUBLASLT(HOLDFAST_FIND) }));
  return *found;
}
#undef HOLDFAST_FIND

}  // namespace holdfast::cuda
