// A weight as a member that programs may assign to.
#pragma once

#include "holdfast/op/variable.h"

namespace holdfast::keras {

/// A variable that a layer has under a name: `HeldWeight kernel{*this};`. Assigning another one
/// says so to the layer: it is found, trained and saved as the one before was, and functions that
/// were traced with that one are traced anew. A plain Variable as a member tells nobody.
class HOLDFAST_API HeldWeight : public Variable {
 public:
  explicit HeldWeight(Object& holder) : holder_(&holder) {}
  HeldWeight(const HeldWeight&) = delete;  // a copy is a Variable
  HeldWeight& operator=(const Variable& now);
  HeldWeight& operator=(const HeldWeight& other) {
    return *this = static_cast<const Variable&>(other);
  }
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, Tensor> ||
             std::is_same_v<T, VariablePart>)
  void operator=(const T& value) = delete;  // write `kernel.assign(value)`

 private:
  Object* holder_;  // it is a member of that
};

}  // namespace holdfast::keras
