#include "holdfast/base/recycle.h"

#include <cstdint>
#include <new>

namespace holdfast {

#ifdef __SANITIZE_ADDRESS__

// Every block comes from the system, so that a use of one that was given back is seen.
void* take_block() { return ::operator new(kRecycled); }
void give_block(void* block) noexcept { ::operator delete(block); }

#else

namespace {

constexpr uint32_t kMost = 128;  // blocks that a thread keeps

enum class Stage : uint8_t { kFresh, kKeeps, kOver };

struct Blocks {
  void* first = nullptr;  // each begins with a pointer to the next
  uint32_t count = 0;
  Stage stage = Stage::kFresh;
};
constinit thread_local Blocks t_blocks;

// Frees what a thread kept when it ends; what is given back later in it is freed at once.
struct AtEnd {
  ~AtEnd() {
    Blocks& b = t_blocks;
    b.stage = Stage::kOver;
    while (b.first) {
      void* next = *static_cast<void**>(b.first);
      ::operator delete(b.first);
      b.first = next;
    }
  }
};

bool may_keep(Blocks& b) noexcept {
  if (b.stage == Stage::kFresh) {
    static thread_local AtEnd at_end;
    (void)at_end;
    b.stage = Stage::kKeeps;
  }
  return b.stage == Stage::kKeeps && b.count < kMost;
}

}  // namespace

void* take_block() {
  Blocks& b = t_blocks;
  void* block = b.first;
  if (!block) return ::operator new(kRecycled);
  b.first = *static_cast<void**>(block);
  --b.count;
  return block;
}

void give_block(void* block) noexcept {
  Blocks& b = t_blocks;
  if (b.stage != Stage::kKeeps || b.count >= kMost) [[unlikely]] {
    if (!may_keep(b)) return ::operator delete(block);
  }
  *static_cast<void**>(block) = b.first;
  b.first = block;
  ++b.count;
}

#endif

}  // namespace holdfast
