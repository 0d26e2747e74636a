// Values of variables that several sessions see.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "holdfast/op/variable.h"

namespace holdfast {

/// Variables known by their names, whatever graph they are part of.
class HOLDFAST_API SharedVariables final : public RefCounted {
 public:
  /// The handle of the variable called like `of`, made when it is first asked for. Refuses one of
  /// another dtype or shape.
  Tensor handle(const VariableState& of);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Tensor> handles_;
};

}  // namespace holdfast
