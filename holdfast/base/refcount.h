// Intrusive reference counts: one word in the object, no control block.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "holdfast/base/api.h"
#include "holdfast/base/concepts.h"

namespace holdfast {

/// Base of every object that is shared by counting. Starts at zero; `Ref` does the counting.
/// A count below zero says that somebody else counts as well (`count_elsewhere`): each change is
/// told to `retained` and `released`, which nothing else pays for but a look at the sign.
class HOLDFAST_API RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept {
    int64_t before = count_.fetch_add(1, std::memory_order_relaxed);
    if (before < 0) [[unlikely]]
      tell_retained(before);
  }
  void release() const noexcept {
    // Whoever holds the last reference is alone with the object: no need to count down atomically.
    if (unique())
      destroy();
    else
      release_shared();
  }
  /// Counts the first reference to a fresh object, which nobody else can see yet.
  void retain_first() const noexcept { count_.store(1, std::memory_order_relaxed); }
  /// True when exactly one reference is left: its holder may change the object in place.
  bool unique() const noexcept { return count_.load(std::memory_order_acquire) == 1; }
  int64_t use_count() const noexcept {
    int64_t now = count_.load(std::memory_order_relaxed);
    return now < 0 ? now - kElsewhere : now;
  }

  /// What messages call it.
  virtual std::string text() const { return "an object"; }

 protected:
  virtual ~RefCounted() = default;
  /// Called when the count falls to zero. Override to recycle instead of delete.
  virtual void destroy() const noexcept { delete this; }

  /// From now on every change of the count is told to the two below, and the object lives as long
  /// as they say. Gives back how many references there were at that moment.
  int64_t count_elsewhere() const noexcept {
    return count_.fetch_add(kElsewhere, std::memory_order_acq_rel);
  }
  /// The end of it, for who is alone with the object: it has one reference, as if fresh.
  void count_here() const noexcept { count_.store(1, std::memory_order_relaxed); }
  /// Told of a change that was made, with the number of references before it.
  virtual void retained(int64_t /*before*/) const noexcept {}
  virtual void released(int64_t /*before*/) const noexcept {}

 private:
  // Out of line: they would stand in every place that lets go of something.
  void release_shared() const noexcept;
  void tell_retained(int64_t count) const noexcept;
  static constexpr int64_t kElsewhere = INT64_MIN;
  mutable std::atomic<int64_t> count_{0};
};

/// Owning pointer to a counted object.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  Ref(const Ref& o) : p_(o.p_) {
    if (p_) p_->retain();
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
    requires ConvertsTo<U*, T*>
  Ref(const Ref<U>& o) : Ref(static_cast<T*>(o.get())) {}
  template <class U>
    requires ConvertsTo<U*, T*>
  Ref(Ref<U>&& o) noexcept : p_(o.leak()) {}
  ~Ref() {
    if (p_) p_->release();
  }
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }

  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref& o) const { return p_ == o.p_; }
  /// Gives up ownership without releasing; pair with `Ref::take`.
  T* leak() { return std::exchange(p_, nullptr); }
  /// Takes over a reference that somebody else counted.
  static Ref take(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }

 private:
  T* p_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  T* p = new T(std::forward<Args>(args)...);
  if constexpr (std::is_base_of_v<RefCounted, T>)
    p->retain_first();
  else
    p->retain();
  return Ref<T>::take(p);
}

}  // namespace holdfast
