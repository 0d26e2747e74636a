// The traces of one function, as both languages keep them.
#pragma once

#include <algorithm>
#include <vector>

#include "holdfast/base/refcount.h"

namespace holdfast {

/// A bounded cache of traces in the order of their last use: which sizes are relaxed depends on
/// that order, so there is one of it. `T` is counted, and says for itself which calls it serves.
///
/// Whoever owns it keeps other threads out. What it is given to ask may run code of the program's,
/// which may come back here: nothing refers into the list meanwhile.
template <class T>
class Traces {
 public:
  using List = std::vector<Ref<T>>;
  /// The one unused longest goes when there are more than `most`.
  explicit Traces(size_t most) : most_(most) {}

  /// The first that `fits`, which is then the one used last; null if none does.
  template <class Fits>
  Ref<T> find(Fits&& fits) {
    for (size_t i = 0; i < all_.size(); ++i) {
      Ref<T> trace = all_[i];
      if (!fits(*trace)) continue;
      if (i > 0 && i < all_.size() && all_[i] == trace) {
        auto at = all_.begin() + static_cast<std::ptrdiff_t>(i);
        std::rotate(all_.begin(), at, at + 1);
      }
      return trace;
    }
    return nullptr;
  }

  /// Puts a new one first, and drops those that `gone` says no call will be for again. Gives back
  /// what was dropped: to let go of a trace may run code of the program's.
  template <class Gone>
  [[nodiscard]] List add(Ref<T> made, Gone&& gone) {
    List dropped = drop(std::forward<Gone>(gone));
    all_.insert(all_.begin(), std::move(made));
    while (all_.size() > most_) {
      dropped.push_back(std::move(all_.back()));
      all_.pop_back();
    }
    return dropped;
  }

  /// Drops those that `gone` holds for, and gives them back.
  template <class Gone>
  [[nodiscard]] List drop(Gone&& gone) {
    List dropped;
    for (const Ref<T>& trace : List(all_))
      if (gone(*trace) && std::erase(all_, trace)) dropped.push_back(trace);
    return dropped;
  }

  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  /// The one used last comes first.
  const List& list() const { return all_; }

 private:
  List all_;
  size_t most_;
};

}  // namespace holdfast
