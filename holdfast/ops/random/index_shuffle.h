// A permutation of [0, max] computed entry by entry, never laid out in memory.
#pragma once

#include <array>
#include <cstdint>

#include "holdfast/base/api.h"

namespace holdfast::random {

/// 96 bits; a word contributes as many low bits as half a block has.
using IndexKey = std::array<uint32_t, 3>;

/// Where `index` <= `max` goes. A Simon cipher of the smallest even block that holds `max` (16 bits
/// at least) is applied until the result is in range, as in TensorFlow. `rounds` is even, 4 or
/// more.
HOLDFAST_API uint64_t shuffled_index(uint64_t index, const IndexKey& key, uint64_t max, int rounds);

}  // namespace holdfast::random
