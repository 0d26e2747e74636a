// C++ code as a function of elements: how it is called with one, and what it gives.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/data/node.h"
#include "holdfast/exec/function.h"

namespace holdfast::data::detail {

/// What each function of elements becomes.
using ElementCode = Callback<Nested(const Nested&)>;

/// The tensors of an element, for a function that takes `n` of them.
HOLDFAST_API std::vector<Tensor> as_arguments(const Nested& element, size_t n);

template <class P>
struct Count;
template <class... P>
struct Count<holdfast::detail::Parameters<P...>> {
  static constexpr size_t value = sizeof...(P);
  static constexpr bool tensors = (std::is_same_v<std::decay_t<P>, Tensor> && ...);
};

/// Calls code with an element: as a Nested, or tensor by tensor.
template <class F>
auto call_with(F& f, const Nested& element) {
  if constexpr (std::is_invocable_v<F&, const Nested&>) {
    return f(element);
  } else {
    using P = typename holdfast::detail::CallableOf<F>::type;
    static_assert(!std::is_void_v<P>,
                  "holdfast::data: a function of elements with several lists of parameters takes "
                  "a `const Nested&`, or write the type of each: `[](Tensor x, Tensor y)`");
    static_assert(Count<P>::tensors,
                  "holdfast::data: a function of elements takes a `const Nested&`, or Tensors");
    std::vector<Tensor> all = as_arguments(element, Count<P>::value);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return f(all[I]...);
    }(std::make_index_sequence<Count<P>::value>{});
  }
}

/// What code gave, as an element.
inline Nested as_element(Nested n) { return n; }
inline Nested as_element(Tensor t) { return t; }
template <class... T>
Nested as_element(std::tuple<T...> all) {
  return std::apply([](auto&... one) { return Nested::tuple({as_element(std::move(one))...}); },
                    all);
}
template <class A, class B>
Nested as_element(std::pair<A, B> both) {
  return Nested::tuple({as_element(std::move(both.first)), as_element(std::move(both.second))});
}
template <class T>
Nested as_element(std::vector<T> all) {
  std::vector<Nested> items;
  for (T& one : all) items.push_back(as_element(std::move(one)));
  return Nested::tuple(std::move(items));
}

template <class F>
ElementCode element_code(F f) {
  return [f = std::move(f)](const Nested& element) mutable {
    return as_element(call_with(f, element));
  };
}

/// A function that gives an element, or nothing; each iteration begins with a copy of it.
template <class F>
class CopiedGenerator final : public GeneratorSource {
 public:
  explicit CopiedGenerator(F f) : f_(std::move(f)) {}
  Ref<Generator> begin() override { return make_ref<Running>(f_); }

 private:
  struct Running final : Generator {
    explicit Running(const F& from) : f(from) {}
    bool next(Nested& out) override {
      auto got = f();
      if (!got) return false;
      out = as_element(std::move(*got));
      return true;
    }
    F f;
  };
  const F f_;
};

}  // namespace holdfast::data::detail
