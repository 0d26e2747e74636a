// `function`: C++ code that is traced once for each kind of arguments, and then runs as a graph.
#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "holdfast/base/owned.h"
#include "holdfast/exec/calling.h"
#include "holdfast/exec/concrete.h"

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
  /// What keeps a result's form; see `detail::taken_apart`.
  using Form = detail::Form;
  /// How the code is called with arguments of some C++ types: there is one for each such list.
  struct Typed {
    /// Runs `code` on `arguments`, with `tensors` in the places of theirs.
    Tensors (*run)(void* code, const void* arguments, std::span<const Tensor> tensors, Form& form);
    void (*name_parts)(const void* arguments, detail::PartNames& names);
  };
  struct Call {
    const Typed* typed;
    std::span<const Tensor> tensors;
    const void* arguments = nullptr;             // null where all of them are tensors
    std::span<const std::string> facts = {};     // plain values, then what is watched around it
    const detail::PartNames* watched = nullptr;  // what the latter are called
  };
  /// `code` is what `owner` holds.
  TracedCode(Ref<RefCounted> owner, void* code, FunctionOptions options);
  ~TracedCode() override;

  Tensors call(const Call& call, Form& form);
  /// The trace for a call, and for arguments of these dtypes and shapes.
  Ref<ConcreteFunction> concrete(const Call& call);
  Ref<ConcreteFunction> concrete(const Typed& typed, size_t arguments,
                                 const std::vector<Type>& signature);
  size_t traces() const;
  std::string trace_report() const;

 private:
  struct Trace;
  struct Kept;
  class Host;
  /// The trace for a call, and its arguments with what it captured.
  Ref<Trace> find(const Call& call, Tensors& inputs);
  Ref<Trace> make(std::vector<Type> signature, const Call& call);

  Ref<RefCounted> owner_;
  void* code_;
  FunctionOptions options_;
  Owned<Kept> kept_;  // traces, and why each was made
};

namespace detail {

template <class F, class... H>
struct TypedCall {
  static constexpr bool kTensors = (std::is_same_v<H, Tensor> && ...);
  using Arguments = std::tuple<H...>;
  using R = Given<F, H...>;

  static Tensors run(void* code, const void* arguments, std::span<const Tensor> tensors,
                     TracedCode::Form& form) {
    Arguments mine = arguments ? *static_cast<const Arguments*>(arguments) : Arguments();
    Filling filling{tensors};
    visit_parts(filling, mine);
    F& f = *static_cast<F*>(code);
    auto invoked = [&](H&... h) -> decltype(auto) { return f(std::move(h)...); };
    if constexpr (std::is_void_v<R>) {
      std::apply(invoked, mine);
      return {};
    } else {
      return taken_apart<R>(std::apply(invoked, mine), form);
    }
  }
  static void name_parts(const void* arguments, PartNames& names) {
    Arguments mine = arguments ? *static_cast<const Arguments*>(arguments) : Arguments();
    show_each<Step::kArgument>(names, mine);
  }
  static constexpr TracedCode::Typed kTyped{&run, &name_parts};

  template <Step::Kind kind, class V, class... T>
  static void show_each(V& v, std::tuple<T...>& all) {
    std::apply(
        [&](auto&... part) {
          size_t i = 0;
          ((v.enter({kind, i++}), visit_parts(v, part), v.leave()), ...);
        },
        all);
  }
};

/// What is around the code and watched.
template <class... C>
struct Watched {
  std::tuple<C*...> places;

  void add(Parts& parts) const {
    WatchedParts now;
    each(now);
    for (std::string& f : now.facts) parts.facts.push_back(std::move(f));
  }
  PartNames names() const {
    PartNames out;
    out.watched = true;
    each(out);
    return out;
  }

 private:
  template <class V>
  void each(V& v) const {
    std::apply(
        [&](auto*... place) {
          size_t i = 0;
          ((v.enter({Step::kCapture, i++}), visit_parts(v, *place), v.leave()), ...);
        },
        places);
  }
};

/// The code with its traces, called with arguments of any types.
template <class F, class... C>
class CodeAndTraces {
 public:
  CodeAndTraces(F f, FunctionOptions options, Watched<C...> watched) : watched_(watched) {
    auto code = make_ref<Boxed<F>>(std::move(f));
    void* place = &code->value;
    code_ = make_ref<TracedCode>(std::move(code), place, std::move(options));
  }

