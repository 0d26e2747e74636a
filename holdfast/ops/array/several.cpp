#include "holdfast/ops/several.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast::detail {

Tensors split_into(const In& value, int64_t count, SplitOptions options) {
  return split(value, Sizes(count), options);
}

Tensors unstack_into(const In& value, int64_t count, UnstackOptions options) {
  if (!options.num) options.num = count;
  return unstack(value, options);
}

void refuse_count(size_t got, size_t expected) {
  fail(Code::E1102, cat(got, " tensors were given where names for ", expected, " are"));
}

void refuse_rank(const Shape& got, size_t expected) {
  fail(Code::E1102,
       cat("shape ", got.text(), " was given where names for ", expected, " sizes are"));
}

}  // namespace holdfast::detail
