// `t[key]`.
#include "holdfast/base/text.h"
#include "python/bind/call.h"

namespace holdfast::py {

Tensor index_with(const Tensor& t, PyObject* key) {
  fail(Code::E1105, cat("indexing ", name(t.dtype()), t.shape().text(), " with ", repr_of(key)));
}

}  // namespace holdfast::py
