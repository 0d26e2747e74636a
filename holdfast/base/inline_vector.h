// A vector that keeps its first N elements inside itself.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "holdfast/base/api.h"
#include "holdfast/base/concepts.h"

namespace holdfast {

/// Refuses element `i` of `size`.
[[noreturn]] HOLDFAST_API void out_of_range(size_t i, size_t size);

template <class T, size_t N>
class InlineVector {
 public:
  using value_type = T;

  // What is not used of the store is copied all the same; the empty instruction tells compilers,
  // which warn of that, that it holds something.
  InlineVector() { asm("" : "=m"(store_)); }
  explicit InlineVector(size_t n, const T& v = T()) : InlineVector() { resize(n, v); }
  InlineVector(std::initializer_list<T> xs) : InlineVector() { append(xs.begin(), xs.end()); }
  template <class It>
  InlineVector(It first, It last) : InlineVector() {
    append(first, last);
  }
  explicit InlineVector(std::span<const T> xs) : InlineVector() { append(xs.begin(), xs.end()); }
  InlineVector(const InlineVector& o) {
    if (copied_whole(o)) return;
    append(o.begin(), o.end());
  }
  InlineVector(InlineVector&& o) noexcept { steal(o); }
  ~InlineVector() { destroy(); }
  InlineVector& operator=(const InlineVector& o) {
    if (this != &o) {
      clear();
      append(o.begin(), o.end());
    }
    return *this;
  }
  InlineVector& operator=(InlineVector&& o) noexcept {
    if (this != &o) {
      destroy();
      steal(o);
    }
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[checked(i)]; }
  const T& operator[](size_t i) const { return data_[checked(i)]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }

  void push_back(T v) {
    reserve(size_ + 1);
    new (data_ + size_++) T(std::move(v));
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    destroy_elements();
    size_ = 0;
  }
  void resize(size_t n, const T& v = T()) {
    while (size_ > n) pop_back();
    reserve(n);
    while (size_ < n) new (data_ + size_++) T(v);
  }
  void insert(size_t at, T v) {
    push_back(std::move(v));
    for (size_t i = size_ - 1; i > at; --i) std::swap(data_[i], data_[i - 1]);
  }
  void erase(size_t at) {
    for (size_t i = at; i + 1 < size_; ++i) data_[i] = std::move(data_[i + 1]);
    pop_back();
  }
  template <class It>
  void append(It first, It last) {
    if constexpr (std::is_trivially_copyable_v<T> && ConvertsTo<It, const T*>) {
      auto n = static_cast<size_t>(last - first);
      reserve(size_ + n);
      if (n) std::memcpy(static_cast<void*>(data_ + size_), first, n * sizeof(T));
      size_ += n;
    } else {
      for (; first != last; ++first) push_back(*first);
    }
  }

  void reserve(size_t n) {
    if (n <= capacity_) return;
    size_t cap = capacity_ * 2 > n ? capacity_ * 2 : n;
    T* fresh = static_cast<T*>(::operator new(cap * sizeof(T)));
    for (size_t i = 0; i < size_; ++i) {
      new (fresh + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    if (data_ != local()) ::operator delete(data_);
    data_ = fresh;
    capacity_ = cap;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b)
    requires std::is_same_v<decltype(std::declval<const T&>() == std::declval<const T&>()), bool>
  {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  // Numbers are read in the innermost loops, by code that counts them; what users hold is not.
  size_t checked(size_t i) const {
    if constexpr (!std::is_trivially_copyable_v<T>)
      if (i >= size_) [[unlikely]]
        out_of_range(i, size_);
    return i;
  }
  T* local() { return reinterpret_cast<T*>(store_); }
  const T* local() const { return reinterpret_cast<const T*>(store_); }
  // A few plain elements, used or not, are copied faster than they are counted. For one that holds
  // nothing yet.
  bool copied_whole(const InlineVector& o) noexcept {
    if constexpr (std::is_trivially_copyable_v<T> && sizeof store_ <= 64) {
      if (o.data_ != o.local()) return false;
      std::memcpy(store_, o.store_, sizeof store_);
      size_ = o.size_;
      return true;
    }
    return false;
  }
  void destroy_elements() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (size_t i = 0; i < size_; ++i) data_[i].~T();
  }
  void destroy() {
    destroy_elements();
    if (data_ != local()) ::operator delete(data_);
  }
  // Leaves `o` empty. Only called when this holds nothing.
  void steal(InlineVector& o) noexcept {
    data_ = local();
    capacity_ = N;
    size_ = 0;
    if (copied_whole(o)) {
      o.size_ = 0;
      return;
    }
    if (o.data_ != o.local()) {
      data_ = std::exchange(o.data_, o.local());
      capacity_ = std::exchange(o.capacity_, N);
      size_ = std::exchange(o.size_, 0);
      return;
    }
    for (size_t i = 0; i < o.size_; ++i) {
      new (data_ + i) T(std::move(o.data_[i]));
      o.data_[i].~T();
    }
    size_ = std::exchange(o.size_, 0);
  }

  alignas(T) unsigned char store_[N * sizeof(T)];
  T* data_ = reinterpret_cast<T*>(store_);
  size_t size_ = 0, capacity_ = N;
};

}  // namespace holdfast
