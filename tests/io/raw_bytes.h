// The elements of a tensor as bytes, to be compared whatever they are.
#pragma once

#include <holdfast/tensor/tensor.h>

namespace holdfast {

inline std::string raw_bytes(const Tensor& t) {
  if (t.bytes() == 0) return {};
  return {static_cast<const char*>(t.raw()), static_cast<size_t>(t.bytes())};
}

}  // namespace holdfast
