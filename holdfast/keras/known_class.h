// Classes that configs name.
#pragma once

#include "holdfast/base/config.h"

namespace holdfast::keras {

/// Refuses a config of a class that is not registered.
HOLDFAST_API void need_class(const ConfigObject& described);

}  // namespace holdfast::keras
