// Questions about types that headers ask of many: each is one question to the compiler, where the
// standard library's goes through a dozen class templates for every pair of types.
#pragma once

#include <type_traits>

namespace holdfast {

/// D is B, or derives from it.
template <class D, class B>
concept DerivesFrom = std::is_base_of_v<B, D>;

/// A function that takes a To may be given a From.
template <class From, class To>
concept ConvertsTo = requires(From&& from, void (&take)(To)) { take(static_cast<From&&>(from)); };

}  // namespace holdfast
