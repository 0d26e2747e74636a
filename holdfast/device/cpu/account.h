// How many bytes CPU tensors hold, now and at most, and how many they may.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast {

/// Counts the bytes of all CPU devices. Those of small tensors each thread counts on its own, and
/// they are added up when somebody asks: a locked instruction costs as much as the arithmetic on
/// four floats, and there would be three.
class Account {
 public:
  static Account& get();

  /// Counts `bytes` of a new tensor; false, and nothing is counted, when they would pass the limit.
  bool admit(size_t bytes) {
    Share* s = bytes <= kSmall && !exact_.load(kRelaxed) ? t_share : nullptr;
    if (!s || s->live.load(kRelaxed) > kLoose) return admit_shared(static_cast<int64_t>(bytes));
    s->add(static_cast<int64_t>(bytes));
    s->count.store(s->count.load(kRelaxed) + 1, kRelaxed);
    return true;
  }
  void leave(size_t bytes) noexcept {
    Share* s = bytes <= kSmall ? t_share : nullptr;
    if (!s || s->live.load(kRelaxed) < -kLoose) return leave_shared(static_cast<int64_t>(bytes));
    s->add(-static_cast<int64_t>(bytes));
  }

  int64_t live() const;
  /// The most bytes that were live. With several threads it may be too high by what they counted on
  /// their own.
  int64_t peak() const;
  /// Tensors that were admitted.
  int64_t count() const;
  int64_t limit() const { return limit_; }
  /// 0: all memory there is.
  void set_limit(int64_t bytes);
  void reset_peak();

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr size_t kSmall = 1024;    // bytes of a tensor that its thread counts on its own
  static constexpr int64_t kLoose = 65536;  // bytes that a thread may keep to itself

  // What one thread has counted. It alone writes, so a plain store is enough.
  struct Share {
    std::atomic<int64_t> live{0}, high{0},
        count{0};       // high: the most that `live` was since it was settled
    bool taken = true;  // by a thread that runs; guarded by the mutex

    void add(int64_t bytes) noexcept {
      int64_t now = live.load(kRelaxed) + bytes;
      live.store(now, kRelaxed);
      if (now > high.load(kRelaxed)) high.store(now, kRelaxed);
    }
  };
  struct AtEnd;

  Account();
  Share* own() noexcept;
  bool admit_shared(int64_t bytes);
  void leave_shared(int64_t bytes) noexcept;
  void settle(Share&) noexcept;
  void raise_peak(int64_t live) const noexcept;

  const int64_t all_memory_;
  std::atomic<int64_t> live_{0}, count_{0}, limit_;
  mutable std::atomic<int64_t> peak_{0};
  std::atomic<bool> exact_{
      false};                 // the user set a limit: every byte is checked against it at once
  mutable std::mutex mutex_;  // guards the list
  std::vector<std::unique_ptr<Share>> shares_;
  static constinit thread_local Share* t_share;
};

}  // namespace holdfast
