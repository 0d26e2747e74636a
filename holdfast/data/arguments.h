// What stages ask of their arguments.
#pragma once

#include <cstdint>

namespace holdfast::data {

/// Refuses less than 1: "`size` of `window` is 0, expected 1 or more".
void need_one(int64_t value, const char* argument, const char* stage, const char* why = "");

}  // namespace holdfast::data
