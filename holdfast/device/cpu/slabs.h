// Blocks of middle size, cut one behind another from slabs in huge pages: a loop over several
// arrays in pages of 4 KB waits for translations of addresses a quarter of its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "holdfast/base/api.h"

namespace holdfast {

class HOLDFAST_API Slabs {
 public:
  static constexpr size_t kHuge = 2 << 20;    // bytes of a huge page
  static constexpr size_t kSlab = 4 * kHuge;  // of a slab

  /// A block of at most kHuge bytes, a multiple of 64; null when there is no memory.
  void* take(size_t bytes);
  /// A slab of which every block came back goes to the system.
  void give_back(void* block) noexcept;
  /// Bytes that are mapped.
  size_t mapped() const;

 private:
  struct Slab {
    size_t used = 0;
    int live = 0;
  };
  bool open();

  mutable std::mutex mutex_;
  std::map<uintptr_t, Slab> slabs_;  // by where they begin
  uintptr_t current_ = 0;            // the one that blocks are cut from; 0: none
};

}  // namespace holdfast
