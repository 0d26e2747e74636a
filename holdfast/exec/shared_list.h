// Lists of references that several threads use.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace holdfast {

/// A list that is read as it was at one moment, and changed as a whole. Its elements are copied and
/// dropped outside of the lock: counting a reference may wait for an interpreter, and the
/// interpreter's collector may be reading the list just then.
template <class T>
class SharedList {
 public:
  using List = std::vector<T>;

  std::shared_ptr<const List> read() const {
    std::lock_guard lock(mutex_);
    return list_;
  }
  /// Lets `f` change a copy, which becomes the list; again if somebody else was quicker.
  template <class F>
  void change(F&& f) {
    while (true) {
      std::shared_ptr<const List> before = read();
      auto copy = std::make_shared<List>(*before);
      f(*copy);
      std::shared_ptr<const List> after = std::move(copy);
      std::lock_guard lock(mutex_);
      if (list_ != before) continue;
      list_.swap(after);
      return;
    }
  }
  void clear() {
    auto after = std::make_shared<const List>();
    std::lock_guard lock(mutex_);
    list_.swap(after);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const List> list_ = std::make_shared<const List>();
};

}  // namespace holdfast
