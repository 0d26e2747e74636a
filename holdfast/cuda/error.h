// Failures of CUDA as Status, and the wrapper that keeps exceptions inside the plugin.
#pragma once

#include <cuda_runtime_api.h>

#include <new>

#include "holdfast/base/text.h"
#include "holdfast/op/opdef.h"

namespace holdfast::cuda {

/// `doing` failed with `e`; success where `e` says so.
Status status_of(cudaError_t e, const char* doing);
/// E0705 in a child of the process that loaded the plugin: a CUDA context does not survive fork.
Status check_process();

#define HOLDFAST_CUDA(call)                                                      \
  do {                                                                           \
    if (cudaError_t e_ = (call); e_ != cudaSuccess) return status_of(e_, #call); \
  } while (0)

/// Runs `f`, and turns what it throws into the Status it returns.
template <class F>
Status guard(F&& f) noexcept {
  try {
    if (Status s = check_process(); !s.ok()) return s;
    return f();
  } catch (const Error& e) {
    return {e.code(), e.diagnostic().headline, e.diagnostic().why, e.diagnostic().fixes};
  } catch (const std::bad_alloc&) {
    return {Code::E0702, "no host memory is left for a GPU op"};
  } catch (const std::exception& e) {
    return {Code::E0706, cat("the CUDA plugin failed: ", e.what())};
  }
}

/// A kernel function as it is registered.
template <KernelFn Fn>
Status guarded(Call& c) {
  return guard([&] { return Fn(c); });
}

/// Likewise a function that refuses.
template <RefuseFn Fn>
const char* guarded_refusal(const Types& t) noexcept {
  try {
    return Fn(t);
  } catch (...) {
    return "the plugin failed while it was asked";
  }
}

/// Likewise a function that prepares, and one that runs what was prepared.
template <PrepareFn Fn>
Preparation guarded_preparation(const Types& t) noexcept {
  try {
    return Fn(t);
  } catch (...) {
    return "the plugin failed while it prepared";
  }
}
template <PreparedFn Fn>
Status guarded_prepared(Call& c, const Prepared& p) {
  return guard([&] { return Fn(c, p); });
}

}  // namespace holdfast::cuda
