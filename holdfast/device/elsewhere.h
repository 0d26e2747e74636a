// Whether anything lies on another device than the first CPU.
#pragma once

#include <atomic>

#include "holdfast/base/api.h"

namespace holdfast {
namespace detail {
HOLDFAST_API extern std::atomic<bool> g_memory_elsewhere;
}  // namespace detail

/// Whether memory of another device than the first CPU was ever handed out in this process. While
/// it was not, whatever has a value lies there, and nobody need look.
inline bool memory_elsewhere() {
  return detail::g_memory_elsewhere.load(std::memory_order_relaxed);
}

}  // namespace holdfast
