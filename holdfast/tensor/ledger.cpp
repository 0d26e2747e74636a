#include "holdfast/tensor/ledger.h"

#include <algorithm>
#include <mutex>

namespace holdfast {

struct Ledger {
  std::mutex mutex;
  LedgerEntry* newest = nullptr;

  static Ledger& get() {
    static Ledger* l = new Ledger;  // tensors in statics outlive any static of ours
    return *l;
  }
  void add(LedgerEntry* e) {
    std::lock_guard lock(mutex);
    e->next_ = newest;
    if (newest) newest->before_ = e;
    newest = e;
  }
  void remove(LedgerEntry* e) {
    std::lock_guard lock(mutex);
    (e->before_ ? e->before_->next_ : newest) = e->next_;
    if (e->next_) e->next_->before_ = e->before_;
  }
  std::vector<LedgerLine> lines() {
    std::lock_guard lock(mutex);
    std::vector<LedgerLine> out;
    for (auto* e = newest; e; e = e->next_)
      out.push_back({e->buffer, e->bytes, e->born, e->dtype, e->shape});
    return out;
  }
};

LedgerEntry::LedgerEntry(const Buffer* of, size_t size, Where made, DType d, Shape s)
    : buffer(of), bytes(size), born(made), dtype(d), shape(std::move(s)) {
  Ledger::get().add(this);
}

LedgerEntry::~LedgerEntry() { Ledger::get().remove(this); }

std::vector<LedgerLine> largest_live(size_t n) {
  auto lines = Ledger::get().lines();
  std::reverse(lines.begin(), lines.end());
  std::stable_sort(lines.begin(), lines.end(), [](auto& a, auto& b) { return a.bytes > b.bytes; });
  if (lines.size() > n) lines.resize(n);
  return lines;
}

}  // namespace holdfast
