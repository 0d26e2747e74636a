// Code that says its own gradient, and code that computes again what its gradient needs.
#pragma once

#include <tuple>

#include "holdfast/base/callback.h"
#include "holdfast/exec/calling.h"

namespace holdfast {
namespace detail {

/// One run of code with a gradient of its own.
struct CustomCall {
  Tensors outputs;
  /// Gradients of the arguments, then those of the variables that the code read.
  Callback<std::vector<Tensor>(const std::vector<Tensor>& upstream,
                               const std::vector<Variable>& variables)>
      gradient;
  bool takes_variables = false;
};
/// Runs `code`, of which tapes see the inputs (tensors, and handles of variables), the results and
/// the gradient, and nothing between them.
HOLDFAST_API Tensors with_gradient(const std::string& name, const std::vector<Tensor>& inputs,
                                   const Callback<CustomCall()>& code);
/// The gradients of `code` on these inputs, found by running it once more.
HOLDFAST_API std::vector<Tensor> run_again(const std::vector<Tensor>& inputs,
                                           const std::vector<Variable>& variables,
                                           const std::vector<Tensor>& upstream,
                                           const Callback<Tensors(std::span<const Tensor>)>& code);

/// What among the arguments has a gradient: tensors, and variables by their handles.
struct Inputs {
  std::vector<Tensor> all;
  std::vector<size_t> tensors;  // which of them are no handles

  void tensor(const Tensor& t) {
    tensors.push_back(all.size());
    all.push_back(t);
  }
  template <class T>
  void fact(const T& x) {
    if constexpr (std::is_same_v<T, Variable>) all.push_back(x.handle());
  }
  template <class T>
  void form(const T&) {}
  void enter(Step) {}
  void leave() {}
};

/// Whether code takes the parts of an `R` one by one, and then `More`.
template <class G, class R, class... More>
inline constexpr bool kTakesParts = false;
template <class G, template <class...> class R, class... T, class... More>
  requires TupleLike<R<T...>>
inline constexpr bool kTakesParts<G, R<T...>, More...> = std::is_invocable_v<G&, T..., More...>;

/// What the code of a gradient gives for gradients that arrive in the form of the result.
template <class G, class R, class... More>
Tensors asked_for_gradient(G& gradient, R upstream, const More&... more) {
  auto given = [](auto result) {
    Form form;
    return taken_apart<decltype(result)>(std::move(result), form);
  };
  if constexpr (kTakesParts<G, R, More...>)
    return std::apply([&](auto&... part) { return given(gradient(std::move(part)..., more...)); },
                      upstream);
  else
    return given(gradient(std::move(upstream), more...));
}

template <class F, class P>
class WithGradient : public CallOperators<WithGradient<F, P>, F, P> {
 public:
  WithGradient(F f, std::string name)
      : code_(make_ref<Boxed<F>>(std::move(f))), name_(std::move(name)) {}

 private:
  template <class, class, class>
  friend class CallOperators;

