// Elements on their way from the thread that makes them to the one that takes them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "holdfast/base/owned.h"
#include "holdfast/exec/nested.h"

namespace holdfast::data {

/// One thread pushes and one pops, without a lock: each owns one of the two counts, and what the
/// count of the other covers is its own. Counts are written and read in one order for all, so that
/// who says "I wait" and then looks at a count cannot miss who changes it and then asks who waits.
class ElementQueue {
 public:
  struct Item {
    Nested element;
    std::exception_ptr error;  // in place of an element
  };

  ElementQueue() : first_(make_owned<Chunk>()), last_(first_.get()) {}
  ~ElementQueue() {
    while (first_) drop_first();  // one by one: a long chain would need a deep stack
  }
  ElementQueue(const ElementQueue&) = delete;

  void push(Item&& item) {
    int64_t at = pushed_.load(std::memory_order_relaxed);
    if (at > 0 && at % kChunk == 0) {
      last_->next = make_owned<Chunk>();
      last_ = last_->next.get();
    }
    last_->items[at % kChunk] = std::move(item);
    pushed_.store(at + 1);
  }
  bool pop(Item& out) {
    int64_t at = popped_.load(std::memory_order_relaxed);
    if (at == pushed_.load()) return false;
    if (at > 0 && at % kChunk == 0) drop_first();
    out = std::move(first_->items[at % kChunk]);
    popped_.store(at + 1);
    return true;
  }
  int64_t size() const { return pushed_.load() - popped_.load(); }

  /// Calls `f` with each item, for who pops, while nobody pushes.
  template <class F>
  void each(F&& f) const {
    const Chunk* chunk = first_.get();
    for (int64_t at = popped_, end = pushed_; at < end; ++at) {
      if (at > 0 && at % kChunk == 0) chunk = chunk->next.get();
      f(chunk->items[at % kChunk]);
    }
  }

 private:
  static constexpr int64_t kChunk = 64;
  struct Chunk {
    Item items[kChunk];
    Owned<Chunk> next;
  };
  void drop_first() {
    Owned<Chunk> old = std::move(first_);
    first_ = std::move(old->next);
  }

  // Each side's own, on cache lines of their own.
  alignas(64) Owned<Chunk> first_;
  std::atomic<int64_t> popped_{0};
  alignas(64) Chunk* last_;
  std::atomic<int64_t> pushed_{0};
};

}  // namespace holdfast::data
