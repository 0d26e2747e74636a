// What the files that bind graphs share.
#pragma once

#include "holdfast/exec/concrete.h"
#include "python/bind/py.h"

namespace holdfast::py {

/// A traced function, as Python holds it.
struct Concrete {
  Ref<ConcreteFunction> function;
  Object code;  // keeps the Python code alive that the graph calls; empty where there is none
};

}  // namespace holdfast::py
