// What a call of a layer takes by position.
#pragma once

#include <string>
#include <vector>

#include "holdfast/keras/declare.h"

namespace holdfast::keras {

/// The names of what a call takes, in order: the inputs first.
inline const std::vector<std::string>& call_parameters(const ClassDef& def) {
  static const std::vector<std::string> kPlain{"inputs", "training", "mask"};
  return def.parameters.empty() ? kPlain : def.parameters;
}

}  // namespace holdfast::keras
