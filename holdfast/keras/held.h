// How C++ programs hold losses, metrics and optimizers: a value, whose copies are the same object.
#pragma once

#include <concepts>
#include <utility>

#include "holdfast/base/concepts.h"
#include "holdfast/base/diagnostic.h"
#include "holdfast/base/refcount.h"
#include "holdfast/exec/nested.h"
#include "holdfast/keras/declare.h"

namespace holdfast::keras {

/// Holds an object of class T, or of one that derives from it.
template <class T>
class Held {
 public:
  /// A new one: `losses::Huber({.delta = 2})`.
  [[gnu::always_inline]] explicit Held(
      const typename T::Options& options = {},
      const std::source_location& at = std::source_location::current())
      : object_(make_ref<T>()) {
    mark_caller(at);  // options that a new object has by default were made in lines of ours
    object_->configure(options);
  }
  /// The same with the first option in front, as Python has it: `optimizers::Adam(1e-3)`.
  template <detail::FirstOption F>
  [[gnu::always_inline]] explicit Held(
      const F& first, typename T::Options options = {},
      const std::source_location& at = std::source_location::current())
      : object_(make_ref<T>()) {
    mark_caller(at);
    set_option_at(object_->definition(), &options, 0, detail::as_config(first));
    object_->configure(options);
  }
  /// The first two: `optimizers::SGD(0.1, 0.9)`.
  template <detail::FirstOption A, detail::FirstOption B>
  [[gnu::always_inline]] explicit Held(
      const A& first, const B& second, typename T::Options options = {},
      const std::source_location& at = std::source_location::current())
      : object_(make_ref<T>()) {
    mark_caller(at);
    take_first_two(options, detail::as_config(first), detail::as_config(second));
  }
  /// The second one several values, which in braces without names are never options.
  template <detail::FirstOption A, detail::FirstOption B>
  [[gnu::always_inline]] explicit Held(
      const A& first, std::initializer_list<B> second, typename T::Options options = {},
      const std::source_location& at = std::source_location::current())
      : object_(make_ref<T>()) {
    mark_caller(at);
    take_first_two(options, detail::as_config(first), detail::as_config(second));
  }
  /// Code in front: `callbacks::LearningRateScheduler([](int64_t epoch, double rate) { ... })`.
  template <class F>
    requires(std::is_class_v<F> && !detail::FirstOption<F> &&
             !std::is_same_v<F, typename T::Options> && requires(F f) { (typename T::Options{f}); })
  [[gnu::always_inline]] explicit Held(
      F code, const std::source_location& at = std::source_location::current())
      : Held(typename T::Options{std::move(code)}, at) {}
  /// One that is there already.
  explicit Held(Ref<T> object) : object_(std::move(object)) {
    if (!object_) fail(Code::E1104, "a handle is made without an object");
  }
  template <DerivesFrom<T> D>
    requires(!std::same_as<D, T>)
  Held(const Held<D>& other) : object_(other.ref()) {}

  /// A loss of labels and predictions.
  Tensor operator()(const In& y_true, const In& y_pred, const MaybeIn& sample_weight = {},
                    const MaybeIn& mask = {}) const
    requires std::invocable<T&, const In&, const In&, const MaybeIn&, const MaybeIn&>
  {
    return (*object_)(y_true, y_pred, sample_weight, mask);
  }
  /// One step of an optimizer: `apply_gradients(tape.gradient(loss, weights), weights)`, or pairs.
  void apply_gradients(const std::vector<Tensor>& gradients,
                       const std::vector<Variable>& variables) const
    requires requires(T& t) { t.updates_done(); }
  {
    object_->apply_gradients(gradients, variables);
  }
  template <class G = Tensor>
  void apply_gradients(const std::vector<std::pair<G, Variable>>& gradients) const
    requires requires(T& t) { t.updates_done(); }
  {
    object_->apply_gradients(gradients);
  }
  /// A batch that a metric takes in: labels and predictions, or values of which there is a mean.
  void update_state(const In& y_true, const MaybeIn& y_pred = {},
                    const MaybeIn& sample_weight = {}) const
    requires requires(T& t) { t.reset_state(); }
  {
    object_->update_state(y_true.tensor(), y_pred ? y_pred->tensor() : Tensor(),
                          sample_weight ? sample_weight->tensor() : Tensor());
  }
  /// Takes a batch in, and says what all say together.
  OneOrMore operator()(const In& y_true, const MaybeIn& y_pred = {},
                       const MaybeIn& sample_weight = {}) const
    requires requires(T& t) { t.reset_state(); }
  {
    update_state(y_true, y_pred, sample_weight);
    return result();
  }
  /// What all batches say together.
  OneOrMore result() const
    requires requires(T& t) { t.reset_state(); }
  {
    return object_->result();
  }
  /// The rate of a step, of a schedule.
  Tensor operator()(const In& step) const
    requires requires(T& t, const Tensor& s) { t.rate(s); }
  {
    return object_->rate(step.tensor());
  }
  void reset_state() const
    requires requires(T& t) { t.reset_state(); }
  {
    object_->reset_state();
  }
  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }
  const Ref<T>& ref() const { return object_; }
  /// As whoever takes any object of the kind wants it.
  template <class Base>
    requires DerivesFrom<T, Base>
  operator Ref<Base>() const {
    return object_;
  }
  template <class D>
  bool operator==(const Held<D>& o) const {
    return object_.get() == o.ref().get();
  }

  /// What it is: its kind, and its name.
  template <class S>
    requires requires(S& out, std::string text) { out << text; }
  friend S& operator<<(S& out, const Held& x) {
    out << x.object_->text();
    return out;
  }

 private:
  void take_first_two(typename T::Options& options, const Config& first, const Config& second) {
    set_option_at(object_->definition(), &options, 0, first);
    set_option_at(object_->definition(), &options, 1, second);
    object_->configure(options);
  }
  Ref<T> object_;
};

/// A new object of a program's own class: `make<MyLoss>(arguments of its constructor)`.
template <DerivesFrom<Object> T, class... Args>
  requires(!DerivesFrom<T, Layer>)
Ref<T> make(Args&&... args) {
  return make_ref<T>(std::forward<Args>(args)...);
}

}  // namespace holdfast::keras
