// Branches and loops whose code takes and returns what it is about: tensors, pairs, structs.
#pragma once

#include "holdfast/base/concepts.h"
#include "holdfast/exec/control.h"
#include "holdfast/exec/structure.h"

namespace holdfast {
namespace detail {

/// Code of a loop that takes its variables one by one: how many.
template <class F, size_t... I>
consteval bool takes_tensors(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, std::conditional_t<I == I, Tensor, void>...>;
}
template <class F, size_t N = 1>
consteval size_t loop_variables() {
  if constexpr (N > 8)
    return 0;
  else if constexpr (takes_tensors<F>(std::make_index_sequence<N>{}))
    return N;
  else
    return loop_variables<F, N + 1>();
}
template <class F, size_t... I>
decltype(auto) with_variables(F& f, std::span<const Tensor> v, std::index_sequence<I...>) {
  return f(Tensor(v[I])...);
}
template <class F>
concept TakesVariables =
    !std::is_invocable_v<F&, std::span<const Tensor>> && loop_variables<F>() > 0;

/// Throw: a loop is given other variables than its code takes; what its body returns is not known.
[[noreturn]] HOLDFAST_API void refuse_variables(size_t given, size_t taken);
[[noreturn]] HOLDFAST_API void refuse_unknown_form();

/// What a body returns, where it never ran and so has not shown its form.
template <class R>
R form_of_loop(size_t n) {
  R form{};
  if constexpr (IsList<R>::value) form.resize(n);
  Taking taking;
  visit_parts(taking, form);
  if (taking.tensors.size() != n) refuse_unknown_form();
  return form;
}

}  // namespace detail

/// `Tensor y = cond(x > 0, [&] { return x; }, [&] { return -x; });` Both give the same: a tensor,
/// or a pair, a struct, a list of them; or nothing.
template <class T, class E>
  requires(std::is_invocable_v<T&> && std::is_invocable_v<E&> && !ConvertsTo<T, BranchFn>)
auto cond(In pred, T true_fn, E false_fn) {
  using R = std::decay_t<std::invoke_result_t<T&>>;
  static_assert(std::is_same_v<R, std::decay_t<std::invoke_result_t<E&>>>,
                "holdfast::cond: both sides return the same C++ type; a number beside a tensor is "
                "written as one: `holdfast::constant(0.f)`");
  detail::Form form;
  auto side = [&form](auto& f) {
    return [&]() -> Tensors {
      if constexpr (std::is_void_v<R>)
        return f(), Tensors{};
      else
        return detail::taken_apart<R>(f(), form);
    };
  };
  Tensors out = cond(pred, BranchFn(side(true_fn)), BranchFn(side(false_fn)));
  if constexpr (!std::is_void_v<R>) return detail::put_together<R>(std::move(out), form);
}

/// `auto [i, sum] = while_loop([](Tensor i, Tensor) { return i < 10; },
///                             [](Tensor i, Tensor s) { return std::pair(i + 1, s + i); }, {0,
///                             0});`
///
/// The body gives what it takes, as a pair, a tuple, an array or a struct; one variable as a
/// Tensor.
template <class Cond, class Body>
  requires(detail::TakesVariables<Cond> && detail::TakesVariables<Body>)
auto while_loop(Cond condition, Body body, const Ins& loop_vars, const LoopOptions& options = {}) {
  constexpr size_t n = detail::loop_variables<Body>();
  static_assert(n == detail::loop_variables<Cond>(),
                "holdfast::while_loop: the condition and the body take the same variables");
  constexpr auto all = std::make_index_sequence<n>{};
  using R = std::decay_t<decltype(detail::with_variables(body, {}, all))>;
  static_assert(
      std::is_same_v<std::decay_t<decltype(detail::with_variables(condition, {}, all))>, Tensor>,
      "holdfast::while_loop: the condition gives one bool tensor, as `i < 10` does");
  static_assert(!std::is_void_v<R>,
                "holdfast::while_loop: the body returns the next values of its variables: `return "
                "std::pair(i + 1, s);`");
  std::vector<Tensor> variables;
  for (size_t i = 0; i < loop_vars.size(); ++i) variables.push_back(loop_vars[i].tensor());
  if (variables.size() != n) detail::refuse_variables(variables.size(), n);
  detail::Form form;
  Tensors out =
      while_loop(LoopFn([&](std::span<const Tensor> v) -> Tensors {
                   return {detail::with_variables(condition, v, all)};
                 }),
                 LoopFn([&](std::span<const Tensor> v) {
                   return detail::taken_apart<R>(detail::with_variables(body, v, all), form);
                 }),
                 std::span<const Tensor>(variables), options);
  if constexpr (!std::is_same_v<R, Tensor>) {
    if (!form) form = make_ref<Boxed<R>>(detail::form_of_loop<R>(n));
  }
  return detail::put_together<R>(std::move(out), form);
}
/// The same without braces: `while_loop(condition, body, i)`, `while_loop(condition, body, i,
/// sum)`.
template <class Cond, class Body, ConvertsTo<In> First, ConvertsTo<In>... More>
  requires(detail::TakesVariables<Cond> && detail::TakesVariables<Body>)
auto while_loop(Cond condition, Body body, const First& first, const More&... more) {
  Where caller = here();  // the operands are made into Ins in this line, not the caller's
  Ins all{In(first), In(more)...};
  set_site(caller);
  return while_loop(std::move(condition), std::move(body), all);
}

}  // namespace holdfast
