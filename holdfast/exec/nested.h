// Tensors in lists, tuples and dicts, at any depth: what layers, datasets and training steps take
// and give where the form is known only when the program runs.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/op/in.h"
#include "holdfast/op/variable.h"
#include "holdfast/ops/several.h"

namespace holdfast {

class HOLDFAST_API Nested {
 public:
  enum class Kind : uint8_t { kNone, kTensor, kList, kTuple, kDict };
  using Entry = std::pair<std::string, Nested>;

  Nested() = default;  // None
  /// A tensor; None if it refers to nothing.
  Nested(Tensor t) : kind_(t.defined() ? Kind::kTensor : Kind::kNone), tensor_(std::move(t)) {}
  Nested(const Variable& v) : Nested(v.read()) {}
  /// A tensor of numbers or texts: `{{1, 2}, {3, 4}}`.
  [[gnu::always_inline]] Nested(std::initializer_list<Braced> values,
                                const std::source_location& at = std::source_location::current())
      : Nested(In(values, at).tensor()) {}
  /// A copy of the elements, of their own type.
  template <class T>
    requires std::is_arithmetic_v<T>
  [[gnu::always_inline]] Nested(const std::vector<T>& values,
                                const std::source_location& at = std::source_location::current())
      : Nested(Tensor::of(values, at)) {}
  /// A tuple: `{x, y}`, `{{a, b}, y}`, `{x, y, sample_weight}`.
  Nested(Nested first, Nested second);
  Nested(Nested first, Nested second, Nested third);
  static Nested list(std::vector<Nested> items);
  static Nested tuple(std::vector<Nested> items);
  /// The keys must differ. They keep their order; leaves come in the order of sorted keys.
  static Nested dict(std::vector<Entry> entries);
  template <class Tensors>
  static Nested list_of(const Tensors& tensors) {
    return list(std::vector<Nested>(tensors.begin(), tensors.end()));
  }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  bool is_dict() const { return kind_ == Kind::kDict; }
  /// A list or a tuple.
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  /// The one tensor; anything else is refused, and `what` names it.
  const Tensor& tensor(std::string_view what = "a value") const;
#ifndef HOLDFAST_BUILDING  // our own code says what it reads, for the message
  operator Tensor() const { return tensor(); }
#endif
  /// The only element of the one tensor.
  template <class T>
  T item(const std::source_location& at = std::source_location::current()) const {
    return tensor().template item<T>(at);
  }
  /// How many items or entries.
  size_t size() const { return entries_.size(); }
  /// Item `i` of a list or tuple, or the value of entry `i` of a dict; one out of range is refused.
  const Nested& operator[](size_t i) const;
  /// The value of a key of a dict; one that is not there is refused with those that are.
  const Nested& operator[](std::string_view key) const;
  const std::string& key(size_t i) const;
  /// The value of a key; null where there is none.
  const Nested* find(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }

  /// The tensors, in the order in which `tf.nest` flattens.
  std::vector<Tensor> leaves() const;
  /// The same form with other tensors, as many as there are leaves.
  Nested with_leaves(std::span<const Tensor> tensors) const;
  /// The same form with `f` of each tensor.
  template <class F>
  Nested map(F&& f) const {
    std::vector<Tensor> all = leaves();
    for (Tensor& t : all) t = f(t);
    return with_leaves(all);
  }
  /// What it is besides its tensors: `({'a': *, 'b': *}, *)`. Equal texts are equal forms.
  std::string form() const;
  /// The leaf that comes first; none is refused.
  const Tensor& first(std::string_view what = "a value") const;

  /// Shows a visitor of `detail::visit_parts` its form and its tensors.
  template <class V>
  void visit_nested(V& v) {
    v.form(form());
    visit_leaves(&v, [](void* to, Tensor& t) { static_cast<V*>(to)->tensor(t); });
  }

 private:
  Nested(Kind kind, std::vector<Entry> entries) : kind_(kind), entries_(std::move(entries)) {}
  std::vector<size_t> sorted() const;
  void visit_leaves(void* to, void (*see)(void* to, Tensor&));

  Kind kind_ = Kind::kNone;
  Tensor tensor_;
  std::vector<Entry> entries_;  // keys of lists are empty
};

/// The N tensors of a tuple, a list or a dict: `auto [x, y] = exactly<2>(element)`. Another number
/// of them is refused.
template <size_t N>
std::array<Tensor, N> exactly(const Nested& nested) {
  if (nested.size() != N) detail::refuse_count(nested.is_tensor() ? 1 : nested.size(), N);
  std::array<Tensor, N> out;
  for (size_t i = 0; i < N; ++i) out[i] = nested[i].tensor();
  return out;
}

/// What is one tensor most of the time, and is read as that: what a model predicts, what a metric
/// says. Several are refused where one is wanted.
class HOLDFAST_API OneOrMore : public Nested {
 public:
  OneOrMore(Nested given = {}) : Nested(std::move(given)) {}
  Tensor tensor(std::string_view what = "a value") const { return Nested::tensor(what); }
  operator Tensor() const { return tensor(); }
  /// The only element of the one tensor.
  template <class T>
  T item(const std::source_location& at = std::source_location::current()) const {
    return tensor().template item<T>(at);
  }
};

}  // namespace holdfast
