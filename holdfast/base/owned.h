// One owner, one object: std::unique_ptr for the headers that programs read, where <memory> would
// cost them more than all of ours. The class that holds one has its destructor in a source file.
#pragma once

#include <utility>

namespace holdfast {

template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* made) : p_(made) {}
  Owned(Owned&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Owned& operator=(Owned&& o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Owned() { delete p_; }

  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

template <class T, class... Args>
Owned<T> make_owned(Args&&... args) {
  return Owned<T>(new T(std::forward<Args>(args)...));
}

}  // namespace holdfast
