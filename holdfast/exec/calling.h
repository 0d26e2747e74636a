// How objects that hold C++ code are called: as the code itself, with the caller's line noted.
#pragma once

#include <source_location>
#include <type_traits>

#include "holdfast/exec/structure.h"

namespace holdfast::detail {

/// The parameters of a callable, where it has one list of them.
template <class... P>
struct Parameters {};
template <class S>
struct ParametersOf;
template <class R, class... P>
struct ParametersOf<R(P...)> {
  using type = Parameters<P...>;
};
template <class R, class... P>
struct ParametersOf<R(P...) noexcept> {
  using type = Parameters<P...>;
};
template <class F>
struct SignatureOf {};
#define HOLDFAST_SIGNATURE(qualifiers)            \
  template <class C, class R, class... P>         \
  struct SignatureOf<R (C::*)(P...) qualifiers> { \
    using type = Parameters<P...>;                \
  };
HOLDFAST_SIGNATURE()
HOLDFAST_SIGNATURE(const)
HOLDFAST_SIGNATURE(&)
HOLDFAST_SIGNATURE(const&)
HOLDFAST_SIGNATURE(noexcept)
HOLDFAST_SIGNATURE(const noexcept)
#undef HOLDFAST_SIGNATURE

template <class F>
struct CallableOf {
  using type = void;  // a generic lambda, or several `operator()`
};
template <class F>
  requires requires { typename SignatureOf<decltype(&F::operator())>::type; }
struct CallableOf<F> {
  using type = typename SignatureOf<decltype(&F::operator())>::type;
};
template <class F>
  requires std::is_function_v<F>
struct CallableOf<F*> {
  using type = typename ParametersOf<F>::type;
};

/// What the code gives for arguments that are held as `H`.
template <class F, class... H>
using Given = std::decay_t<std::invoke_result_t<F&, H...>>;

/// How a parameter of the code is given: a tensor also as a Variable, or as a number.
template <class P>
using GivenAs = std::conditional_t<std::is_same_v<Held<P>, Tensor>, In, Held<P>>;

/// The call operators of `Self`, which holds an `F`: its `called` takes the arguments as copies.
template <class Self, class F, class P>
class CallOperators;

/// Of code with one list of parameters.
template <class Self, class F, class... P>
class CallOperators<Self, F, Parameters<P...>> {
  static_assert(std::is_invocable_v<F&, Held<P>...>,
                "holdfast: the code is called with copies of its arguments; take them by value or "
                "as `const Tensor&`, and return what is new");

 public:
  auto operator()(const GivenAs<P>&... arguments,
                  const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    return static_cast<const Self&>(*this).template called<Held<P>...>(Held<P>(arguments)...);
  }
};

/// Of a generic lambda, or of several `operator()`.
template <class Self, class F>
class CallOperators<Self, F, void> {
  using Line = std::source_location;

 public:
  // One for each number of arguments: the caller's line comes last.
  auto operator()(const Line& at = Line::current()) const { return given(at); }
  template <class A0>
  auto operator()(const A0& a0, const Line& at = Line::current()) const {
    return given(at, a0);
  }
  template <class A0, class A1>
  auto operator()(const A0& a0, const A1& a1, const Line& at = Line::current()) const {
    return given(at, a0, a1);
  }
  template <class A0, class A1, class A2>
  auto operator()(const A0& a0, const A1& a1, const A2& a2,
                  const Line& at = Line::current()) const {
    return given(at, a0, a1, a2);
  }
  template <class A0, class A1, class A2, class A3>
  auto operator()(const A0& a0, const A1& a1, const A2& a2, const A3& a3,
                  const Line& at = Line::current()) const {
    return given(at, a0, a1, a2, a3);
  }
  template <class A0, class A1, class A2, class A3, class A4>
  auto operator()(const A0& a0, const A1& a1, const A2& a2, const A3& a3, const A4& a4,
                  const Line& at = Line::current()) const {
    return given(at, a0, a1, a2, a3, a4);
  }
  template <class A0, class A1, class A2, class A3, class A4, class A5>
  auto operator()(const A0& a0, const A1& a1, const A2& a2, const A3& a3, const A4& a4,
                  const A5& a5, const Line& at = Line::current()) const {
    return given(at, a0, a1, a2, a3, a4, a5);
  }

 private:
  template <class... A>
  auto given(const Line& at, const A&... arguments) const {
    static_assert(std::is_invocable_v<F&, Held<A>...>,
                  "holdfast: the code does not take such arguments; it is called with copies of "
                  "them, so take them by value or by const reference");
    mark_caller(at);
    return static_cast<const Self&>(*this).template called<Held<A>...>(Held<A>(arguments)...);
  }
};

}  // namespace holdfast::detail
