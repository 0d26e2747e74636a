// Kernels from source text: compiled by NVRTC, kept on disk by their text.
#pragma once

#include <string>

#include "holdfast/base/status.h"

namespace holdfast::cuda {

/// Machine code of `source` for a compute capability (90: 9.0), from the cache on disk or from
/// NVRTC. Our device headers can be included by their names in the tree.
Status compile(const std::string& source, int architecture, std::string& code);

/// How the cache on disk is doing in this process.
struct CompileStats {
  int64_t compiled = 0, from_disk = 0;
  double seconds = 0;       // in NVRTC
  std::string not_written;  // why the last result was not kept, if it was not
};
CompileStats compile_stats();

}  // namespace holdfast::cuda
