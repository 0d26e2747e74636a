#include "holdfast/base/inline_vector.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {

void out_of_range(size_t i, size_t size) {
  fail(Code::E1103, cat("element ", i, " of a list of ", size, " was asked for"));
}

}  // namespace holdfast
