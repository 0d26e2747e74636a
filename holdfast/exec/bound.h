// Values around traced code that each call sees as they are then.
#pragma once

#include <string>
#include <vector>

#include "holdfast/base/boxed.h"
#include "holdfast/exec/attribute.h"
#include "holdfast/exec/structure.h"
#include "holdfast/ops/math.h"

namespace holdfast {
namespace detail {

/// A plain value, and the facts that tell it from others. Never changed, only replaced.
struct HOLDFAST_API BoundValue : RefCounted {
  std::vector<std::string> facts;
};

/// Where a bound value is; copies of a Bound share it.
class HOLDFAST_API BoundPlace {
 public:
  BoundPlace(std::string name, Ref<const BoundValue> initial);
  BoundPlace(const BoundPlace&);
  ~BoundPlace();
  /// What it holds now. Code that is traced and reads it is traced again for another value.
  Ref<const BoundValue> read() const;
  void replace(Ref<const BoundValue> value) const;
  const std::string& name() const;
  bool operator==(const BoundPlace& o) const { return held_ == o.held_; }

  class Held;

 private:
  Ref<Held> held_;
};

/// A bare number as an operand. Where it is made is nobody's line: a conversion can't note one.
HOLDFAST_API Operand number_operand(bool);
HOLDFAST_API Operand number_operand(int64_t);
HOLDFAST_API Operand number_operand(uint64_t);
HOLDFAST_API Operand number_operand(double);

template <class T>
struct BoundBox final : BoundValue {
  explicit BoundBox(T v) : value(std::move(v)) {
    WatchedParts parts;
    T seen = value;
    visit_parts(parts, seen);
    facts = std::move(parts.facts);
  }
  T value;
};

}  // namespace detail

/// A value that code captures, and that each call of a traced function sees as it is then:
///
///   Bound<float> rate = 0.5f;
///   auto step = function([&](Tensor x) { return x * rate; });
///   rate = 0.25f;  // the next call of `step` goes by it
///
/// A number, a text, or a struct of them is part of what the code is traced for: another value
/// makes another trace. A `Bound<Tensor>` is read by each call, and needs no other trace while its
/// dtype and shape stay the same. Copies are the same place. `name` is what reports call it.
template <class T>
class Bound {
 public:
  Bound(T initial, std::string name = "a bound value")
      : place_(std::move(name), box(std::move(initial))) {}
  Bound(const Bound&) = default;
  /// The other's value.
  Bound& operator=(const Bound& o) { return *this = o.get(); }
  Bound& operator=(T value) {
    place_.replace(box(std::move(value)));
    return *this;
  }
  T get() const { return static_cast<const detail::BoundBox<T>&>(*place_.read()).value; }
  operator T() const { return get(); }
  /// For `x * rate`, and for whatever takes a number beside a tensor.
  operator Operand() const
    requires std::is_arithmetic_v<T>
  {
    if constexpr (std::is_same_v<T, bool>)
      return detail::number_operand(get());
    else if constexpr (std::is_floating_point_v<T>)
      return detail::number_operand(static_cast<double>(get()));
    else
      return detail::number_operand(
          static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(get()));
  }

 private:
  static Ref<const detail::BoundValue> box(T value) {
    return Ref<const detail::BoundValue>(make_ref<detail::BoundBox<T>>(std::move(value)).get());
  }
  detail::BoundPlace place_;
};

template <>
class Bound<Tensor> : public TensorAttribute {
 public:
  Bound(Tensor initial = {}, std::string name = "a bound tensor")
      : TensorAttribute(std::move(name), std::move(initial)) {}
  Bound(const Bound&) = default;
  Bound& operator=(const Bound& o) { return *this = o.read(); }
  Bound& operator=(const Tensor& t) {
    assign(t);
    return *this;
  }
  Bound& operator=(const In& value) {
    assign(value);
    return *this;
  }
  Tensor get() const { return read(); }
};

}  // namespace holdfast
