// cuBLASLt and NVRTC, opened when first needed: a process that never multiplies on a GPU pays
// nothing, and a machine without one of them still runs the rest.
#pragma once

#include <cublasLt.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <string>

namespace holdfast::cuda {

// The functions we use, under their own names.
#define HOLDFAST_NVRTC(X) \
  X(nvrtcCreateProgram)   \
  X(nvrtcDestroyProgram)  \
  X(nvrtcCompileProgram)  \
  X(nvrtcGetCUBINSize)    \
  X(nvrtcGetCUBIN)        \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) X(nvrtcGetErrorString) X(nvrtcVersion)
#define HOLDFAST_CUBLASLT(X)          \
  X(cublasLtCreate)                   \
  X(cublasLtMatmul)                   \
  X(cublasLtMatmulAlgoGetHeuristic)   \
  X(cublasLtGetStatusString)          \
  X(cublasLtMatmulDescCreate)         \
  X(cublasLtMatmulDescDestroy)        \
  X(cublasLtMatmulDescSetAttribute)   \
  X(cublasLtMatrixLayoutCreate)       \
  X(cublasLtMatrixLayoutDestroy)      \
  X(cublasLtMatrixLayoutSetAttribute) \
  X(cublasLtMatmulPreferenceCreate)   \
  X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulPreferenceSetAttribute)

#define HOLDFAST_POINTER(f) decltype(&::f) f = nullptr;
struct Nvrtc {
  HOLDFAST_NVRTC(HOLDFAST_POINTER)
  std::string missing;  // why it can't be used; empty: it can
};
struct CublasLt {
  HOLDFAST_CUBLASLT(HOLDFAST_POINTER)
  std::string missing;
};
#undef HOLDFAST_POINTER

/// A library as the loader finds it, else where the toolkit or Python's packages have theirs; null
/// where it is nowhere.
void* open_library(const std::string& file);
/// Its function `name`; where there is none, the first such is noted in `missing`.
template <class F>
void find_function(void* library, const std::string& file, const char* name, F& f,
                   std::string& missing) {
  f = reinterpret_cast<F>(dlsym(library, name));
  if (!f && missing.empty()) missing = file + " has no " + name;
}

const Nvrtc& nvrtc();
const CublasLt& cublaslt();

}  // namespace holdfast::cuda
