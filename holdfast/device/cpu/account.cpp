#include "holdfast/device/cpu/account.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "holdfast/device/cpu/pool.h"

namespace holdfast {
namespace {

enum class Stage : uint8_t { kFresh, kCounts, kOver };
constinit thread_local Stage t_stage = Stage::kFresh;

}  // namespace

constinit thread_local Account::Share* Account::t_share = nullptr;

// Hands a thread's share back when the thread ends; tensors that die later in it are counted by
// all.
struct Account::AtEnd {
  ~AtEnd() {
    t_stage = Stage::kOver;
    Share* share = std::exchange(t_share, nullptr);
    if (!share) return;
    Account& a = Account::get();
    a.settle(*share);
    std::lock_guard lock(a.mutex_);
    share->taken = false;
  }
};

Account& Account::get() {
  static Account* a = new Account;  // tensors in statics may be freed after any destructor of ours
  return *a;
}

Account::Account() : all_memory_(system_memory()), limit_(all_memory_) {}

// This thread's share; null where it has ended, or where there is no memory for one.
Account::Share* Account::own() noexcept {
  if (t_stage != Stage::kFresh) return t_share;
  static thread_local AtEnd at_end;
  (void)at_end;
  t_stage = Stage::kCounts;
  std::lock_guard lock(mutex_);
  auto free = std::find_if(shares_.begin(), shares_.end(), [](auto& s) { return !s->taken; });
  if (free != shares_.end()) {
    (*free)->taken = true;
    return t_share = free->get();
  }
  try {
    shares_.push_back(std::make_unique<Share>());
    t_share = shares_.back().get();
  } catch (const std::bad_alloc&) {
    // Its bytes are counted by all.
  }
  return t_share;
}

void Account::raise_peak(int64_t live) const noexcept {
  int64_t peak = peak_.load(kRelaxed);
  while (live > peak && !peak_.compare_exchange_weak(peak, live, kRelaxed)) {
  }
}

// Moves what a thread counted into the sum.
void Account::settle(Share& s) noexcept {
  raise_peak(live_.load(kRelaxed) + s.high.load(kRelaxed));
  live_.fetch_add(s.live.load(kRelaxed), kRelaxed);
  count_.fetch_add(s.count.load(kRelaxed), kRelaxed);
  for (auto* counter : {&s.live, &s.high, &s.count}) counter->store(0, kRelaxed);
}

bool Account::admit_shared(int64_t bytes) {
  if (Share* s = own()) settle(*s);
  int64_t live = live_.fetch_add(bytes, kRelaxed) + bytes;
  int64_t all = exact_.load(kRelaxed) ? this->live() : live;
  if (all > limit_.load(kRelaxed)) {
    live_.fetch_sub(bytes, kRelaxed);
    return false;
  }
  count_.fetch_add(1, kRelaxed);
  raise_peak(live);
  return true;
}

void Account::leave_shared(int64_t bytes) noexcept {
  if (Share* s = own()) settle(*s);
  live_.fetch_sub(bytes, kRelaxed);
}

int64_t Account::live() const {
  std::lock_guard lock(mutex_);
  int64_t sum = live_.load(kRelaxed);
  for (auto& s : shares_) sum += s->live.load(kRelaxed);
  return sum;
}

int64_t Account::count() const {
  std::lock_guard lock(mutex_);
  int64_t sum = count_.load(kRelaxed);
  for (auto& s : shares_) sum += s->count.load(kRelaxed);
  return sum;
}

int64_t Account::peak() const {
  std::lock_guard lock(mutex_);
  int64_t sum = live_.load(kRelaxed);
  for (auto& s : shares_) sum += s->high.load(kRelaxed);
  raise_peak(sum);
  return peak_.load(kRelaxed);
}

void Account::set_limit(int64_t bytes) {
  exact_ = bytes > 0;
  limit_ = bytes > 0 ? bytes : all_memory_;
}

void Account::reset_peak() {
  if (Share* s = own()) settle(*s);
  peak_ = live();
}

}  // namespace holdfast
