#include "holdfast/base/by_name.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {

void no_such_name(std::string_view name) {
  fail(Code::E1103, cat("`", name, "` was asked for, and nothing has that name"));
}

}  // namespace holdfast
