// Forms of functions that take axes without naming them.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast {

/// What stands for axes without their name: a number, a vector of them, a tensor that holds them.
template <class A>
concept AxesLike = ConvertsTo<const A&, Axes> && !std::is_same_v<A, bool>;

/// One axis without its name.
template <class T>
concept AxisNumber = std::integral<T> && !std::is_same_v<T, bool>;

// `reduce_sum(x, {0, 1})`, `cumsum(x, -1)`: axes without their name. Only braces with several
// numbers in them need a form of their own: `{0}` is the options' first field. Our own code names
// its options, and registers functions by their address, which overloads would make ambiguous.
#ifdef HOLDFAST_BUILDING
#define HOLDFAST_AXIS_OVERLOAD(fn, First, Options)
#define HOLDFAST_AXES_OVERLOADS(fn, Options, field)
#define HOLDFAST_FOLD_OVERLOADS(fn, Options)
#else
#define HOLDFAST_AXIS_OVERLOAD(fn, First, Options)                              \
  template <AxisNumber T>                                                       \
  Tensor fn(const First& x, T axis,                                             \
            const std::source_location& at = std::source_location::current()) { \
    Options options{.axis = static_cast<int64_t>(axis)};                        \
    mark_site(at);                                                              \
    return fn(x, options);                                                      \
  }
#define HOLDFAST_AXES_OVERLOADS(fn, Options, field)                             \
  template <AxisNumber T, size_t N>                                             \
    requires(N > 1)                                                             \
  Tensor fn(const In& x, const T(&field)[N],                                    \
            const std::source_location& at = std::source_location::current()) { \
    return fn(x, std::vector<T>(field, field + N), at);                         \
  }                                                                             \
  template <AxesLike A>                                                         \
  Tensor fn(const In& x, const A& field,                                        \
            const std::source_location& at = std::source_location::current()) { \
    Options options{.field = field};                                            \
    mark_site(at);                                                              \
    return fn(x, options);                                                      \
  }
// Likewise with `keepdims` behind the axes.
#define HOLDFAST_FOLD_OVERLOADS(fn, Options)                                    \
  template <AxesLike A>                                                         \
  Tensor fn(const In& x, const A& axis, bool keepdims = false,                  \
            const std::source_location& at = std::source_location::current()) { \
    Options options{.axis = axis, .keepdims = keepdims};                        \
    mark_site(at);                                                              \
    return fn(x, options);                                                      \
  }                                                                             \
  template <AxisNumber T, size_t N>                                             \
    requires(N > 1)                                                             \
  Tensor fn(const In& x, const T(&axis)[N], bool keepdims = false,              \
            const std::source_location& at = std::source_location::current()) { \
    return fn(x, std::vector<T>(axis, axis + N), keepdims, at);                 \
  }
#endif

}  // namespace holdfast
