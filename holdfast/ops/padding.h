// What convolutions and pools do at the border.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "holdfast/op/arg.h"

namespace holdfast::nn {

/// "SAME", "VALID", or how much to add before and after each axis: {{0, 0}, {1, 1}, {1, 1}, {0,
/// 0}}.
class Padding {
 public:
  Padding(const char* mode) : mode_(mode) {}
  Padding(std::string mode) : mode_(std::move(mode)) {}
  Padding(std::initializer_list<std::pair<int64_t, int64_t>> pairs) : mode_("EXPLICIT") {
    for (auto [before, after] : pairs) amounts_.insert(amounts_.end(), {before, after});
  }
  /// The pairs' numbers in a row.
  explicit Padding(Ints amounts) : mode_("EXPLICIT"), amounts_(std::move(amounts)) {}
  explicit operator Arg() const { return is_explicit() ? Arg(amounts_) : Arg(mode_); }

  bool is_explicit() const { return mode_ == "EXPLICIT"; }
  const std::string& mode() const { return mode_; }
  const Ints& amounts() const { return amounts_; }

 private:
  std::string mode_;
  Ints amounts_;
};

}  // namespace holdfast::nn
