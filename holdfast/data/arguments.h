// What stages ask of their arguments.
#pragma once

#include <cstdint>

#include "holdfast/data/spec.h"

namespace holdfast::data {

/// Refuses less than 1: "`size` of `window` is 0, expected 1 or more".
void need_one(int64_t value, const char* argument, const char* stage, const char* why = "");
/// What a function of elements gave, which is to be an integer scalar: `what` says whose it is.
HOLDFAST_API int64_t integer_in(const Nested& given, const char* what);

}  // namespace holdfast::data
