// How C++ programs hold losses, metrics and optimizers: a value, whose copies are the same object.
#pragma once

#include <concepts>
#include <utility>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/refcount.h"
#include "holdfast/op/in.h"

namespace holdfast::keras {

/// Holds an object of class T, or of one that derives from it.
template <class T>
class Held {
 public:
  /// A new one: `losses::Huber({.delta = 2})`.
  explicit Held(const typename T::Options& options = {}) : object_(make_ref<T>()) {
    object_->configure(options);
  }
  /// One that is there already.
  explicit Held(Ref<T> object) : object_(std::move(object)) {
    if (!object_) fail(Code::E1104, "a handle is made without an object");
  }
  template <std::derived_from<T> D>
    requires(!std::same_as<D, T>)
  Held(const Held<D>& other) : object_(other.ref()) {}

  /// A loss of labels and predictions.
  Tensor operator()(const In& y_true, const In& y_pred, const MaybeIn& sample_weight = {},
                    const MaybeIn& mask = {}) const
    requires std::invocable<T&, const In&, const In&, const MaybeIn&, const MaybeIn&>
  {
    return (*object_)(y_true, y_pred, sample_weight, mask);
  }
  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }
  const Ref<T>& ref() const { return object_; }
  /// As whoever takes any object of the kind wants it.
  template <class Base>
    requires std::derived_from<T, Base>
  operator Ref<Base>() const {
    return object_;
  }
  template <class D>
  bool operator==(const Held<D>& o) const {
    return object_.get() == o.ref().get();
  }

 private:
  Ref<T> object_;
};

}  // namespace holdfast::keras
