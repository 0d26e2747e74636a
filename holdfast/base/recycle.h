// Memory of small objects that come and go with every op, kept by each thread for the next one.
#pragma once

#include <cstddef>

namespace holdfast {

inline constexpr size_t kRecycled = 192;  // bytes of a block

/// A block of kRecycled bytes. Throws std::bad_alloc.
void* take_block();
/// Takes a block back, on any thread.
void give_block(void* block) noexcept;

}  // namespace holdfast
