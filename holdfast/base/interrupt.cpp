#include "holdfast/base/interrupt.h"

#include <atomic>
#include <chrono>

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::milliseconds(50);

std::atomic<void (*)()> g_check{nullptr};

}  // namespace

void set_interrupt(void (*check)()) { g_check = check; }

void check_interrupt() {
  static thread_local Clock::time_point last;
  auto* check = g_check.load(std::memory_order_relaxed);
  if (!check) return;
  auto now = Clock::now();
  if (now - last < kPatience) return;
  last = now;
  check();
}

}  // namespace holdfast