  template <class... H>
  auto called(H... held) const {
    using Both = Given<F, H...>;
    static_assert(TupleLike<Both>,
                  "holdfast::custom_gradient: the code returns its result and the code of its "
                  "gradient: `return std::pair(y, [=](Tensor dy) { return dy * 2; });`");
    using R = std::decay_t<std::tuple_element_t<0, Both>>;
    using G = std::decay_t<std::tuple_element_t<1, Both>>;
    using Read = std::vector<Variable>;
    using TakesVariables =
        std::bool_constant<std::is_invocable_v<G&, R, const Read&> || kTakesParts<G, R, Read>>;
    static_assert(TakesVariables::value || std::is_invocable_v<G&, R> || kTakesParts<G, R>,
                  "holdfast::custom_gradient: the code of the gradient takes one Tensor for each "
                  "that the code gives, and then, where that reads variables, a `const "
                  "std::vector<Variable>&`");
    std::tuple<H...> arguments(std::move(held)...);
    Inputs inputs;
    visit_parts(inputs, arguments);
    Form form;
    Tensors out = with_gradient(name_, inputs.all, [&]() -> CustomCall {
      auto both = std::apply([&](auto&... a) { return code_->value(a...); }, arguments);
      Tensors outputs = taken_apart<R>(std::move(std::get<0>(both)), form);
      return {std::move(outputs),
              [form, gradient = std::move(std::get<1>(both))](const std::vector<Tensor>& upstream,
                                                              const Read& variables) mutable {
                R dy = put_together<R>(Tensors(upstream.begin(), upstream.end()), form);
                Tensors found;
                if constexpr (TakesVariables::value)
                  found = asked_for_gradient(gradient, std::move(dy), variables);
                else
                  found = asked_for_gradient(gradient, std::move(dy));
                return std::vector<Tensor>(found.begin(), found.end());
              },
              TakesVariables::value};
    });
    return put_together<R>(std::move(out), form);
  }

  Ref<Boxed<F>> code_;
  std::string name_;
};

template <class F, class P>
class Recomputed : public CallOperators<Recomputed<F, P>, F, P> {
 public:
  Recomputed(F f, std::string name)
      : code_(make_ref<Boxed<F>>(std::move(f))), name_(std::move(name)) {}

 private:
  template <class, class, class>
  friend class CallOperators;

  template <class... H>
  auto called(H... held) const {
    using R = Given<F, H...>;
    static_assert(!std::is_void_v<R>, "holdfast::recompute_grad: the code returns nothing");
    std::tuple<H...> arguments(std::move(held)...);
    Inputs inputs;
    visit_parts(inputs, arguments);
    Form form;
    auto run = [code = code_](std::tuple<H...> on, Form& made) {
      return taken_apart<R>(
          std::apply([&](H&... h) -> R { return code->value(std::move(h)...); }, on), made);
    };
    Tensors out = with_gradient(name_, inputs.all, [&]() -> CustomCall {
      return {run(arguments, form),
              [run, arguments, inputs](const std::vector<Tensor>& upstream,
                                       const std::vector<Variable>& variables) {
                return run_again(inputs.all, variables, upstream,
                                 [&](std::span<const Tensor> copies) {
                                   std::vector<Tensor> tensors;
                                   for (size_t i : inputs.tensors) tensors.push_back(copies[i]);
                                   std::tuple<H...> again = arguments;
                                   Filling filling{tensors};
                                   visit_parts(filling, again);
                                   Form unused;
                                   return run(std::move(again), unused);
                                 });
              },
              true};
    });
    return put_together<R>(std::move(out), form);
  }

  Ref<Boxed<F>> code_;
  std::string name_;
};

}  // namespace detail

/// Code that says its own gradient. It returns its result and the code of the gradient, which takes
/// a gradient for each tensor of the result and returns one for each tensor or Variable among the
/// arguments: an empty Tensor where there is none.
///
///   auto log1pexp = custom_gradient([](Tensor x) {
///     Tensor e = exp(x);
///     return std::pair(log(1 + e), [=](Tensor dy) { return dy * (1 - 1 / (1 + e)); });
///   });
///
/// Where the code reads other variables, the gradient also takes a `const std::vector<Variable>&`,
/// and returns a pair: the gradients of the arguments, and a vector of those of the variables.
template <class F>
auto custom_gradient(F f, std::string name = "custom_gradient") {
  return detail::WithGradient<F, typename detail::CallableOf<F>::type>(std::move(f),
                                                                       std::move(name));
}

/// The same code, which forgets what it computed, and computes it again when its gradient is asked
/// for: less memory, more time.
template <class F>
auto recompute_grad(F f, std::string name = "recompute_grad") {
  return detail::Recomputed<F, typename detail::CallableOf<F>::type>(std::move(f), std::move(name));
}

}  // namespace holdfast
