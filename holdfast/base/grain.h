// How long the pieces of a parallel_for should be.
#pragma once

#include <algorithm>
#include <cstdint>

namespace holdfast {

/// Simple steps (an addition, a copied element) that are worth waking another thread for.
inline constexpr int64_t kWorthAPiece = 1 << 15;

/// How many items make a piece, where each takes `work` simple steps: one large item, or so many
/// small ones that a tiny tensor stays with the thread that has it.
inline int64_t grain_for(int64_t work, int64_t worth = kWorthAPiece) {
  return std::max<int64_t>(1, worth / std::max<int64_t>(work, 1));
}

}  // namespace holdfast
