// A value that is shared by counting, whatever its type.
#pragma once

#include <utility>

#include "holdfast/base/refcount.h"

namespace holdfast {

template <class T>
struct Boxed final : RefCounted {
  explicit Boxed(T v) : value(std::move(v)) {}
  T value;
};

}  // namespace holdfast
