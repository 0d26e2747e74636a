#include "holdfast/data/arguments.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/op/refuse.h"
#include "holdfast/ops/math.h"

namespace holdfast::data {

void need_one(int64_t value, const char* argument, const char* stage, const char* why) {
  if (value < 1)
    fail(Code::E1103, cat("`", argument, "` of `", stage, "` is ", value, ", expected 1 or more"),
         why);
}

int64_t integer_in(const Nested& given, const char* what) {
  Tensor t = given.tensor(what);
  if (t.rank() != 0 || !is_integer(t.dtype()))
    fail(Code::E1101, cat(what, " is ", type_text(t), ", expected an integer scalar"));
  return cast(t, int64).item<int64_t>();
}

}  // namespace holdfast::data
