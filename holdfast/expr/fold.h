// How a row of elements becomes one, on any device.
#pragma once

#include <cstdint>

namespace holdfast {

enum class Fold : uint8_t { kSum, kMean, kProd, kMax, kMin, kSquares, kHalfSquares };
inline constexpr int kNumFolds = 7;

/// The longest row that is folded at once; longer ones are cut.
inline constexpr int64_t kFoldPiece = 16384;

}  // namespace holdfast
