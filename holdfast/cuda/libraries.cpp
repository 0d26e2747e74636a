#include "holdfast/cuda/libraries.h"

#include <cstdlib>

#include "holdfast/base/text.h"

namespace holdfast::cuda {

void* open_library(const std::string& file) {
  auto open = [&](const std::string& folder) {
    return dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  };
  if (void* h = open("")) return h;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable))
      for (const char* folder : {"/lib64/", "/lib/"})
        if (void* h = open(cat(home, folder))) return h;
  for (const char* folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"})
    if (void* h = open(folder)) return h;
  // In a Python environment the libraries of NVIDIA's packages lie beside our own package.
  Dl_info self{};
  if (!dladdr(reinterpret_cast<void*>(&open_library), &self) || !self.dli_fname) return nullptr;
  std::string here(self.dli_fname);
  here.resize(here.rfind('/') + 1);
  for (const char* part : {"cu13", "cudnn", "cublas", "cuda_nvrtc"})
    if (void* h = open(cat(here, "../nvidia/", part, "/lib/"))) return h;
  return nullptr;
}

namespace {

template <class Table, class Fill>
Table load(const std::string& file, Fill&& fill) {
  Table t;
  void* library = open_library(file);
  if (library)
    fill(t, library);
  else
    t.missing = cat(file, " was not found");
  return t;
}

}  // namespace

#define HOLDFAST_FIND(f) find_function(library, file, #f, t.f, t.missing);
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
