// What a call of a layer takes by position.
#pragma once

#include <string>
#include <vector>

#include "holdfast/keras/declare.h"

namespace holdfast::keras {

/// The names of what a call takes, in order: the inputs first.
inline const std::vector<std::string>& call_parameters(const ClassDef& def) {
  static const auto& plain = *new std::vector<std::string>{"inputs", "training", "mask"};
  return def.parameters.empty() ? plain : def.parameters;
}

}  // namespace holdfast::keras
