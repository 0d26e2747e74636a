// What traced code takes and gives besides single tensors: lists, pairs and structs of them, and
// plain values beside them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/base/boxed.h"
#include "holdfast/base/concepts.h"
#include "holdfast/op/in.h"
#include "holdfast/op/variable.h"

namespace holdfast {

/// A struct of tensors is taken apart by itself where it is an aggregate of at most eight members.
/// Any other says how:
///
///   struct State : Base {
///     auto fields() { return std::tie(h, c); }
///     ...
namespace detail {

template <class>
inline constexpr bool kNever = false;

template <class T>
concept HasFields = requires(T& t) { std::tuple_size<decltype(t.fields())>::value; };

/// A value that is not computed with, but part of what the code is traced for.
template <class T>
concept Fact = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
               std::is_same_v<T, Shape> || std::is_same_v<T, Variable>;

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <>
struct IsList<Tensors> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
concept IsMap = requires {
  typename T::key_type;
  typename T::mapped_type;
};
template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

/// Stands for a member of any type.
struct AnyMember {
  template <class T>
  operator T() const;
};
template <class T, size_t... I>
consteval bool takes_members(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyMember{})...}; };
}
inline constexpr size_t kMostMembers = 8;
/// How many members an aggregate has; more than `kMostMembers` where there are too many.
template <class T, size_t N = kMostMembers + 1>
consteval size_t members() {
  if constexpr (N == 0 || takes_members<T>(std::make_index_sequence<N>{}))
    return N;
  else
    return members<T, N - 1>();
}
template <class T>
concept PlainStruct = std::is_class_v<T> && std::is_aggregate_v<T> && !TupleLike<T>;