  size_t traces() const { return code_->traces(); }
  /// Why it was traced, each time: which argument was new, and the cost.
  std::string trace_report() const { return code_->trace_report(); }

 protected:
  /// Gives `use` the call with these arguments.
  template <class... H, class Use>
  auto with_call(const Use& use, H... held) const {
    using Calls = TypedCall<F, H...>;
    if constexpr (Calls::kTensors && sizeof...(C) == 0) {
      const Tensor list[] = {std::move(held)..., Tensor()};
      return use({.typed = &Calls::kTyped, .tensors = {list, sizeof...(H)}});
    } else {
      typename Calls::Arguments arguments(std::move(held)...);
      Parts parts;
      visit_parts(parts, arguments);
      PartNames names;
      if constexpr (sizeof...(C) > 0) {
        watched_.add(parts);
        names = watched_.names();
      }
      return use({.typed = &Calls::kTyped,
                  .tensors = {parts.tensors.data(), parts.tensors.size()},
                  .arguments = &arguments,
                  .facts = parts.facts,
                  .watched = &names});
    }
  }
  template <class, class, class>
  friend class CallOperators;
  template <class... H>
  Given<F, H...> called(H... held) const {
    using R = Given<F, H...>;
    TracedCode::Form form;
    Tensors out = with_call<H...>(
        [&](const TracedCode::Call& call) { return code_->call(call, form); }, std::move(held)...);
    if constexpr (!std::is_void_v<R>) return put_together<R>(std::move(out), form);
  }

  Ref<TracedCode> code_;
  Watched<C...> watched_;
};

}  // namespace detail

/// C++ code over tensors that runs as a graph. Copies share their traces.
template <class F, class P, class... C>
class Function;

/// Code with one list of parameters.
template <class F, class... P, class... C>
class Function<F, detail::Parameters<P...>, C...>
    : public detail::CodeAndTraces<F, C...>,
      public detail::CallOperators<Function<F, detail::Parameters<P...>, C...>, F,
                                   detail::Parameters<P...>> {
 public:
  using detail::CodeAndTraces<F, C...>::CodeAndTraces;

  /// The trace for arguments of these dtypes and shapes.
  Ref<ConcreteFunction> concrete(const std::vector<Type>& signature) const
    requires(std::is_same_v<detail::Held<P>, Tensor> && ...)
  {
    return this->code_->concrete(detail::TypedCall<F, detail::Held<P>...>::kTyped, sizeof...(P),
                                 signature);
  }
  /// The trace for such arguments.
  Ref<ConcreteFunction> concrete_for(
      const detail::GivenAs<P>&... arguments,
      const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    return this->template with_call<detail::Held<P>...>(
        [&](const TracedCode::Call& call) { return this->code_->concrete(call); },
        detail::Held<P>(arguments)...);
  }
};

/// A generic lambda, or another functor with several lists of parameters: each list of argument
/// types has traces of its own.
template <class F, class... C>
class Function<F, void, C...> : public detail::CodeAndTraces<F, C...>,
                                public detail::CallOperators<Function<F, void, C...>, F, void> {
 public:
  using detail::CodeAndTraces<F, C...>::CodeAndTraces;
};

/// `auto f = function([](Tensor x) { return x * 2; });`
///
/// Parameters and results may be lists, pairs and structs of tensors. Numbers, strings and other
/// plain values among the arguments are part of what is traced for: another value makes another
/// trace. A number for a parameter of type Tensor is a tensor.
template <class F>
auto function(F f, FunctionOptions options = {}) {
  return Function<F, typename detail::CallableOf<F>::type>(std::move(f), std::move(options), {});
}

/// The same, with what the code captures by reference: `function([&](Tensor x) { return x * rate;
/// }, {}, rate)`. These are compared at each call, and another value, or another tensor, makes
/// another trace: what the code captures otherwise stays as it was when the trace was made. They
/// have to live as long as the function.
template <class F, class... C>
  requires(sizeof...(C) > 0)
auto function(F f, FunctionOptions options, C&... captures) {
  return Function<F, typename detail::CallableOf<F>::type, C...>(
      std::move(f), std::move(options), detail::Watched<C...>{{&captures...}});
}
template <class F, class First, class... C>
  requires(!std::is_same_v<std::remove_const_t<First>, FunctionOptions>)
auto function(F f, First& first, C&... captures) {
  return function(std::move(f), FunctionOptions(), first, captures...);
}

}  // namespace holdfast
