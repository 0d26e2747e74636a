#include "holdfast/exec/flow.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast::detail {

void refuse_variables(size_t given, size_t taken) {
  fail(Code::E1104, cat("while_loop: ", given, " variables are given, and the body takes ", taken),
       "each variable is a parameter of the condition and of the body");
}

void refuse_unknown_form() {
  fail(Code::E1104, "while_loop: the body never ran, so what it returns has no known form",
       "a list inside of another structure has as many elements as the body gives it",
       {manual_fix("return a pair, a tuple, an array or a struct of tensors")});
}

}  // namespace holdfast::detail