/// References to the members of an aggregate.
template <class T>
auto tied(T& x) {
  constexpr size_t n = members<T>();
  static_assert(n <= kMostMembers,
                "holdfast: a struct of more than eight members is not taken apart by itself; write "
                "`auto fields() { return std::tie(a, b, ...); }` in it");
  if constexpr (n == 0) {
    return std::tie();
  } else if constexpr (n == 1) {
    auto& [a] = x;
    return std::tie(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = x;
    return std::tie(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = x;
    return std::tie(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = x;
    return std::tie(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = x;
    return std::tie(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = x;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, f, g] = x;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, f, g, h] = x;
    return std::tie(a, b, c, d, e, f, g, h);
  }
}

/// A name on the way to a part: `argument 1[2]`, `argument 2 member 1`.
struct Step {
  enum Kind : uint8_t { kArgument, kCapture, kElement, kMember } kind;
  size_t index;
};

/// Shows a visitor the parts of `x` in their order: each tensor, each plain value, and what is
/// fixed of its form (sizes of lists, keys of maps).
template <class V, class T>
void visit_parts(V& v, T& x) {
  auto within = [&](Step::Kind kind, auto& parts) {
    std::apply(
        [&](auto&... part) {
          size_t i = 0;
          ((v.enter({kind, i++}), visit_parts(v, part), v.leave()), ...);
        },
        parts);
  };
  if constexpr (std::is_const_v<T>) {  // only looked at: see `WatchedParts`
    visit_parts(v, const_cast<std::remove_const_t<T>&>(x));
  } else if constexpr (std::is_same_v<T, Tensor>) {
    v.tensor(x);
  } else if constexpr (Fact<T>) {
    v.fact(x);
  } else if constexpr (requires { x.visit_nested(v); }) {  // its form is known when it runs
    x.visit_nested(v);
  } else if constexpr (IsList<T>::value) {
    v.form(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      v.enter({Step::kElement, i});
      if constexpr (std::is_same_v<T, std::vector<bool>>) {
        const bool value = x[i];
        visit_parts(v, value);
      } else {
        visit_parts(v, x[i]);
      }
      v.leave();
    }
  } else if constexpr (IsOptional<T>::value) {
    v.form(x.has_value() ? size_t{1} : size_t{0});
    if (x) visit_parts(v, *x);
  } else if constexpr (IsMap<T>) {
    v.form(x.size());
    size_t i = 0;
    for (auto& [key, value] : x) {
      v.form(key);
      v.enter({Step::kElement, i++});
      visit_parts(v, value);
      v.leave();
    }
  } else if constexpr (HasFields<T>) {
    auto parts = x.fields();
    within(Step::kMember, parts);
  } else if constexpr (TupleLike<T>) {
    within(Step::kElement, x);
  } else if constexpr (PlainStruct<T>) {
    auto parts = tied(x);
    within(Step::kMember, parts);
  } else {
    static_assert(
        kNever<T>,
        "holdfast: traced code takes and gives tensors, and structs, pairs, tuples, "
        "arrays, vectors, maps and optionals of them; numbers, strings, enums, shapes and "
        "Variables may be arguments. A class of another kind says what it is made of: "
        "`auto fields() { return std::tie(a, b); }`. A Module is captured by reference: "
        "`[&](Tensor x) { return net(x); }`");
  }
}

HOLDFAST_API std::string number_text(float);
HOLDFAST_API std::string number_text(double);
HOLDFAST_API std::string number_text(long double);
HOLDFAST_API std::string number_text(int64_t);
HOLDFAST_API std::string number_text(uint64_t);

/// A plain value as a text that no other value of its type has.
template <class T>
std::string fact_text(const T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    return number_text(x);
  } else if constexpr (std::is_integral_v<T>) {
    return number_text(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(x));
  } else if constexpr (std::is_same_v<T, DType>) {
    return name(x);
  } else if constexpr (std::is_enum_v<T>) {
    return fact_text(static_cast<std::underlying_type_t<T>>(x));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return '"' + x + '"';
  } else if constexpr (std::is_same_v<T, Shape>) {
    return x.text();
  } else {
    static_assert(std::is_same_v<T, Variable>);
    return "Variable `" + x.name() + "` " + std::to_string(x.handle().id());
  }
}

/// Collects what a call is made of.
struct Parts {
  Tensors tensors;
  std::vector<std::string> facts;

  void tensor(const Tensor& t) { tensors.push_back(t); }
  template <class T>
  void fact(const T& x) {
    facts.push_back(fact_text(x));
  }
  template <class T>
  void form(const T& x) {
    facts.push_back(fact_text(x));
  }
  void enter(Step) {}
  void leave() {}
};

/// Tells a tensor apart from all others.
HOLDFAST_API std::string watched_text(const Tensor& t);

/// The same of what is watched around the code: there another tensor is another value.
struct WatchedParts : Parts {
  void tensor(const Tensor& t) { facts.push_back(watched_text(t)); }
};

/// What the parts are called.
struct HOLDFAST_API PartNames {
  std::vector<std::string> tensors, facts;
  std::vector<Step> path;
  bool watched = false;

  void tensor(const Tensor&) { (watched ? facts : tensors).push_back(text(false)); }
  template <class T>
  void fact(const T&) {
    facts.push_back(text(false));
  }
  template <class T>
  void form(const T&) {
    facts.push_back(text(true));
  }
  void enter(Step s);
  void leave();

 private:
  std::string text(bool form) const;
};

/// Puts tensors into the places of others.
struct Filling {
  std::span<const Tensor> from;
  size_t next = 0;
  void tensor(Tensor& t) { t = from[next++]; }
  template <class T>
  void fact(const T&) {}
  template <class T>
  void form(const T&) {}
  void enter(Step) {}
  void leave() {}
};

/// Takes the tensors out of a result: what is left is its form.
struct Taking {
  Tensors tensors;
  void tensor(Tensor& t) { tensors.push_back(std::move(t)), t = Tensor(); }
  template <class T>
  void fact(const T&) {
    if constexpr (std::is_same_v<T, Variable>)
      static_assert(kNever<T>, "holdfast: traced code gives tensors; return `v.read()`");
    else
      static_assert(kNever<T>,
                    "holdfast: traced code gives tensors: a number would be that of the first call "
                    "for ever. Return `holdfast::constant(n)`, or compute it outside");
  }
  template <class T>
  void form(const T&) {}
  void enter(Step) {}
  void leave() {}
};

/// What a result is besides its tensors.
using Form = Ref<RefCounted>;

/// From what code returns to a list of tensors, and back with others in their places. `form` keeps
/// the rest; code that returns one tensor, or nothing, needs none.
template <class R>
Tensors taken_apart(R result, Form& form) {
  if constexpr (std::is_same_v<R, Tensor>) {
    return Tensors{std::move(result)};
  } else {
    Taking taking;
    visit_parts(taking, result);
    form = make_ref<Boxed<R>>(std::move(result));
    return std::move(taking.tensors);
  }
}
template <class R>
R put_together(Tensors tensors, const Form& form) {
  if constexpr (std::is_same_v<R, Tensor>) {
    return std::move(tensors[0]);
  } else {
    R result = static_cast<const Boxed<R>&>(*form).value;
    Filling filling{{tensors.data(), tensors.size()}};
    visit_parts(filling, result);
    return result;
  }
}

/// What an argument of type `T` is kept as while a call lasts.
template <class T>
struct HeldAs {
  using type = T;
};
template <class T>
  requires(std::is_base_of_v<In, T> ||
           (std::is_class_v<T> && !Fact<T> && !std::is_same_v<T, Tensor> && ConvertsTo<T, Tensor>))
struct HeldAs<T> {
  using type = Tensor;
};
template <>
struct HeldAs<std::span<const Tensor>> {
  using type = std::vector<Tensor>;
};
template <>
struct HeldAs<std::string_view> {
  using type = std::string;
};
template <>
struct HeldAs<const char*> {
  using type = std::string;
};
template <>
struct HeldAs<char*> {
  using type = std::string;
};
template <class T>
using Held = typename HeldAs<std::decay_t<T>>::type;

}  // namespace detail
}  // namespace holdfast
