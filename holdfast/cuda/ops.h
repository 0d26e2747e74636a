// How a file of kernels adds them to the registry: `static const AddsKernels added(f);` beside
// them.
#pragma once

#include "holdfast/op/opdef.h"

namespace holdfast::cuda {

class AddsKernels {
 public:
  explicit AddsKernels(void (*add)());
  /// What all files of the plugin add; for its entry, once there is a GPU.
  static void all();

 private:
  void (*add_)();
  const AddsKernels* next_;
};

}  // namespace holdfast::cuda
