// The caching allocator behind CPU tensors. Large blocks are kept: mapping 64 MB anew costs more
// than most ops that fill it.
#pragma once

#include <cstddef>

#include "holdfast/device/device.h"

namespace holdfast {

/// The pool that all CPU devices share.
class Pool {
 public:
  static Pool& get();

  /// Null when there is no memory. `rounded` is what `free` wants back.
  void* allocate(size_t bytes, size_t* rounded);
  void free(void* p, size_t rounded) noexcept;
  /// Gives every cached block back to the system.
  void trim();
  /// Bytes of the blocks that are kept.
  size_t cached() const;

 private:
  Pool();
  struct Bins;
  Bins* bins_;
};

/// The bytes this process may use: physical memory, or less in a container.
int64_t system_memory();

}  // namespace holdfast
