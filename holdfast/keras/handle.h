// How C++ programs hold layers: a handle is a value, and its copies are the same layer.
#pragma once

#include <concepts>

#include "holdfast/base/concepts.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/keras/foreign.h"

namespace holdfast::keras {

namespace detail {
/// Values in braces that have no name.
struct Unnamed {
  template <FirstOption A>
  Unnamed(A);
  template <FirstOption A>
  Unnamed(A, A);
  template <FirstOption A>
  Unnamed(A, A, A);
};
}  // namespace detail

/// Holds a layer of class L, or of one that derives from it.
template <DerivesFrom<Layer> L>
class Handle {
 public:
  /// A new layer: `layers::Dense({.units = 64})`.
  [[gnu::always_inline]] explicit Handle(
      const typename L::Options& options = {},
      const std::source_location& at = std::source_location::current())
      : layer_(make_ref<L>()) {
    mark_caller(at);  // options that a new layer has by default were made in lines of ours
    configure(options);
  }
  /// The same with the first option in front, as Python has it: `layers::Dense(64, {.activation =
  /// "relu"})`, `layers::Reshape(Shape{2, 3})`.
  template <detail::FirstOption T>
  [[gnu::always_inline]] explicit Handle(
      const T& first, typename L::Options options = {},
      const std::source_location& at = std::source_location::current())
      : layer_(make_ref<L>()) {
    mark_caller(at);
    set_option_at(layer_->definition(), &options, 0, detail::as_config(first));
    configure(options);
  }
  /// The first two: `layers::Conv2D(8, 3, {.activation = "relu"})`, `layers::Embedding(1000, 16)`.
  template <detail::FirstOption A, detail::FirstOption B>
  [[gnu::always_inline]] explicit Handle(
      const A& first, const B& second, typename L::Options options = {},
      const std::source_location& at = std::source_location::current())
      : layer_(make_ref<L>()) {
    mark_caller(at);
    take_first_two(options, detail::as_config(first), detail::as_config(second));
  }
  /// The second one several values: `layers::Conv2D(8, {3, 5})`. In braces without names these are
  /// never options, of which they would be the first ones again.
  template <detail::FirstOption A, detail::FirstOption B>
  [[gnu::always_inline]] explicit Handle(
      const A& first, std::initializer_list<B> second, typename L::Options options = {},
      const std::source_location& at = std::source_location::current())
      : layer_(make_ref<L>()) {
    mark_caller(at);
    take_first_two(options, detail::as_config(first), detail::as_config(second));
  }
  // For its words: braces alone could be options as well as values of the first one.
  explicit Handle(const detail::Unnamed&) = delete;  // write `{.option = {2, 3}}`
  /// Code in front: `layers::Lambda([](Tensor x) { return x * 2; })`.
  template <class F>
    requires(std::is_class_v<F> && !detail::FirstOption<F> &&
             !std::is_same_v<F, typename L::Options> && requires(F f) { (typename L::Options{f}); })
  [[gnu::always_inline]] explicit Handle(
      F code, const std::source_location& at = std::source_location::current())
      : Handle(typename L::Options{std::move(code)}, at) {}
  /// One that is there already.
  explicit Handle(Ref<L> layer) : layer_(std::move(layer)) { named(); }
  /// A handle of a derived class is one of its base's: the layer stays what it is.
  template <DerivesFrom<L> D>
    requires(!std::same_as<D, L>)
  Handle(const Handle<D>& other) : layer_(other.ref()) {}

  [[gnu::always_inline]] Tensor operator()(
      const Tensor& inputs, const CallOptions& options = {},
      const std::source_location& at = std::source_location::current()) const {
    return (*layer_)(inputs, options, at);
  }
  /// Of several tensors: `Concatenate()({a, b})`.
  template <std::same_as<Tensor> T>  // no numbers in braces, which make a tensor too
  [[gnu::always_inline]] Tensor operator()(
      std::initializer_list<T> inputs, const CallOptions& options = {},
      const std::source_location& at = std::source_location::current()) const {
    return (*layer_)(Nested::list_of(inputs), options, at).tensor();
  }
  /// Of numbers: `dense({{1, 2}})`.
  [[gnu::always_inline]] Tensor operator()(
      std::initializer_list<Braced> inputs, const CallOptions& options = {},
      const std::source_location& at = std::source_location::current()) const {
    return (*layer_)(In(inputs, at).tensor(), options, at);
  }
  [[gnu::always_inline]] Nested operator()(
      const Nested& inputs, const CallOptions& options = {},
      const std::source_location& at = std::source_location::current()) const {
    return (*layer_)(inputs, options, at);
  }
  L* operator->() const { return layer_.get(); }
  L& operator*() const { return *layer_; }
  const Ref<L>& ref() const { return layer_; }
  /// The layer, for functions that take any: `save_weights(model, path)`.
  operator L&() const { return *layer_; }
  std::string name() const { return layer_->name(); }
  std::vector<Variable> variables() const { return layer_->variables(); }
  std::vector<Variable> trainable_variables() const { return layer_->trainable_variables(); }
  std::vector<Variable> non_trainable_variables() const {
    return layer_->non_trainable_variables();
  }
  /// All weights, their values, and how many numbers they hold.
  std::vector<Variable> weights() const { return layer_->variables(); }
  std::vector<Tensor> get_weights() const { return layer_->get_weights(); }
  void set_weights(const std::vector<Tensor>& values,
                   const std::source_location& at = std::source_location::current()) const {
    mark_caller(at);
    layer_->set_weights(values);
  }
  int64_t count_params() const { return layer_->count_params(); }
  /// The layer as a module, for a `Module` that holds it.
  operator Module() const { return Module(Ref<ModuleObject>(layer_)); }
  template <class D>
  bool operator==(const Handle<D>& o) const {
    return static_cast<const Layer*>(layer_.get()) == o.ref().get();
  }

  /// What it is: its kind, and its name.
  template <class S>
    requires requires(S& out, std::string text) { out << text; }
  friend S& operator<<(S& out, const Handle& x) {
    out << x.layer_->text();
    return out;
  }

 private:
  void take_first_two(typename L::Options& options, const Config& first, const Config& second) {
    set_option_at(layer_->definition(), &options, 0, first);
    set_option_at(layer_->definition(), &options, 1, second);
    configure(options);
  }
  void configure(const typename L::Options& options) {
    if constexpr (requires { layer_->configure(options); })
      layer_->configure(options);
    else
      layer_->set_options(options);
    named();
  }
  void named() {
    if (!layer_) fail(Code::E1104, "a handle of a layer is made without a layer");
    layer_->name_it();
  }
  Ref<L> layer_;
};

/// Any layer.
using AnyLayer = Handle<Layer>;

/// A new layer of a program's own class: `make<Mine>(arguments of its constructor)`.
template <DerivesFrom<Layer> L, class... Args>
Handle<L> make(Args&&... args) {
  return Handle<L>(make_ref<L>(std::forward<Args>(args)...));
}

}  // namespace holdfast::keras
