// `function`: C++ code that is traced once for each kind of arguments, and then runs as a graph.
#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "holdfast/base/owned.h"
#include "holdfast/exec/concrete.h"
#include "holdfast/op/result.h"

namespace holdfast {

struct FunctionOptions {
  std::string name = "function";
  size_t most_traces = 64;  // the oldest goes when there are more
  /// A size that was another one before is left open, so that further ones are not traced for. Code
  /// that asks a tensor for that size while it is traced then sees `kUnknown`; `shape_of` gives a
  /// tensor that holds each call's own.
  bool reduce_retracing = false;
};

/// What is behind a Function: the code and its traces.
class HOLDFAST_API TracedCode final : public RefCounted {
 public:
  using Body = Callback<Tensors(std::span<const Tensor>)>;
  TracedCode(Body body, FunctionOptions options);
  ~TracedCode() override;

  Tensors call(std::span<const Tensor> arguments);
  /// The trace for arguments of these dtypes and shapes.
  Ref<ConcreteFunction> concrete(const std::vector<Type>& signature);
  size_t traces() const;
  std::string trace_report() const;

 private:
  struct Trace;
  struct Kept;
  class Host;
  /// The trace for a call, and its arguments with what it captured.
  Ref<Trace> find(std::span<const Tensor> arguments, Tensors& inputs);
  Ref<Trace> make(std::vector<Type> signature, std::span<const Tensor> arguments);

  Body body_;
  FunctionOptions options_;
  Owned<Kept> kept_;  // traces, and why each was made
};

namespace detail {

template <class F>
struct Callable : Callable<decltype(&F::operator())> {};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...) const> {
  using Return = R;
  static constexpr size_t arity = sizeof...(A);
};
template <class C, class R, class... A>
struct Callable<R (C::*)(A...)> {
  using Return = R;
  static constexpr size_t arity = sizeof...(A);
};
template <class R, class... A>
struct Callable<R (*)(A...)> {
  using Return = R;
  static constexpr size_t arity = sizeof...(A);
};

/// From the list of a graph's outputs to what the code returns.
template <class R>
struct FromList;
template <>
struct FromList<void> {
  static void get(const Tensors&) {}
};
template <>
struct FromList<Tensor> {
  static Tensor get(const Tensors& t) { return t[0]; }
};
template <>
struct FromList<Tensors> {
  static Tensors get(const Tensors& t) { return t; }
};
template <>
struct FromList<std::vector<Tensor>> {
  static std::vector<Tensor> get(const Tensors& t) { return {t.begin(), t.end()}; }
};
template <class... T>
struct FromList<std::tuple<T...>> {
  static std::tuple<T...> get(const Tensors& t) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<T...>(t[I]...);
    }(std::index_sequence_for<T...>{});
  }
};

}  // namespace detail

namespace detail {
/// One of the arguments of a call. A type of its own for each place, not a template's: so each is
/// made at the call, and notes its line.
template <size_t>
using Argument = const In&;
}  // namespace detail

template <class R, size_t N, class Places = std::make_index_sequence<N>>
class Function;

/// C++ code over tensors that runs as a graph. Copies share their traces.
template <class R, size_t N, size_t... I>
class Function<R, N, std::index_sequence<I...>> {
 public:
  Function(TracedCode::Body body, FunctionOptions options)
      : code_(make_ref<TracedCode>(std::move(body), std::move(options))) {}

  [[gnu::always_inline]] R operator()(
      detail::Argument<I>... arguments,
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    const Tensor list[N + 1] = {arguments.tensor()..., Tensor()};
    return detail::FromList<R>::get(code_->call({list, N}));
  }
  Ref<ConcreteFunction> concrete(const std::vector<Type>& signature) const {
    return code_->concrete(signature);
  }
  size_t traces() const { return code_->traces(); }
  /// Why it was traced, each time: which argument was new, and the cost.
  std::string trace_report() const { return code_->trace_report(); }

 private:
  Ref<TracedCode> code_;
};

/// `auto f = function([](Tensor x) { return x * 2; });`
template <class F>
auto function(F f, FunctionOptions options = {}) {
  using C = detail::Callable<F>;
  using R = typename C::Return;
  return Function<R, C::arity>(
      [f = std::move(f)](std::span<const Tensor> arguments) mutable {
        return [&]<size_t... I>(std::index_sequence<I...>) {
          if constexpr (std::is_void_v<R>)
            return f(arguments[I]...), Tensors{};
          else
            return detail::Result<R>::list(f(arguments[I]...));
        }(std::make_index_sequence<C::arity>{});
      },
      std::move(options));
}

}  // namespace holdfast
