// cuBLASLt and NVRTC, opened when first needed: a process that never multiplies on a GPU pays
// nothing, and a machine without one of them still runs the rest.
#pragma once

#include <cublasLt.h>
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

const Nvrtc& nvrtc();
const CublasLt& cublaslt();

}  // namespace holdfast::cuda
