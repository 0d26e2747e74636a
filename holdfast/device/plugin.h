// Devices that come from libraries beside ours, opened only where they can be of use.
#pragma once

#include "holdfast/base/api.h"

namespace holdfast {

/// Loads the plugins once; later calls cost one load of a flag. `devices()` calls it.
///
/// The CUDA plugin is `libholdfast_cuda.so` beside our own library. It is left alone where no
/// driver is installed. HOLDFAST_CUDA_PLUGIN=off leaves it alone anywhere, a path names another
/// file.
void load_plugins();

/// What a plugin exports under the name `holdfast_plugin`. It refuses a `build_id` that is not its
/// own before it touches any C++ interface; then it adds its devices and kernels. Never throws.
/// Returns how many devices it added, or -1 with a reason in `why`.
using PluginEntry = int (*)(const char* build_id, char* why, int why_size);

/// The id of this build: version, compiler, and a hash of the headers that both sides share.
HOLDFAST_API const char* build_id();

}  // namespace holdfast
