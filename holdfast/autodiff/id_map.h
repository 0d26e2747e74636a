// From tensor ids to small numbers, by open addressing: the tape asks for every operand of every
// op.
#pragma once

#include <cstdint>
#include <vector>

namespace holdfast {

class IdMap {
 public:
  /// The value of `id`, or -1.
  int32_t find(uint64_t id) const {
    if (count_ == 0) return -1;
    for (size_t i = slot(id);; i = (i + 1) & mask()) {
      if (keys_[i] == id) return values_[i];
      if (keys_[i] == 0) return -1;
    }
  }
  bool has(uint64_t id) const { return find(id) >= 0; }

  void set(uint64_t id, int32_t value) {
    if ((count_ + 1) * 2 > keys_.size()) grow();
    size_t i = slot(id);
    while (keys_[i] != 0 && keys_[i] != id) i = (i + 1) & mask();
    if (keys_[i] == 0) {
      keys_[i] = id;
      ++count_;
    }
    values_[i] = value;
  }

  void clear() {
    keys_.clear();
    values_.clear();
    count_ = 0;
  }

 private:
  size_t mask() const { return keys_.size() - 1; }
  size_t slot(uint64_t id) const { return (id * 0x9E3779B97F4A7C15ull >> 17) & mask(); }
  void grow() {
    std::vector<uint64_t> keys = std::move(keys_);
    std::vector<int32_t> values = std::move(values_);
    keys_.assign(keys.empty() ? 32 : keys.size() * 2, 0);
    values_.assign(keys_.size(), -1);
    count_ = 0;
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i]) set(keys[i], values[i]);
  }

  std::vector<uint64_t> keys_;  // 0: free
  std::vector<int32_t> values_;
  size_t count_ = 0;
};

}  // namespace holdfast
