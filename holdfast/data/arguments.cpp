#include "holdfast/data/arguments.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast::data {

void need_one(int64_t value, const char* argument, const char* stage, const char* why) {
  if (value < 1)
    fail(Code::E1103, cat("`", argument, "` of `", stage, "` is ", value, ", expected 1 or more"),
         why);
}

}  // namespace holdfast::data
