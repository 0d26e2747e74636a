// What the files that bind graphs share.
#pragma once

#include "holdfast/exec/concrete.h"

namespace holdfast::py {

/// A traced function, as Python holds it.
struct Concrete {
  Ref<ConcreteFunction> function;
};

}  // namespace holdfast::py
