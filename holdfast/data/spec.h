// What is known of the elements of a dataset before there are any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/exec/nested.h"
#include "holdfast/ops/list.h"

namespace holdfast::data {

/// The form of an element, with dtype and shape of each tensor in it.
class HOLDFAST_API ElementSpec {
 public:
  /// An element without any tensor.
  ElementSpec() = default;
  /// One tensor.
  ElementSpec(DType dtype, const Shape& shape = {});
  ElementSpec(const ElementType& type) : ElementSpec(type.dtype, type.shape) {}
  static ElementSpec tuple(const std::vector<ElementSpec>& items);
  static ElementSpec dict(const std::vector<std::pair<std::string, ElementSpec>>& entries);
  /// That of an element; its tensors may be symbols.
  static ElementSpec of(const Nested& element);
  /// That of rows of tensors, which all have as many.
  static ElementSpec of_rows(const Nested& tensors);

  /// The form. Its tensors have a dtype and a shape, and no value.
  const Nested& form() const { return form_; }
  /// The tensors, in the order of `Nested::leaves`.
  std::vector<ElementType> leaves() const;
  /// The same form with other tensors.
  ElementSpec with_leaves(const std::vector<ElementType>& types) const;
  /// With a new first dimension, or without the one there is.
  ElementSpec batched(int64_t size) const;
  ElementSpec unbatched() const;

  /// Why an element is not one of these, in words; nothing where it is.
  std::optional<std::string> mismatch(const Nested& element) const;
  /// What holds of elements of both; nothing where forms or dtypes differ.
  std::optional<ElementSpec> joined(const ElementSpec& other) const;
  /// "(float32[?,2], int64[])"
  std::string text() const;
  template <class S>
    requires requires(S& out, std::string text) { out << text; }
  friend S& operator<<(S& out, const ElementSpec& spec) {
    out << spec.text();
    return out;
  }
  bool operator==(const ElementSpec& o) const;

 private:
  Nested form_;
};

}  // namespace holdfast::data
