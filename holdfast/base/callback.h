// Code that is kept to be called later: std::function for the headers that programs read, where
// <functional> would cost them more than half of ours. Copies share what they hold.
#pragma once

#include <type_traits>
#include <utility>

#include "holdfast/base/api.h"
#include "holdfast/base/refcount.h"

namespace holdfast {

/// Throws: a function that is not there is called.
[[noreturn]] HOLDFAST_API void called_nothing();

template <class Signature>
class Callback;

template <class R, class... A>
class Callback<R(A...)> {
 public:
  Callback() = default;
  Callback(std::nullptr_t) {}
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Callback> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, A...>)
  Callback(F&& f) {
    using Kept = std::decay_t<F>;
    if constexpr (std::is_constructible_v<bool, Kept&> && !std::is_empty_v<Kept>)
      if (!static_cast<bool>(f)) return;  // a null pointer, an empty std::function
    code_ = make_ref<Code<Kept>>(std::forward<F>(f));
  }

  explicit operator bool() const { return static_cast<bool>(code_); }
  /// What it holds, where that is an F; else null.
  template <class F>
  F* target() const {
    auto* code = dynamic_cast<Code<F>*>(code_.get());
    return code ? &code->f : nullptr;
  }
  R operator()(A... arguments) const {
    if (!code_) [[unlikely]]
      called_nothing();
    return code_->call(std::forward<A>(arguments)...);
  }

 private:
  struct Any : RefCounted {
    virtual R call(A... arguments) = 0;
  };
  template <class F>
  struct Code final : Any {
    template <class G>
    explicit Code(G&& g) : f(std::forward<G>(g)) {}
    R call(A... arguments) override {
      if constexpr (std::is_void_v<R>)
        f(std::forward<A>(arguments)...);
      else
        return f(std::forward<A>(arguments)...);
    }
    F f;
  };
  Ref<Any> code_;
};

}  // namespace holdfast
