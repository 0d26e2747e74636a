// What stages share that put elements side by side.
#pragma once

#include <span>
#include <vector>

#include "holdfast/data/node.h"

namespace holdfast::data {

/// How many batches are made of so many elements.
int64_t batches(int64_t elements, int64_t size, bool drop);
/// How many rows so many batches have; unknown where no int64 says it.
int64_t all_rows(int64_t batches, int64_t rows);

/// Elements of a batch differ: says which, and how. `first` is the number of the batch's first one,
/// which has `a`; the one `i` behind it has `b`.
[[noreturn]] void refuse_difference(const DatasetObject& stage, int64_t first, size_t i,
                                    size_t component, const Tensor& a, const Tensor& b);

/// Elements side by side, the first of which is number `first`; those of other shapes are refused.
Nested stacked_by(const DatasetObject& stage, int64_t first, std::span<const Nested> elements);

/// A cursor that takes elements of its input, or their rows, a batch at a time.
class Collector : public Cursor {
 public:
  Collector(const DatasetObject& input, int64_t size, bool drop)
      : input_(input.begin()), size_(size), drop_(drop) {}
  void save(Saving& to) const override {
    to.number(ended_);
    to.number(at_);
    input_->save(to);
  }
  void restore(Restoring& from) override {
    ended_ = from.number() != 0;
    at_ = from.number();
    input_->restore(from);
  }

 protected:
  /// The next elements; none at the end. `first` is the number of the first of them.
  std::vector<Nested> collect(int64_t& first) {
    std::vector<Nested> out;
    take([this](Nested& one) { return input_->next(one); }, out);
    first = at_;
    at_ += static_cast<int64_t>(out.size());
    return out;
  }
  /// Fills `out` with what `next` gives, up to a batch; nothing where a batch is too small to
  /// count.
  template <class Next, class T>
  void take(Next next, std::vector<T>& out) {
    out.clear();
    while (!ended_ && static_cast<int64_t>(out.size()) < size_) {
      T one{};
      if (next(one))
        out.push_back(std::move(one));
      else
        ended_ = true;
    }
    if (drop_ && static_cast<int64_t>(out.size()) < size_) out.clear();
  }
  Cursor& input() { return *input_; }

 private:
  Owned<Cursor> input_;
  const int64_t size_;
  const bool drop_;
  int64_t at_ = 0;
  bool ended_ = false;
};

}  // namespace holdfast::data
