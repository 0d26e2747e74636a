#include "holdfast/base/callback.h"

#include "holdfast/base/diagnostic.h"

namespace holdfast {

void called_nothing() {
  fail(Code::E1104, "a function is called that was given as null",
       "a branch, a loop, a gradient or a traced function needs code to run");
}

}  // namespace holdfast
